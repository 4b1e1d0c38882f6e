/* The environment of a job: a profile over the caller's environment, and what the spec adds. */
#ifndef REIN_JOB_SPEC_ENV_H
#define REIN_JOB_SPEC_ENV_H

#include "rein.h"

#define ENV_DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Builds it from the environment of this process. *ret_env is a new vector. bad_request for an
 * entry without a name. */
int spec_environment(const struct rein_spec *spec, char ***ret_env, struct rein_error **reterr);

/* The same, and a line in *warnings for each variable that the filter of secrets took out. */
int spec_environment_warn(const struct rein_spec *spec,
                          char ***ret_env,
                          char ***warnings,
                          struct rein_error **reterr);

/* Takes what looks like a secret out of a vector, but for the names in keep (which may be NULL),
 * and adds a line to *warnings for each (warnings may be NULL). 0 or -ENOMEM. */
int env_filter_secrets(char **env, const char *const *keep, char ***warnings);

/* The value of a name in a vector of NAME=VALUE, or NULL. */
const char *env_get(const char *const *env, const char *name);

#endif
