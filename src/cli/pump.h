/*
 * The main loop of a job in the foreground: passes its output on as it comes, turns signals into a
 * stop, ends the job when nobody reads any more, and returns when the job has ended and everything
 * is delivered. What the output looks like is the business of a producer; how the end is told, of
 * the caller.
 */
#ifndef REIN_CLI_PUMP_H
#define REIN_CLI_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "rein.h"
#include "sink.h"

#define PUMP_CHUNK (64u << 10)

/* Turns a piece of output into bytes to write, which it appends to ret. A size of 0 is the end of
 * a stream; the loop tells it once for each sink. 0 or a negative errno. */
typedef int (*pump_producer)(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret);

struct pump {
    rein_job *job;
    int signal_fd; /* of signals_open() */
    struct sink sinks[2];
    bool copies;            /* read the output and pass it on */
    pump_producer producer; /* or NULL: bytes as they are */
    void *userdata;
    bool
        follows; /* the job is none of ours: a signal or a lost reader ends the loop, not the job */
    bool one_sink; /* what the producer makes of standard error goes to standard output, too */

    int stop_signal;   /* the first signal that asked for the end, or 0 */
    int write_error;   /* negative errno of a write that failed, other than for want of a reader */
    int failed_stream; /* index of the sink that it happened to */

    bool ended; /* the job; everything was delivered */

    /* the rest is the loop's own */
    char *chunk;
    struct buf made; /* what the producer gave */
    const char *pending;
    size_t pending_size;
    int pending_sink;
    uint64_t lost_bytes; /* dropped by the output limit before they could be read */
    int ends_told;       /* sinks for which the producer knows the end */
    bool output_ended, idle, give_up, reader_gone;
};

/* Prepares for a job that was started. 0, -ENOMEM or another negative errno. */
int pump_open(struct pump *p, rein_job *job, bool copies);
void pump_done(struct pump *p);

/* Runs to the job's end and fills *ret; .ended tells whether it came to that, which only .follows
 * leaves open. 0 or a negative errno. */
int pump_run(struct pump *p, struct rein_result *ret);

/* Writes a text to sinks[sink], before or after the loop; signals count as in the loop. */
void pump_write(struct pump *p, int sink, const char *data, size_t size);

#endif
