/*
 * exit.json: how a job ended, written once, by rename, by whoever saw the end. Shared with the
 * supervisor: libc only, no allocation.
 */
#ifndef REIN_JOB_RECORD_H
#define REIN_JOB_RECORD_H

#include <sys/types.h>

#include "wire.h"

#define RECORD_FORMAT 1
#define RECORD_NAME "exit.json"
#define RECORD_NEW_NAME "exit.json.new" /* in the making, or room for it */

#define RECORD_RESERVED 4096

/* Reserves room for the record of a job that begins, so that a disk that is full at its end does
 * not make it one of which nobody knows how it ended. 0 or a negative errno. */
int record_reserve(int dir_fd);

/* Writes the record into the job's directory; left has
 * end->n_left_named entries. 0 or a negative errno; the old file, if any, stays whole. Does not
 * wait for the disk: a machine that crashes loses its running jobs anyway. */
int record_write(int dir_fd, const struct wire_exit *end, const struct wire_left *left, pid_t pid);

/* The word for a reason, as results have it; "running" for REIN_REASON_NONE. */
const char *record_reason_name(int reason);

/* The reason of a word; -EINVAL when there is none. */
int record_reason_find(const char *name);

#endif
