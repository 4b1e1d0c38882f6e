/* Removes the private directory of a job, whatever the job has put into it. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "supervisor.h"

#define DEPTH_MAX 64
#define ROUNDS_MAX                                                                                 \
    1000000 /* entries removed in one directory: nobody refills it, the tree is gone */

static int remove_entries(int take_fd, int depth);

/* A plain file first, because it nearly always is one. Never follows a link. */
static int remove_entry(int dir_fd, const char *name, int depth)
{
    int fd;
    int r;

    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
        fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    r = remove_entries(fd, depth + 1);
    if (r < 0)
        return r;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_entries(int take_fd, int depth)
{
    auto_close int fd = take_fd;
    DIR *dir;
    int r = 0;

    if (depth > DEPTH_MAX)
        return -ELOOP;
    (void)fchmod(fd, 0700);
    dir = fdopendir(fd);
    if (!dir)
        return -errno;
    fd = -EBADF; /* the stream owns it */
    for (int i = 0; i < ROUNDS_MAX; i++) {
        struct dirent *entry = readdir(dir);

        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        r = remove_entry(dirfd(dir), entry->d_name, depth);
        if (r < 0)
            break;
    }
    (void)closedir(dir);
    return r;
}

int remove_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r;

    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    r = remove_entries(fd, 0);
    if (r < 0)
        return r;
    return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}
