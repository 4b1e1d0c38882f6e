/* The environment of a job: a profile over the caller's environment, and what the spec adds. */
#ifndef REIN_JOB_SPEC_ENV_H
#define REIN_JOB_SPEC_ENV_H

#include "rein.h"

#define ENV_DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Builds it from the environment of this process. *ret_env is a new vector. bad_request for an
 * entry without a name. */
int spec_environment(const struct rein_spec *spec, char ***ret_env, struct rein_error **reterr);

/* The value of a name in a vector of NAME=VALUE, or NULL. */
const char *env_get(const char *const *env, const char *name);

#endif
