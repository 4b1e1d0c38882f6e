/* The main loop. Each turn waits for what can happen, then takes one step. */
#include "pump.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "signals.h"

enum { WATCH_SIGNAL, WATCH_JOB, WATCH_OUT, WATCH_ERR, WATCH_MAX };

int pump_open(struct pump *p, rein_job *job, bool copies)
{
    *p = (struct pump){.job = job, .copies = copies, .signal_fd = -EBADF};
    sink_open(&p->sinks[0], STDOUT_FILENO);
    sink_open(&p->sinks[1], STDERR_FILENO);
    p->output_ended = !copies;
    if (copies) {
        p->chunk = malloc(PUMP_CHUNK);
        if (!p->chunk)
            return -ENOMEM;
    }
    p->signal_fd = signals_open();
    return p->signal_fd < 0 ? p->signal_fd : 0;
}

void pump_done(struct pump *p)
{
    free(p->chunk);
    buf_done(&p->made);
    sink_close(&p->sinks[0]);
    sink_close(&p->sinks[1]);
    p->signal_fd = close_fd(p->signal_fd);
}

/* ---- ends that come from outside ---------------------------------------------------------- */

/* From now on output is read only to keep the job going. */
static void drop_output(struct pump *p)
{
    p->reader_gone = true;
    p->pending_size = 0;
}

/* Nobody takes the output any more: the job has no purpose. */
static void lose_reader(struct pump *p)
{
    drop_output(p);
    if (!p->follows)
        (void)rein_stop(p->job, 0);
}

static bool job_has_ended(struct pump *p)
{
    struct rein_result result = {.size = sizeof(result)};
    int r = rein_wait(p->job, 0, &result);

    rein_result_done(&result);
    return r == 0;
}

/* The first signal is a stop with the job's grace. A second one, or one after the job's end, is
 * meant for rein: no grace, and no waiting for a reader that does not read. */
static void take_signals(struct pump *p)
{
    int number;

    if (p->follows && (p->stop_signal = signals_take(p->signal_fd)) > 0) {
        drop_output(p);
        return;
    }
    while ((number = signals_take(p->signal_fd)) > 0) {
        p->give_up = p->give_up || p->stop_signal || job_has_ended(p);
        if (!p->stop_signal)
            p->stop_signal = number;
        (void)rein_stop(p->job, p->give_up ? 0 : -1);
    }
}

/* ---- steps -------------------------------------------------------------------------------- */

/* A descriptor that was closed from the start was never meant to be read: the job goes on. */
static void fail_write(struct pump *p, int error)
{
    if (error != -EPIPE && error != -ECONNRESET) {
        p->write_error = error;
        p->failed_stream = p->pending_sink;
    }
    if (error == -EBADF)
        drop_output(p);
    else
        lose_reader(p);
}

static void write_pending(struct pump *p)
{
    ssize_t n = sink_write(&p->sinks[p->pending_sink], p->pending, p->pending_size);

    if (n == -EAGAIN && p->give_up) {
        lose_reader(p);
    } else if (n < 0 && n != -EAGAIN) {
        fail_write(p, (int)n);
    } else if (n > 0) {
        p->pending += n;
        p->pending_size -= (size_t)n;
    }
}

static void set_pending(struct pump *p, const char *data, size_t size, int sink)
{
    if (p->reader_gone)
        return;
    p->pending = data;
    p->pending_size = size;
    p->pending_sink = sink;
    if (size > 0)
        write_pending(p);
}

static int produce(struct pump *p, size_t size, const struct rein_piece *piece)
{
    int sink = piece->stream == REIN_STREAM_STDERR;
    int r;

    if (!p->producer) {
        set_pending(p, p->chunk, size, sink);
        return 0;
    }
    buf_clear(&p->made);
    r = p->producer(p->userdata, p->chunk, size, piece, &p->made);
    if (r == 0)
        r = buf_error(&p->made);
    if (r == 0)
        set_pending(p, p->made.data, p->made.len, p->one_sink ? 0 : sink);
    return r;
}

