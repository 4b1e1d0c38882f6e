/* Adds up what the processes below supervisors use. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "usage.h"

#define DEPTH_MAX 1000 /* of a tree that is believed */

struct process {
    pid_t pid, parent;
    int64_t user_ticks, system_ticks; /* its own, and its children's that were waited for */
    int64_t reaped_user_ticks, reaped_system_ticks; /* of the latter alone */
    uint64_t rss_pages;
};

struct processes {
    struct process *v;
    size_t n;
    size_t allocated;
};

static void processes_done(struct processes *all)
{
    free(all->v);
}

/* Fields of /proc/PID/stat behind the name, which may hold anything: state is the first. */
enum {
    FIELD_PARENT = 1,
    FIELD_UTIME = 11,
    FIELD_STIME,
    FIELD_CUTIME,
    FIELD_CSTIME,
    FIELD_RSS = 21
};

static int parse_stat(char *text, struct process *ret)
{
    char *p = strrchr(text, ')');
    long long fields[FIELD_RSS + 1] = {0};

    if (!p || p[1] != ' ' || !p[2])
        return -EBADMSG;
    p += 3; /* behind the state */
    for (int i = FIELD_PARENT; i <= FIELD_RSS; i++)
        fields[i] = strtoll(p, &p, 10);
    ret->parent = (pid_t)fields[FIELD_PARENT];
    ret->reaped_user_ticks = fields[FIELD_CUTIME];
    ret->reaped_system_ticks = fields[FIELD_CSTIME];
    ret->user_ticks = fields[FIELD_UTIME] + fields[FIELD_CUTIME];
    ret->system_ticks = fields[FIELD_STIME] + fields[FIELD_CSTIME];
    ret->rss_pages = (uint64_t)MAX(fields[FIELD_RSS], 0LL);
    return 0;
}

static int read_process(int proc_fd, const char *name, struct process *ret)
{
    char path[32];
    char text[1024];
    auto_close int fd = -EBADF;
    ssize_t n;

    (void)snprintf(path, sizeof(path), "%.20s/stat", name);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -errno : io_read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return -ESRCH;
    text[n] = '\0';
    ret->pid = (pid_t)strtol(name, NULL, 10);
    return parse_stat(text, ret);
}

static int add_process(struct processes *all, int proc_fd, const char *name)
{
    if (all->n == all->allocated) {
        size_t want = MAX(all->allocated * 2, (size_t)512);
        struct process *grown = reallocarray(all->v, want, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        all->v = grown;
        all->allocated = want;
    }
    if (read_process(proc_fd, name, &all->v[all->n]) == 0)
        all->n++;
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a;
    const struct process *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int read_processes(struct processes *all)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int r = dir ? 0 : -errno;

    while (dir && r == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            r = add_process(all, dirfd(dir), entry->d_name);
    if (dir)
        (void)closedir(dir);
    if (all->n > 0)
        qsort(all->v, all->n, sizeof(all->v[0]), by_pid);
    return r;
}

static const struct process *find_process(const struct processes *all, pid_t pid)
{
    struct process key = {.pid = pid};

    return all->n ? bsearch(&key, all->v, all->n, sizeof(key), by_pid) : NULL;
}

/* ---- trees -------------------------------------------------------------------------------- */

/* Supervisors in the order of their pids, and which of the caller's trees each has. */
struct root {
    pid_t pid;
    struct usage *usage;
};

static int by_root_pid(const void *a, const void *b)
{
    const struct root *x = a;
    const struct root *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct usage *find_root(const struct root *roots, size_t n, pid_t pid)
{
    struct root key = {.pid = pid};
    const struct root *found = bsearch(&key, roots, n, sizeof(key), by_root_pid);

    return found ? found->usage : NULL;
}

/* The tree that a process is in: that of the nearest supervisor above it. */
static struct usage *
find_tree(const struct processes *all, const struct root *roots, size_t n, const struct process *p)
{
    for (int depth = 0; p && depth < DEPTH_MAX; depth++) {
        struct usage *usage = find_root(roots, n, p->parent);

        if (usage)
            return usage;
        p = find_process(all, p->parent);
    }
    return NULL;
}

static void add(struct usage *usage, const struct process *p, int64_t tick_us, uint64_t page_size)
{
    usage->user_us += p->user_ticks * tick_us;
    usage->system_us += p->system_ticks * tick_us;
    usage->rss_bytes += p->rss_pages * page_size;
}

/* What came back to a supervisor and has ended is its children's time, its own is not the job's. */
static void add_all(const struct processes *all, const struct root *roots, size_t n_roots)
{
    int64_t tick_us = 1000000 / MAX(sysconf(_SC_CLK_TCK), 1L);
    uint64_t page_size = (uint64_t)MAX(sysconf(_SC_PAGESIZE), 1L);

    for (size_t i = 0; i < all->n; i++) {
        const struct process *p = &all->v[i];
        struct usage *own = find_root(roots, n_roots, p->pid);
        struct usage *above = own ? NULL : find_tree(all, roots, n_roots, p);

        if (own) {
            own->user_us += p->reaped_user_ticks * tick_us;
            own->system_us += p->reaped_system_ticks * tick_us;
        } else if (above) {
            add(above, p, tick_us, page_size);
        }
    }
}

void usage_of_trees(struct usage *v, size_t n)
{
    auto_(processes_done) struct processes all = {0};
    auto_free struct root *roots = calloc(MAX(n, (size_t)1), sizeof(*roots));
    size_t n_roots = 0;

    for (size_t i = 0; roots && i < n; i++)
        if (v[i].supervisor_pid > 0)
            roots[n_roots++] = (struct root){v[i].supervisor_pid, &v[i]};
    if (n_roots == 0 || read_processes(&all) < 0)
        return;
    qsort(roots, n_roots, sizeof(roots[0]), by_root_pid);
    add_all(&all, roots, n_roots);
}
