/* One waiter a job, each with a way to look; and the loop around them. */
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/parse-util.h"
#include "base/time-util.h"
#include "lines.h"
#include "text/renderer.h"
#include "text/text.h"

#define READ_CHUNK (64u << 10)
#define READS_MAX                                                                                  \
    16 /* in one look: a job that never stops writing must not keep others waiting                 \
        */
#define PORT_MAX 65535
#define PORT_TEXT_SIZE 8

enum { STREAMS_MAX = 2 };

struct waiter_stream {
    struct waiter *waiter;
    struct renderer renderer;
    struct lines lines;
};

struct waiter {
    rein_job *job;
    const struct wait_goal *goal;
    enum wait_state state;
    bool busy; /* there is more to read */
    struct buf matched;
    struct rein_error **reterr; /* of the present look */

    /* only for lines */
    struct waiter_stream *streams;
    char *chunk;
};

/* ---- one look ------------------------------------------------------------------------------ */

int job_look(rein_job *job, struct rein_result *ret, struct rein_error **reterr)
{
    int r;

    rein_result_done(ret);
    ret->size = sizeof(*ret);
    r = rein_wait(job, 0, ret);
    if (r == -EAGAIN)
        return 1;
    if (r < 0)
        return rein_fail(reterr, r, "internal", "wait", "cannot ask for the job %s: %s",
                         rein_job_id(job), strerror(-r));
    return 0;
}

/* ---- goals -------------------------------------------------------------------------------- */

static int refuse_goal(const char *goal, struct rein_error **reterr)
{
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "wait",
                          "use exit, line:RE or port:N, with N from 1 to 65535",
                          "'%s' is nothing to wait for", goal);
}

int wait_goal_parse(const char *goal, struct wait_goal *ret, struct rein_error **reterr)
{
    static const char line[] = "line:", port[] = "port:";
    const char *reason;
    uint64_t number;

    *ret = (struct wait_goal){.kind = WAIT_EXIT};
    if (strcmp(goal, "exit") == 0)
        return 0;
    if (strncmp(goal, line, strlen(line)) == 0) {
        ret->kind = WAIT_LINE;
        return regex_new(goal + strlen(line), &ret->line, reterr);
    }
    if (strncmp(goal, port, strlen(port)) != 0 ||
        parse_uint64(goal + strlen(port), 1, PORT_MAX, &number, &reason) < 0)
        return refuse_goal(goal, reterr);
    ret->kind = WAIT_PORT;
    ret->port = (int)number;
    return 0;
}

void wait_goal_done(struct wait_goal *goal)
{
    goal->line = regex_free(goal->line);
}

/* ---- a waiter ----------------------------------------------------------------------------- */

static int test_line(void *userdata, const struct line *line)
{
    struct waiter_stream *s = userdata;
    struct waiter *w = s->waiter;
    int r;

    if (w->state == WAIT_HAPPENED)
        return 0;
    r = regex_matches(w->goal->line, line->text, line->len, w->reterr);
    if (r <= 0)
        return r;
    w->state = WAIT_HAPPENED;
    buf_add(&w->matched, line->text, line->len);
    return buf_error(&w->matched);
}

static int prepare_lines(struct waiter *w, uint64_t since)
{
    w->chunk = malloc(READ_CHUNK);
    w->streams = calloc(STREAMS_MAX, sizeof(*w->streams));
    if (!w->chunk || !w->streams)
        return -ENOMEM;
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct waiter_stream *s = &w->streams[i];

        s->waiter = w;
        s->lines = (struct lines){.add = test_line, .userdata = s};
        /* eager, so that a prompt is seen, which has no end of a line */
        renderer_init(&s->renderer, TEXT_PLAIN, TEXT_ENC_AUTO, /* eager= */ 1,
                      /* at_start= */ since == 0,
                      (struct span_sink){.add = lines_add_span, .ctx = &s->lines});
    }
    rein_seek(w->job, since);
    return 0;
}

int waiter_new(rein_job *job,
               const struct wait_goal *goal,
               uint64_t since,
               struct waiter **ret,
               struct rein_error **reterr)
{
    struct waiter *w = calloc(1, sizeof(*w));
    int r = w ? 0 : -ENOMEM;

