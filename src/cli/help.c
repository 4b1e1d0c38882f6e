/* Help texts, made from the tables of verbs and options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/suggest.h"
#include "print.h"
#include "tools/error-codes.h"
#include "verbs.h"

#define HELP_COLUMN 31 /* where explanations begin */
#define HELP_WIDTH 79

#define VERBS_OF_JOBS                                                                              \
    (VERB_PS | VERB_OUTPUT | VERB_WAIT | VERB_STOP | VERB_SEND | VERB_RM | VERB_GC)

static const char *const group_titles[GROUP_MAX] = {
    [GROUP_TIME] = "Time and end",
    [GROUP_WHAT] = "What runs",
    [GROUP_BACKGROUND] = "In the background",
    [GROUP_ENVIRONMENT] = "Environment",
    [GROUP_INPUT] = "Input",
    [GROUP_OUTPUT] = "Output",
    [GROUP_LIMITS] = "Limits",
    [GROUP_GATE] = "Gate",
    [GROUP_OTHER] = "Other",
    [GROUP_LATER] = NULL,
};

static void add_spaces(struct buf *b, size_t n)
{
    buf_add_format(b, "%*s", (int)n, "");
}

/* Adds words from the given column on, broken into lines. */
static void add_wrapped(struct buf *b, const char *text, size_t column)
{
    while (*text) {
        size_t len = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + len > HELP_WIDTH) {
            buf_add_char(b, '\n');
            add_spaces(b, HELP_COLUMN);
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buf_add_char(b, ' ');
            column++;
        }
        buf_add(b, text, len);
        column += len;
        text += len + strspn(text + len, " ");
    }
    buf_add_char(b, '\n');
}

/* A name, and its explanation in the second column. */
static void add_row(struct buf *b, const char *name, const char *text)
{
    size_t len = strlen(name);

    buf_add_str(b, name);
    if (len + 2 > HELP_COLUMN) {
        buf_add_char(b, '\n');
        len = 0;
    }
    add_spaces(b, HELP_COLUMN - len);
    add_wrapped(b, text, HELP_COLUMN);
}

static void add_option(struct buf *b, const struct option *o)
{
    auto_buf struct buf name = {0};
    auto_buf struct buf text = {0};

    if (o->short_name && o->name)
        buf_add_format(&name, "  -%c, --%s", o->short_name, o->name);
    else if (o->short_name)
        buf_add_format(&name, "  -%c", o->short_name);
    else
        buf_add_format(&name, "      --%s", o->name);
    if (o->arg)
        buf_add_format(&name, " %s", o->arg);
    buf_add_str(&text, o->help);
    if (o->arg)
        buf_add_format(&text, " [%s]", o->unset);
    if (buf_error(&name) == 0 && buf_error(&text) == 0)
        add_row(b, name.data, text.data);
}

static const char *group_title(int group, unsigned verb)
{
    bool starts = verb & (VERB_RUN | VERB_CODE | VERB_START);

    return group == GROUP_WHAT && !starts ? "What to do" : group_titles[group];
}

static void add_options(struct buf *b, unsigned verb)
{
    for (int group = 0; group < GROUP_MAX; group++) {
        bool titled = false;

        for (size_t i = 0; i < OPTION_MAX; i++) {
            const struct option *o = &option_table[i];

            if (!(o->verbs & verb) || o->group != group || o->kind == KIND_LATER)
                continue;
            if (!titled)
                buf_add_format(b, "\n%s:\n", group_title(group, verb));
            titled = true;
            add_option(b, o);
        }
    }
}

static void add_verb_help(struct buf *b, const struct verb *verb)
{
    buf_add_format(b, "Usage: rein %s %s\n\n%c%s.\n", verb->name, verb->usage,
                   verb->summary[0] - 'a' + 'A', verb->summary + 1);
    add_options(b, verb->bit);
    if (verb->bit & (VERB_RUN | VERB_CODE | VERB_START))
        buf_add_str(b, "\nDUR: 10, 1.5s, 500ms, 5m, 1h. SIZE: 4096, 64K, 1M, 2G (powers of 1024).\n"
                       "Options have a variable (REIN_CPU_TIME) and a configuration key "
                       "(cpu-time).\n");
    if (verb->bit & (VERB_RUN | VERB_CODE))
        buf_add_str(b, "Exit status: the command's own; 124 deadline; 125 rein failed or refused;\n"
                       "126 not executable; 127 not found; 128+N ended by signal N.\n");
    else if (verb->bit == VERB_START)
        buf_add_str(b, "Exit status: 0 it runs; 125 rein failed or refused; 126 not executable;\n"
                       "127 not found.\n");
    else if (verb->bit == VERB_TOOL)
        buf_add_str(b, "\nExit status of a call: 0 with a result, also of a command that failed; 1 "
                       "with an\nerror object; 2 usage.\n");
    else if (verb->bit == VERB_AUDIT)
        buf_add_str(b, "\nExit status: 0; 1 verify found a fault; 2 usage; 125 rein failed.\n");
    else if (verb->bit & VERBS_OF_JOBS)
        buf_add_str(b, "\nExit status: 0; 1 no such job, ended before, nothing matched; 2 usage;\n"
                       "124 the wait ran out; 125 rein failed.\n");
}

static void add_program_help(struct buf *b)
{
    size_t n;
    const struct verb *verbs = verb_table(&n);

    buf_add_str(b, "Usage: rein VERB [OPTIONS] ...\n\n"
                   "Runs a command or a piece of code and keeps hold of it to the end.\n\n");
    for (size_t i = 0; i < n; i++) {
        auto_buf struct buf name = {0};

        buf_add_format(&name, "  rein %s", verbs[i].name);
        if (verbs[i].summary && buf_error(&name) == 0)
            add_row(b, name.data, verbs[i].summary);
    }
    add_row(b, "  rein --version", "print the version");
    buf_add_str(b, "\n\"rein help VERB\" explains one of them; so does rein(1), the manual.\n");
}

int help_print(const struct verb *verb, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    if (verb)
        add_verb_help(&b, verb);
    else
        add_program_help(&b);
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return print_text(b.data, b.len, reterr);
}

int verb_help(struct call *call, struct rein_error **reterr)
{
    const struct verb *verb = NULL;

    if (call->line.n_operands > 1)
        return rein_fail(reterr, -EINVAL, "bad_request", "help", "help: one VERB at most");
    if (call->line.n_operands == 1) {
        verb = verb_find(call->line.operands[0]);
        if (!verb)
            return rein_fail_hint(reterr, -EINVAL, "bad_request", "help", HELP_HINT,
                                  "help: no such verb '%s'", call->line.operands[0]);
        if (!verb->summary)
            return rein_fail(reterr, -ENOTSUP, "bad_request", "help",
                             "%s: not supported by this version", verb->name);
    }
    return help_print(verb, reterr);
}
