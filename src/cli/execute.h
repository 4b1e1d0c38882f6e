/*
 * One job in the foreground, from its settings to the exit status: what `rein run` and `rein code`
 * have in common.
 */
#ifndef REIN_CLI_EXECUTE_H
#define REIN_CLI_EXECUTE_H

#include "options.h"

/* What to start; exactly one of the two. */
struct execution {
    const char *const *argv;
    const struct rein_code *code;
};

/* Starts the job, passes its output on, tells how it ended. Gives the exit status, or a negative
 * errno with *reterr when there was no job to tell about. */
int execute(const struct settings *s, const struct execution *what, struct rein_error **reterr);

#endif
