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

static int stream_name(size_t i)
{
    return i == 0 ? REIN_STREAM_STDOUT : REIN_STREAM_STDERR;
}

/* A line that matched. Its place is counted in bytes of its stream. */
struct match {
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
    bool full; /* no room for one more line; settled is where it begins */

    struct match *kept; /* the oldest first, from `first` on */
    size_t first, n_kept, allocated;
    uint64_t bytes; /* of the texts kept */
};

struct search {
    const struct result_source *source;
    const struct output_query *query;
    const struct rein_result *result;
    struct rein_error **reterr;
    struct search_stream *streams;
    size_t n_streams;
    uint64_t begin, at;

    uint64_t limit; /* bytes of each stream; 0: none */
    bool pages;     /* stop at the limit, instead of dropping what is old */

    uint64_t omitted_bytes, omitted_at;
    bool omits;
};

/* ---- keeping ------------------------------------------------------------------------------ */

static int log_offset(const struct search *s, size_t stream, uint64_t bytes, uint64_t *ret)
{
    *ret = s->begin + bytes;
    if (s->n_streams == 1)
        return 0;
    return log_find_stream_byte(s->source, s->begin, stream_name(stream), bytes, ret);
}

static void note_omitted(struct search *s, uint64_t offset, uint64_t bytes)
{
    if (!s->omits || offset < s->omitted_at)
        s->omitted_at = offset;
    s->omits = true;
    s->omitted_bytes += bytes;
}

static void forget_oldest(struct search_stream *one)
{
    struct match *m = &one->kept[one->first];

    one->bytes -= m->len;
    free(m->text);
    m->text = NULL;
    one->first++;
    one->n_kept--;
}

/* More lines than were asked for is no loss; more bytes than may be shown is one. */
static int drop_old(struct search_stream *one)
{
    struct search *s = one->search;

    while (s->query->lines > 0 && one->n_kept > s->query->lines)
        forget_oldest(one);
    while (s->limit > 0 && one->bytes > s->limit && one->n_kept > 1) {
        const struct match *m = &one->kept[one->first];
        uint64_t offset;
        int r = log_offset(s, one->index, m->src_begin, &offset);

        if (r < 0)
            return r;
        note_omitted(s, offset, m->src_end - MIN(m->src_begin, m->src_end));
        forget_oldest(one);
    }
    return 0;
}

