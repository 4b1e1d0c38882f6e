/* From settings to what the library starts: what run, code and start have in common. */
#ifndef REIN_CLI_JOB_SPEC_H
#define REIN_CLI_JOB_SPEC_H

#include "verbs.h"

/* Strings are borrowed from the settings. argv: NULL for code. */
struct rein_spec job_spec_make(const struct settings *s, const char *const *argv);

/* Is there a COMMAND, and does --shell have its one string? "bad_request". */
int job_spec_check_command(const struct call *call, struct rein_error **reterr);

#endif
