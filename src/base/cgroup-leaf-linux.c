/* Ends and removes a leaf. Shared with the supervisor: libc only. */
#include "cgroup-leaf.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "io-util.h"
#include "time-util.h"

#define EVENTS_SIZE 128
#define DEPTH_MAX 16
#define REMOVED_MAX 4096 /* groups removed in one directory */

void cgroup_leaf_kill(int leaf_fd)
{
    auto_close int fd = openat(leaf_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);

    if (fd >= 0)
        (void)io_write(fd, "1", 1);
}

int cgroup_leaf_open_events(int leaf_fd)
{
    int fd = openat(leaf_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* What the group says about itself; "" when it cannot be read. Reading also arms a poll. */
static void read_events(int events_fd, char ret[static EVENTS_SIZE])
{
    ssize_t n = io_pread(events_fd, ret, EVENTS_SIZE - 1, 0);

    ret[n > 0 ? n : 0] = '\0';
}

int cgroup_leaf_is_unused(int leaf_fd, int events_fd)
{
    char events[EVENTS_SIZE];
    struct stat st;

    if (fstat(leaf_fd, &st) < 0 || st.st_nlink != 2)
        return 0;
    read_events(events_fd, events);
    return strstr(events, "populated 0\n") && !strstr(events, "frozen 1\n");
}

/* The kernel tells of a change of this file by POLLPRI. */
static int wait_until_empty(int leaf_fd, int timeout_ms)
{
    auto_close int fd = cgroup_leaf_open_events(leaf_fd);
    int64_t end_ns = time_mono_ns() + timeout_ms * NSEC_PER_MSEC;
    char events[EVENTS_SIZE];

    if (fd < 0)
        return fd;
    for (;;) {
        read_events(fd, events);
        if (strstr(events, "populated 0\n"))
            return 0;
        if (io_poll(fd, POLLPRI, time_left_ms(end_ns)) <= 0)
            return -EBUSY;
    }
}

/* Nobody is in any of them. */
static void remove_below(int dir_fd, int depth)
{
    int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int n = 0;

    if (!dir) {
        (void)close_fd(copy);
        return;
    }
    while (n < REMOVED_MAX && (entry = readdir(dir))) {
        auto_close int fd = -EBADF;

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        n++;
        fd = openat(copy, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && depth < DEPTH_MAX)
            remove_below(fd, depth + 1);
        (void)unlinkat(copy, entry->d_name, AT_REMOVEDIR);
    }
    (void)closedir(dir);
}

/* By way of its own "..", so that nobody has to keep the directory above open. */
static int remove_itself(int leaf_fd, const char *name)
{
    char path[3 + CGROUP_LEAF_NAME_SIZE] = "../";
    size_t size = strlen(name) + 1;

    if (size > CGROUP_LEAF_NAME_SIZE)
        return -ENAMETOOLONG;
    memcpy(path + 3, name, size);
    return unlinkat(leaf_fd, path, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int cgroup_leaf_remove(int leaf_fd, const char *name, int timeout_ms)
{
    int r = remove_itself(leaf_fd, name);

    if (r != -EBUSY) /* also the answer when there are groups below it */
        return r;
    r = wait_until_empty(leaf_fd, timeout_ms);
    if (r < 0)
        return r;
    remove_below(leaf_fd, 0);
    return remove_itself(leaf_fd, name);
}
