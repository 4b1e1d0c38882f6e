/* One word from the text: quotes, escapes, and where it ends. */
#include "script-internal.h"

#include <string.h>

bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool ends_word(char c)
{
    return strchr(" \t\n;&|<>()", c) != NULL; /* the end of the text, too */
}

size_t name_length(const char *text)
{
    size_t n = 0;

    while (text[n] == '_' || (text[n] >= 'a' && text[n] <= 'z') ||
           (text[n] >= 'A' && text[n] <= 'Z') || (n > 0 && text[n] >= '0' && text[n] <= '9'))
        n++;
    return n;
}

void skip_blanks(struct reader *r)
{
    for (;;) {
        const char *p = r->text + r->at;

        if (is_blank(*p))
            r->at++;
        else if (p[0] == '\\' && p[1] == '\n')
            r->at += 2;
        else
            return;
    }
}

/* ---- quotes ------------------------------------------------------------------------------- */

void read_single_quoted(struct reader *r, struct word_build *b)
{
    const char *begin = r->text + r->at + 1;
    const char *end = strchr(begin, '\'');

    b->quoted = true;
    if (!end) {
        reader_fail(r, "a single quote that is not closed");
        return;
    }
    build_add(b, begin, (size_t)(end - begin), MARK_QUOTED);
    r->at = (size_t)(end - r->text) + 1;
}

static void read_escaped(struct reader *r, struct word_build *b)
{
    char c = r->text[r->at + 1];

    r->at++;
    if (c == '\0') {
        build_add(b, "\\", 1, MARK_QUOTED);
        return;
    }
    if (c != '\n')
        build_add(b, &c, 1, MARK_QUOTED);
    r->at++;
}

static void read_escaped_in_quotes(struct reader *r, struct word_build *b, char end)
{
    const char *p = r->text + r->at;
    bool special = p[1] && strchr("$`\\\n", p[1]);

    if (special || (p[1] == end && end)) {
        read_escaped(r, b);
        return;
    }
    build_add(b, p, 1, MARK_QUOTED);
    r->at++;
}

/* Through end; with '\0' up to the end of the text, as in a here-document. */
void read_double_quoted(struct reader *r, struct word_build *b, char end)
{
    b->quoted = true;
    while (!reader_stopped(r)) {
        const char *p = r->text + r->at;
        size_t plain = strcspn(p, end == '"' ? "\"\\$`" : "\\$`");

        build_add(b, p, plain, MARK_QUOTED);
        r->at += plain;
        p += plain;
        if (*p == '\0' || *p == end)
            break;
        if (*p == '\\')
            read_escaped_in_quotes(r, b, end);
        else if (*p == '$')
            read_dollar(r, b, /* quoted= */ true);
        else
            read_backticks(r, b, /* quoted= */ true);
    }
    if (reader_stopped(r) || end == '\0')
        return;
    if (r->text[r->at] == '\0')
        reader_fail(r, "a double quote that is not closed");
    else
        r->at++;
}

/* ---- words -------------------------------------------------------------------------------- */

/* "@(a|b)" and the like: names that only the folder's content tells. */
static void read_extended_glob(struct reader *r, struct word_build *b)
{
    size_t depth = 0, from = r->at++;

    do {
        char c = r->text[r->at++];

        if (c == '\0') {
            r->at = from;
            reader_fail(r, "a pattern in parentheses that is not closed");
            return;
        }
        depth += c == '(';
        depth -= c == ')';
    } while (depth > 0);
    build_add(b, "*", 1, MARK_ACTIVE);
}

static bool is_extended_glob(const char *p)
{
    return p[1] == '(' && strchr("?*+@!", p[0]);
}

/* What < > ( ) | & are in [[ ]]: characters of a word, but for a parenthesis that stands alone. */
static bool ends_here(char c, enum word_mode mode)
{
    return mode == WORD_TEST ? strchr(" \t\n;", c) != NULL : ends_word(c);
}

static size_t plain_length(const char *p, enum word_mode mode)
{
    size_t n = 0;

    while (p[n] && !ends_here(p[n], mode) && !strchr("'\"\\$`?*+@!", p[n]))
        n++;
    return n;
}

static void read_part(struct reader *r, struct word_build *b, enum word_mode mode)
{
    const char *p = r->text + r->at;
    size_t plain = plain_length(p, mode);

    if (plain > 0) {
        build_add(b, p, plain, MARK_ACTIVE);
        r->at += plain;
    } else if (*p == '\'') {
        read_single_quoted(r, b);
    } else if (*p == '"') {
        r->at++;
        read_double_quoted(r, b, '"');
    } else if (*p == '\\') {
        read_escaped(r, b);
    } else if (*p == '$') {
        read_dollar(r, b, /* quoted= */ false);
    } else if (*p == '`') {
        read_backticks(r, b, /* quoted= */ false);
    } else if (is_extended_glob(p)) {
        read_extended_glob(r, b);
    } else {
        build_add(b, p, 1, MARK_ACTIVE);
        r->at++;
    }
}

void read_word(struct reader *r, struct words *out, enum word_mode mode)
{
    struct word_build b = {.out = out, .whole = mode != WORD_PLAIN};

    while (!reader_stopped(r) && !ends_here(r->text[r->at], mode))
        read_part(r, &b, mode);
    if (!reader_stopped(r))
        build_end_word(r, &b);
    build_done(r, &b);
}

/* "<(list)" is the name of a file with what the list prints, ">(list)" of one that the list reads.
 */
void read_process_substitution(struct reader *r, struct words *out)
{
    size_t from = r->at, inner = r->found->script->n, pipe = PIPE_NONE;
    bool feeds_it = r->text[r->at] == '>';
    struct word_build b = {.out = out};

    r->at += 2;
    b.made_by = read_parentheses(r);
    if (!reader_stopped(r) && feeds_it) {
        struct command_range self = {r->found->script->n, r->found->script->n + 1};

        if (script_add_pipe(r->found->script, self, &pipe) < 0)
            reader_oom(r);
        for (size_t i = inner; i < r->found->script->n; i++)
            if (r->found->script->commands[i].reads_pipe == PIPE_NONE)
                r->found->script->commands[i].reads_pipe = pipe;
        b.made_by = (struct command_range){0};
    }
    if (!reader_stopped(r)) {
        build_add(&b, r->text + from, r->at - from, MARK_UNKNOWN);
        build_end_word(r, &b);
    }
    build_done(r, &b);
}
