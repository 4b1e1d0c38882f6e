/*
 * What a language changes in the environment of its job: start-up files of the user's stay unread,
 * and code that runs from a private file can import from the working directory.
 *
 * An environment is a NULL-terminated vector of "NAME=VALUE".
 */
#ifndef REIN_CODE_CODE_ENV_H
#define REIN_CODE_CODE_ENV_H

#include "languages.h"

/* Makes the variables to ask the job layer for: those of asked (the caller's own, "NAME=VALUE" or
 * "NAME"; may be NULL), and what the language adds to job_env, the environment that asked leads to.
 * import_cwd is the absolute directory to import from, or NULL; prelude_dir the one that comes
 * before all others, or NULL. Never touches a start-up variable
 * that asked names. 0 or -ENOMEM. */
int code_env_make(const struct language *language,
                  const char *const *asked,
                  const char *const *job_env,
                  const char *import_cwd,
                  const char *prelude_dir,
                  char ***ret);

#endif
