/*
 * A page of a job's output: text from a cursor on, up to the limit. What was read beyond the place
 * of the cut is read again for the next page, so that nothing is lost and nothing comes twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "log-walk.h"
#include "output-query.h"
#include "text/limit.h"
#include "text/map.h"
#include "text/renderer.h"
#include "text/utf8.h"

enum { STREAMS_MAX = 2 };

static int stream_name(size_t i)
{
    return i == 0 ? REIN_STREAM_STDOUT : REIN_STREAM_STDERR;
}

struct page_stream {
    struct renderer renderer;
    struct buf text;
    struct map map;   /* to bytes of this stream, from the beginning of the page */
    uint64_t fed;     /* bytes of it; what the log lost counts */
    uint64_t settled; /* of those: an unfinished character at the end is left for later */
    size_t cut;       /* where its text ends */
};

struct page {
    const struct result_source *source;
    const struct rein_result *result;
    struct page_stream *streams;
    size_t n_streams;
    size_t limit; /* bytes of text in each stream */
    uint64_t begin, at;
    size_t last;                /* which stream the last bytes were of */
    uint64_t gap_at, gap_bytes; /* of the log */
};

static void add_span(void *ctx, const struct span *s)
{
    struct page_stream *stream = ctx;

    map_add(&stream->map, stream->text.len, s);
    buf_add(&stream->text, s->text, s->len);
}

static int page_init(struct page *p, const struct output_query *query)
{
    uint64_t limit = MIN(query->view.limit, (uint64_t)TEXT_LIMIT_MAX);

    p->n_streams = p->result->split ? STREAMS_MAX : 1;
    p->limit = query->view.limit ? (size_t)MAX(limit / p->n_streams, UINT64_C(1)) : SIZE_MAX;
    p->begin = p->at = query->since;
    p->streams = calloc(p->n_streams, sizeof(*p->streams));
    if (!p->streams)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_streams; i++)
        renderer_init(&p->streams[i].renderer, query->view.render, query->view.encoding,
                      /* eager= */ 0, /* at_start= */ p->begin == 0,
                      (struct span_sink){.add = add_span, .ctx = &p->streams[i]});
    return 0;
}

static void page_done(struct page *p)
{
    for (size_t i = 0; p->streams && i < p->n_streams; i++) {
        renderer_done(&p->streams[i].renderer);
        buf_done(&p->streams[i].text);
        map_done(&p->streams[i].map);
    }
    free(p->streams);
}

/* ---- reading ------------------------------------------------------------------------------ */

static int visit_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    struct page *p = userdata;
    struct page_stream *s;

    p->last = p->n_streams > 1 && stream == REIN_STREAM_STDERR;
    s = &p->streams[p->last];
    renderer_feed(&s->renderer, data, len);
    s->fed += len;
    p->at = offset + len;
    return s->text.len > p->limit || buf_error(&s->text) < 0;
}

/* Which stream lost what the log dropped is not known: the line stands in each. */
static int visit_gap(void *userdata, uint64_t offset, uint64_t bytes)
{
    struct page *p = userdata;

    p->at = offset + bytes;
    p->gap_at = offset;
    p->gap_bytes = bytes;
    for (size_t i = 0; i < p->n_streams; i++) {
        struct page_stream *s = &p->streams[i];
        auto_buf struct buf line = {0};

        renderer_gap(&s->renderer, bytes);
        s->fed += bytes;
        if (s->text.len > 0 && s->text.data[s->text.len - 1] != '\n')
            buf_add_char(&line, '\n');
        limit_add_line(&line, bytes, p->result->log_file, /* kept= */ 1);
        buf_add_char(&line, '\n');
        if (buf_error(&line) < 0)
            return buf_error(&line);
        /* as a whole it stands for the gap */
        add_span(s, &(struct span){.text = line.data,
                                   .len = line.len,
                                   .src = s->fed - bytes,
                                   .src_step = bytes,
                                   .text_step = line.len});
    }
    return 0;
}

/* ---- cutting ------------------------------------------------------------------------------ */

/* At the end of a line if there is one in the second half of what is allowed, else of a character;
 * at least one character, so that a reader gets on. */
static size_t choose_cut(const struct page_stream *s, size_t limit)
{
    const char *data = s->text.data;
    const char *lf;
    size_t pos;

    if (s->text.len <= limit)
        return s->text.len;
    pos = utf8_boundary(data, s->text.len, limit);
    if (pos == 0)
        return utf8_skip(data, s->text.len, 1);
    lf = memrchr(data + pos / 2, '\n', pos - pos / 2);
    return lf ? (size_t)(lf - data) + 1 : pos;
}

