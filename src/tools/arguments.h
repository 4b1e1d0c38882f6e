/*
 * The arguments of tools: one row each, from which both the schema that callers see and the check
 * of what they send are made. It knows JSON and rows, no tool.
 */
#ifndef REIN_TOOLS_ARGUMENTS_H
#define REIN_TOOLS_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "rein.h"

#define ARGUMENT_ALIASES_MAX 2

enum argument_type {
    ARGUMENT_STRING = 0x1,
    ARGUMENT_INTEGER = 0x2,
    ARGUMENT_NUMBER = 0x4,
    ARGUMENT_BOOLEAN = 0x8,
    ARGUMENT_STRINGS = 0x10, /* an array of them */
    ARGUMENT_OBJECT = 0x20,
    ARGUMENT_NULL = 0x40, /* null means something; elsewhere it is as if nothing were given */
};

#define ARGUMENT_TAKES_NUL 0x1u /* strings may hold NUL characters */
#define ARGUMENT_HIDDEN 0x2u    /* taken, but not offered */
#define ARGUMENT_LIMIT 0x4u     /* more than max is "limit_exceeded", not "bad_request" */
#define ARGUMENT_REQUIRED 0x8u

struct argument {
    const char *name; /* NULL ends a table */
    const char *aliases[ARGUMENT_ALIASES_MAX + 1];
    unsigned types;             /* enum argument_type */
    unsigned flags;             /* ARGUMENT_* */
    double min, max;            /* of numbers; both 0: any */
    const char *const *choices; /* of strings; or NULL */
    const char *fallback;       /* what counts when nothing is given, as JSON; or NULL */
    const char *schema;         /* more keywords for the schema, a JSON object; or NULL */
    const char *help;
    const char *refusal; /* known, but refused with this hint; or NULL */
};

/* Arguments that were checked, under their first names. */
struct arguments {
    const struct argument *table;
    json_t *given;  /* what the caller said */
    json_t *values; /* the same, and defaults */
};

/* Text to a JSON object. "bad_request". */
int arguments_parse(const char *text, size_t len, json_t **ret, struct rein_error **reterr);

/* Checks an object, NULL for an empty one. "bad_request" with the argument, what was given and what
 * is allowed; "limit_exceeded". */
int arguments_check(const struct argument *table,
                    json_t *object,
                    struct arguments *ret,
                    struct rein_error **reterr);
void arguments_done(struct arguments *a);

/* The value or the default; NULL when there is neither, and for null. */
const json_t *argument_get(const struct arguments *a, const char *name);
const char *argument_string(const struct arguments *a, const char *name); /* or NULL */
bool argument_is_true(const struct arguments *a, const char *name);
bool argument_is_given(const struct arguments *a, const char *name);

/* Seconds as nanoseconds, rounded up. Negative when there is no value, or null. */
int64_t argument_duration(const struct arguments *a, const char *name);
uint64_t argument_count(const struct arguments *a, const char *name); /* 0 without a value */

/* The schema of a table. NULL when there is no memory. */
json_t *arguments_schema(const struct argument *table);

/* A value as a message shows it: JSON, cut when long. The caller frees it; or NULL. */
char *argument_show(const json_t *value);

#endif
