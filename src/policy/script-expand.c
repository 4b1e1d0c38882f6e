/* What begins with "$" or a backtick: variables, substitutions, arithmetic. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

#define SOURCE_SHOWN_MAX 80 /* bytes of an expansion that stand for what it gives */

/* The source stands for what is not known; words show it to people. */
static void add_source(struct reader *r, struct word_build *b, size_t from)
{
    build_add(b, r->text + from, MIN(r->at - from, (size_t)SOURCE_SHOWN_MAX), MARK_UNKNOWN);
}

/* All values of a variable: one word each, the first and the last joined to what stands beside. */
static void
add_variable(struct reader *r, struct word_build *b, const struct variable *v, bool quoted)
{
    build_add_range(b, v->made_by);
    for (size_t i = 0; i < v->values.n; i++) {
        r->found->expanded += strlen(v->values.v[i].text);
        if (i > 0 && b->whole)
            build_add(b, " ", 1, MARK_QUOTED);
        else if (i > 0)
            build_end_word(r, b);
        b->quoted |= quoted;
        build_add_value(r, b, &v->values.v[i], quoted);
    }
}

/* false: not known here. What is known to be unset gives nothing. */
static bool
add_known(struct reader *r, struct word_build *b, const char *name, size_t len, bool quoted)
{
    struct variable scratch = {0};
    const struct variable *v;
    bool known = true;

    if (r->found->expanded > SCRIPT_EXPANSION_MAX)
        return false;
    v = variable_find(r, name, len, &scratch);
    if (v && !v->unknown)
        add_variable(r, b, v, quoted);
    else if (v || !r->found->setting->env || r->found->variables_lost)
        known = false;
    if (v && v->unknown)
        build_add_range(b, v->made_by);
    words_done(&scratch.values);
    return known;
}

/* ---- substitutions ------------------------------------------------------------------------ */

static void add_output(
    struct reader *r, struct word_build *b, struct command_range range, size_t from, bool quoted)
{
    auto_free char *output = NULL;
    struct word value = {0};

    if (known_output(r->found->script, range, &output) < 0)
        reader_oom(r);
    value.text = output;
    build_add_range(b, range);
    if (output && r->found->expanded + strlen(output) <= SCRIPT_EXPANSION_MAX) {
        r->found->expanded += strlen(output);
        build_add_value(r, b, &value, quoted);
    } else {
        add_source(r, b, from);
    }
}

static void read_substitution(struct reader *r, struct word_build *b, bool quoted)
{
    size_t from = r->at;
    struct command_range range;

    r->at += 2;
    range = read_parentheses(r);
    if (!reader_stopped(r))
        add_output(r, b, range, from, quoted);
}

/* The text between backticks, without the backslashes that protect it there. NULL: not closed. */
static char *between_backticks(struct reader *r, bool quoted)
{
    struct buf inner = {0};

    for (r->at++; r->text[r->at] != '`'; r->at++) {
        const char *p = r->text + r->at;

        if (*p == '\0') {
            buf_done(&inner);
            reader_fail(r, "a backtick that is not closed");
            return NULL;
        }
        if (*p == '\\' && p[1] && (strchr("$`\\", p[1]) || (quoted && p[1] == '"')))
            r->at++;
        buf_add_char(&inner, r->text[r->at]);
    }
    r->at++;
    return buf_take(&inner);
}

/* A text of its own within this one. */
static struct command_range read_nested(struct reader *r, const char *text, size_t origin)
{
    struct command_range range = {.from = r->found->script->n};
    const char *folder = r->found->folder;
    struct reader *inner = calloc(1, sizeof(*inner));

    if (!inner) {
        reader_oom(r);
        return range;
    }
    inner->text = text;
    inner->origin = origin;
    inner->found = r->found;
    if (reader_enter(inner)) {
        read_list(inner);
        if (inner->text[inner->at] != '\0')
            reader_fail(inner, "something that closes nothing");
        reader_leave(inner);
    }
    here_documents_drop(inner);
    free(inner);
    r->found->folder = folder;
    range.to = r->found->script->n;
    return range;
}

