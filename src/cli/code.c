/* rein code: a piece of code, from the command line, a file or standard input. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/json-write.h"
#include "code/code.h"
#include "code/languages.h"
#include "code/script.h"
#include "execute.h"
#include "print.h"
#include "tools/result-json.h"
#include "verbs.h"

#define READ_CHUNK (64u << 10)

DEFINE_FREEP(rein, rein_free)

/* ---- --list ------------------------------------------------------------------------------- */

/* One language: its names and where its interpreter is, for people in three columns, else as JSON.
 */
static void add_text(struct buf *b, const struct language *language, const char *path)
{
    size_t begin = b->len;

    buf_add_format(b, "%-11s", language->name);
    for (const char *const *alias = language->aliases; *alias; alias++)
        buf_add_format(b, "%s ", *alias);
    buf_add_format(b, "%*s%s\n", (int)MAX(34 - (int)(b->len - begin), 1), "",
                   path ? path : "(not found)");
}

static void add_json(struct buf *b, const struct language *language, const char *path)
{
    buf_add_str(b, "{\"name\": ");
    json_write_string(b, language->name);
    buf_add_str(b, ", \"aliases\": ");
    json_write_strings(b, language->aliases);
    buf_add_str(b, ", \"interpreter\": ");
    json_write_string(b, path);
    buf_add_char(b, '}');
}

/* The interpreters are those that a job with these settings would get. */
static int list_languages(const struct settings *s, struct rein_error **reterr)
{
    struct rein_spec spec = {
        .size = sizeof(spec), .cwd = s->cwd, .env = (const char *const *)s->env};
    auto_(rein_freep) rein *r = rein_open(NULL, reterr);
    auto_buf struct buf b = {0};
    int is_text = s->format == FORMAT_TEXT;

    if (!r)
        return -EINVAL;
    spec.env_profile = s->env_profile;
    buf_add_str(&b, is_text ? "" : "[");
    for (size_t i = 0; i < language_count(); i++) {
        auto_free char *path = NULL;

        if (code_interpreter(r, language_at(i), &spec, &path, NULL) < 0)
            path = NULL;
        buf_add_str(&b, is_text || i == 0 ? "" : ", ");
        (is_text ? add_text : add_json)(&b, language_at(i), path);
    }
    buf_add_str(&b, is_text ? "" : "]\n");
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return print_text(b.data, b.len, reterr);
}

/* ---- what to run -------------------------------------------------------------------------- */

static int read_code(struct buf *b, struct rein_error **reterr)
{
    for (;;) {
        ssize_t n;

        if (buf_reserve(b, READ_CHUNK) < 0)
            return rein_oom(reterr);
        n = io_read(STDIN_FILENO, b->data + b->len, READ_CHUNK);
        if (n < 0)
            return rein_fail(reterr, (int)n, "bad_request", "read",
                             "cannot read the code from standard input: %s", strerror((int)-n));
        if (n == 0)
            return 0;
        b->len += (size_t)n;
        if (b->len > CODE_SIZE_MAX)
            return rein_fail(reterr, -E2BIG, "limit_exceeded", "read",
                             "the code on standard input has more than %d MiB",
                             (int)(CODE_SIZE_MAX / MIB));
    }
}

/* The code itself takes standard input, so the job cannot have it. */
static int take_standard_input(const struct settings *s,
                               struct buf *input,
                               struct rein_code *code,
                               struct rein_error **reterr)
{
    int r;

    if (s->stdin_from && strcmp(s->stdin_from, "inherit") == 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "give the code as FILE or with -c",
                              "--stdin inherit: the code comes from standard input");
    r = read_code(input, reterr);
    code->text = input->data;
    code->text_size = input->len;
    return r;
}

static int choose_code(const struct call *call,
                       struct buf *input,
                       struct rein_code *code,
                       struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    const char *file = call->line.n_operands > 1 ? call->line.operands[1] : NULL;

    if (s->code && file)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "arguments of the code go after --",
                              "code: both -c CODE and FILE '%s'", file);
    if (s->code) {
        code->text = s->code;
        code->text_size = strlen(s->code);
        return 0;
    }
    if (file && strcmp(file, "-") != 0) {
        code->file = file;
        return 0;
    }
    return take_standard_input(s, input, code, reterr);
}

/* One that is configured is meant for the languages that have such a thing. */
static const char *choose_prelude(const struct settings *s, const struct language *language)
{
    if (!s->prelude || strcmp(s->prelude, "none") == 0)
        return NULL;
    if (!language->prelude && s->origins[OPT_PRELUDE].source != SOURCE_FLAG)
        return NULL;
    return s->prelude;
}

int verb_code(struct call *call, struct rein_error **reterr)
{
    const struct command_line *line = &call->line;
    struct rein_code code = {.size = sizeof(code), .args = line->rest};
    struct execution what = {.code = &code};
    const struct language *language;
    auto_buf struct buf input = {0};
    int r;

    if (call->settings.list)
        return list_languages(&call->settings, reterr);
    if (line->n_operands == 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "rein code --list lists them", "code: LANGUAGE is missing");
    if (line->n_operands > 2)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "arguments of the code go after --",
                              "code: '%s' is one argument too many", line->operands[2]);
    code.language = line->operands[0];
    r = language_require(code.language, &language, reterr); /* before standard input is read */
    if (r < 0)
        return r;
    code.prelude = choose_prelude(&call->settings, language);
    r = choose_code(call, &input, &code, reterr);
    if (r < 0)
        return r;
    return execute(&call->settings, &what, reterr);
}
