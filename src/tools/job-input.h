/* What goes to a job from outside while it runs: bytes, the end of its input, signals. */
#ifndef REIN_TOOLS_JOB_INPUT_H
#define REIN_TOOLS_JOB_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "rein.h"

/* "TERM", "SIGTERM", "term" or "15". "bad_request", whose text begins with the name of the option.
 */
int job_signal_parse(const char *option, const char *given, int *ret, struct rein_error **reterr);

/* "job_ended" unless it runs. */
int job_check_running(rein_job *job, struct rein_error **reterr);

/* Each fails with "job_ended", or "bad_request" for a job without an open pipe for its input. Those
 * that write wait while the job does not read, until a moment (INT64_MAX: for ever): then
 * "timeout". */
int job_send_bytes(
    rein_job *job, const char *data, size_t size, int64_t until_ns, struct rein_error **reterr);
int job_send_eof(rein_job *job, int64_t until_ns, struct rein_error **reterr);
int job_send_signal(rein_job *job, int number, struct rein_error **reterr);

#endif
