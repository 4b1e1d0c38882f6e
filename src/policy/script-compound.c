/* Compound commands and functions, and which kind of command stands at a place. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

/* ---- compound commands -------------------------------------------------------------------- */

/* A loop's body may stand in braces, too. */
static void read_do(struct reader *r)
{
    bool braces;

    skip_lines(r);
    braces = take_keyword(r, "{");
    if (!braces)
        expect_keyword(r, "do", "a loop without do");
    read_list(r);
    expect_keyword(r, braces ? "}" : "done", "a loop that is not closed");
}

static void read_if(struct reader *r)
{
    do {
        read_list(r);
        expect_keyword(r, "then", "an if without then");
        read_list(r);
        skip_lines(r);
    } while (!reader_stopped(r) && take_keyword(r, "elif"));
    if (take_keyword(r, "else"))
        read_list(r);
    expect_keyword(r, "fi", "an if that is not closed");
}

static void read_while(struct reader *r)
{
    read_list(r);
    read_do(r);
}

static void read_values(struct reader *r, struct words *values)
{
    for (skip_blanks(r); !reader_stopped(r) && !strchr(";\n", r->text[r->at]); skip_blanks(r)) {
        size_t before = r->at;

        if ((r->text[r->at] == '<' || r->text[r->at] == '>') && r->text[r->at + 1] == '(')
            read_process_substitution(r, values);
        else
            read_word(r, values, WORD_PLAIN);
        if (r->at == before)
            reader_fail(r, "something that does not belong into a loop's list");
    }
}

static void set_loop_variable(struct reader *r, const char *name, size_t len, struct words *values)
{
    struct variable *v = variable_set(r, name, len);

    for (size_t i = 0; v && i < values->n; i++) {
        v->unknown |= values->v[i].unknown;
        v->made_by = values->v[i].made_by;
    }
    if (v) {
        v->values = *values;
        *values = (struct words){0};
    }
}

static void read_for(struct reader *r)
{
    auto_words struct words values = {0};
    const char *name;
    size_t len;

    skip_blanks(r);
    if (strncmp(r->text + r->at, "((", 2) == 0) {
        pass_arithmetic(r);
        skip_blanks(r);
        r->at += r->text[r->at] == ';';
        read_do(r);
        return;
    }
    name = r->text + r->at;
    len = name_length(name);
    r->at += len;
    skip_lines(r);
    if (take_keyword(r, "in")) {
        read_values(r, &values);
        set_loop_variable(r, name, len, &values);
    } else {
        variable_forget(r, name, len);
    }
    skip_blanks(r);
    r->at += r->text[r->at] == ';';
    read_do(r);
}

static void read_patterns(struct reader *r)
{
    auto_words struct words patterns = {0};

    r->at += r->text[r->at] == '(';
    for (;;) {
        size_t before = r->at;

        skip_blanks(r);
        read_word(r, &patterns, WORD_WHOLE);
        skip_blanks(r);
        if (reader_stopped(r))
            return;
        if (r->text[r->at] == '|' && r->at > before) {
            r->at++;
        } else if (r->text[r->at] == ')') {
            r->at++;
            return;
        } else {
            reader_fail(r, "a pattern of a case that is not closed");
        }
    }
}

static void read_case(struct reader *r)
{
    auto_words struct words subject = {0};

    skip_blanks(r);
    read_word(r, &subject, WORD_WHOLE);
    expect_keyword(r, "in", "a case without in");
    for (;;) {
        skip_lines(r);
        if (reader_stopped(r) || take_keyword(r, "esac"))
            return;
        read_patterns(r);
        read_list(r);
        skip_lines(r);
        if (r->text[r->at] == ';') {
            r->at += 2;
            r->at += r->text[r->at - 1] == ';' && r->text[r->at] == '&';
        } else if (!at_keyword(r, "esac")) {
            reader_fail(r, "a case that is not closed");
        }
    }
}

static void read_group(struct reader *r)
{
    read_list(r);
    expect_keyword(r, "}", "a { that is not closed");
}

static void read_coproc(struct reader *r)
{
    size_t len = name_length(r->text + r->at + strspn(r->text + r->at, " \t"));
    const char *next;

    skip_blanks(r);
    next = r->text + r->at + len;
    next += strspn(next, " \t");
    if (len > 0 && (*next == '{' || *next == '('))
        r->at = (size_t)(next - r->text);
    read_command(r);
}

/* ---- functions ---------------------------------------------------------------------------- */

/* The length of a function's name at p, when "()" is behind it. */
static size_t function_name_length(const char *p)
{
    size_t n = 0;
    const char *next;

    while (!ends_word(p[n]) && !strchr("'\"\\$`=", p[n]))
        n++;
    next = p + n + strspn(p + n, " \t");
    if (n == 0 || *next != '(')
        return 0;
    next++;
    next += strspn(next, " \t");
    return *next == ')' ? n : 0;
}

static void read_body(struct reader *r, const char *name, size_t len)
{
    struct script *script = r->found->script;
    size_t outer = r->found->function, index = script->n_functions;
    const char *folder = r->found->folder;

    if (index >= SCRIPT_FUNCTIONS_MAX) {
        reader_fail(r, "more functions than are looked at");
        return;
    }
    script->functions[index].name = strndup(name, len);
    if (!script->functions[index].name) {
        reader_oom(r);
        return;
    }
    script->n_functions++;
    script->functions[index].body.from = script->n;
    r->found->function = index + 1;
    skip_lines(r);
    read_command(r);
    r->found->function = outer;
    r->found->folder = folder;
    script->functions[index].body.to = script->n;
}

static void skip_empty_parentheses(struct reader *r)
{
    skip_blanks(r);
    if (r->text[r->at] == '(') {
        r->at++;
        skip_blanks(r);
        r->at += r->text[r->at] == ')';
    }
}

static void read_function(struct reader *r)
{
    const char *name;
    size_t len = 0;

    skip_blanks(r);
    name = r->text + r->at;
    while (!ends_word(name[len]))
        len++;
    r->at += len;
    skip_empty_parentheses(r);
    read_body(r, name, len);
}

/* ---- a command ---------------------------------------------------------------------------- */

static const struct compound {
    const char *keyword;
    void (*read)(struct reader *r);
} compounds[] = {
    {"if", read_if},   {"while", read_while},   {"until", read_while},
    {"for", read_for}, {"select", read_for},    {"case", read_case},
    {"{", read_group}, {"coproc", read_coproc}, {"function", read_function},
};

static bool read_compound(struct reader *r)
{
    if (r->text[r->at] == '(') {
        if (r->text[r->at + 1] == '(' && is_arithmetic(r->text + r->at)) {
            pass_arithmetic(r);
        } else {
            r->at++;
            (void)read_parentheses(r);
        }
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(compounds); i++)
        if (take_keyword(r, compounds[i].keyword)) {
            compounds[i].read(r);
            return true;
        }
    return false;
}

void read_command(struct reader *r)
{
    size_t from = r->found->script->n, name, len;

    if (!reader_enter(r))
        return;
    skip_blanks(r);
    name = r->at;
    if (read_compound(r)) {
        read_redirects_of_group(r, from);
    } else if ((len = function_name_length(r->text + r->at)) > 0) {
        r->at += len;
        skip_empty_parentheses(r);
        read_body(r, r->text + name, len);
    } else {
        read_simple_command(r);
    }
    reader_leave(r);
}
