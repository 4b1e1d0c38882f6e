/* What a language changes in the environment of its job. */
#include "code-env.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/strv.h"
#include "job/spec-env.h"

/* True for "NAME=VALUE" and for "NAME". */
static int has_name(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return strcspn(entry, "=") == n && memcmp(entry, name, n) == 0;
}

static int names(const char *const *asked, const char *name)
{
    for (; asked && *asked; asked++)
        if (has_name(*asked, name))
            return 1;
    return 0;
}

/* An empty value instead of none: a variable can be set from here, not taken away, and shells read
 * no file for an empty one. */
static int silence_startup_files(const struct language *language,
                                 const char *const *asked,
                                 const char *const *job_env,
                                 char ***env)
{
    for (const char *const *name = language->startup_variables; *name; name++) {
        const char *value = env_get(job_env, *name);
        auto_buf struct buf entry = {0};
        int r;

        if (!value || value[0] == '\0' || names(asked, *name))
            continue;
        buf_add_format(&entry, "%s=", *name);
        r = strv_add_take(env, buf_take(&entry));
        if (r < 0)
            return r;
    }
    return 0;
}

/* Directory lists have no way to quote a colon; "." names such a directory as well, from where the
 * job starts. */
static void add_import_dir(struct buf *list, const char *cwd, const char *dir)
{
    buf_add_str(list, strchr(cwd, ':') ? "." : cwd);
    if (dir[0] != '\0')
        buf_add_format(list, "/%s", dir);
}

static void add_to_list(struct buf *list, const char *prefix, const char *rest)
{
    if (rest && rest[0] != '\0')
        buf_add_format(list, "%s%s", prefix, rest);
}

static int add_import_dirs(const struct language *language,
                           const char *const *job_env,
                           const char *cwd,
                           const char *prelude_dir,
                           char ***env)
{
    const char *separator = prelude_dir ? ":" : "";
    auto_buf struct buf entry = {0};
    const char *before = env_get(job_env, language->import_variable);

    buf_add_format(&entry, "%s=", language->import_variable);
    add_to_list(&entry, "", prelude_dir);
    for (size_t i = 0; cwd && language->import_dirs[i]; i++) {
        buf_add_str(&entry, separator);
        add_import_dir(&entry, cwd, language->import_dirs[i]);
        separator = ":";
    }
    add_to_list(&entry, separator, before);
    return strv_add_take(env, buf_take(&entry));
}

/* The caller's own variables; one that the language is going to set is left out, for its value is
 * part of job_env and so of what will be set. */
static int add_asked(const char *const *asked, const char *replaced, char ***env)
{
    for (; asked && *asked; asked++) {
        int r;

        if (replaced && has_name(*asked, replaced))
            continue;
        r = strv_add(env, *asked);
        if (r < 0)
            return r;
    }
    return 0;
}

int code_env_make(const struct language *language,
                  const char *const *asked,
                  const char *const *job_env,
                  const char *import_cwd,
                  const char *prelude_dir,
                  char ***ret)
{
    auto_strv char **env = strv_copy(NULL);
    int imports = (import_cwd || prelude_dir) && language->import_variable;
    int r;

    assert(language);
    assert(ret);

    if (!env)
        return -ENOMEM;
    r = add_asked(asked, imports ? language->import_variable : NULL, &env);
    if (r < 0)
        return r;
    r = silence_startup_files(language, asked, job_env, &env);
    if (r < 0)
        return r;
    if (imports) {
        r = add_import_dirs(language, job_env, import_cwd, prelude_dir, &env);
        if (r < 0)
            return r;
    }
    *ret = env;
    env = NULL;
    return 0;
}
