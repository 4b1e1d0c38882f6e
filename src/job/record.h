/*
 * exit.json: how a job ended, written once, by rename, by whoever saw the end. Shared with the
 * supervisor: libc only, no allocation.
 */
#ifndef REIN_JOB_RECORD_H
#define REIN_JOB_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#define RECORD_FORMAT 1
#define RECORD_NAME "exit.json"

struct record {
    int reason; /* enum rein_reason */
    int has_status;
    int wait_status;
    pid_t pid;
    int64_t duration_ns;
    int64_t user_us, system_us;
    uint64_t max_rss_bytes;
    uint64_t output_bytes;
    uint64_t gap_begin, gap_end;
};

/* Writes the record into the job's directory. 0 or a negative errno; the old file, if any, stays
 * whole. Does not wait for the disk: a machine that crashes loses its running jobs anyway. */
int record_write(int dir_fd, const struct record *record);

/* The word of INTERFACE for a reason; "running" for REIN_REASON_NONE. */
const char *record_reason_name(int reason);

#endif
