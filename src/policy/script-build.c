/* Words in the making: characters and what each is, then braces, tildes and globs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

#define RANGE_ENDS 2 /* of {a..z} only the ends are looked at */

void build_add(struct word_build *b, const char *text, size_t len, enum mark mark)
{
    buf_add(&b->text, text, len);
    if (buf_reserve(&b->marks, len) < 0)
        return;
    memset(b->marks.data + b->marks.len, (int)mark, len);
    b->marks.len += len;
    b->marks.data[b->marks.len] = '\0';
}

void build_add_range(struct word_build *b, struct command_range range)
{
    if (range.from >= range.to)
        return;
    if (b->made_by.from >= b->made_by.to)
        b->made_by = range;
    b->made_by.from = MIN(b->made_by.from, range.from);
    b->made_by.to = MAX(b->made_by.to, range.to);
}

/* Splits at blanks, as an expansion outside quotes does. */
static void add_split(struct reader *r, struct word_build *b, const struct word *value)
{
    enum mark mark = value->unknown ? MARK_UNKNOWN : MARK_ACTIVE;
    const char *text = value->text;

    while (*text) {
        size_t blanks = strspn(text, " \t\n");
        size_t len = strcspn(text + blanks, " \t\n");

        if (blanks > 0)
            build_end_word(r, b);
        build_add(b, text + blanks, len, mark);
        text += blanks + len;
    }
}

void build_add_value(struct reader *r, struct word_build *b, const struct word *value, bool quoted)
{
    build_add_range(b, value->made_by);
    quoted &= !value->glob; /* its names are what the quotes are around */
    if (quoted || b->whole || value->unknown)
        build_add(b, value->text, strlen(value->text),
                  value->unknown ? MARK_UNKNOWN
                  : quoted       ? MARK_QUOTED
                                 : MARK_ACTIVE);
    else
        add_split(r, b, value);
}

/* ---- tildes ------------------------------------------------------------------------------- */

static void add_home(struct buf *b, const struct reader *r, const char *user, size_t len)
{
    const char *home = r->found->setting->home;

    if (len == 1 && *user == '+' && r->found->folder)
        buf_add_str(b, r->found->folder);
    else if (len == 4 && strncmp(user, "root", 4) == 0)
        buf_add_str(b, "/root");
    else if (len > 0)
        buf_add_format(b, "/home/%.*s", (int)len, user);
    else
        buf_add_str(b, home ? home : "/home");
}

static char *with_home(const struct reader *r, const char *text, const char *marks, size_t len)
{
    struct buf b = {0};
    size_t user = 1;

    if (len == 0 || text[0] != '~' || marks[0] != MARK_ACTIVE)
        return strndup(text, len);
    while (user < len && text[user] != '/' && marks[user] == MARK_ACTIVE)
        user++;
    add_home(&b, r, text + 1, user - 1);
    buf_add(&b, text + user, len - user);
    return buf_take(&b);
}

/* ---- finished words ----------------------------------------------------------------------- */

/* A "[" alone is the name of a program. */
static bool has_glob(const char *text, const char *marks, size_t len)
{
    size_t open = SIZE_MAX;

    for (size_t i = 0; i < len; i++) {
        if (marks[i] != MARK_ACTIVE)
            continue;
        if (text[i] == '*' || text[i] == '?' ||
            (text[i] == ']' && open != SIZE_MAX && i > open + 1))
            return true;
        if (text[i] == '[' && open == SIZE_MAX)
            open = i;
    }
    return false;
}

static void
emit(struct reader *r, struct word_build *b, const char *text, const char *marks, size_t len)
{
    bool unknown = memchr(marks, MARK_UNKNOWN, len) != NULL;
    bool glob = has_glob(text, marks, len);

    if (b->out->n >= SCRIPT_WORDS_MAX) {
        reader_fail(r, "more words than are looked at");
        return;
    }
    if (words_add(b->out, with_home(r, text, marks, len), unknown, glob) < 0) {
        reader_oom(r);
        return;
    }
    b->out->v[b->out->n - 1].made_by = b->made_by;
}

/* ---- braces ------------------------------------------------------------------------------- */

struct brace {
    size_t open, close;
    bool commas, range;
};

