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
#include "result-json.h"

#define READ_CHUNK (64u << 10)

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
    text *streams[STREAM_MAX];
    size_t n_streams;
    uint64_t gap_bytes; /* lost by the log */
    uint64_t offset;
    char *chunk;
};

static void making_done(struct making *m)
{
    for (size_t i = 0; i < m->n_streams; i++)
        m->streams[i] = text_free(m->streams[i]);
    free(m->chunk);
}

static int making_init(struct making *m)
{
    struct text_options options = {.render = m->view->render, .encoding = m->view->encoding};
    size_t n = m->view->split ? STREAM_MAX : 1;

    if (m->view->limit > 0) /* what is left of a limit must not become 0, which means none */
        options.limit = (size_t)MAX(m->view->limit / n, UINT64_C(1));
    m->chunk = malloc(READ_CHUNK);
    if (!m->chunk)
        return -ENOMEM;
    while (m->n_streams < n) {
        int r = text_new(&options, 0, &m->streams[m->n_streams]);

        if (r < 0)
            return r;
        m->n_streams++;
    }
    return 0;
}

static size_t stream_of(const struct making *m, const struct rein_piece *piece)
{
    return m->n_streams > 1 && piece->stream == REIN_STREAM_STDERR ? STREAM_ERR : STREAM_OUT;
}

/* Which stream lost what the log dropped is not known: the gap stands in each. */
static void feed_gap(struct making *m, uint64_t bytes)
{
    m->gap_bytes += bytes;
    for (size_t i = 0; i < m->n_streams; i++)
        text_gap(m->streams[i], bytes);
}

static int feed_all(struct making *m)
{
    for (;;) {
        struct rein_piece piece = {0};
        ssize_t n =
            m->source->read_at(m->source->userdata, m->offset, m->chunk, READ_CHUNK, &piece);

        if (n < 0)
            return (int)n;
        if (piece.skipped_bytes > 0) {
            feed_gap(m, piece.skipped_bytes);
            m->offset = piece.cursor; /* the gap may be the end */
        }
        if (n == 0)
            return 0;
        text_feed(m->streams[stream_of(m, &piece)], m->chunk, (size_t)n);
        m->offset = piece.cursor;
    }
}

static int add_warning(struct result_text *ret, const char *format, ...) REIN_PRINTF(2, 3);
static int add_warning(struct result_text *ret, const char *format, ...)
{
    char *line = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&line, format, ap);
    va_end(ap);
    return strv_add_take(&ret->warnings, n < 0 ? NULL : line);
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
        r = add_warning(ret, "%" PRIu64 " bytes were to be shown, at most %d are", m->view->limit,
                        TEXT_LIMIT_MAX);
    if (r == 0 && !result->log_file && m->source->keep(m->source->userdata, result, &error) < 0)
        r = add_warning(ret, "output that is not shown is lost: %s", error->message);
    return r;
}

/* ---- one description for both texts ------------------------------------------------------- */

/* Is byte number `bytes` of a stream among the next n, of which *seen came before? If not they have
 * come, too. */
static bool passes(uint64_t bytes, uint64_t n, uint64_t *seen)
{
    if (bytes < *seen + n)
        return true;
    *seen += n;
    return false;
}

/* A text of a split job counts its own bytes, and what the log lost. Finds where in the log its
 * byte number `bytes` is. */
static int find_in_log(struct making *m, size_t stream, uint64_t bytes, uint64_t *ret)
{
    uint64_t seen = 0;
    uint64_t offset = 0;

    for (;;) {
        struct rein_piece piece = {0};
        ssize_t n = m->source->read_at(m->source->userdata, offset, m->chunk, READ_CHUNK, &piece);

        if (n < 0)
            return (int)n;
        if (passes(bytes, piece.skipped_bytes, &seen))
            break;
        offset += piece.skipped_bytes;
        if (n == 0 || (stream_of(m, &piece) == stream && passes(bytes, (uint64_t)n, &seen)))
            break;
        offset = piece.cursor;
    }
    *ret = offset + (bytes - seen);
    return 0;
}

static const char *joint_encoding(const struct result_text *t)
{
    const char *out = t->streams[STREAM_OUT].encoding;
    const char *err = t->streams[STREAM_ERR].encoding;

    if (t->n_streams == 1 || strcmp(out, err) == 0 || t->streams[STREAM_ERR].len == 0)
        return out;
    if (t->streams[STREAM_OUT].len == 0)
        return err;
    return strcmp(out, "binary") == 0 || strcmp(err, "binary") == 0 ? "binary" : "mixed";
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
    ret->cursor = m->offset;
    ret->encoding = joint_encoding(ret);
    return 0;
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

int result_text_read(const struct result_source *source,
                     const struct result_view *view,
                     struct rein_result *result,
                     struct result_text *ret,
                     struct rein_error **reterr)
{
    struct making m = {.source = source, .view = view};
    int r = making_init(&m);

    *ret = (struct result_text){0};
    if (r == 0)
        r = feed_all(&m);
    if (r == 0)
        r = prepare_cut(&m, result, ret);
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

void result_text_done(struct result_text *shown)
{
    for (size_t i = 0; i < shown->n_streams; i++)
        text_result_done(&shown->streams[i]);
    shown->warnings = strv_free(shown->warnings);
    *shown = (struct result_text){0};
}
