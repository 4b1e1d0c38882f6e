/* Finds the interpreter of a language. */
#include "interpreter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "job/spec-env.h"
#include "shim.h"

/* Ends of the names of directories that hold nothing but shims: pyenv, rbenv, nodenv, asdf and mise
 * use the first, volta the second. */
static const char *const shim_dirs[] = {"/shims", "/.volta/bin"};

int interpreter_is_executable(const char *file)
{
    struct stat st;

    return stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
           faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) == 0;
}

/* Puts the path of name in one entry of PATH into file. False when that is nowhere. */
static int make_candidate(
    struct buf *file, const char *entry, size_t entry_len, const char *cwd, const char *name)
{
    buf_clear(file);
    if (entry_len == 0 || entry[0] != '/') {
        if (!cwd)
            return 0;
        buf_add_format(file, "%s/", cwd);
    }
    buf_add(file, entry, entry_len);
    if (entry_len > 0)
        buf_add_char(file, '/');
    buf_add_str(file, name);
    return 1;
}

static int find_in_path(const char *path, const char *cwd, const char *name, struct buf *file)
{
    for (const char *entry = path;; entry++) {
        size_t len = strcspn(entry, ":");

        if (make_candidate(file, entry, len, cwd, name)) {
            if (buf_error(file) < 0)
                return buf_error(file);
            if (interpreter_is_executable(file->data))
                return 0;
        }
        entry += len;
        if (*entry == '\0')
            return -ENOENT;
    }
}

int interpreter_find(const struct language *language, const char *path, const char *cwd, char **ret)
{
    auto_buf struct buf file = {0};

    assert(language);
    assert(ret);

    for (const char *const *name = language->interpreters; *name; name++) {
        int r = find_in_path(path ? path : ENV_DEFAULT_PATH, cwd, *name, &file);

        if (r == 0) {
            char *taken = buf_take(&file);

            if (!taken)
                return -ENOMEM;
            *ret = taken;
            return 0;
        }
        if (r != -ENOENT)
            return r;
    }
    return -ENOENT;
}

int interpreter_in_shim_dir(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t dir_len = slash ? (size_t)(slash - file) : 0;

    for (size_t i = 0; i < ARRAY_SIZE(shim_dirs); i++) {
        size_t len = strlen(shim_dirs[i]);

        if (dir_len >= len && memcmp(slash - len, shim_dirs[i], len) == 0)
            return 1;
    }
    return 0;
}

static int is_script(const char *file)
{
    auto_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char magic[2];

    return fd >= 0 && io_read_full(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
           memcmp(magic, "#!", sizeof(magic)) == 0;
}

int interpreter_may_be_shim(const char *file)
{
    return interpreter_in_shim_dir(file) || is_script(file);
}

static int not_found(const struct language *language, struct rein_error **reterr)
{
    auto_buf struct buf names = {0};

    for (size_t i = 0; language->interpreters[i]; i++) {
        buf_add_str(&names, i > 0 ? " or " : "");
        buf_add_str(&names, language->interpreters[i]);
    }
    if (buf_error(&names) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(reterr, -ENOENT, "command_not_found", "interpreter",
                          language->install_hint, "no interpreter for %s: %s not found in PATH",
                          language->name, names.data);
}

int interpreter_locate(rein *r,
                       const struct language *language,
                       const struct rein_spec *spec,
                       const struct interpreter_place *place,
                       char **ret,
                       struct rein_error **reterr)
{
    auto_free char *found = NULL;
    char *real = NULL;
    int err;

    assert(r);
    assert(spec);
    assert(place);

    err = interpreter_find(language, env_get(place->env, "PATH"), place->cwd, &found);
    if (err == -ENOENT)
        return not_found(language, reterr);
    if (err < 0)
        return rein_oom(reterr);
    assert(found);
    if (place->cwd && language->probe[0] && interpreter_may_be_shim(found))
        real = shim_resolve(r, language, found, spec, place);
    *ret = real ? real : TAKE_PTR(found);
    return 0;
}
