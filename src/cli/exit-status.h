/* The exit status of `rein run` and `rein code`, as coreutils' timeout would give it. */
#ifndef REIN_CLI_EXIT_STATUS_H
#define REIN_CLI_EXIT_STATUS_H

#include "rein.h"

/* Of a job that has ended: its own code, 124 after the deadline, 125 when it is lost, 128+N when
 * signal N ended it. A job that ended for another reason than exit never gives 0. */
int exit_status_of(const struct rein_result *result);

#endif