    if (w) {
        w->job = job;
        w->goal = goal;
    }
    if (r == 0 && goal->kind == WAIT_LINE)
        r = prepare_lines(w, since);
    if (r == 0 && goal->kind == WAIT_PORT)
        r = rein_port_ask(job, goal->port);
    if (r == -ESRCH) /* it has ended; the first look tells */
        r = 0;
    if (r < 0) {
        w = waiter_free(w);
        return rein_fail(reterr, r, "internal", "wait", "cannot wait for the job: %s",
                         strerror(-r));
    }
    *ret = w;
    return 0;
}

struct waiter *waiter_free(struct waiter *w)
{
    for (size_t i = 0; w && w->streams && i < STREAMS_MAX; i++) {
        if (!w->streams[i].waiter)
            continue;
        renderer_done(&w->streams[i].renderer);
        lines_done(&w->streams[i].lines);
    }
    if (w) {
        buf_done(&w->matched);
        free(w->streams);
        free(w->chunk);
    }
    free(w);
    return NULL;
}

enum wait_state waiter_state(const struct waiter *w)
{
    return w->state;
}

rein_job *waiter_job(const struct waiter *w)
{
    return w->job;
}

const char *waiter_matched_text(const struct waiter *w, size_t *ret_len)
{
    *ret_len = w->matched.len;
    return w->matched.data ? w->matched.data : "";
}

json_t *waiter_matched(const struct waiter *w)
{
    size_t len;
    const char *matched = waiter_matched_text(w, &len);

    if (w->state != WAIT_HAPPENED || w->goal->kind == WAIT_EXIT)
        return json_null();
    if (w->goal->kind == WAIT_PORT)
        return json_integer(w->goal->port);
    return json_stringn(matched, len);
}

/* ---- looking ------------------------------------------------------------------------------ */

/* 1 when the job has ended, 0 when not, or a negative errno. */
static int has_ended(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};
    int r = rein_wait(job, 0, &result);

    rein_result_done(&result);
    return r == -EAGAIN ? 0 : r < 0 ? r : 1;
}

static int look_for_exit(struct waiter *w)
{
    int r = has_ended(w->job);

    if (r > 0)
        w->state = WAIT_HAPPENED;
    return MIN(r, 0);
}

static int look_for_port(struct waiter *w)
{
    int r = has_ended(w->job);
    char number[PORT_TEXT_SIZE];

    if (r < 0)
        return r;
    if (rein_port_is_open(w->job) > 0) {
        w->state = WAIT_HAPPENED;
        (void)snprintf(number, sizeof(number), "%d", w->goal->port);
        buf_add_str(&w->matched, number);
        return buf_error(&w->matched);
    }
    if (r > 0)
        w->state = WAIT_MISSED;
    return 0;
}

static int feed_lines(struct waiter *w, size_t size, const struct rein_piece *piece)
{
    struct waiter_stream *s = &w->streams[piece->stream == REIN_STREAM_STDERR];

    for (size_t i = 0; piece->skipped_bytes > 0 && i < STREAMS_MAX; i++) {
        renderer_gap(&w->streams[i].renderer, piece->skipped_bytes);
        lines_flush(&w->streams[i].lines);
    }
    renderer_feed(&s->renderer, w->chunk, size);
    return lines_error(&s->lines);
}

/* All that is there was read: what is on the screen without an end of a line may be a prompt. */
static int test_unfinished(struct waiter *w)
{
    struct line line;
    int r = 0;

    for (size_t i = 0; r == 0 && i < STREAMS_MAX; i++)
        if (lines_unfinished(&w->streams[i].lines, &line))
            r = test_line(&w->streams[i], &line);
    return r;
}

static int end_lines(struct waiter *w)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct waiter_stream *s = &w->streams[i];

        (void)renderer_end(&s->renderer, /* more= */ 0);
        lines_flush(&s->lines);
        if (lines_error(&s->lines) < 0)
            return lines_error(&s->lines);
    }
    if (w->state != WAIT_HAPPENED)
        w->state = WAIT_MISSED;
    return 0;
}

static int look_for_line(struct waiter *w)
{
    int r = 0;

    w->busy = false;
    for (int i = 0; r == 0 && w->state == WAIT_GOES_ON; i++) {
        struct rein_piece piece = {0};
        ssize_t n;

        w->busy = i == READS_MAX;
        if (w->busy)
            return 0;
        n = rein_read(w->job, w->chunk, READ_CHUNK, 0, &piece);
        if (n == -EAGAIN)
            return test_unfinished(w);
        if (n < 0)
            return (int)n;
        r = n == 0 ? end_lines(w) : feed_lines(w, (size_t)n, &piece);
    }
    return r;
}

