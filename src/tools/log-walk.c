/* Forward and backward through a log. */
#include "log-walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"

static int visit_gap(const struct log_visitor *v, uint64_t offset, uint64_t bytes)
{
    return v->gap ? v->gap(v->userdata, offset, bytes) : 0;
}

int log_walk(const struct result_source *source,
             uint64_t begin,
             uint64_t end,
             const struct log_visitor *visitor,
             uint64_t *ret_at)
{
    auto_free char *chunk = malloc(LOG_CHUNK);
    uint64_t at = begin;
    int r = 0;

    if (!chunk)
        return -ENOMEM;
    while (r == 0 && at < end) {
        size_t size = (size_t)MIN(end - at, (uint64_t)LOG_CHUNK);
        struct rein_piece piece = {0};
        ssize_t n = source->read_at(source->userdata, at, chunk, size, &piece);

        if (n < 0)
            return (int)n;
        if (piece.skipped_bytes > 0)
            r = visit_gap(visitor, at, piece.skipped_bytes);
        at = piece.skipped_bytes > 0 || n > 0 ? piece.cursor - (uint64_t)n : at;
        if (r == 0 && n > 0) {
            r = visitor->bytes(visitor->userdata, piece.stream, at, chunk, (size_t)n);
            at = piece.cursor;
        }
        if (n == 0)
            break;
    }
    if (ret_at)
        *ret_at = at;
    return r;
}

/* ---- bytes of one stream ------------------------------------------------------------------- */

struct count {
    int stream;
    uint64_t seen, wanted;
    uint64_t at; /* where the wanted one is, or where the search came to */
};

static int count_gap(void *userdata, uint64_t offset, uint64_t bytes)
{
    struct count *c = userdata;

    c->at = offset + bytes;
    if (c->wanted < c->seen + bytes) {
        c->at = offset + (c->wanted - c->seen);
        return 1;
    }
    c->seen += bytes;
    return 0;
}

static int count_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    struct count *c = userdata;

    if (stream == c->stream)
        return count_gap(c, offset, len);
    c->at = offset + len;
    return 0;
}

int log_find_stream_byte(const struct result_source *source,
                         uint64_t begin,
                         int stream,
                         uint64_t bytes,
                         uint64_t *ret_offset)
{
    struct count c = {.stream = stream, .wanted = bytes, .at = begin};
    struct log_visitor visitor = {.bytes = count_bytes, .gap = count_gap, .userdata = &c};
    int r = log_walk(source, begin, UINT64_MAX, &visitor, NULL);

    if (r < 0)
        return r;
    *ret_offset = c.at;
    return 0;
}

int log_count_stream_bytes(const struct result_source *source,
                           uint64_t begin,
                           uint64_t end,
                           int stream,
                           uint64_t *ret_bytes)
{
    struct count c = {.stream = stream, .wanted = UINT64_MAX};
    struct log_visitor visitor = {.bytes = count_bytes, .gap = count_gap, .userdata = &c};
    int r = log_walk(source, begin, end, &visitor, NULL);

    if (r < 0)
        return r;
    *ret_bytes = c.seen;
    return 0;
}

/* ---- backward ----------------------------------------------------------------------------- */

/* A chunk of the log as the backward search sees it: its bytes, and 0 where the log has none. */
struct window {
    char *data;
    uint64_t begin, end;
};

static int copy_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    struct window *w = userdata;

    if (offset >= w->end) /* the log has lost what was there */
        return 1;
    memcpy(w->data + (offset - w->begin), data, (size_t)MIN((uint64_t)len, w->end - offset));
    return 0;
}

static int fill_window(const struct result_source *source, struct window *w)
{
    struct log_visitor visitor = {.bytes = copy_bytes, .userdata = w};

    memset(w->data, 0, (size_t)(w->end - w->begin));
    return log_walk(source, w->begin, w->end, &visitor, NULL);
}

/* The window before `end`, not across the gap, which is stepped over. */
static void place_window(struct window *w, const struct rein_result *result, uint64_t end)
{
    uint64_t floor = 0;

    if (end > result->gap_begin && end <= result->gap_end)
        end = result->gap_begin;
    else if (end > result->gap_end)
        floor = result->gap_end;
    w->end = end;
    w->begin = MAX(floor, end - MIN(end, (uint64_t)LOG_CHUNK));
}

/* Looks for line ends in the window, from its end on. True when the last one needed is found. */
static bool find_in_window(const struct window *w, uint64_t *ends_needed, uint64_t *ret_begin)
{
    size_t len = (size_t)(w->end - w->begin);
    const char *lf;

    while ((lf = memrchr(w->data, '\n', len))) {
        len = (size_t)(lf - w->data);
        if (--*ends_needed == 0) {
            *ret_begin = w->begin + len + 1;
            return true;
        }
    }
    return false;
}

int log_find_last_lines(const struct result_source *source,
                        const struct rein_result *result,
                        uint64_t lines,
                        uint64_t *ret_begin)
{
    auto_free char *data = malloc(LOG_CHUNK);
    struct window w = {.data = data, .begin = result->output_bytes};
    /* the end of the last line is not before it, and is looked for from behind it on */
    uint64_t ends_needed = lines;
    bool first = true;

    if (!data)
        return -ENOMEM;
    *ret_begin = result->output_bytes;
    if (lines == 0)
        return 0;
    while (w.begin > 0) {
        int r;

        place_window(&w, result, w.begin);
        if (w.begin == w.end)
            break;
        r = fill_window(source, &w);
        if (r < 0)
            return r;
        if (first && w.data[w.end - w.begin - 1] == '\n')
            ends_needed += ends_needed < UINT64_MAX;
        first = false;
        if (find_in_window(&w, &ends_needed, ret_begin))
            return 0;
    }
    *ret_begin = 0;
    return 0;
}