static int make_room(struct search_stream *one)
{
    struct match *grown;
    size_t want;

    if (one->first + one->n_kept < one->allocated)
        return 0;
    if (one->first > one->n_kept) { /* so that each is moved once or twice at most */
        memmove(one->kept, one->kept + one->first, one->n_kept * sizeof(*one->kept));
        one->first = 0;
        return 0;
    }
    want = MAX((size_t)64, one->allocated * 2);
    grown = reallocarray(one->kept, want, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    one->kept = grown;
    one->allocated = want;
    return 0;
}

/* A single line that is longer than what may be shown: its beginning. */
static int shorten(struct search_stream *one, struct match *m)
{
    uint64_t limit = one->search->limit;
    uint64_t offset;
    size_t cut;
    int r;

    if (limit == 0 || m->len <= limit)
        return 0;
    cut = MAX(utf8_boundary(m->text, m->len, (size_t)limit), utf8_skip(m->text, m->len, 1));
    r = log_offset(one->search, one->index, m->src_begin, &offset);
    if (r < 0)
        return r;
    note_omitted(one->search, offset + cut, m->len - cut);
    m->text[cut] = '\0';
    m->len = cut;
    return 0;
}

static int keep(struct search_stream *one, const struct line *line)
{
    struct match m = {.src_begin = line->src_begin,
                      .src_end = line->src_end,
                      .len = line->len + strlen(line->end)};
    int r = make_room(one);

    if (r < 0)
        return r;
    m.text = malloc(m.len + 1);
    if (!m.text)
        return -ENOMEM;
    memcpy(m.text, line->text, line->len);
    memcpy(m.text + line->len, line->end, strlen(line->end) + 1);
    r = shorten(one, &m);
    if (r < 0) {
        free(m.text);
        return r;
    }
    one->bytes += m.len;
    one->kept[one->first + one->n_kept++] = m;
    return one->search->pages ? 0 : drop_old(one);
}

/* Has a page room for one more line? For one it always has. */
static bool has_room(const struct search_stream *one, const struct line *line)
{
    const struct search *s = one->search;

    return !s->pages || s->limit == 0 || one->n_kept == 0 ||
           one->bytes + line->len + strlen(line->end) <= s->limit;
}

static int test_line(void *userdata, const struct line *line)
{
    struct search_stream *one = userdata;
    struct search *s = one->search;
    int r;

    if (one->full)
        return 0;
    r = regex_matches(s->query->grep, line->text, line->len, s->reterr);
    if (r <= 0)
        return r;
    if (!has_room(one, line)) {
        one->settled = line->src_begin;
        one->full = true;
        return 0;
    }
    r = keep(one, line);
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
    return r < 0 ? r : one->full;
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
    note_omitted(s, offset, bytes);
    return 0;
}

/* What is left of a stream: an unfinished line, unless it is to wait for its end. */
static int end_stream(struct search_stream *one, bool stopped)
{
    const struct search *s = one->search;
    bool more = stopped || s->result->running;
    /* of two streams one would have to wait for a line of the other */
    bool hold =
        s->n_streams == 1 && (s->query->hold_unfinished || (s->pages && s->result->running));
    uint64_t settled = renderer_end(&one->renderer, more);
    struct line rest;
    int r = renderer_error(&one->renderer);

    if (r < 0)
        return r;
    if (hold && lines_unfinished(&one->lines, &rest))
        settled = rest.src_begin;
    else
        lines_flush(&one->lines);
    if (!one->full)
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

/* What another stream wrote after the end of a page goes to the next one. */
static int trim_to_cursor(struct search *s, uint64_t cursor)
{
    for (size_t i = 0; s->pages && s->n_streams > 1 && i < s->n_streams; i++) {
        struct search_stream *one = &s->streams[i];
        uint64_t bytes;
        int r = log_count_stream_bytes(s->source, s->begin, cursor, stream_name(i), &bytes);

        if (r < 0)
            return r;
        while (one->n_kept > 0 && one->kept[one->first + one->n_kept - 1].src_begin >= bytes)
            free(one->kept[one->first + --one->n_kept].text);
    }
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static int search_init(struct search *s)
{
    s->pages = s->query->has_since && s->query->lines == 0;
    s->n_streams = s->result->split ? STREAMS_MAX : 1;
    if (s->query->view.limit > 0)
        s->limit = MAX(s->query->view.limit / s->n_streams, UINT64_C(1));
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
        struct search_stream *one = &s->streams[i];

        renderer_done(&one->renderer);
        lines_done(&one->lines);
        while (one->n_kept > 0)
            forget_oldest(one);
        free(one->kept);
    }
    free(s->streams);
}

static int fill_stream(const struct search_stream *one, struct text_result *ret)
{
    struct buf b = {0};

    for (size_t i = 0; i < one->n_kept; i++) {
        const struct match *m = &one->kept[one->first + i];

        if (b.len > 0 && b.data[b.len - 1] != '\n') /* a line that was cut, or had no end */
            buf_add_char(&b, '\n');
        buf_add(&b, m->text, m->len);
    }
    ret->len = b.len;
    ret->encoding = decoder_encoding(&one->renderer.decoder);
    ret->text = buf_take(&b);
    return ret->text ? 0 : -ENOMEM;
}

static int fill(struct search *s, struct result_text *ret, uint64_t *ret_matches)
{
    for (size_t i = 0; i < s->n_streams; i++) {
        int r = fill_stream(&s->streams[i], &ret->streams[i]);

        if (r < 0)
            return r;
        ret->n_streams++;
        *ret_matches += s->streams[i].n_kept;
    }
    ret->omitted_bytes = s->omitted_bytes;
    ret->omitted_at = s->omitted_at;
    ret->encoding = result_text_encoding(ret);
    return 0;
}

static int search_all(struct search *s, struct result_text *ret, uint64_t *ret_matches)
{
    struct log_visitor visitor = {.bytes = visit_bytes, .gap = visit_gap, .userdata = s};
    int r = log_walk(s->source, s->begin, s->result->output_bytes, &visitor, NULL);
    bool stopped = r > 0;

    for (size_t i = 0; r >= 0 && i < s->n_streams; i++)
        r = end_stream(&s->streams[i], stopped);
    if (r >= 0)
        r = find_cursor(s, &ret->cursor);
    if (r >= 0)
        r = trim_to_cursor(s, ret->cursor);
    return r < 0 ? r : fill(s, ret, ret_matches);
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

    *ret_matches = 0;
    if (r == 0)
        r = search_all(&s, ret, ret_matches);
    search_done(&s);
    if (r < 0 && !error)
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    if (r < 0 && reterr)
        *reterr = TAKE_PTR(error);
    rein_error_free(error);
    return r;
}
