/*
 * Hides secrets in texts that people, models and files get to see about a request: known values
 * wherever they stand, and what looks like a secret by its name (--password=x, TOKEN=x) or its
 * shape. What is hidden becomes stars.
 */
#ifndef REIN_POLICY_HIDE_H
#define REIN_POLICY_HIDE_H

/* In place. values: known ones, NULL-terminated, or NULL. 0 or -ENOMEM. */
int hide_secrets(const char *const *values, char *text);

/* The values in an environment that are secrets by their name or shape, and that are long enough
 * not to hide half a text; appended to *values. 0 or -ENOMEM. */
int hide_collect(const char *const *env, char ***values);

#endif