/* How many bytes of its stream a cut text stands for. */
static uint64_t bytes_shown(const struct page_stream *s)
{
    if (s->cut == s->text.len)
        return s->settled;
    return map_end(&s->map, s->cut);
}

/* The end of the text that no more than so many bytes of the stream were made into. */
static size_t text_of_bytes(const struct page_stream *s, uint64_t bytes)
{
    for (size_t i = s->map.n; i-- > 0;) {
        struct span run = map_span(&s->map, i, s->text.data, s->text.len);
        size_t units = run.len / run.text_step;

        if (run.src_step > 0)
            units = (size_t)MIN((uint64_t)units, (bytes - MIN(bytes, run.src)) / run.src_step);
        if (run.src <= bytes && units > 0)
            return s->map.runs[i].pos + units * run.text_step;
    }
    return 0;
}

/* Where in the log the page ends: before the first byte that a stream does not show. */
static int find_end(const struct page *p, uint64_t *ret)
{
    *ret = p->at;
    for (size_t i = 0; i < p->n_streams; i++) {
        const struct page_stream *s = &p->streams[i];
        uint64_t bytes = bytes_shown(s);
        uint64_t offset = p->begin + bytes;
        int r = 0;

        if (bytes >= s->fed)
            continue;
        if (p->n_streams > 1)
            r = log_find_stream_byte(p->source, p->begin, stream_name(i), bytes, &offset);
        if (r < 0)
            return r;
        *ret = MIN(*ret, offset);
    }
    return 0;
}

/* What another stream wrote after the end goes to the next page. */
static int trim_to_end(struct page *p, uint64_t end)
{
    for (size_t i = 0; p->n_streams > 1 && i < p->n_streams; i++) {
        struct page_stream *s = &p->streams[i];
        uint64_t bytes;
        int r = log_count_stream_bytes(p->source, p->begin, end, stream_name(i), &bytes);

        if (r < 0)
            return r;
        if (bytes < bytes_shown(s))
            s->cut = MIN(s->cut, text_of_bytes(s, bytes));
    }
    return 0;
}

static int cut_all(struct page *p, bool more, uint64_t *ret_end)
{
    int r;

    for (size_t i = 0; i < p->n_streams; i++) {
        struct page_stream *s = &p->streams[i];

        /* a character that is unfinished in one stream does not hold up the other */
        s->settled = renderer_end(&s->renderer, more && i == p->last);
        r = renderer_error(&s->renderer);
        if (r < 0 || s->map.error || buf_error(&s->text) < 0)
            return r < 0 ? r : s->map.error ? s->map.error : buf_error(&s->text);
        s->cut = choose_cut(s, p->limit);
    }
    r = find_end(p, ret_end);
    return r < 0 ? r : trim_to_end(p, *ret_end);
}

/* ---- the answer --------------------------------------------------------------------------- */

static int fill(struct page *p, uint64_t end, struct result_text *ret)
{
    for (size_t i = 0; i < p->n_streams; i++) {
        struct page_stream *s = &p->streams[i];
        struct text_result *one = &ret->streams[i];

        one->encoding = decoder_encoding(&s->renderer.decoder);
        one->len = s->cut;
        one->text = buf_take(&s->text);
        if (!one->text)
            return -ENOMEM;
        one->text[one->len] = '\0';
        ret->n_streams++;
    }
    if (p->gap_bytes > 0 && end > p->gap_at) {
        ret->omitted_bytes = p->gap_bytes;
        ret->omitted_at = p->gap_at;
    }
    ret->cursor = end;
    ret->encoding = result_text_encoding(ret);
    return 0;
}

int output_read_page(const struct result_source *source,
                     const struct output_query *query,
                     const struct rein_result *result,
                     struct result_text *ret)
{
    struct page p = {.source = source, .result = result};
    struct log_visitor visitor = {.bytes = visit_bytes, .gap = visit_gap, .userdata = &p};
    uint64_t end = 0;
    int r = page_init(&p, query);

    if (r == 0)
        r = log_walk(source, p.begin, result->output_bytes, &visitor, NULL);
    if (r >= 0) /* 1: stopped at the limit, so there is more */
        r = cut_all(&p, r > 0 || result->running, &end);
    if (r == 0)
        r = fill(&p, end, ret);
    page_done(&p);
    return r;
}
