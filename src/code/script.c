/*
 * The private file that code runs from.
 *
 * Everything goes through descriptors of directories, never following a symbolic link, so that
 * whoever can write to a directory on the way cannot make rein write, lock or remove elsewhere.
 */
#include "script.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "job/context.h"
#include "job/id.h"

#define SCRIPT_STEM "script.ai."
#define NAME_TRIES 16
#define TEMPORARY_PREFIX "rein-code-"
#define NAME_SIZE (sizeof(TEMPORARY_PREFIX) + JOB_ID_LENGTH)

#define FILES_DEPTH_MAX 16 /* folders of a file beside the script, and itself */

/* Bounds of one sweep: starting a job must not become slow because many have crashed. */
#define SWEEP_LOOK_MAX 64      /* script directories looked at */
#define SWEEP_REMOVE_MAX 1024u /* entries removed */
#define SWEEP_DEPTH_MAX 32u    /* each level holds a descriptor */

/* ---- removing ----------------------------------------------------------------------------- */

static int is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A stream over a directory that leaves fd open. NULL on failure. */
static DIR *open_stream(int fd)
{
    /* Not a duplicate: that would share the position with every other reader of the directory. */
    int own_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = own_fd >= 0 ? fdopendir(own_fd) : NULL;

    if (!stream)
        (void)close_fd(own_fd);
    return stream;
}

static void remove_contents(int fd, unsigned depth, unsigned *budget);

