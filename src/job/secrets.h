/*
 * Secrets: texts that must not be shown. What the caller declares as one is masked, everywhere that
 * it would be written; the masking of a job's output is the supervisor's work (base/mask.h). What
 * only looks like one is kept from jobs, where the environment's profile says so.
 */
#ifndef REIN_JOB_SECRETS_H
#define REIN_JOB_SECRETS_H

#include <stdbool.h>

#include "base/mask.h"
#include "rein.h"

/* Puts stars over every occurrence of every value in a text, in place; occurrences may overlap.
 * values ends with NULL, and may be NULL. 0 or -ENOMEM. */
int secrets_mask_text(const char *const *values, char *text);

/* The same over values, and over those in an environment that look like secrets, by their names or
 * shapes, and have SECRET_SHOWN_MIN bytes or more: shorter ones occur in texts that have nothing to
 * do with them. For texts that are shown; both may be NULL. */
#define SECRET_SHOWN_MIN 8
int secrets_mask_shown(const char *const *values, const char *const *env, char *text);

/* The values of the variables that spec->secrets names: those that the job gets, in env, or else
 * the caller's. *ret_values is a new vector of them, without doubles; what cannot be masked is a
 * line in *warnings. 0 or -ENOMEM. */
int secrets_resolve(const struct rein_spec *spec,
                    const char *const *env,
                    char ***ret_values,
                    char ***warnings);

/* ---- what looks like one (secret-table.c) -------------------------------------------------- */

bool secret_name(const char *name);
bool secret_value(const char *value);

/* NAME=VALUE, judged by both; an empty value is none. NAME alone is judged by itself. */
bool secret_entry(const char *entry);

/* An entry as it may be shown: NAME=*** for a secret. The caller's; NULL when there is no memory.
 */
char *secret_shown(const char *entry);

#endif
