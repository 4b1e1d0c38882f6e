#include "state-file.h"

#include <errno.h>
#include <fcntl.h>
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

#define LOCK_NAME "policy.lock"

static char *join(const char *dir, const char *name, const char *suffix)
{
    char *path = NULL;

    return asprintf(&path, "%s/%s%s", dir, name, suffix) < 0 ? NULL : path;
}

int state_read_text(const char *path, char **ret, size_t *ret_size)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    auto_free char *text = NULL;
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size > (off_t)STATE_FILE_MAX)
        return -EFBIG;
    text = malloc((size_t)st.st_size + 1);
    if (!text)
        return -ENOMEM;
    n = io_read_full(fd, text, (size_t)st.st_size);
    if (n < 0)
        return (int)n;
    text[n] = '\0';
    *ret = TAKE_PTR(text);
    *ret_size = (size_t)n;
    return 0;
}

int state_file_read(const char *dir, const char *name, json_t **ret)
{
    auto_free char *path = join(dir, name, ""), *text = NULL;
    size_t size = 0;
    int r = path ? state_read_text(path, &text, &size) : -ENOMEM;

    if (r < 0)
        return r;
    *ret = json_loadb(text, size, 0, NULL);
    if (json_is_object(*ret))
        return 0;
    json_decref(*ret);
    *ret = NULL;
    return -EBADMSG;
}

int state_file_fail(const char *dir, const char *name, int errnum, struct rein_error **reterr)
{
    static const char hint[] = "repair the file, or remove it: what it holds is then forgotten";
    const char *why = errnum == -EBADMSG  ? "it is no JSON object"
                      : errnum == -EINVAL ? "it is no file"
                      : errnum == -EFBIG  ? "it is larger than rein makes it"
                                          : NULL;

    if (!why)
        return rein_fail(reterr, errnum, "internal", "state", "cannot read %s/%s: %s", dir, name,
                         strerror(-errnum));
    return rein_fail_hint(reterr, errnum, "internal", "state", hint, "cannot read %s/%s: %s", dir,
                          name, why);
}

static int write_text(const char *path, const char *text)
{
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r;

    if (fd < 0)
        return -errno;
    r = io_write_all(fd, text, strlen(text));
    return r == 0 && fsync(fd) < 0 ? -errno : r;
}

int state_file_write(const char *dir, const char *name, const json_t *object)
{
    auto_free char *path = join(dir, name, ""), *new_path = NULL, *text = NULL;
    char suffix[32];
    int r;

    (void)snprintf(suffix, sizeof(suffix), ".%d.new", (int)getpid());
    new_path = join(dir, name, suffix);
    text = json_dumps(object, JSON_INDENT(1));
    if (!path || !new_path || !text)
        return -ENOMEM;
    r = write_text(new_path, text);
    if (r == 0 && rename(new_path, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(new_path);
    return r;
}

int state_lock(const char *dir, struct rein_error **reterr)
{
    auto_free char *path = join(dir, LOCK_NAME, "");
    auto_close int fd = -EBADF;
    int r;

    if (!path)
        return rein_oom(reterr);
    r = context_make_directories(dir);
    if (r == 0)
        fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (r == 0)
        r = fd < 0 ? -errno : io_lock(fd, LOCK_EX, STATE_LOCK_WAIT_MS);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "state", "cannot lock %s: %s", path, strerror(-r));
    return TAKE_FD(fd);
}