static int look(struct waiter *w, struct rein_error **reterr)
{
    static int (*const ways[])(struct waiter * w) = {
        [WAIT_EXIT] = look_for_exit,
        [WAIT_LINE] = look_for_line,
        [WAIT_PORT] = look_for_port,
    };
    struct rein_error *error = NULL;
    int r;

    w->reterr = &error;
    r = ways[w->goal->kind](w);
    w->reterr = NULL;
    if (r < 0 && !error)
        return rein_fail(reterr, r, "internal", "wait", "cannot follow the job %s: %s",
                         rein_job_id(w->job), strerror(-r));
    if (r < 0 && reterr)
        *reterr = TAKE_PTR(error);
    rein_error_free(error);
    return r;
}

/* ---- all of them -------------------------------------------------------------------------- */

static int look_at_all(struct waiter *const *waiters, size_t n, struct rein_error **reterr)
{
    for (size_t i = 0; i < n; i++) {
        int r = waiters[i]->state == WAIT_GOES_ON ? look(waiters[i], reterr) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

static size_t count_in_state(struct waiter *const *waiters, size_t n, enum wait_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += waiters[i]->state == state;
    return count;
}

static int tell_ended(struct waiter *const *waiters, size_t n, struct rein_error **reterr)
{
    for (size_t i = 0; i < n; i++)
        if (waiters[i]->state == WAIT_MISSED)
            return rein_fail_hint(
                reterr, -ESRCH, "job_ended", "wait", "its output and how it ended can be read",
                "the job %s has ended before that happened", rein_job_id(waiters[i]->job));
    return 0;
}

/* 1: over. 0: wait on. Or a failure. */
static int judge(struct waiter *const *waiters, size_t n, bool any, struct rein_error **reterr)
{
    size_t happened = count_in_state(waiters, n, WAIT_HAPPENED);
    size_t missed = count_in_state(waiters, n, WAIT_MISSED);

    if (any ? happened > 0 : happened == n)
        return 1;
    if (any ? missed == n : missed > 0)
        return tell_ended(waiters, n, reterr);
    return 0;
}

/* 1 when there is no patience left. */
static int sleep_until_news(struct waiter *const *waiters,
                            size_t n,
                            struct pollfd *fds,
                            int64_t until_ns,
                            struct patience *patience)
{
    int timeout = until_ns == INT64_MAX ? -1 : time_left_ms(until_ns);

    for (size_t i = 0; i < n; i++) {
        bool waits = waiters[i]->state == WAIT_GOES_ON;

        fds[i] = (struct pollfd){.fd = waits ? rein_job_fd(waiters[i]->job) : -1, .events = POLLIN};
        if (waits && waiters[i]->busy)
            timeout = 0;
    }
    return patience_poll(patience, fds, n, timeout);
}

static int tell_given_up(size_t n, const char *why, struct rein_error **reterr)
{
    return rein_fail(reterr, -ETIMEDOUT, "timeout", "wait", "%s; nothing was done to %s", why,
                     n == 1 ? "the job" : "the jobs");
}

int wait_for_jobs(struct waiter *const *waiters,
                  size_t n,
                  bool any,
                  int64_t timeout_ns,
                  struct patience *patience,
                  struct rein_error **reterr)
{
    auto_free struct pollfd *fds = calloc(n + 1, sizeof(*fds));
    int64_t until_ns = timeout_ns < 0 ? INT64_MAX : time_add_ns(time_mono_ns(), timeout_ns);

    if (!fds)
        return rein_oom(reterr);
    for (;;) {
        bool late = until_ns != INT64_MAX && time_mono_ns() >= until_ns;
        int r = look_at_all(waiters, n, reterr);

        if (r == 0)
            r = judge(waiters, n, any, reterr);
        if (r != 0)
            return MIN(r, 0);
        if (late)
            return tell_given_up(n, "it did not happen within the time", reterr);
        r = sleep_until_news(waiters, n, fds, until_ns, patience);
        if (r > 0)
            return tell_given_up(n, "the wait was broken off", reterr);
        if (r < 0)
            return rein_fail(reterr, r, "internal", "poll", "%s", strerror(-r));
    }
}
