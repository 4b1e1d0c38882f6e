/* PCRE2 behind four functions. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* One line must not cost more: about a second of backtracking, and some megabytes. */
#define MATCH_STEPS_MAX 5000000
#define MATCH_DEPTH_MAX 100000
#define MATCH_HEAP_MAX_KIB (16 * 1024)

#define ERROR_TEXT_SIZE 160

struct regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

struct regex *regex_free(struct regex *re)
{
    if (re) {
        pcre2_match_context_free(re->limits);
        pcre2_match_data_free(re->match);
        pcre2_code_free(re->code);
        free(re);
    }
    return NULL;
}

static void regex_freep(struct regex **re)
{
    *re = regex_free(*re);
}

static int compile(struct regex *re, const char *pattern, struct rein_error **reterr)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    char text[ERROR_TEXT_SIZE];
    PCRE2_SIZE where = 0;
    int error = 0;

    if (!context)
        return rein_oom(reterr);
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    re->code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &where, context);
    pcre2_compile_context_free(context);
    if (re->code)
        return 0;
    (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)text, sizeof(text));
    return rein_fail(reterr, -EINVAL, "bad_request", "regex",
                     "'%s' is not a regular expression: %s at offset %zu", pattern, text,
                     (size_t)where);
}

int regex_new(const char *pattern, struct regex **ret, struct rein_error **reterr)
{
    auto_(regex_freep) struct regex *re = NULL;
    int r;

    if (strlen(pattern) > REGEX_PATTERN_MAX)
        return rein_fail(reterr, -E2BIG, "bad_request", "regex",
                         "the regular expression has more than %d bytes", REGEX_PATTERN_MAX);
    re = calloc(1, sizeof(*re));
    if (!re)
        return rein_oom(reterr);
    r = compile(re, pattern, reterr);
    if (r < 0)
        return r;
    re->match = pcre2_match_data_create(1, NULL);
    re->limits = pcre2_match_context_create(NULL);
    if (!re->match || !re->limits)
        return rein_oom(reterr);
    (void)pcre2_set_match_limit(re->limits, MATCH_STEPS_MAX);
    (void)pcre2_set_depth_limit(re->limits, MATCH_DEPTH_MAX);
    (void)pcre2_set_heap_limit(re->limits, MATCH_HEAP_MAX_KIB);
    *ret = TAKE_PTR(re);
    return 0;
}

int regex_matches(const struct regex *re, const char *text, size_t len, struct rein_error **reterr)
{
    /* 0: there were more groups than the match data has room for */
    int r =
        pcre2_match(re->code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_UTF_CHECK, re->match, re->limits);

    if (r >= 0)
        return 1;
    switch (r) {
    case PCRE2_ERROR_NOMATCH:
        return 0;
    case PCRE2_ERROR_NOMEMORY:
        return rein_oom(reterr);
    default:
        return rein_fail_hint(reterr, -E2BIG, "limit_exceeded", "regex",
                              "nested repetitions such as (a+)+ are the usual cause",
                              "the regular expression needs too many steps for a line");
    }
}
