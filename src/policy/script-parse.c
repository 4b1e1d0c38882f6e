/* The shell's grammar from the outside in: texts, lists, pipelines. */
#include "script-parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

/* ---- the reader --------------------------------------------------------------------------- */

bool reader_stopped(const struct reader *r)
{
    return r->found->error || r->found->script->failed;
}

void reader_fail(struct reader *r, const char *why)
{
    struct script *script = r->found->script;

    if (reader_stopped(r))
        return;
    script->failed = why;
    script->failed_at = r->origin + r->at;
}

void reader_oom(struct reader *r)
{
    r->found->error = -ENOMEM;
}

bool reader_enter(struct reader *r)
{
    if (r->found->depth >= SCRIPT_DEPTH_MAX)
        reader_fail(r, "commands that are nested deeper than is looked at");
    else
        r->found->depth++;
    return !reader_stopped(r);
}

void reader_leave(struct reader *r)
{
    if (r->found->depth > 0)
        r->found->depth--;
}

void take_newline(struct reader *r)
{
    r->at++;
    here_documents_read(r);
}

/* Blanks, line ends and comments. */
void skip_lines(struct reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (r->text[r->at] == '#')
            r->at += strcspn(r->text + r->at, "\n");
        if (r->text[r->at] != '\n' || reader_stopped(r))
            return;
        take_newline(r);
    }
}

bool at_keyword(const struct reader *r, const char *keyword)
{
    size_t len = strlen(keyword);
    const char *p = r->text + r->at;

    return strncmp(p, keyword, len) == 0 && ends_word(p[len]);
}

bool take_keyword(struct reader *r, const char *keyword)
{
    if (!at_keyword(r, keyword))
        return false;
    r->at += strlen(keyword);
    return true;
}

void expect_keyword(struct reader *r, const char *keyword, const char *why)
{
    skip_lines(r);
    if (!reader_stopped(r) && !take_keyword(r, keyword))
        reader_fail(r, why);
}

static bool closes_list(const struct reader *r)
{
    static const char *const keywords[] = {"then", "do", "done", "fi", "elif", "else", "esac", "}"};
    const char *p = r->text + r->at;

    if (*p == '\0' || *p == ')' || (*p == ';' && (p[1] == ';' || p[1] == '&')))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
        if (at_keyword(r, keywords[i]))
            return true;
    return false;
}

/* ---- pipes -------------------------------------------------------------------------------- */

static void connect_pipe(struct reader *r, size_t from, size_t middle)
{
    struct script *script = r->found->script;
    struct command_range feeds = {from, middle};
    size_t pipe = PIPE_NONE;

    if (script_add_pipe(script, feeds, &pipe) < 0) {
        reader_oom(r);
        return;
    }
    for (size_t i = from; i < middle; i++)
        if (script->commands[i].writes_pipe == PIPE_NONE)
            script->commands[i].writes_pipe = pipe;
    for (size_t i = middle; i < script->n; i++)
        if (script->commands[i].reads_pipe == PIPE_NONE)
            script->commands[i].reads_pipe = pipe;
}

/* "!" and "time" change nothing about what runs. */
static void skip_prefixes(struct reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (r->text[r->at] == '!' && strchr(" \t\n(", r->text[r->at + 1])) {
            r->at++;
        } else if (take_keyword(r, "time")) {
            skip_blanks(r);
            (void)take_keyword(r, "-p");
        } else {
            return;
        }
    }
}

static void read_pipeline(struct reader *r)
{
    const char *folder = r->found->folder;
    size_t from, middle;

    skip_prefixes(r);
    from = r->found->script->n;
    read_command(r);
    skip_blanks(r);
    while (!reader_stopped(r) && r->text[r->at] == '|' && r->text[r->at + 1] != '|') {
        r->at += r->text[r->at + 1] == '&' ? 2 : 1;
        skip_lines(r);
        middle = r->found->script->n;
        r->found->folder = folder;
        skip_prefixes(r);
        read_command(r);
        connect_pipe(r, from, middle);
        from = middle;
        r->found->folder = folder;
        skip_blanks(r);
    }
}

static void read_and_or(struct reader *r)
{
    for (;;) {
        const char *p;

        read_pipeline(r);
        p = r->text + r->at;
        if (reader_stopped(r) || (strncmp(p, "&&", 2) != 0 && strncmp(p, "||", 2) != 0))
            return;
        r->at += 2;
        skip_lines(r);
    }
}

static void mark_background(struct reader *r, size_t from)
{
    for (size_t i = from; i < r->found->script->n; i++)
        r->found->script->commands[i].background = true;
}

void read_list(struct reader *r)
{
    for (;;) {
        size_t from = r->found->script->n;

        skip_lines(r);
        if (reader_stopped(r) || closes_list(r))
            return;
        read_and_or(r);
        skip_blanks(r);
        if (reader_stopped(r) || closes_list(r))
            return;
        if (r->text[r->at] == '&')
            mark_background(r, from);
        if (strchr(";&", r->text[r->at]))
            r->at++;
        else if (r->text[r->at] != '\n' && r->text[r->at] != '#')
            reader_fail(r, "something that does not belong there");
    }
}

struct command_range read_parentheses(struct reader *r)
{
    struct command_range range = {.from = r->found->script->n};
    const char *folder = r->found->folder;

    if (reader_enter(r)) {
        read_list(r);
        if (!reader_stopped(r) && r->text[r->at] != ')')
            reader_fail(r, "a parenthesis that is not closed");
        else if (!reader_stopped(r))
            r->at++;
        reader_leave(r);
    }
    r->found->folder = folder;
    range.to = r->found->script->n;
    return range;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void read_all(struct found *found, const char *text)
{
    struct reader *r = calloc(1, sizeof(*r));

    if (!r) {
        found->error = -ENOMEM;
        return;
    }
    r->text = text;
    r->found = found;
    read_list(r);
    if (r->text[r->at] != '\0')
        reader_fail(r, "something that closes nothing");
    here_documents_drop(r);
    free(r);
}

int script_parse(const char *text, const struct script_setting *setting, struct script **ret)
{
    auto_(script_freep) struct script *script = script_new();
    struct found *found = calloc(1, sizeof(*found));
    int error;

    if (!script || !found) {
        free(found);
        return -ENOMEM;
    }
    found->setting = setting;
    found->script = script;
    found->folder = setting->cwd;
    read_all(found, text);
    variables_done(found);
    /* A here-document without a last line end is read as if it had one. */
    script->failed_at = MIN(script->failed_at, strlen(text));
    error = found->error;
    free(found);
    if (error)
        return error;
    *ret = TAKE_PTR(script);
    return 0;
}