void read_backticks(struct reader *r, struct word_build *b, bool quoted)
{
    size_t from = r->at;
    auto_free char *inner = between_backticks(r, quoted);

    if (!inner) {
        if (!reader_stopped(r))
            reader_oom(r);
        return;
    }
    add_output(r, b, read_nested(r, inner, r->origin + from), from, quoted);
}

/* ---- arithmetic --------------------------------------------------------------------------- */

/* Through what closes it; only substitutions within can run anything. */
static void
read_arithmetic(struct reader *r, struct word_build *b, char open, char close, size_t depth)
{
    struct word_build inner = {.out = b->out, .whole = true};

    while (!reader_stopped(r) && depth > 0) {
        char c = r->text[r->at];

        if (c == '\0') {
            reader_fail(r, "arithmetic that is not closed");
        } else if (c == '$') {
            read_dollar(r, &inner, true);
        } else if (c == '`') {
            read_backticks(r, &inner, true);
        } else {
            depth += c == open;
            depth -= c == close;
            r->at += c == '\\' && r->text[r->at + 1] ? 2 : 1;
        }
        if (inner.text.len > KIB) { /* it is thrown away */
            buf_clear(&inner.text);
            buf_clear(&inner.marks);
        }
    }
    build_add_range(b, inner.made_by);
    build_done(r, &inner);
}

/* "((" is arithmetic where "))" closes it, else a subshell in another. */
bool is_arithmetic(const char *p)
{
    size_t depth = 0;

    for (; *p; p++) {
        depth += *p == '(';
        if (*p == ')' && --depth == 1)
            return p[1] == ')';
        if (*p == '\\' && p[1])
            p++;
    }
    return true;
}

