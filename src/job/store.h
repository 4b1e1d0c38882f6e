/*
 * The store: jobs/<process_id>/ with job.json, lock, output.log (output.marks) and exit.json. A
 * foreground job appears here once its output has outgrown memory.
 */
#ifndef REIN_JOB_STORE_H
#define REIN_JOB_STORE_H

#include "context.h"

#define STORE_AGE_MAX_S (24 * 3600)
#define STORE_JOBS_MAX 200
#define STORE_BYTES_MAX (UINT64_C(1) << 30)

/* Forgets finished jobs that are too old, too many or too large together; never a locked one. What
 * cannot be removed stays until the next time. */
void store_sweep(rein *r);

#endif