static void remove_entry(int dir_fd, const char *name, unsigned depth, unsigned *budget)
{
    auto_close int fd = -EBADF;

    if (unlinkat(dir_fd, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (depth > 0)
        remove_contents(fd, depth - 1, budget);
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

static void remove_stream(DIR *take_stream, unsigned depth, unsigned *budget)
{
    const struct dirent *entry;

    if (!take_stream)
        return;
    while (*budget > 0 && (entry = readdir(take_stream)))
        if (!is_dot(entry->d_name)) {
            (*budget)--;
            remove_entry(dirfd(take_stream), entry->d_name, depth, budget);
        }
    (void)closedir(take_stream);
}

static void remove_contents(int fd, unsigned depth, unsigned *budget)
{
    remove_stream(open_stream(fd), depth, budget);
}

/* Removes what was made for one script. Needs no further descriptor: there may be none left. */
static void remove_own(struct script *script)
{
    unsigned budget = SWEEP_REMOVE_MAX;
    DIR *stream = fdopendir(script->dir_fd);

    if (!stream)
        return;
    script->dir_fd = -EBADF; /* the stream's */
    remove_stream(stream, SWEEP_DEPTH_MAX, &budget);
}

/* ---- sweeping ----------------------------------------------------------------------------- */

static void sweep_one(int dir_fd, const char *name, unsigned *budget)
{
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return; /* its job lives */
    remove_contents(fd, SWEEP_DEPTH_MAX, budget);
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

void script_sweep(int dir_fd)
{
    DIR *stream = open_stream(dir_fd);
    const struct dirent *entry;
    unsigned budget = SWEEP_REMOVE_MAX;
    int looked = 0;

    if (!stream)
        return;
    while (looked < SWEEP_LOOK_MAX && budget > 0 && (entry = readdir(stream)))
        if (job_id_is_valid(entry->d_name)) {
            looked++;
            sweep_one(dir_fd, entry->d_name, &budget);
        }
    (void)closedir(stream);
}

/* ---- making ------------------------------------------------------------------------------- */

/* True when a directory is ours and nobody else may change it (mask 022) or look into it (077). */
static int is_ours(const struct stat *st, mode_t mask)
{
    return st->st_uid == geteuid() && (st->st_mode & mask) == 0;
}

/* True when name in parent still is the directory behind fd, and a private one. */
static int is_private(int parent_fd, const char *name, int fd)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && fstatat(parent_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino && is_ours(&opened, 077);
}

/* Makes and locks one directory. A sweeper may come between any two steps: then -EAGAIN, as when
 * the name is taken, and another name has to be tried. */
static int make_locked_dir(int parent_fd, const char *name, int *ret_fd)
{
    auto_close int fd = -EBADF;

    if (mkdirat(parent_fd, name, 0700) < 0)
        return errno == EEXIST ? -EAGAIN : -errno;
    fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int err = errno;

        if (err != ENOENT)
            (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        return err == ENOENT ? -EAGAIN : -err;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int err = errno;

        if (err != EWOULDBLOCK) /* a file system without locks */
            (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        return err == EWOULDBLOCK ? -EAGAIN : -err;
    }
    if (!is_private(parent_fd, name, fd)) {
        (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        return -EAGAIN;
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int make_dir(int parent_fd, const char *prefix, char name[static NAME_SIZE], int *ret_fd)
{
    int r = -EAGAIN;

    for (int i = 0; i < NAME_TRIES && r == -EAGAIN; i++) {
        char id[JOB_ID_LENGTH + 1];

        r = job_id_new(id);
        if (r < 0)
            return r;
        (void)snprintf(name, NAME_SIZE, "%s%s", prefix, id);
        r = make_locked_dir(parent_fd, name, ret_fd);
    }
    return r;
}

static int write_file(int dir_fd, const char *name, const char *text, size_t size)
{
    auto_close int fd =
        openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r;

    if (fd < 0)
        return -errno;
    r = io_write_all(fd, text, size);
    if (r < 0)
        return r;
    /* Some file systems tell only here that the disk is full. */
    return close(TAKE_FD(fd)) < 0 && errno != EINTR ? -errno : 0;
}

/* Writes the file, and the one that has to lie beside it. */
static int fill_dir(const struct script *script,
                    const struct language *language,
                    const char *text,
                    size_t size)
{
    int r;

    if (language->companion_name) {
        r = write_file(script->dir_fd, language->companion_name, language->companion_text,
                       strlen(language->companion_text));
        if (r < 0)
            return r;
    }
    return write_file(script->dir_fd, strrchr(script->file, '/') + 1, text, size);
}

static int name_file(struct script *script,
                     const struct language *language,
                     const char *parent,
                     const char *name)
{
    if (asprintf(&script->dir, "%s/%s", parent, name) < 0) {
        script->dir = NULL;
        return -ENOMEM;
    }
    if (asprintf(&script->file, "%s/" SCRIPT_STEM "%s", script->dir, language->extension) < 0) {
        script->file = NULL;
        return -ENOMEM;
    }
    return 0;
}

/* Makes the script below one directory; on failure nothing of it is left. */
static int create_below(int parent_fd,
                        const char *parent,
                        const char *prefix,
                        const struct language *language,
                        const char *text,
                        size_t size,
                        struct script *ret)
{
    struct script script = SCRIPT_UNSET;
    char name[NAME_SIZE];
    int r = make_dir(parent_fd, prefix, name, &script.dir_fd);

    if (r < 0)
        return r;
    r = name_file(&script, language, parent, name);
    if (r == 0)
        r = fill_dir(&script, language, text, size);
    if (r < 0) {
        remove_own(&script);
        (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        script_done(&script);
        return r;
    }
    *ret = script;
    return 0;
}

static int create_in_state(
    rein *r, const struct language *language, const char *text, size_t size, struct script *ret)
{
    auto_close int fd = -EBADF;
    auto_free char *path = NULL;
    struct stat st;
    int err = context_make_state_dir(r, "code", &fd, NULL);

    if (err < 0)
        return err;
    if (fstat(fd, &st) < 0 || !is_ours(&st, 022))
        return -EPERM; /* someone else could replace what is in it */
    if (asprintf(&path, "%s/code", context_state_dir(r)) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    script_sweep(fd);
    return create_below(fd, path, "", language, text, size, ret);
}

static int create_in_temporary(const char *base,
                               const struct language *language,
                               const char *text,
                               size_t size,
                               struct script *ret)
{
    auto_close int fd = -EBADF;

    if (!base || base[0] != '/') /* the job may run elsewhere, so a relative path means nothing */
        return -ENOENT;
    fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return create_below(fd, base, TEMPORARY_PREFIX, language, text, size, ret);
}

int script_create(rein *r,
                  const struct language *language,
                  const char *text,
                  size_t size,
                  struct script *ret,
                  struct rein_error **reterr)
{
    int first_err, err;

    assert(r);
    assert(language);
    assert(text || size == 0);
    assert(ret);

    if (size > CODE_SIZE_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "script",
                         "the code has %zu bytes, more than %llu", size,
                         (unsigned long long)CODE_SIZE_MAX);
    first_err = err = create_in_state(r, language, text, size, ret);
    if (err < 0)
        err = create_in_temporary(secure_getenv("TMPDIR"), language, text, size, ret);
    if (err < 0)
        err = create_in_temporary("/tmp", language, text, size, ret);
    if (err < 0)
        return rein_fail_hint(
            reterr, first_err, "spawn_failed", "script",
            "make the state directory or /tmp writable, or set REIN_STATE",
            "cannot write the code to a private file in '%s', $TMPDIR or /tmp: %s",
            context_state_dir(r), strerror(-first_err));
    return 0;
}

/* ---- files beside it ---------------------------------------------------------------------- */

static bool is_proper_part(const char *part, size_t len)
{
    return len > 0 && len <= NAME_MAX && !(part[0] == '.' && len == 1) &&
           !(part[0] == '.' && part[1] == '.' && len == 2);
}

/* Opens a folder in dir_fd that is made where it is missing. */
static int open_folder(int dir_fd, const char *name)
{
    int fd;

    if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int add_file(int dir_fd, const char *name, const char *data, size_t size)
{
    auto_close int folder = -EBADF;
    size_t depth = 0;

    for (;;) {
        size_t len = strcspn(name, "/");
        char part[NAME_MAX + 1];
        int fd;

        if (!is_proper_part(name, len) || depth++ == FILES_DEPTH_MAX)
            return -EINVAL;
        memcpy(part, name, len);
        part[len] = '\0';
        if (name[len] == '\0')
            return write_file(folder >= 0 ? folder : dir_fd, part, data, size);
        fd = open_folder(folder >= 0 ? folder : dir_fd, part);
        if (fd < 0)
            return fd;
        (void)close_fd(folder);
        folder = fd;
        name += len + 1;
    }
}

int script_add_file(struct script *script,
                    const char *name,
                    const char *data,
                    size_t size,
                    struct rein_error **reterr)
{
    int r;

    if (size > CODE_SIZE_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "files",
                         "files: '%s' has %zu bytes, more than %llu", name, size,
                         (unsigned long long)CODE_SIZE_MAX);
    r = add_file(script->dir_fd, name, data, size);
    if (r == -EINVAL)
        return rein_fail_hint(reterr, r, "bad_request", "files",
                              "give relative names without '.' and '..'",
                              "files: '%s' is no name for a file beside the script", name);
    if (r == -EEXIST || r == -EISDIR || r == -ENOTDIR)
        return rein_fail(reterr, r, "bad_request", "files",
                         "files: the name '%s' is taken, by the script or by another file", name);
    if (r < 0)
        return rein_fail(reterr, r, "spawn_failed", "files", "files: cannot write '%s': %s", name,
                         strerror(-r));
    return 0;
}

void script_discard(struct script *script)
{
    if (script->dir_fd >= 0) {
        remove_own(script);
        (void)rmdir(script->dir);
    }
    script_done(script);
}

void script_done(struct script *script)
{
    free(script->dir);
    free(script->file);
    (void)close_fd(script->dir_fd);
    *script = (struct script)SCRIPT_UNSET;
}