void pass_arithmetic(struct reader *r)
{
    struct words nothing = {0};
    struct word_build b = {.out = &nothing, .whole = true};

    r->at += 2;
    read_arithmetic(r, &b, '(', ')', 2);
    build_done(r, &b);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* Reads up to the "}" of a parameter into b. */
static void read_up_to_brace(struct reader *r, struct word_build *b, bool quoted)
{
    while (!reader_stopped(r) && r->text[r->at] != '}') {
        const char *p = r->text + r->at;

        if (*p == '\0') {
            reader_fail(r, "a ${ that is not closed");
        } else if (*p == '\'' && !quoted) {
            read_single_quoted(r, b);
        } else if (*p == '"') {
            r->at++;
            read_double_quoted(r, b, '"');
        } else if (*p == '\\' && p[1]) {
            build_add(b, p + 1, 1, MARK_QUOTED);
            r->at += 2;
        } else if (*p == '$') {
            read_dollar(r, b, quoted);
        } else if (*p == '`') {
            read_backticks(r, b, quoted);
        } else if (!quoted && !b->whole && (is_blank(*p) || *p == '\n')) {
            build_end_word(r, b);
            r->at++;
        } else {
            build_add(b, p, 1, quoted ? MARK_QUOTED : MARK_ACTIVE);
            r->at++;
        }
    }
    if (!reader_stopped(r))
        r->at++;
}

/* The same, only for the commands within. */
static void pass_up_to_brace(struct reader *r, struct word_build *b, bool quoted)
{
    struct words nothing = {0};
    struct word_build inner = {.out = &nothing, .whole = true};

    read_up_to_brace(r, &inner, quoted);
    build_add_range(b, inner.made_by);
    build_done(r, &inner);
    words_done(&nothing);
}

static bool is_set(struct reader *r, const char *name, size_t len, bool *ret_known)
{
    struct variable scratch = {0};
    const struct variable *v = variable_find(r, name, len, &scratch);
    bool set = v && !v->unknown && v->values.n > 0 && v->values.v[0].text[0];

    *ret_known = v ? !v->unknown : r->found->setting->env && !r->found->variables_lost;
    words_done(&scratch.values);
    return set;
}

static size_t parameter_length(const char *p)
{
    size_t n = name_length(p);

    if (n == 0 && *p >= '0' && *p <= '9')
        n = strspn(p, "0123456789");
    else if (n == 0 && *p && strchr("@*#?-$!", *p))
        n = 1;
    return n;
}

/* ":-word" and its kin. false when it is another operation. */
static bool
read_default(struct reader *r, struct word_build *b, size_t name, size_t len, bool quoted)
{
    const char *p = r->text + r->at;
    char operation = *p == ':' ? p[1] : *p;
    bool known, set;

    if (!operation || !strchr("-=+?", operation))
        return false;
    set = is_set(r, r->text + name, len, &known);
    if (!known || (operation == '?' && !set)) /* then the shell gives up */
        return false;
    r->at += *p == ':' ? 2 : 1;
    if (operation == '+' ? set : !set) {
        read_up_to_brace(r, b, quoted);
        return true;
    }
    if (set && operation != '+')
        (void)add_known(r, b, r->text + name, len, quoted);
    pass_up_to_brace(r, b, quoted);
    return true;
}

/* "[n]" behind an array's name. false: it is something else, and stays. */
static bool
read_element(struct reader *r, struct word_build *b, size_t name, size_t len, bool quoted)
{
    const char *p = r->text + r->at;
    size_t digits = *p == '[' ? strspn(p + 1, "0123456789") : 0;
    struct variable scratch = {0};
    const struct variable *v;
    size_t index;
    bool known;

    if (digits < 1 || digits > 4 || strncmp(p + 1 + digits, "]}", 2) != 0)
        return false;
    index = (size_t)strtoul(p + 1, NULL, 10);
    v = variable_find(r, r->text + name, len, &scratch);
    known = v && !v->unknown && index < v->values.n && r->found->expanded <= SCRIPT_EXPANSION_MAX;
    if (known) {
        r->found->expanded += strlen(v->values.v[index].text);
        b->quoted |= quoted;
        build_add_value(r, b, &v->values.v[index], quoted);
        r->at += digits + 3;
    }
    words_done(&scratch.values);
    return known;
}

static void read_parameter(struct reader *r, struct word_build *b, bool quoted)
{
    size_t from = r->at, name, len;

    name = r->at += 2;
    len = parameter_length(r->text + name);
    r->at += len;
    if (len > 0 && (strncmp(r->text + r->at, "[@]", 3) == 0 || !strncmp(r->text + r->at, "[*]", 3)))
        r->at += 3;
    if (len > 0 && r->text[r->at] == '}') {
        r->at++;
        if (!add_known(r, b, r->text + name, len, quoted))
            add_source(r, b, from);
        return;
    }
    if ((len > 0 && read_element(r, b, name, len, quoted)) || !reader_enter(r))
        return;
    if (len == 0 || !read_default(r, b, name, len, quoted)) {
        pass_up_to_brace(r, b, quoted);
        if (!reader_stopped(r))
            add_source(r, b, from);
    }
    reader_leave(r);
}

static void read_variable(struct reader *r, struct word_build *b, bool quoted)
{
    size_t from = r->at, len;
    const char *name = r->text + from + 1;

    len = parameter_length(name);
    if (*name >= '0' && *name <= '9')
        len = 1;
    r->at += 1 + len;
    if (len == 0)
        build_add(b, "$", 1, quoted ? MARK_QUOTED : MARK_ACTIVE);
    else if (!add_known(r, b, name, len, quoted))
        add_source(r, b, from);
}

void read_dollar(struct reader *r, struct word_build *b, bool quoted)
{
    const char *p = r->text + r->at;
    size_t from = r->at;

    if (p[1] == '{') {
        read_parameter(r, b, quoted);
    } else if (p[1] == '\'' && !quoted) {
        read_ansi_quoted(r, b);
    } else if (p[1] == '"' && !quoted) {
        r->at += 2;
        read_double_quoted(r, b, '"');
    } else if (p[1] == '(' && (p[2] != '(' || !is_arithmetic(p + 1))) {
        read_substitution(r, b, quoted);
    } else if (p[1] == '(' || p[1] == '[') {
        if (!reader_enter(r))
            return;
        r->at += p[1] == '(' ? 3 : 2;
        read_arithmetic(r, b, p[1] == '(' ? '(' : '[', p[1] == '(' ? ')' : ']',
                        p[1] == '(' ? 2 : 1);
        if (!reader_stopped(r))
            add_source(r, b, from);
        reader_leave(r);
    } else {
        read_variable(r, b, quoted);
    }
}
