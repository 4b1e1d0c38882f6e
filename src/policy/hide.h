/*
 * Hides secrets in texts that people, models and files get to see about a request: known values
 * wherever they stand, and what looks like a secret by its name (--password=x, TOKEN=x) or its
 * shape. What is hidden becomes stars.
 */
#ifndef REIN_POLICY_HIDE_H
#define REIN_POLICY_HIDE_H

/* In place. values: known ones, NULL-terminated; env: those in it that look like secrets, too. Both
 * may be NULL. 0 or -ENOMEM. */
int hide_secrets(const char *const *values, const char *const *env, char *text);

#endif
