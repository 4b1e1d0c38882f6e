/* Goes through the lines once, and remembers the last block that fits. */
#include "fence.h"

#include <string.h>

#include "base/macro.h"

#define INDENT_MAX 3 /* more is a code block of the other kind */
#define FENCE_MIN 3
#define TAG_SIZE 32

struct text_line {
    const char *begin;
    size_t len; /* without its end */
    size_t with_end;
};

struct fence {
    char mark;
    size_t marks, indent;
    const char *rest; /* behind the marks */
    size_t rest_len;
};

static struct text_line line_at(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    struct text_line line = {.begin = text, .len = len, .with_end = len};

    if (end) {
        line.len = (size_t)(end - text);
        line.with_end = line.len + 1;
    }
    if (line.len > 0 && text[line.len - 1] == '\r')
        line.len--;
    return line;
}

static size_t count(const char *text, size_t len, char c)
{
    size_t n = 0;

    while (n < len && text[n] == c)
        n++;
    return n;
}

/* Is the line a row of marks, with or without something behind it? */
static bool is_fence(const struct text_line *line, struct fence *ret)
{
    size_t indent = count(line->begin, line->len, ' ');
    char mark = indent < line->len ? line->begin[indent] : '\0';
    size_t marks = count(line->begin + indent, line->len - indent, mark);

    if (indent > INDENT_MAX || (mark != '`' && mark != '~') || marks < FENCE_MIN)
        return false;
    *ret = (struct fence){.mark = mark, .marks = marks, .indent = indent};
    ret->rest = line->begin + indent + marks;
    ret->rest_len = line->len - indent - marks;
    return mark != '`' || !memchr(ret->rest, '`', ret->rest_len);
}

static bool closes(const struct text_line *line, const struct fence *open)
{
    struct fence f;

    return is_fence(line, &f) && f.mark == open->mark && f.marks >= open->marks &&
           count(f.rest, f.rest_len, ' ') == f.rest_len;
}

static bool is_tagged(const struct fence *f, const struct language *language)
{
    size_t skip = count(f->rest, f->rest_len, ' '), len = 0;
    char tag[TAG_SIZE];

    while (skip + len < f->rest_len && !strchr(" \t{", f->rest[skip + len]))
        len++;
    if (len == 0 || len >= sizeof(tag))
        return false;
    memcpy(tag, f->rest + skip, len);
    tag[len] = '\0';
    return language_find(tag) == language;
}

/* What the fence is indented by, its contents are, too. */
static void add_line(struct buf *b, const struct text_line *line, size_t indent)
{
    size_t skip = MIN(count(line->begin, line->len, ' '), indent);

    buf_add(b, line->begin + skip, line->with_end - skip);
}

bool fence_find_last(const char *text, size_t len, const struct language *language, struct buf *ret)
{
    struct fence open = {0};
    bool found = false, fits = false;

    while (len > 0) {
        struct text_line line = line_at(text, len);

        if (open.marks > 0 && closes(&line, &open)) {
            open.marks = 0;
        } else if (open.marks > 0 && fits) {
            add_line(ret, &line, open.indent);
        } else if (open.marks == 0 && is_fence(&line, &open)) {
            fits = is_tagged(&open, language);
            found = found || fits;
            if (fits)
                buf_clear(ret);
        }
        text += line.with_end;
        len -= line.with_end;
    }
    return found;
}
