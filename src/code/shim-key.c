/* What the answer of a version manager's shim depends on. */
#include "shim-key.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "job/spec-env.h"

/* Files in which managers for every language look for a version, in each directory up the tree. */
static const char *const common_version_files[] = {
    ".tool-versions",   "mise.toml",         ".mise.toml",        "mise.local.toml",
    ".mise.local.toml", ".config/mise.toml", ".mise/config.toml", ".config/mise/config.toml",
};

/* Global choices and lists of installed versions, from the directory that holds "shims". */
static const char *const manager_files[] = {
    "version",         "versions",      "installs/python", "installs/node",
    "installs/nodejs", "installs/ruby", "installs/perl",
};

/* Global choices that are kept in the home directory. */
static const char *const home_files[] = {
    ".tool-versions",
    ".config/mise/config.toml",
    ".volta/tools/user/platform.json",
};

static const char *const manager_prefixes[] = {
    "PYENV_", "_PYENV_", "RBENV_", "NODENV_", "PLENV_",        "ASDF_",
    "MISE_",  "__MISE_", "VOLTA_", "_VOLTA_", "PYTHON_BUILD_",
};

/* Other variables that managers go by. */
static const char *const other_variables[] = {"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"};

int shim_is_manager_variable(const char *entry)
{
    for (size_t i = 0; i < ARRAY_SIZE(manager_prefixes); i++)
        if (strncmp(entry, manager_prefixes[i], strlen(manager_prefixes[i])) == 0)
            return 1;
    return 0;
}

/* Ends the line that begins at start. A newline within it would let two keys look the same: such a
 * key is none. */
static void end_line(struct buf *key, size_t start)
{
    if (buf_error(key) == 0 && memchr(key->data + start, '\n', key->len - start))
        key->error = -EINVAL;
    buf_add_char(key, '\n');
}

static void add_line(struct buf *key, const char *kind, const char *value)
{
    size_t start = key->len;

    buf_add_format(key, "%s %s", kind, value);
    end_line(key, start);
}

/* Adds a line about a file that exists; one that does not adds nothing, so its coming changes the
 * key as its going does. */
static void add_file(struct buf *key, const char *dir, const char *name)
{
    auto_buf struct buf file = {0};
    size_t start = key->len;
    struct stat st;

    buf_add_format(&file, "%s/%s", dir, name);
    if (buf_error(&file) < 0 || stat(file.data, &st) < 0)
        return;
    buf_add_format(key, "file %s %lld.%09ld %lld %llu", file.data, (long long)st.st_mtim.tv_sec,
                   st.st_mtim.tv_nsec, (long long)st.st_size, (unsigned long long)st.st_ino);
    end_line(key, start);
}

static void add_files(struct buf *key, const char *dir, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n && names[i]; i++)
        add_file(key, dir, names[i]);
}

/* Cuts the last part off a path. False when there is none. */
static int cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Adds the version files in dir and in every directory above it. */
static void add_tree(struct buf *key, const struct language *language, const char *dir)
{
    auto_free char *here = strdup(dir);

    if (!here) {
        key->error = -ENOMEM;
        return;
    }
    do {
        add_files(key, here, common_version_files, ARRAY_SIZE(common_version_files));
        add_files(key, here, language->version_files, ARRAY_SIZE(language->version_files));
    } while (cut_last(here));
}

/* Adds the shim, and what lies beside the directory of shims. */
static void add_manager(struct buf *key, const char *shim)
{
    auto_free char *dir = strdup(shim);

    if (!dir) {
        key->error = -ENOMEM;
        return;
    }
    if (cut_last(dir))
        add_file(key, dir, shim + strlen(dir) + 1);
    if (cut_last(dir))
        add_files(key, dir, manager_files, ARRAY_SIZE(manager_files));
}

static void add_variables(struct buf *key, const char *const *env)
{
    for (const char *const *entry = env; *entry; entry++)
        if (shim_is_manager_variable(*entry))
            add_line(key, "env", *entry);
    for (size_t i = 0; i < ARRAY_SIZE(other_variables); i++) {
        const char *value = env_get(env, other_variables[i]);

        if (value)
            add_line(key, other_variables[i], value);
    }
}

int shim_key(const struct language *language,
             const char *shim,
             const struct interpreter_place *place,
             struct buf *key)
{
    const char *home = env_get(place->env, "HOME");

    assert(place->cwd);

    add_line(key, "shim", shim);
    add_line(key, "cwd", place->cwd);
    add_variables(key, place->env);
    add_tree(key, language, place->cwd);
    add_manager(key, shim);
    if (home)
        add_files(key, home, home_files, ARRAY_SIZE(home_files));
    return buf_error(key);
}

int shim_same_versions(const struct language *language,
                       const struct interpreter_place *place,
                       const char *dir)
{
    auto_buf struct buf from_cwd = {0};
    auto_buf struct buf from_dir = {0};

    add_tree(&from_cwd, language, place->cwd);
    add_tree(&from_dir, language, dir);
    return buf_error(&from_cwd) == 0 && buf_error(&from_dir) == 0 && from_cwd.len == from_dir.len &&
           (from_cwd.len == 0 || memcmp(from_cwd.data, from_dir.data, from_cwd.len) == 0);
}
