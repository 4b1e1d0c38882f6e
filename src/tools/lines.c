/* Text to lines. */
#include "lines.h"

#include <string.h>

#include "base/macro.h"
#include "text/utf8.h"

void lines_done(struct lines *l)
{
    buf_done(&l->text);
}

int lines_error(const struct lines *l)
{
    return l->error ? l->error : buf_error(&l->text);
}

static void give(struct lines *l, const struct line *line)
{
    if (lines_error(l) == 0)
        l->error = l->add(l->userdata, line);
    buf_clear(&l->text);
}

/* What has been collected, which ends with a LF. */
static void give_complete(struct lines *l)
{
    const char *text = l->text.data;
    size_t len = l->text.len - 1;
    size_t end = len > 0 && text[len - 1] == '\r' ? 2 : 1;

    give(l, &(struct line){.text = text,
                           .len = l->text.len - end,
                           .end = end == 2 ? "\r\n" : "\n",
                           .src_begin = l->src_begin,
                           .src_end = l->src_end});
}

/* Appends a part of a span that has no LF but perhaps at its end. */
static void collect(struct lines *l, const struct span *s)
{
    if (l->text.len == 0)
        l->src_begin = s->src;
    buf_add(&l->text, s->text, s->len);
    l->src_end = span_src_at(s, s->len);
}

/* How much of a span goes to the present line: to its LF, or to the longest that a line may be. */
static size_t part_length(const struct lines *l, const struct span *s)
{
    const char *lf = memchr(s->text, '\n', s->len);
    size_t room = LINES_LENGTH_MAX - MIN(l->text.len, (size_t)LINES_LENGTH_MAX);
    size_t len = lf ? (size_t)(lf - s->text) + 1 : s->len;

    return len > room ? utf8_boundary(s->text, s->len, room) : len;
}

void lines_add_span(void *lines, const struct span *s)
{
    struct lines *l = lines;
    size_t from = 0;

    while (from < s->len && lines_error(l) == 0) {
        struct span rest = span_part(s, from, s->len);
        size_t n = part_length(l, &rest);
        struct span part = span_part(&rest, 0, n);

        if (n == 0) { /* it is as long as a line may be */
            lines_flush(l);
            continue;
        }
        collect(l, &part);
        if (rest.text[n - 1] == '\n' && buf_error(&l->text) == 0)
            give_complete(l);
        from += n;
    }
}

bool lines_unfinished(const struct lines *l, struct line *ret)
{
    if (l->text.len == 0 || lines_error(l))
        return false;
    *ret = (struct line){.text = l->text.data,
                         .len = l->text.len,
                         .end = "",
                         .src_begin = l->src_begin,
                         .src_end = l->src_end};
    return true;
}

void lines_flush(struct lines *l)
{
    struct line line;

    if (lines_unfinished(l, &line))
        give(l, &line);
}
