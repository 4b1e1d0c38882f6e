/* How a job ended, in lines on standard error: only what a reader of its output cannot know. */
#ifndef REIN_CLI_REPORT_END_H
#define REIN_CLI_REPORT_END_H

#include "options.h"
#include "pump.h"
#include "report.h"

/* The write that failed, in every format. */
void report_write_error(const struct pump *p);

/* A reason other than exit, output that was lost, descendants left, warnings. */
void report_end(const struct rein_result *result, const struct pump *p, const struct settings *s);

#endif
