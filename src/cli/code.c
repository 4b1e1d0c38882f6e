/* rein code: a piece of code, from the command line, a file or standard input. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io-util.h"
#include "code/languages.h"
#include "code/script.h"
#include "execute.h"
#include "print.h"
#include "tools/result-json.h"
#include "verbs.h"

#define READ_CHUNK (64u << 10)

/* ---- --list ------------------------------------------------------------------------------- */

static void list_text(struct buf *b)
{
    for (size_t i = 0; i < language_count(); i++) {
        const struct language *language = language_at(i);

        buf_add_format(b, "%s\t", language->name);
        for (const char *const *alias = language->aliases; *alias; alias++)
            buf_add_format(b, "%s%s", alias == language->aliases ? "" : " ", *alias);
        buf_add_char(b, '\n');
    }
}

/* Names of languages are plain words, so that no escaping is needed. */
static void list_json(struct buf *b)
{
    buf_add_char(b, '[');
    for (size_t i = 0; i < language_count(); i++) {
        const struct language *language = language_at(i);

        buf_add_format(b, "%s{\"name\": \"%s\", \"aliases\": [", i ? ", " : "", language->name);
        for (const char *const *alias = language->aliases; *alias; alias++)
            buf_add_format(b, "%s\"%s\"", alias == language->aliases ? "" : ", ", *alias);
        buf_add_str(b, "]}");
    }
    buf_add_str(b, "]\n");
}

static int list_languages(const struct settings *s, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    if (s->format == FORMAT_TEXT)
        list_text(&b);
    else
        list_json(&b);
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
    r = choose_code(call, &input, &code, reterr);
    if (r < 0)
        return r;
    return execute(&call->settings, &what, reterr);
}
