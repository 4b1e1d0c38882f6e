/* Reads the output of a job and renders what a result shows of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "log-walk.h"
#include "result-json.h"

enum { STREAM_OUT, STREAM_ERR, STREAM_MAX };

/* ---- a job as a source -------------------------------------------------------------------- */

static ssize_t
read_job(void *userdata, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece)
{
    return rein_read_at(userdata, offset, buf, size, ret_piece);
}

static int keep_job(void *userdata, struct rein_result *result, struct rein_error **reterr)
{
    struct rein_result again = {.size = sizeof(again)};
    int r = rein_job_keep_output(userdata, reterr);

    if (r < 0)
        return r;
    r = rein_wait(userdata, 0, &again);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "wait", "%s", strerror(-r));
    rein_result_done(result);
    *result = again;
    return 0;
}

struct result_source result_source_of_job(rein_job *job)
{
    return (struct result_source){.read_at = read_job, .keep = keep_job, .userdata = job};
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The texts in the making. */
struct making {
    const struct result_source *source;
    const struct result_view *view;
    const struct result_range *range;
    text *streams[STREAM_MAX];
    size_t n_streams;
    uint64_t fed[STREAM_MAX]; /* bytes of each stream, with what the log lost and what is skipped */
    uint64_t gap_bytes;       /* of those the ones that count for each stream */
    uint64_t offset;          /* in the log */
};

static void making_done(struct making *m)
{
    for (size_t i = 0; i < m->n_streams; i++)
        m->streams[i] = text_free(m->streams[i]);
}

static int making_init(struct making *m)
{
    struct text_options options = {.render = m->view->render,
                                   .encoding = m->view->encoding,
                                   .limit_in_chars = m->view->in_chars,
                                   .keep_end = m->view->keep_end};
    uint64_t first = 0;
    size_t n = m->view->split ? STREAM_MAX : 1;

    if (m->view->limit > 0) /* what is left of a limit must not become 0, which means none */
        options.limit = (size_t)MAX(m->view->limit / n, UINT64_C(1));
    if (n == 1) /* two texts count their own bytes each */
        first = m->range->begin;
    m->offset = m->range->begin;
    while (m->n_streams < n) {
        int r = text_new(&options, first, &m->streams[m->n_streams]);

        if (r < 0)
            return r;
        m->n_streams++;
    }
    return 0;
}

/* Which stream lost what the log dropped is not known: the gap stands in each. */
static void feed_gap(struct making *m, uint64_t bytes, void (*feed)(text *t, uint64_t bytes))
{
    m->gap_bytes += bytes;
    m->offset += bytes;
    for (size_t i = 0; i < m->n_streams; i++) {
        feed(m->streams[i], bytes);
        m->fed[i] += bytes;
    }
}

static int visit_gap(void *userdata, uint64_t offset, uint64_t bytes)
{
    feed_gap(userdata, bytes, text_gap);
    return 0;
}

static int visit_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    struct making *m = userdata;
    size_t i = m->n_streams > 1 && stream == REIN_STREAM_STDERR ? STREAM_ERR : STREAM_OUT;

    text_feed(m->streams[i], data, len);
    m->fed[i] += len;
    m->offset = offset + len;
    return 0;
}

static int feed_all(struct making *m)
{
    struct log_visitor visitor = {.bytes = visit_bytes, .gap = visit_gap, .userdata = m};

    feed_gap(m, m->range->skip, text_skip);
    return log_walk(m->source, m->offset, m->range->end, &visitor, NULL);
}

static void end_all(struct making *m)
{
    for (size_t i = 0; i < m->n_streams; i++)
        text_end(m->streams[i], m->range->more);
}

int result_text_warn(struct result_text *shown, const char *format, ...)
{
    char *line = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&line, format, ap);
    va_end(ap);
    return strv_add_take(&shown->warnings, n < 0 ? NULL : line);
}

/* What is cut must be to be had whole somewhere, and be cut for a reason that the caller knows. */
static int prepare_cut(struct making *m, struct rein_result *result, struct result_text *ret)
{
    auto_error struct rein_error *error = NULL;
    bool cut = false;
    int r = 0;

    for (size_t i = 0; i < m->n_streams; i++)
        cut = text_would_omit(m->streams[i]) || cut;
    if (!cut)
        return 0;
    if (m->view->limit > TEXT_LIMIT_MAX)
        r = result_text_warn(ret, "%" PRIu64 " bytes were to be shown, at most %d are",
                             m->view->limit, TEXT_LIMIT_MAX);
    if (r == 0 && !result->log_file && m->source->keep(m->source->userdata, result, &error) < 0)
        r = result_text_warn(ret, "output that is not shown is lost: %s", error->message);
    return r;
}

