/* The gate on the command line: its settings, and the person at the terminal who can be asked. */
#ifndef REIN_CLI_GATE_H
#define REIN_CLI_GATE_H

#include "options.h"
#include "policy/gate.h"
#include "tools/job-gate.h"

/* What options, variables and files say together. */
int gate_settings_of(const struct settings *s,
                     struct gate_settings *ret,
                     struct rein_error **reterr);

/* Asks the person at the terminal, where standard input and standard error are one. Breaks off, as
 * a no, when *stop_fd is readable; it may be negative. */
struct gate_asker terminal_asker(const int *stop_fd);

/* Judges a person's job, if --gate says so. *g must be zeroed, and is to be given to
 * job_gate_done(). 0: it may be started. */
int gate_own_job(struct job_gate *g,
                 const rein *r,
                 const char *verb,
                 const struct settings *s,
                 const struct rein_spec *spec,
                 const struct rein_code *code,
                 struct rein_error **reterr);

/* Writes down how that job ended, if it went through the gate. */
void gate_note_own_end(struct job_gate *g, rein_job *job);

#endif
