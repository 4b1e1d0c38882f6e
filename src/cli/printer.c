/* Pieces of output to text. */
#include "printer.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/macro.h"
#include "text/limit.h"
#include "text/renderer.h"
#include "tools/lines.h"

enum { STREAMS_MAX = 2 };

struct printer_stream {
    struct printer *printer;
    struct renderer renderer;
    struct lines lines; /* only with grep */
    struct buf text;    /* what the present piece made */
    bool in_line;       /* what was printed last has no end of a line */
};

struct printer {
    struct printer_options options;
    uint64_t lost, matches;
    struct rein_error *error;
    struct printer_stream streams[STREAMS_MAX];
};

static void add_to_text(void *ctx, const struct span *s)
{
    struct printer_stream *stream = ctx;

    buf_add(&stream->text, s->text, s->len);
}

static int print_match(void *userdata, const struct line *line)
{
    struct printer_stream *stream = userdata;
    struct printer *p = stream->printer;
    int r = regex_matches(p->options.grep, line->text, line->len, p->error ? NULL : &p->error);

    if (r <= 0)
        return r;
    p->matches++;
    buf_add(&stream->text, line->text, line->len);
    buf_add_str(&stream->text, line->end[0] ? line->end : "\n");
    return buf_error(&stream->text);
}

struct printer *printer_new(const struct printer_options *options)
{
    struct printer *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->options = *options;
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct printer_stream *s = &p->streams[i];
        struct span_sink sink = {.add = add_to_text, .ctx = s};

        s->printer = p;
        s->lines = (struct lines){.add = print_match, .userdata = s};
        if (options->grep)
            sink = (struct span_sink){.add = lines_add_span, .ctx = &s->lines};
        renderer_init(&s->renderer, options->render, options->encoding, options->eager,
                      options->at_start, sink);
    }
    return p;
}

struct printer *printer_free(struct printer *p)
{
    for (size_t i = 0; p && i < STREAMS_MAX; i++) {
        renderer_done(&p->streams[i].renderer);
        lines_done(&p->streams[i].lines);
        buf_done(&p->streams[i].text);
    }
    if (p)
        p->error = rein_error_free(p->error);
    free(p);
    return NULL;
}

uint64_t printer_lost(const struct printer *p)
{
    return p->lost;
}

uint64_t printer_matches(const struct printer *p)
{
    return p->matches;
}

const struct rein_error *printer_error(const struct printer *p)
{
    return p->error;
}

static void tell_gap(struct printer *p, struct printer_stream *s, uint64_t bytes)
{
    bool in_line = s->text.len > 0 ? s->text.data[s->text.len - 1] != '\n' : s->in_line;

    if (!p->options.tells_gaps || p->options.grep)
        return;
    if (in_line)
        buf_add_char(&s->text, '\n');
    limit_add_line(&s->text, bytes, p->options.log_file, /* kept= */ 1);
    buf_add_char(&s->text, '\n');
}

static void feed_gap(struct printer *p, struct printer_stream *s, uint64_t bytes)
{
    p->lost += bytes;
    if (!p->options.as_it_is)
        renderer_gap(&s->renderer, bytes);
    lines_flush(&s->lines);
    tell_gap(p, s, bytes);
}

static void feed_bytes(struct printer *p, struct printer_stream *s, const void *data, size_t size)
{
    if (p->options.as_it_is)
        buf_add(&s->text, data, size);
    else
        renderer_feed(&s->renderer, data, size);
}

static void feed_end(struct printer *p, struct printer_stream *s)
{
    if (!p->options.as_it_is)
        (void)renderer_end(&s->renderer, /* more= */ 0);
    lines_flush(&s->lines);
}

int printer_produce(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret)
{
    struct printer *p = userdata;
    struct printer_stream *s = &p->streams[piece->stream == REIN_STREAM_STDERR];
    int r;

    buf_clear(&s->text);
    if (piece->skipped_bytes > 0)
        feed_gap(p, s, piece->skipped_bytes);
    if (size > 0)
        feed_bytes(p, s, data, size);
    else if (piece->skipped_bytes == 0)
        feed_end(p, s);
    if (s->text.len > 0)
        s->in_line = s->text.data[s->text.len - 1] != '\n';
    buf_add(ret, s->text.data, s->text.len);
    r = renderer_error(&s->renderer);
    if (r == 0)
        r = lines_error(&s->lines);
    return r < 0 ? r : buf_error(&s->text);
}
