/* Handles of jobs in the store, for the verbs that name them on the command line. */
#ifndef REIN_CLI_JOBS_H
#define REIN_CLI_JOBS_H

#include "tools/wait.h"
#include "verbs.h"

struct jobs {
    rein *context;
    rein_job **list;
    size_t n;
};

/* Operand number i of a verb whose options stand anywhere, those after "--" included. NULL: there
 * are not so many. */
const char *operand_at(const struct call *call, size_t i);

/* "bad_request" unless there are min to max of them; max 0: any number. */
int operands_check(const struct call *call, size_t min, size_t max, struct rein_error **reterr);

/* Takes hold of the jobs that the first n operands name (0: all operands). *ret must be zeroed and
 * is to be given to jobs_done() in any case. */
int jobs_open(const struct call *call, size_t n, struct jobs *ret, struct rein_error **reterr);

/* The same for all that run. */
int jobs_open_running(struct jobs *ret, struct rein_error **reterr);
void jobs_done(struct jobs *jobs);

/* "running", "exit 0", "stopped (SIGTERM)", "timeout (SIGKILL)", "SIGSEGV", "lost". Returns buf. */
#define JOB_WORDS_SIZE 64
const char *job_words(const struct rein_result *result, char buf[static JOB_WORDS_SIZE]);

#endif
