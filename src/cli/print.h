/* What verbs other than a running job print on standard output: whole texts, in one piece. */
#ifndef REIN_CLI_PRINT_H
#define REIN_CLI_PRINT_H

#include <jansson.h>
#include <stddef.h>

#include "rein.h"

/* 0, or a negative errno with *reterr. */
int print_text(const char *data, size_t len, struct rein_error **reterr);

/* A JSON value on a line of its own; takes over the reference. NULL is a lack of memory. */
int print_json_line(json_t *take_value, struct rein_error **reterr);

/* The error object, on a line of its own. There is nobody to tell when that fails. */
void print_error_json(const struct rein_error *error);

#endif