/* ---- one description for both texts ------------------------------------------------------- */

/* A text of a split job counts its own bytes, and what the log lost. Finds where in the log its
 * byte number `bytes` is. */
static int find_in_log(struct making *m, size_t stream, uint64_t bytes, uint64_t *ret)
{
    int name = stream == STREAM_OUT ? REIN_STREAM_STDOUT : REIN_STREAM_STDERR;
    uint64_t skip = m->range->skip;

    if (bytes < skip) {
        *ret = m->range->begin + bytes;
        return 0;
    }
    return log_find_stream_byte(m->source, m->range->begin + skip, name, bytes - skip, ret);
}

const char *result_text_encoding(const struct result_text *t)
{
    const char *out = t->streams[STREAM_OUT].encoding;
    const char *err = t->streams[STREAM_ERR].encoding;

    if (t->n_streams == 1 || strcmp(out, err) == 0 || t->streams[STREAM_ERR].len == 0)
        return out;
    if (t->streams[STREAM_OUT].len == 0)
        return err;
    return strcmp(out, "binary") == 0 || strcmp(err, "binary") == 0 ? "binary" : "mixed";
}

/* Behind everything, or before what a text has left for later. */
static int find_cursor(struct making *m, const struct result_text *t, uint64_t *ret)
{
    *ret = m->offset;
    for (size_t i = 0; i < t->n_streams; i++) {
        uint64_t at = t->streams[i].cursor;
        int r;

        if (t->n_streams == 1) {
            *ret = at;
            return 0;
        }
        if (at >= m->fed[i])
            continue;
        r = find_in_log(m, i, at, &at);
        if (r < 0)
            return r;
        *ret = MIN(*ret, at);
    }
    return 0;
}

static int sum_up(struct making *m, struct result_text *ret)
{
    size_t n_gaps = 0;

    for (size_t i = 0; i < ret->n_streams; i++) {
        const struct text_result *one = &ret->streams[i];
        uint64_t at = (uint64_t)one->omitted_at;

        if (one->omitted_bytes == 0)
            continue;
        if (ret->n_streams > 1) {
            int r = find_in_log(m, i, at, &at);

            if (r < 0)
                return r;
        }
        if (n_gaps++ == 0 || at < ret->omitted_at)
            ret->omitted_at = at;
        ret->omitted_bytes += one->omitted_bytes;
    }
    if (n_gaps > 1) /* the log's own gap is in both */
        ret->omitted_bytes -= m->gap_bytes;
    ret->encoding = result_text_encoding(ret);
    return find_cursor(m, ret, &ret->cursor);
}

static int finish(struct making *m, const char *log_file, struct result_text *ret)
{
    for (size_t i = 0; i < m->n_streams; i++) {
        int r = text_finish(m->streams[i], log_file, &ret->streams[i]);

        if (r < 0)
            return r;
        ret->n_streams++;
    }
    return sum_up(m, ret);
}

int result_text_read_range(const struct result_source *source,
                           const struct result_view *view,
                           const struct result_range *range,
                           struct rein_result *result,
                           struct result_text *ret,
                           struct rein_error **reterr)
{
    struct making m = {.source = source, .view = view, .range = range};
    int r = making_init(&m);

    *ret = (struct result_text){0};
    if (r == 0)
        r = feed_all(&m);
    if (r == 0) {
        end_all(&m);
        r = prepare_cut(&m, result, ret);
    }
    if (r == 0)
        r = finish(&m, result->log_file, ret);
    making_done(&m);
    if (r < 0) {
        result_text_done(ret);
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    }
    return 0;
}

int result_text_read(const struct result_source *source,
                     const struct result_view *view,
                     struct rein_result *result,
                     struct result_text *ret,
                     struct rein_error **reterr)
{
    static const struct result_range everything = {.end = UINT64_MAX};

    return result_text_read_range(source, view, &everything, result, ret, reterr);
}

int result_text_empty(bool split, struct result_text *ret)
{
    *ret = (struct result_text){.n_streams = split ? STREAM_MAX : 1, .encoding = "utf-8"};
    for (size_t i = 0; i < ret->n_streams; i++) {
        ret->streams[i] = (struct text_result){.text = strdup(""), .encoding = "utf-8"};
        if (!ret->streams[i].text) {
            result_text_done(ret);
            return -ENOMEM;
        }
    }
    return 0;
}

void result_text_done(struct result_text *shown)
{
    for (size_t i = 0; i < shown->n_streams; i++)
        text_result_done(&shown->streams[i]);
    shown->warnings = strv_free(shown->warnings);
    *shown = (struct result_text){0};
}
