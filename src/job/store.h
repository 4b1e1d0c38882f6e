/*
 * The store: jobs/<process_id>/ with job.json, lock, control, output.log (output.marks) and
 * exit.json. A job of the foreground appears here once its output has outgrown memory.
 *
 *   job.json there            the job exists; before that a directory is one that is being made
 *   exit.json there           it has ended, and this is how
 *   else, lock is held        it runs
 *   else                      it is lost: its supervisor was killed, or the machine went down
 *
 * The supervisor makes and writes all this (src/supervisor/store.c); here it is read and removed.
 */
#ifndef REIN_JOB_STORE_H
#define REIN_JOB_STORE_H

#include <stddef.h>

#include "context.h"

#define STORE_FORMAT 1 /* of job.json */

#define STORE_AGE_MAX_S (24 * 3600)
#define STORE_JOBS_MAX 200
#define STORE_BYTES_MAX (UINT64_C(1) << 30)

/* Notes about jobs whose ends somebody waits for, below the state directory, and what the record of
 * one that is forgotten is called there. */
#define STORE_OPEN_ENDS "audit/open"
#define STORE_END_SUFFIX ".end"

struct rein_job;

/* ---- store-read.c ------------------------------------------------------------------------- */

/* Is its lock held? Then its supervisor lives. */
int store_is_locked(int dir_fd);

/* Reads job.json into an empty job. 0, -ENOENT, -EBADMSG for what is no such text, -EPROTO for one
 * of a newer version. */
int store_read_job(struct rein_job *job, int dir_fd);

/* Reads exit.json and marks the job as ended. Errors as above, and the job is as it was. */
int store_read_end(struct rein_job *job, int dir_fd);

/* Marks a job as lost, with what can still be found out about its output. */
void store_read_loss(struct rein_job *job, int dir_fd);

/* The two texts; for the readers above and for tests. */
int store_parse_job(struct rein_job *job, const char *text, size_t size);
int store_parse_end(struct rein_job *job, const char *text, size_t size);

/* ---- store-sweep.c ------------------------------------------------------------------------ */

/* Forgets finished jobs that are too old, too many or too large together, and what a crash left;
 * never a locked one. What cannot be removed stays until the next time. *ret_removed, which may be
 * NULL, gets how many jobs went. 0 or a negative errno. */
int store_sweep(rein *r, size_t *ret_removed);

/* The same, unless somebody has done it just now. */
void store_sweep_sometimes(rein *r);

/* Removes an ended job. 0, -ENOENT, -EBUSY when it runs, or another negative errno. */
int store_remove(int jobs_fd, const char *id);

#endif
