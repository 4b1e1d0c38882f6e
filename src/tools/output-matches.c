/*
 * The lines of a job's output that match an expression: the last ones, or a page of them. Kept are
 * only those that will be shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "lines.h"
#include "log-walk.h"
#include "output-query.h"
#include "text/renderer.h"
#include "text/utf8.h"

enum { STREAMS_MAX = 2 };

static const int stream_names[STREAMS_MAX] = {REIN_STREAM_STDOUT, REIN_STREAM_STDERR};

/* A line that matched. Its place is counted in bytes of its stream. */
struct match {
    size_t stream;
    char *text; /* with its end */
    size_t len;
    uint64_t src_begin, src_end;
};

struct search;

struct search_stream {
    struct search *search;
    size_t index;
    struct renderer renderer;
    struct lines lines;
    uint64_t fed, settled;
    bool stopped; /* at a line for which there was no room; settled is where it begins */
};

struct search {
    const struct result_source *source;
    const struct output_query *query;
    const struct rein_result *result;
    struct rein_error **reterr;
    struct search_stream *streams;
    size_t n_streams;
    uint64_t begin, at;

    struct match *kept; /* the oldest first, from `first` on */
    size_t first, n_kept, allocated;
    uint64_t bytes; /* of the texts kept */
    bool pages;     /* stop at the limit, instead of dropping what is old */
    bool full;

    uint64_t omitted_bytes, omitted_at;
    bool omits;
};

/* ---- keeping ------------------------------------------------------------------------------ */

static int log_offset(const struct search *s, size_t stream, uint64_t bytes, uint64_t *ret)
{
    *ret = s->begin + bytes;
    if (s->n_streams == 1)
        return 0;
    return log_find_stream_byte(s->source, s->begin, stream_names[stream], bytes, ret);
}

static int note_omitted(struct search *s, uint64_t offset, uint64_t bytes)
{
    if (!s->omits || offset < s->omitted_at)
        s->omitted_at = offset;
    s->omits = true;
    s->omitted_bytes += bytes;
    return 0;
}

static void forget_oldest(struct search *s)
{
    struct match *m = &s->kept[s->first];

    s->bytes -= m->len;
    free(m->text);
    m->text = NULL;
    s->first++;
    s->n_kept--;
}

/* More lines than were asked for is no loss; more bytes than may be shown is one. */
static int drop_old(struct search *s)
{
    uint64_t limit = s->query->view.limit;

    while (s->query->lines > 0 && s->n_kept > s->query->lines)
        forget_oldest(s);
    while (limit > 0 && s->bytes > limit && s->n_kept > 1) {
        const struct match *m = &s->kept[s->first];
        uint64_t bytes = m->src_end - MIN(m->src_begin, m->src_end);
        uint64_t offset;
        int r = log_offset(s, m->stream, m->src_begin, &offset);

        if (r < 0)
            return r;
        (void)note_omitted(s, offset, bytes);
        forget_oldest(s);
    }
    return 0;
}