/* The producer may still hold something of each stream. */
static int tell_end(struct pump *p)
{
    static const int streams[] = {REIN_STREAM_STDOUT, REIN_STREAM_STDERR};
    struct rein_piece piece = {.stream = streams[p->ends_told]};

    p->output_ended = ++p->ends_told == (int)ARRAY_SIZE(streams) || !p->producer;
    return p->producer ? produce(p, 0, &piece) : 0;
}

static int read_more(struct pump *p)
{
    struct rein_piece piece = {0};
    ssize_t n = rein_read(p->job, p->chunk, PUMP_CHUNK, 0, &piece);

    if (n == -EAGAIN) {
        p->idle = true;
        return 0;
    }
    if (n < 0)
        return (int)n;
    if (n == 0)
        return tell_end(p);
    p->lost_bytes += piece.skipped_bytes;
    return produce(p, (size_t)n, &piece);
}

static int look_for_end(struct pump *p, struct rein_result *ret)
{
    int r;

    rein_result_done(ret);
    ret->size = sizeof(*ret);
    r = rein_wait(p->job, 0, ret);
    p->ended = r == 0;
    p->idle = r == -EAGAIN;
    return r == -EAGAIN ? 0 : r;
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* A pipe or socket that has lost its reader says so even when nothing is to be written, so that a
 * silent job ends, too. */
static void watch_sinks(const struct pump *p, struct pollfd *fds)
{
    const struct sink *out = &p->sinks[0];

    if (p->reader_gone)
        return;
    if (out->is_stream)
        fds[WATCH_OUT].fd = out->fd;
    if (p->pending_size > 0) {
        struct pollfd *slow = &fds[p->pending_sink ? WATCH_ERR : WATCH_OUT];

        slow->fd = p->sinks[p->pending_sink].fd;
        slow->events = POLLOUT;
    }
}

static int wait_for_news(struct pump *p)
{
    struct pollfd fds[WATCH_MAX] = {
        [WATCH_SIGNAL] = {.fd = p->signal_fd, .events = POLLIN},
        [WATCH_JOB] = {.fd = -1, .events = POLLIN},
        [WATCH_OUT] = {.fd = -1},
        [WATCH_ERR] = {.fd = -1},
    };
    bool waits = p->pending_size > 0 || p->idle;

    watch_sinks(p, fds);
    if (p->follows && p->reader_gone)
        waits = false;
    if (p->pending_size == 0 && p->idle)
        fds[WATCH_JOB].fd = rein_job_fd(p->job);
    if (poll(fds, WATCH_MAX, waits ? -1 : 0) < 0)
        return errno == EINTR ? 0 : -errno;
    if (fds[WATCH_SIGNAL].revents)
        take_signals(p);
    if ((fds[WATCH_OUT].revents & (POLLERR | POLLHUP)) && p->sinks[0].is_stream && !p->reader_gone)
        lose_reader(p);
    return 0;
}

/* Delivers what is there; at the end of everything looks how the job ended. */
static int take_step(struct pump *p, struct rein_result *ret)
{
    int r = 0;

    p->idle = false;
    if (p->pending_size > 0)
        write_pending(p);
    if (p->pending_size == 0 && !p->output_ended)
        r = read_more(p);
    if (r == 0 && p->pending_size == 0 && p->output_ended)
        r = look_for_end(p, ret);
    return r;
}

int pump_run(struct pump *p, struct rein_result *ret)
{
    for (;;) {
        int r = take_step(p, ret);

        if (r < 0 || p->ended || (p->follows && p->reader_gone))
            return r;
        r = wait_for_news(p);
        if (r < 0)
            return r;
    }
}

void pump_write(struct pump *p, int sink, const char *data, size_t size)
{
    set_pending(p, data, size, sink);
    while (p->pending_size > 0 && wait_for_news(p) == 0)
        if (p->pending_size > 0)
            write_pending(p);
}