/* The first {…} that multiplies the word. */
static bool find_brace(const char *text, const char *marks, size_t len, struct brace *ret)
{
    for (size_t open = 0; open < len; open++) {
        size_t depth = 0;

        if (text[open] != '{' || marks[open] != MARK_ACTIVE)
            continue;
        *ret = (struct brace){.open = open};
        for (size_t i = open; i < len; i++) {
            if (marks[i] != MARK_ACTIVE)
                continue;
            depth += text[i] == '{';
            ret->commas |= depth == 1 && text[i] == ',';
            ret->range |= depth == 1 && text[i] == '.' && i + 1 < len && text[i + 1] == '.';
            if (text[i] == '}' && --depth == 0) {
                ret->close = i;
                break;
            }
        }
        if (ret->close == 0)
            return false; /* an open one: none behind it is looked for, or time would be squared */
        if (ret->commas || ret->range)
            return true;
        open = ret->close;
    }
    return false;
}

struct alternatives {
    struct {
        size_t from, to;
    } v[SCRIPT_BRACES_MAX];
    size_t n;
};

static void list_alternatives(const char *text,
                              const char *marks,
                              const struct brace *brace,
                              struct alternatives *ret)
{
    size_t depth = 0, from = brace->open + 1;

    ret->n = 0;
    for (size_t i = brace->open + 1; i <= brace->close && ret->n < SCRIPT_BRACES_MAX; i++) {
        bool active = marks[i] == MARK_ACTIVE;
        bool end = i == brace->close;
        bool cut = brace->commas ? text[i] == ',' : text[i] == '.' && text[i + 1] == '.';

        if (end || (active && depth == 0 && cut)) {
            ret->v[ret->n].from = from;
            ret->v[ret->n++].to = i;
            from = brace->commas ? i + 1 : i + 2;
            i += !end && !brace->commas;
        } else if (active) {
            depth += text[i] == '{';
            depth -= text[i] == '}';
        }
    }
    if (!brace->commas)
        ret->n = MIN(ret->n, (size_t)RANGE_ENDS);
}

/* left: how many words this one may still become. */
static void expand_braces(struct reader *r,
                          struct word_build *b,
                          const char *text,
                          const char *marks,
                          size_t len,
                          size_t *left,
                          unsigned depth)
{
    struct brace brace;
    struct alternatives *list;

    if (reader_stopped(r) || *left == 0)
        return;
    if (b->whole || depth >= SCRIPT_DEPTH_MAX || !find_brace(text, marks, len, &brace)) {
        (*left)--;
        emit(r, b, text, marks, len);
        return;
    }
    list = malloc(sizeof(*list));
    if (!list) {
        reader_oom(r);
        return;
    }
    list_alternatives(text, marks, &brace, list);
    for (size_t i = 0; i<list->n && * left> 0; i++) {
        auto_buf struct buf t = {0};
        auto_buf struct buf m = {0};
        size_t from = list->v[i].from, n = list->v[i].to - from;
        size_t rest = len - brace.close - 1;

        buf_add(&t, text, brace.open);
        buf_add(&t, text + from, n);
        buf_add(&t, text + brace.close + 1, rest);
        buf_add(&m, marks, brace.open);
        buf_add(&m, marks + from, n);
        buf_add(&m, marks + brace.close + 1, rest);
        r->found->expanded += t.len;
        if (buf_error(&t) || buf_error(&m))
            reader_oom(r);
        else if (r->found->expanded > SCRIPT_EXPANSION_MAX)
            reader_fail(r, "braces that make more text than is looked at");
        else if (t.len > 0)
            expand_braces(r, b, t.data, m.data, t.len, left, depth + 1);
    }
    free(list);
}

void build_end_word(struct reader *r, struct word_build *b)
{
    size_t left = SCRIPT_BRACES_MAX;

    if (buf_error(&b->text) || buf_error(&b->marks)) {
        reader_oom(r);
        return;
    }
    if (b->text.len > 0)
        expand_braces(r, b, b->text.data, b->marks.data, b->text.len, &left, 0);
    else if (b->quoted || b->whole)
        emit(r, b, "", "", 0);
    if (left == 0)
        reader_fail(r, "braces that make more words than are looked at");
    buf_clear(&b->text);
    buf_clear(&b->marks);
    b->quoted = false;
}

/* What a thrown away word could not hold counts as well. */
void build_done(struct reader *r, struct word_build *b)
{
    if (buf_error(&b->text) || buf_error(&b->marks))
        reader_oom(r);
    buf_done(&b->text);
    buf_done(&b->marks);
}
