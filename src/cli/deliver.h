/*
 * How the output and the end of a job in the foreground reach the person or program that asked:
 *
 *   as it is   text, the bytes as they come
 *   rendered   text, as it comes: --render, --encoding
 *   cut        text, head and tail, at the end: --show
 *   events     --jsonl
 *   object     --json
 */
#ifndef REIN_CLI_DELIVER_H
#define REIN_CLI_DELIVER_H

#include "options.h"

/* True when output is passed on as it comes, so that the job should wait for a slow reader. */
bool delivery_passes_on(const struct settings *s);

/* Runs the job to its end. Gives the exit status, or a negative errno with *reterr. */
int deliver(rein_job *job, const struct settings *s, struct rein_error **reterr);

#endif
