/*
 * Secrets: texts that must not be shown. What the caller declares as one is masked, everywhere that
 * it would be written; the masking of a job's output is the supervisor's work (base/mask.h).
 */
#ifndef REIN_JOB_SECRETS_H
#define REIN_JOB_SECRETS_H

#include "base/mask.h"
#include "rein.h"

/* Puts stars over every occurrence of every value in a text, in place; occurrences may overlap.
 * values ends with NULL, and may be NULL. 0 or -ENOMEM. */
int secrets_mask_text(const char *const *values, char *text);

/* The values of the variables that spec->secrets names: those that the job gets, in env, or else
 * the caller's. *ret_values is a new vector of them, without doubles; what cannot be masked is a
 * line in *warnings. 0 or -ENOMEM. */
int secrets_resolve(const struct rein_spec *spec,
                    const char *const *env,
                    char ***ret_values,
                    char ***warnings);

#endif
