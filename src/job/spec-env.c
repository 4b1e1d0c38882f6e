/* Builds the environment of a job. Which variables the agent profile sets is one table. */
#include "spec-env.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "secrets.h"

/* What the agent profile sets where the caller does not: no waiting for a person, no pager, no
 * colour, no buffering. */
static const struct {
    const char *name;
    const char *value;
} agent_variables[] = {
    {"PYTHONUNBUFFERED", "1"},
    {"PAGER", "cat"},
    {"GIT_PAGER", "cat"},
    {"MANPAGER", "cat"},
    {"GH_PAGER", "cat"},
    {"SYSTEMD_PAGER", ""},
    {"GIT_TERMINAL_PROMPT", "0"},
    {"GIT_EDITOR", "true"},
    {"GIT_SEQUENCE_EDITOR", "true"},
    {"EDITOR", "true"},
    {"VISUAL", "true"},
    {"GIT_MERGE_AUTOEDIT", "no"},
    {"DEBIAN_FRONTEND", "noninteractive"},
    {"NO_COLOR", "1"},
    {"TERM", "dumb"},
    {"PATH", ENV_DEFAULT_PATH},
};

/* What the clean profile lets through. A name that ends in * stands for all that begin so. */
static const char *const clean_names[] = {"PATH", "HOME", "LANG",    "LC_*",  "TERM",  "COLORTERM",
                                          "TZ",   "USER", "LOGNAME", "SHELL", "TMPDIR"};

static int has_name(const char *entry, const char *name, size_t name_size)
{
    return strncmp(entry, name, name_size) == 0 && entry[name_size] == '=';
}

static const char *find(const char *const *env, const char *name, size_t name_size)
{
    for (size_t i = 0; env && env[i]; i++)
        if (has_name(env[i], name, name_size))
            return env[i];
    return NULL;
}

const char *env_get(const char *const *env, const char *name)
{
    size_t n = strlen(name);
    const char *entry = find(env, name, n);

    return entry ? entry + n + 1 : NULL;
}

/* A vector that grows without being counted anew for each entry. */
struct env {
    char **v;
    size_t n;
    size_t allocated;
};

static void env_done(struct env *e)
{
    e->v = strv_free(e->v);
}

static int env_add_take(struct env *e, char *take_entry)
{
    if (e->n + 2 > e->allocated) {
        size_t allocated = MAX(e->allocated * 2, (size_t)64);
        char **grown = realloc(e->v, allocated * sizeof(*grown));

        if (!grown) {
            free(take_entry);
            return -ENOMEM;
        }
        e->v = grown;
        e->allocated = allocated;
    }
    e->v[e->n] = take_entry;
    if (take_entry)
        e->v[++e->n] = NULL;
    return take_entry ? 0 : -ENOMEM;
}

/* Sets or replaces an entry NAME=VALUE. */
static int env_put_take(struct env *e, char *take_entry)
{
    size_t name_size = take_entry ? strcspn(take_entry, "=") : 0;

    for (size_t i = 0; take_entry && i < e->n; i++) {
        if (has_name(e->v[i], take_entry, name_size)) {
            free(e->v[i]);
            e->v[i] = take_entry;
            return 0;
        }
    }
    return env_add_take(e, take_entry);
}

static int env_put(struct env *e, const char *name, const char *value)
{
    char *entry = NULL;

    return env_put_take(e, asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry);
}

static int env_put_default(struct env *e, const char *name, const char *value)
{
    return find((const char *const *)e->v, name, strlen(name)) ? 0 : env_put(e, name, value);
}

static int is_clean(const char *entry)
{
    for (size_t i = 0; i < ARRAY_SIZE(clean_names); i++) {
        size_t n = strlen(clean_names[i]);

        if (clean_names[i][n - 1] == '*' ? strncmp(entry, clean_names[i], n - 1) == 0
                                         : has_name(entry, clean_names[i], n))
            return 1;
    }
    return 0;
}

