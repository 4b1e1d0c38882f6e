/* Finds this process's cgroup v2 directory, and makes, keeps and sweeps leaves there. */
#include "cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/fd-util.h"
#include "base/io-util.h"
#include "base/macro.h"

#define LINES_MAX 1000   /* of a file in /proc that are looked at */
#define NAME_TRIES_MAX 8 /* names that a process with our pid may have left behind */
#define SWEEP_ENTRIES_MAX 4096
#define SWEEP_REMOVED_MAX 64
#define FDS_FREE_MIN (WIRE_FDS_MAX + 32)
#define LEAF_PREFIX "rein-"

struct pidfd_info { /* of Linux 6.13 */
    uint64_t mask;
    uint64_t cgroupid;
    uint32_t ids[12];
};
#define PIDFD_INFO_CGROUPID 0x4
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)

/* ---- where we are ------------------------------------------------------------------------- */

/* Calls visit with each line of a file until that does not return 0; gives back what it did. */
static int each_line(const char *path, int (*visit)(char *line, void *arg), void *arg)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int r = 0;

    if (!file)
        return -errno;
    for (int n = 0; r == 0 && n < LINES_MAX && getline(&line, &size, file) > 0; n++) {
        line[strcspn(line, "\n")] = '\0';
        r = visit(line, arg);
    }
    free(line);
    (void)fclose(file);
    return r;
}

/* "0::PATH" is the line of the v2 hierarchy. */
static int visit_membership(char *line, void *arg)
{
    char **ret_path = arg;

    if (strncmp(line, "0::/", 4) != 0)
        return 0;
    *ret_path = strdup(line + 3);
    return *ret_path ? 1 : -ENOMEM;
}

