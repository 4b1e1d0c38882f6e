/* Patterns of words, and the order of rules. */
#include "rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "word-split.h"

#define TOOL_PREFIX "tool:"

static const char *const verdict_names[] = {
    [RULE_NONE] = "none", [RULE_ALLOW] = "allow", [RULE_ASK] = "ask", [RULE_DENY] = "deny"};

enum rule_verdict rule_verdict_find(const char *word)
{
    for (size_t i = RULE_ALLOW; i < ARRAY_SIZE(verdict_names); i++)
        if (strcmp(word, verdict_names[i]) == 0)
            return (enum rule_verdict)i;
    return RULE_NONE;
}

const char *rule_verdict_name(enum rule_verdict verdict)
{
    return verdict_names[verdict];
}

/* ---- making ------------------------------------------------------------------------------- */

static void rule_done(struct rule *rule)
{
    free(rule->tool);
    free(rule->text);
    free(rule->file);
    rule->words = strv_free(rule->words);
}

void rules_done(struct rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        rule_done(&rules->list[i]);
    free(rules->list);
    *rules = (struct rules){0};
}

/* A `*` at the end says what is so anyway: anything may follow. */
static void drop_last_star(char **words)
{
    size_t n = strv_length((const char *const *)words);

    if (n > 0 && strcmp(words[n - 1], "*") == 0) {
        free(words[n - 1]);
        words[n - 1] = NULL;
    }
}

static int take_words(struct rule *rule, char **take_words, struct rein_error **reterr)
{
    char **first = take_words;
    int r = 0;

    if (strncmp(*first, TOOL_PREFIX, strlen(TOOL_PREFIX)) == 0) {
        r = str_copy(&rule->tool, *first + strlen(TOOL_PREFIX));
        first++;
    }
    for (char **word = first; r == 0 && *word; word++)
        r = strv_add(&rule->words, *word);
    strv_free(take_words);
    if (r < 0)
        return rein_oom(reterr);
    if (rule->words)
        drop_last_star(rule->words);
    if (rule->words && !rule->words[0])
        rule->words = strv_free(rule->words);
    if (rule->tool && rule->tool[0] == '\0')
        return rein_fail(reterr, -EINVAL, "bad_request", "config", "the name of the tool is empty");
    return 0;
}

static int rule_make(
    struct rule *rule, const char *pattern, const char *file, int line, struct rein_error **reterr)
{
    char **words = NULL;
    int r = words_split(pattern, NULL, &words, reterr);

    if (r == 0)
        r = take_words(rule, words, reterr);
    if (r < 0)
        return rein_wrap(reterr, r, "%s:%d: %s", file, line, rule_verdict_name(rule->verdict));
    if (asprintf(&rule->text, "%s = %s", rule_verdict_name(rule->verdict), pattern) < 0) {
        rule->text = NULL;
        return rein_oom(reterr);
    }
    rule->line = line;
    return str_copy(&rule->file, file) < 0 ? rein_oom(reterr) : 0;
}

int rules_add(struct rules *rules,
              enum rule_verdict verdict,
              const char *pattern,
              const char *file,
              int line,
              struct rein_error **reterr)
{
    struct rule rule = {.verdict = verdict};
    struct rule *list;
    int r;

    if (rules->n >= RULES_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "config",
                         "%s:%d: there are more than %d rules", file, line, RULES_MAX);
    list = reallocarray(rules->list, rules->n + 1, sizeof(*list));
    if (!list)
        return rein_oom(reterr);
    rules->list = list;
    r = rule_make(&rule, pattern, file, line, reterr);
    if (r < 0) {
        rule_done(&rule);
        return r;
    }
    list[rules->n++] = rule;
    return 0;
}

/* ---- finding ------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* FNM_PATHNAME: `git*` is no pattern for `git/../other`. */
static bool program_fits(const struct rule *rule, const char *program)
{
    const char *pattern = rule->words[0];

    if (strcmp(pattern, "*") == 0 || fnmatch(pattern, program, FNM_PATHNAME) == 0)
        return true;
    return rule->verdict != RULE_ALLOW && !strchr(pattern, '/') &&
           fnmatch(pattern, base_name(program), FNM_PATHNAME) == 0;
}

static bool words_fit(const struct rule *rule, const char *const *argv)
{
    if (!rule->words)
        return true;
    if (!argv || !argv[0] || !program_fits(rule, argv[0]))
        return false;
    for (size_t i = 1; rule->words[i]; i++)
        if (!argv[i] || fnmatch(rule->words[i], argv[i], 0) != 0)
            return false;
    return true;
}

const struct rule *rules_find(const struct rules *rules, const char *tool, const char *const *argv)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->list[i];

        if ((!rule->tool || strcmp(rule->tool, tool) == 0) && words_fit(rule, argv))
            return rule;
    }
    return NULL;
}

static enum rule_verdict verdict_of(const struct rule *rule)
{
    return rule ? rule->verdict : RULE_NONE;
}

/* The strictest of what the rules say of the parts; and whether all of them are allowed. */
static const struct rule *find_strictest(const struct rules *rules,
                                         const char *tool,
                                         char **const *parts,
                                         size_t n_parts,
                                         bool *ret_all_allowed)
{
    const struct rule *strictest = NULL;

    *ret_all_allowed = n_parts > 0;
    for (size_t i = 0; i < n_parts; i++) {
        const struct rule *rule = rules_find(rules, tool, (const char *const *)parts[i]);

        if (verdict_of(rule) > verdict_of(strictest))
            strictest = rule;
        if (verdict_of(rule) != RULE_ALLOW)
            *ret_all_allowed = false;
    }
    return strictest;
}

enum rule_verdict rules_judge(const struct rules *rules,
                              const char *tool,
                              const char *const *whole,
                              char **const *parts,
                              size_t n_parts,
                              const struct rule **ret)
{
    bool all_allowed;
    const struct rule *strictest = find_strictest(rules, tool, parts, n_parts, &all_allowed);
    const struct rule *of_whole = NULL;

    if (whole || n_parts == 0) {
        of_whole = rules_find(rules, tool, whole);
        all_allowed = verdict_of(of_whole) == RULE_ALLOW;
    }
    if (verdict_of(of_whole) > verdict_of(strictest))
        strictest = of_whole;
    if (verdict_of(strictest) == RULE_ALLOW && !all_allowed)
        strictest = NULL;
    *ret = strictest;
    return verdict_of(strictest);
}
