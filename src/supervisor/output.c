/* From the job's pipes into its log. */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "supervisor.h"

#define PIPE_SIZE (1 << 20) /* of a pipe whose job writes faster than we read */

static char chunk[CHUNK_SIZE];

/* A pipe that was full when we came is made larger, once: fewer turns for the same bytes. */
static void grow(struct output *o)
{
    if (!o->grown) {
        o->grown = 1;
        (void)fcntl(o->fd, F_SETPIPE_SZ, PIPE_SIZE);
    }
}

static int has_secrets(const struct supervisor *s)
{
    return s->plan.head->secretc > 0;
}

static void append(struct supervisor *s, struct output *o, size_t size)
{
    if (has_secrets(s))
        mask_append(s, o, chunk, size);
    else
        log_append(s, o->stream, chunk, size);
}

/* Nothing more is to come from it. */
static void end_output(struct supervisor *s, struct output *o)
{
    o->fd = close_fd(o->fd);
    if (has_secrets(s))
        mask_flush(s, o);
}

/* Reads at most that many bytes into the log; returns how many. */
static uint64_t drain(struct supervisor *s, struct output *o, uint64_t at_most)
{
    uint64_t done = 0;

    while (o->fd >= 0 && done < at_most) {
        size_t want = (size_t)MIN(at_most - done, sizeof(chunk));
        ssize_t n = io_read(o->fd, chunk, want);

        if (n == -EAGAIN)
            break;
        if (n <= 0) {
            end_output(s, o);
            break;
        }
        append(s, o, (size_t)n);
        done += (uint64_t)n;
        if ((size_t)n == sizeof(chunk))
            grow(o);
        else if ((size_t)n < want)
            break; /* it was empty; poll will tell when there is more */
    }
    return done;
}

/* How much may be read before the starter's reader has to catch up. */
static uint64_t window(const struct supervisor *s)
{
    uint64_t lag = s->log.state.total - s->clients[0].cursor;
    uint64_t lag_max = s->log.limit / 2;

    if (!(s->plan.head->flags & WIRE_PLAN_PACED) || s->clients[0].fd < 0)
        return UINT64_MAX;
    return lag < lag_max ? lag_max - lag : 0;
}

int output_paused(const struct supervisor *s)
{
    return window(s) == 0;
}

void output_drain(struct supervisor *s, struct output *o)
{
    (void)drain(s, o, MIN(DRAIN_MAX, window(s)));
}

static void drain_waiting(struct supervisor *s, struct output *o)
{
    int waiting = 0;
    uint64_t left;

    if (o->fd < 0 || ioctl(o->fd, FIONREAD, &waiting) < 0)
        return;
    left = (uint64_t)waiting;
    while (o->fd >= 0 && left > 0) {
        uint64_t n;

        report_news(s);
        if (output_paused(s)) {
            loop_wait_for_starter(s);
            continue;
        }
        n = drain(s, o, MIN(left, window(s)));
        if (n == 0) /* it is empty: somebody else has taken it */
            break;
        left -= n;
    }
}

/* Takes what is in the pipes at this moment and no more: somebody outside of the tree may hold one
 * and go on writing. */
void output_drain_rest(struct supervisor *s)
{
    for (int i = 0; i < s->n_outputs; i++) {
        drain_waiting(s, &s->outputs[i]);
        end_output(s, &s->outputs[i]);
    }
}
