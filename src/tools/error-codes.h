/*
 * The machine codes of struct rein_error, and what each becomes on every surface: one table. It
 * knows nothing about how an error came about or how it is shown.
 */
#ifndef REIN_TOOLS_ERROR_CODES_H
#define REIN_TOOLS_ERROR_CODES_H

#include <stddef.h>

#define EXIT_STATUS_OK 0
#define EXIT_STATUS_NOTHING 1 /* no such job, already ended, nothing matched */
#define EXIT_STATUS_USAGE 2
#define EXIT_STATUS_TIMEOUT 124
#define EXIT_STATUS_FAILED 125 /* rein itself failed or refused */
#define EXIT_STATUS_NOT_EXECUTABLE 126
#define EXIT_STATUS_NOT_FOUND 127
#define EXIT_STATUS_SIGNAL 128 /* + the signal's number */

struct error_code {
    const char *name;
    int run_exit;  /* of the verbs that start something: run, code, start */
    int verb_exit; /* of the other verbs */
    int http_status;
    int jsonrpc_code; /* where an answer cannot be a tool's error result */
};

/* The row of a code. A name that is not in the table, or NULL, gives the row of "internal". */
const struct error_code *error_code_find(const char *name);

/* All rows, for tests and documentation. */
const struct error_code *error_code_table(size_t *ret_count);

#endif