static int is_kept(const char *entry, const char *const *keep)
{
    for (; keep && *keep; keep++)
        if (has_name(entry, *keep, strlen(*keep)))
            return 1;
    return 0;
}

static int warn_of_secret(const char *entry, char ***warnings)
{
    char *text = NULL;

    if (!warnings)
        return 0;
    if (asprintf(&text, "%.*s looks like a secret and was left out; --env-keep passes it on",
                 (int)strcspn(entry, "="), entry) < 0)
        return -ENOMEM;
    return strv_add_take(warnings, text);
}

int env_filter_secrets(char **env, const char *const *keep, char ***warnings)
{
    size_t n = 0;
    int r = 0;

    for (char **entry = env; *entry; entry++) {
        if (is_kept(*entry, keep) || !secret_entry(*entry)) {
            env[n++] = *entry;
            continue;
        }
        r = r < 0 ? r : warn_of_secret(*entry, warnings);
        free(*entry);
    }
    env[n] = NULL;
    return r;
}

static int start_from_caller(struct env *e, const struct rein_spec *spec, char ***warnings)
{
    int is_short = spec->env_profile == REIN_ENV_CLEAN;
    int r = env_add_take(e, strdup("")); /* makes an empty vector, not NULL */

    if (r == 0) {
        free(e->v[0]);
        e->v[e->n = 0] = NULL;
    }
    for (size_t i = 0; r == 0 && environ && environ[i]; i++)
        if (!is_short || is_clean(environ[i]) || is_kept(environ[i], spec->env_keep))
            r = env_add_take(e, strdup(environ[i]));
    if (r == 0 && is_short) {
        r = env_filter_secrets(e->v, spec->env_keep, warnings);
        e->n = strv_length((const char *const *)e->v);
    }
    return r;
}

static int apply_spec(struct env *e, const char *const *entries, struct rein_error **reterr)
{
    for (size_t i = 0; entries && entries[i]; i++) {
        size_t name_size = strcspn(entries[i], "=");
        const char *source = entries[i];
        int r;

        if (name_size == 0)
            return rein_fail(reterr, -EINVAL, "bad_request", "environment", "'%s' has no name",
                             entries[i]);
        if (!source[name_size]) /* a name alone passes the caller's variable on, if there is one */
            source = find((const char *const *)environ, entries[i], name_size);
        r = source ? env_put_take(e, strdup(source)) : 0;
        if (r < 0)
            return rein_oom(reterr);
    }
    return 0;
}

static int add_locale(struct env *e)
{
    const char *const *v = (const char *const *)e->v;
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (find(v, names[i], strlen(names[i])))
            return 0;
    return env_put(e, "LANG", "C.UTF-8");
}

/* The user data base is asked only when it has to be: that loads half a dozen libraries. */
static int add_home(struct env *e)
{
    const struct passwd *user;

    if (find((const char *const *)e->v, "HOME", strlen("HOME")))
        return 0;
    user = getpwuid(getuid());
    return user && user->pw_dir ? env_put(e, "HOME", user->pw_dir) : 0;
}

static int add_agent(struct env *e)
{
    int r = add_locale(e);

    if (r == 0)
        r = add_home(e);
    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(agent_variables); i++)
        r = env_put_default(e, agent_variables[i].name, agent_variables[i].value);
    return r;
}

int spec_environment(const struct rein_spec *spec, char ***ret_env, struct rein_error **reterr)
{
    return spec_environment_warn(spec, ret_env, NULL, reterr);
}

int spec_environment_warn(const struct rein_spec *spec,
                          char ***ret_env,
                          char ***warnings,
                          struct rein_error **reterr)
{
    auto_(env_done) struct env e = {0};
    int r = start_from_caller(&e, spec, warnings);

    if (r < 0)
        return rein_oom(reterr);
    r = apply_spec(&e, spec->env, reterr);
    if (r < 0)
        return r;
    if (spec->env_profile != REIN_ENV_INHERIT && add_agent(&e) < 0)
        return rein_oom(reterr);
    *ret_env = TAKE_PTR(e.v);
    return 0;
}
