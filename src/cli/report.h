/*
 * What rein itself says: lines on standard error that begin with "rein: ". Control characters in
 * names and messages are made visible, so that no command can write to the terminal through them.
 * A standard error that does not take them is not worth a failure.
 */
#ifndef REIN_CLI_REPORT_H
#define REIN_CLI_REPORT_H

#include "base/macro.h"
#include "rein.h"

/* "rein: TEXT" */
void report(const char *format, ...) REIN_PRINTF(1, 2);

/* "rein: MESSAGE (HINT)" */
void report_error(const struct rein_error *error);

/* "rein: warning: TEXT" */
void report_warning(const char *text);

#endif