/* Takes the next field of a line, in which blanks and the like are written \ooo. */
static char *next_field(char **p)
{
    char *begin = *p;
    char *end = begin + strcspn(begin, " ");
    char *to = begin;

    *p = *end ? end + 1 : end;
    *end = '\0';
    for (const char *from = begin; *from; to++) {
        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
    return begin;
}

int cgroup_match_mount(char *line, const char *own_path, char **ret)
{
    const char *type = strstr(line, " - ");
    const char *root;
    const char *directory;
    size_t root_size;

    if (!type || strncmp(type, " - cgroup2 ", 11) != 0)
        return 0;
    for (int i = 0; i < 3; i++) /* numbers of the mount, its parent, its device */
        (void)next_field(&line);
    root = next_field(&line);
    directory = next_field(&line);
    root_size = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (root[0] != '/' || directory[0] != '/' || strncmp(own_path, root, root_size) != 0)
        return 0;
    own_path += root_size;
    if (*own_path && *own_path != '/')
        return 0;
    return asprintf(ret, "%s%s", directory, own_path) < 0 ? -ENOMEM : 1;
}

struct mount_search {
    const char *own_path;
    char *found;
};

static int visit_mount(char *line, void *arg)
{
    struct mount_search *search = arg;

    return cgroup_match_mount(line, search->own_path, &search->found);
}

/* The kernel's number of the group we are in, which is also the inode of its directory; 0 when this
 * kernel (before 6.13) does not tell. */
static uint64_t own_cgroup_id(int own_pidfd)
{
    struct pidfd_info info = {.mask = PIDFD_INFO_CGROUPID};

    if (ioctl(own_pidfd, PIDFD_GET_INFO, &info) < 0 || !(info.mask & PIDFD_INFO_CGROUPID))
        return 0;
    return info.cgroupid;
}

/* Opens a directory if it can be the group with that number; 0 is any. */
static int open_group(const char *path, uint64_t id, int *ret_fd)
{
    auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct statfs fs;
    struct stat st;

    if (fd < 0 || fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (fs.f_type != CGROUP2_SUPER_MAGIC || (id && st.st_ino != id))
        return -ENOENT;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Where the mount nearly always is. The path below it is right only if all of the hierarchy is
 * mounted there, so this needs the number as proof. */
static int open_at_usual_place(const char *own_path, uint64_t id, int *ret_fd)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    int r = -ENOENT;

    for (size_t i = 0; r < 0 && id && i < ARRAY_SIZE(places); i++) {
        auto_free char *path = NULL;

        if (asprintf(&path, "%s%s", places[i], own_path) < 0)
            return -ENOMEM;
        r = open_group(path, id, ret_fd);
    }
    return r;
}

static int open_by_mounts(const char *own_path, uint64_t id, int *ret_fd)
{
    struct mount_search search = {.own_path = own_path};
    auto_free char *path = NULL;
    int r = each_line("/proc/self/mountinfo", visit_mount, &search);

    path = search.found;
    if (!path)
        return r < 0 ? r : -ENOENT;
    return open_group(path, id, ret_fd);
}

int cgroup_suits(int dir_fd)
{
    static const struct {
        const char *name;
        const char *begin; /* what has to be in it, unless there is no such file */
    } files[] = {
        {"cgroup.subtree_control", ""},
        {"memory.max", "max"},
        {"cpu.max", "max"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        auto_close int fd = openat(dir_fd, files[i].name, O_RDONLY | O_CLOEXEC);
        char begin[3];
        ssize_t n = fd < 0 ? -1 : io_read(fd, begin, sizeof(begin));

        if (fd < 0 && errno == ENOENT)
            continue;
        if (n != (ssize_t)strlen(files[i].begin) || memcmp(begin, files[i].begin, (size_t)n) != 0)
            return 0;
    }
    return 1;
}

static int open_own_group(int own_pidfd, int *ret_fd)
{
    auto_free char *own_path = NULL;
    auto_close int fd = -EBADF;
    uint64_t id = own_cgroup_id(own_pidfd);
    int r = each_line("/proc/self/cgroup", visit_membership, &own_path);

    if (!own_path || strncmp(own_path, "/..", 3) == 0) /* above what this namespace shows */
        return r < 0 ? r : -ENOENT;
    r = open_at_usual_place(own_path, id, &fd);
    if (r < 0)
        r = open_by_mounts(own_path, id, &fd);
    if (r < 0)
        return r;
    if (!cgroup_suits(fd))
        return -EOPNOTSUPP;
    *ret_fd = fd_above_stdio(TAKE_FD(fd));
    return 0;
}

/* ---- leaves ------------------------------------------------------------------------------- */

static int make_directory(int parent_fd, char ret_name[static WIRE_LEAF_NAME_SIZE])
{
    static atomic_uint last; /* of all contexts, which may be used by different threads */
    int r = -EEXIST;

    for (int i = 0; r == -EEXIST && i < NAME_TRIES_MAX; i++) {
        (void)snprintf(ret_name, WIRE_LEAF_NAME_SIZE, LEAF_PREFIX "%d-%u", (int)getpid(),
                       atomic_fetch_add(&last, 1) + 1);
        r = mkdirat(parent_fd, ret_name, 0755) < 0 ? -errno : 0;
    }
    return r;
}

/* What is only an addition takes nobody's last descriptors. */
static int leaves_enough(int fd)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > (rlim_t)fd + FDS_FREE_MIN;
}

/* Kernels before 5.14 have groups, but no such way to end them. */
static int open_leaf(int parent_fd, const char *name, int *ret_fd)
{
    auto_close int fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || faccessat(fd, "cgroup.kill", W_OK, 0) < 0)
        return -errno;
    if (!leaves_enough(fd))
        return -EMFILE;
    *ret_fd = fd_above_stdio(TAKE_FD(fd));
    return 0;
}

static int make_leaf(struct cgroup *c, struct cgroup_leaf *ret)
{
    int r = make_directory(c->parent_fd, ret->name);

    if (r < 0)
        return r;
    r = open_leaf(c->parent_fd, ret->name, &ret->fd);
    if (r < 0) {
        (void)unlinkat(c->parent_fd, ret->name, AT_REMOVEDIR);
        return r;
    }
    ret->disposable = c->n_made++ == 0;
    if (!ret->disposable) /* now, for a host expects no new descriptors when a job ends */
        ret->events_fd = fd_above_stdio(cgroup_leaf_open_events(ret->fd));
    return 0;
}

static void close_leaf(struct cgroup_leaf *leaf)
{
    leaf->fd = close_fd(leaf->fd);
    leaf->events_fd = close_fd(leaf->events_fd);
}

static int take_spare(struct cgroup *c, struct cgroup_leaf *ret)
{
    while (c->n_spares > 0) {
        *ret = c->spares[--c->n_spares];
        if (cgroup_leaf_is_unused(ret->fd, ret->events_fd))
            return 1;
        (void)cgroup_leaf_remove(ret->fd, ret->name, 0);
        close_leaf(ret);
    }
    return 0;
}

void cgroup_take(struct cgroup *c, int own_pidfd, struct cgroup_leaf *ret)
{
    if (take_spare(c, ret) || c->unusable)
        return;
    if ((c->parent_fd < 0 && open_own_group(own_pidfd, &c->parent_fd) < 0) ||
        make_leaf(c, ret) < 0) {
        c->unusable = 1;
        c->parent_fd = close_fd(c->parent_fd);
    } else if (c->n_made == 2) { /* many jobs are to come: a look around is cheap beside them */
        cgroup_sweep(c);
    }
}

void cgroup_dispose(struct cgroup_leaf *leaf)
{
    if (leaf->fd >= 0 && leaf->disposable &&
        cgroup_leaf_remove(leaf->fd, leaf->name, /* timeout_ms= */ 0) == 0)
        close_leaf(leaf);
}

void cgroup_give_back(struct cgroup *c, struct cgroup_leaf *take_leaf, enum cgroup_leaf_end end)
{
    struct cgroup_leaf *leaf = take_leaf;

    if (leaf->fd < 0)
        return;
    if (end == CGROUP_LEAF_REUSABLE && !leaf->disposable && c->n_spares < CGROUP_SPARES_MAX) {
        c->spares[c->n_spares++] = *leaf;
        *leaf = (struct cgroup_leaf)CGROUP_LEAF_UNSET;
        return;
    }
    if (end == CGROUP_LEAF_LOST)
        cgroup_leaf_kill(leaf->fd);
    (void)cgroup_leaf_remove(leaf->fd, leaf->name,
                             end == CGROUP_LEAF_KEPT ? 0 : CGROUP_LEAF_WAIT_MS);
    close_leaf(leaf);
}

/* ---- the end ------------------------------------------------------------------------------ */

static int is_stale(const char *name)
{
    char *end;
    long pid;

    if (strncmp(name, LEAF_PREFIX, strlen(LEAF_PREFIX)) != 0)
        return 0;
    pid = strtol(name + strlen(LEAF_PREFIX), &end, 10);
    if (*end != '-' || !end[1] || end[1 + strspn(end + 1, "0123456789")])
        return 0;
    return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static int remove_stale(int parent_fd, const char *name)
{
    auto_close int fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && cgroup_leaf_remove(fd, name, 0) == 0;
}

void cgroup_sweep(struct cgroup *c)
{
    int copy = c->parent_fd < 0 ? -EBADF : openat(c->parent_fd, ".", O_RDONLY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int n_removed = 0;

    if (!dir) {
        (void)close_fd(copy);
        return;
    }
    for (int n = 0; n < SWEEP_ENTRIES_MAX && n_removed < SWEEP_REMOVED_MAX; n++) {
        entry = readdir(dir);
        if (!entry)
            break;
        if (is_stale(entry->d_name))
            n_removed += remove_stale(c->parent_fd, entry->d_name);
    }
    (void)closedir(dir);
}

void cgroup_done(struct cgroup *c, int own)
{
    for (unsigned i = 0; i < c->n_spares; i++) {
        if (own)
            (void)cgroup_leaf_remove(c->spares[i].fd, c->spares[i].name, CGROUP_LEAF_WAIT_MS);
        close_leaf(&c->spares[i]);
    }
    c->n_spares = 0;
    c->parent_fd = close_fd(c->parent_fd);
}