static int make_room(struct search *s)
{
    struct match *grown;
    size_t want;

    if (s->first + s->n_kept < s->allocated)
        return 0;
    if (s->first > s->n_kept) { /* so that each is moved once or twice at most */
        memmove(s->kept, s->kept + s->first, s->n_kept * sizeof(*s->kept));
        s->first = 0;
        return 0;
    }
    want = MAX((size_t)64, s->allocated * 2);
    grown = reallocarray(s->kept, want, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    s->kept = grown;
    s->allocated = want;
    return 0;
}

/* A single line that is longer than what may be shown: its beginning. */
static int shorten(struct search *s, struct match *m)
{
    uint64_t limit = s->query->view.limit;
    uint64_t offset;
    size_t cut;
    int r;

    if (limit == 0 || m->len <= limit)
        return 0;
    cut = MAX(utf8_boundary(m->text, m->len, (size_t)limit), utf8_skip(m->text, m->len, 1));
    r = log_offset(s, m->stream, m->src_begin, &offset);
    if (r < 0)
        return r;
    (void)note_omitted(s, offset + cut, m->len - cut);
    m->text[cut] = '\0';
    m->len = cut;
    return 0;
}

static int keep(struct search_stream *stream, const struct line *line)
{
    struct search *s = stream->search;
    struct match m = {.stream = stream->index,
                      .src_begin = line->src_begin,
                      .src_end = line->src_end,
                      .len = line->len + strlen(line->end)};
    int r = make_room(s);

    if (r < 0)
        return r;
    m.text = malloc(m.len + 1);
    if (!m.text)
        return -ENOMEM;
    memcpy(m.text, line->text, line->len);
    memcpy(m.text + line->len, line->end, strlen(line->end) + 1);
    r = shorten(s, &m);
    if (r < 0) {
        free(m.text);
        return r;
    }
    s->bytes += m.len;
    s->kept[s->first + s->n_kept++] = m;
    return s->pages ? 0 : drop_old(s);
}

/* Does a page have room for one more line? One it always has. */
static bool is_full(struct search *s, const struct line *line)
{
    uint64_t limit = s->query->view.limit;

    s->full =
        s->pages && limit > 0 && s->n_kept > 0 && s->bytes + line->len + strlen(line->end) > limit;
    return s->full;
}

static int test_line(void *userdata, const struct line *line)
{
    struct search_stream *stream = userdata;
    struct search *s = stream->search;
    int r;

    if (s->full)
        return 0;
    r = regex_matches(s->query->grep, line->text, line->len, s->reterr);
    if (r <= 0)
        return r;
    if (is_full(s, line)) {
        stream->settled = line->src_begin;
        stream->stopped = true;
        return 0;
    }
    r = keep(stream, line);
    return r == -ENOMEM ? rein_oom(s->reterr) : r;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int visit_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    struct search *s = userdata;
    struct search_stream *one =
        &s->streams[s->n_streams > 1 && stream == REIN_STREAM_STDERR ? 1 : 0];
    int r;

    renderer_feed(&one->renderer, data, len);
    one->fed += len;
    s->at = offset + len;
    r = lines_error(&one->lines);
    return r < 0 ? r : s->full;
}

static int visit_gap(void *userdata, uint64_t offset, uint64_t bytes)
{
    struct search *s = userdata;

    for (size_t i = 0; i < s->n_streams; i++) {
        renderer_gap(&s->streams[i].renderer, bytes);
        lines_flush(&s->streams[i].lines);
        s->streams[i].fed += bytes;
    }
    s->at = offset + bytes;
    return note_omitted(s, offset, bytes);
}

/* What is left of a stream: an unfinished line, unless it is to wait for its end. */
static int end_stream(struct search *s, struct search_stream *one)
{
    bool more = s->full || s->result->running;
    bool hold = s->full || s->query->hold_unfinished || (s->pages && s->result->running);
    uint64_t settled = renderer_end(&one->renderer, more);
    struct line rest;
    int r = renderer_error(&one->renderer);

    if (r < 0)
        return r;
    if (hold && lines_unfinished(&one->lines, &rest))
        settled = rest.src_begin;
    else
        lines_flush(&one->lines);
    if (!one->stopped)
        one->settled = settled;
    return lines_error(&one->lines);
}

static int find_cursor(struct search *s, uint64_t *ret)
{
    *ret = s->at;
    for (size_t i = 0; i < s->n_streams; i++) {
        uint64_t offset;
        int r;

        if (s->streams[i].settled >= s->streams[i].fed)
            continue;
        r = log_offset(s, i, s->streams[i].settled, &offset);
        if (r < 0)
            return r;
        *ret = MIN(*ret, offset);
    }
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static int search_init(struct search *s)
{
    s->pages = s->query->has_since && s->query->lines == 0;
    s->n_streams = s->result->split ? STREAMS_MAX : 1;
    s->begin = s->at = s->query->has_since ? s->query->since : 0;
    s->streams = calloc(s->n_streams, sizeof(*s->streams));
    if (!s->streams)
        return -ENOMEM;
    for (size_t i = 0; i < s->n_streams; i++) {
        struct search_stream *one = &s->streams[i];

        one->search = s;
        one->index = i;
        one->lines = (struct lines){.add = test_line, .userdata = one};
        renderer_init(&one->renderer, s->query->view.render, s->query->view.encoding,
                      /* eager= */ 0, /* at_start= */ s->begin == 0,
                      (struct span_sink){.add = lines_add_span, .ctx = &one->lines});
    }
    return 0;
}

static void search_done(struct search *s)
{
    for (size_t i = 0; s->streams && i < s->n_streams; i++) {
        renderer_done(&s->streams[i].renderer);
        lines_done(&s->streams[i].lines);
    }
    while (s->n_kept > 0)
        forget_oldest(s);
    free(s->streams);
    free(s->kept);
}

static int fill(struct search *s, struct result_text *ret)
{
    struct buf texts[STREAMS_MAX] = {0};
    int r = 0;

    for (size_t i = 0; i < s->n_kept; i++) {
        const struct match *m = &s->kept[s->first + i];
        struct buf *b = &texts[m->stream];

        if (b->len > 0 && b->data[b->len - 1] != '\n') /* a line that was cut, or had no end */
            buf_add_char(b, '\n');
        buf_add(b, m->text, m->len);
    }
    for (size_t i = 0; i < s->n_streams; i++) {
        ret->streams[i].len = texts[i].len;
        ret->streams[i].encoding = decoder_encoding(&s->streams[i].renderer.decoder);
        ret->streams[i].text = buf_take(&texts[i]);
        if (!ret->streams[i].text)
            r = -ENOMEM;
    }
    ret->n_streams = s->n_streams;
    ret->omitted_bytes = s->omitted_bytes;
    ret->omitted_at = s->omitted_at;
    ret->encoding = result_text_encoding(ret);
    return r;
}

static int search_all(struct search *s, struct result_text *ret)
{
    struct log_visitor visitor = {.bytes = visit_bytes, .gap = visit_gap, .userdata = s};
    int r = log_walk(s->source, s->begin, s->result->output_bytes, &visitor, NULL);

    for (size_t i = 0; r >= 0 && i < s->n_streams; i++)
        r = end_stream(s, &s->streams[i]);
    if (r >= 0)
        r = find_cursor(s, &ret->cursor);
    return r < 0 ? r : fill(s, ret);
}

int output_read_matches(const struct result_source *source,
                        const struct output_query *query,
                        const struct rein_result *result,
                        struct result_text *ret,
                        uint64_t *ret_matches,
                        struct rein_error **reterr)
{
    struct rein_error *error = NULL;
    struct search s = {.source = source, .query = query, .result = result, .reterr = &error};
    int r = search_init(&s);

    if (r == 0)
        r = search_all(&s, ret);
    *ret_matches = s.n_kept;
    search_done(&s);
    if (r < 0 && !error)
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    if (r < 0 && reterr)
        *reterr = TAKE_PTR(error);
    rein_error_free(error);
    return r;
}
