/* Finding and signalling all descendants of this process. */
#include "tree.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"

#define ANCESTORS_MAX 4096 /* depth of a tree that is believed */
#define TERMINATE_ROUNDS 2
#define NAME_TRIES 5 /* a millisecond apart */

/* The processes of one pass, in the order found: parents before children. Static, because this runs
 * where nothing may be allocated. */
static pid_t found[TREE_MAX];
static size_t n_found;

static char *put_number(char *end, unsigned long n)
{
    do
        *--end = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return end;
}

/* snprintf would do, but is the largest part of a small static program. */
int tree_open_proc(pid_t pid, const char *leaf, int flags)
{
    char path[64] = "/proc/";
    char digits[24];
    char *begin = put_number(digits + sizeof(digits), (unsigned long)pid);
    size_t n = (size_t)(digits + sizeof(digits) - begin);
    size_t at = 6;

    memcpy(path + at, begin, n);
    at += n;
    path[at++] = '/';
    (void)strncpy(path + at, leaf, sizeof(path) - at - 1);
    return open(path, flags | O_CLOEXEC);
}

static ssize_t read_proc(pid_t pid, const char *leaf, char *buf, size_t size)
{
    auto_close int fd = tree_open_proc(pid, leaf, O_RDONLY);
    ssize_t n = fd < 0 ? -errno : io_read_full(fd, buf, size - 1);

    buf[n > 0 ? n : 0] = '\0';
    return n;
}

struct stat_line {
    char state;
    pid_t parent;
    int exiting; /* it has given up its memory already and only waits to be reaped */
};

#define PF_EXITING 0x4 /* of the kernel, in the flags that /proc shows */

/* Reads the fields behind the name: state, parent, group, session, terminal, its group, flags. The
 * name may hold anything, so they begin behind the last parenthesis. 0 or a negative errno. */
static int read_stat(pid_t pid, struct stat_line *ret)
{
    char buf[512];
    ssize_t n = read_proc(pid, "stat", buf, sizeof(buf));
    char *p = n > 0 ? strrchr(buf, ')') : NULL;

    if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
        return n < 0 ? (int)n : -EIO;
    ret->state = p[2];
    ret->parent = (pid_t)strtol(p + 4, &p, 10);
    for (int skip = 0; skip < 4; skip++)
        (void)strtol(p, &p, 10);
    ret->exiting = (strtoul(p, NULL, 10) & PF_EXITING) != 0;
    return 0;
}

static void add_found(pid_t pid)
{
    if (n_found < TREE_MAX)
        found[n_found++] = pid;
}

/* Adds the children that one thread of a process has, from the kernel's list. */
static int add_children_of_task(int task_dir_fd, const char *tid)
{
    static char buf[16384];
    char path[40];
    auto_close int fd = -EBADF;
    size_t tid_size = strlen(tid);
    size_t kept = 0;

    if (tid_size + sizeof("/children") > sizeof(path))
        return -EINVAL;
    memcpy(path, tid, tid_size);
    memcpy(path + tid_size, "/children", sizeof("/children"));
    fd = openat(task_dir_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (;;) {
        ssize_t n = io_read(fd, buf + kept, sizeof(buf) - 1 - kept);
        char *p = buf;
        char *end;

        if (n <= 0)
            return (int)n;
        buf[kept + (size_t)n] = '\0';
        /* A number is complete when a space follows; the kernel writes one after each. */
        while ((end = strchr(p, ' '))) {
            pid_t pid = (pid_t)strtol(p, NULL, 10);

            if (pid > 0)
                add_found(pid);
            p = end + 1;
        }
        kept = strlen(p);
        memmove(buf, p, kept);
    }
}

struct linux_dirent64_head {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
};

int tree_each_number(int dir_fd, int (*visit)(int dir_fd, const char *name, void *arg), void *arg)
{
    _Alignas(8) char buf[4096];

    for (;;) {
        long n = syscall(SYS_getdents64, dir_fd, buf, sizeof(buf));

        if (n <= 0)
            return n < 0 ? -errno : 0;
        for (long at = 0; at < n;) {
            struct linux_dirent64_head *entry = (void *)(buf + at);
            int r = entry->name[0] >= '1' && entry->name[0] <= '9' ? visit(dir_fd, entry->name, arg)
                                                                   : 0;

            if (r != 0)
                return r;
            at += entry->reclen;
        }
    }
}

static int visit_task(int dir_fd, const char *name, void *arg)
{
    int r = add_children_of_task(dir_fd, name);

    (void)arg;
    return r == -ENOENT || r == -ESRCH ? 0 : r; /* that thread has ended */
}

/* Adds the children of a process. -ENOENT also when this kernel has no such lists. */
static int add_children(pid_t pid)
{
    auto_close int fd = tree_open_proc(pid, "task", O_RDONLY | O_DIRECTORY);

    return fd < 0 ? -errno : tree_each_number(fd, visit_task, NULL);
}

/* The lists of children exist when our own thread has one. */
static int have_children_lists(uint32_t fallbacks)
{
    static int known; /* 0 unknown, 1 yes, -1 no */

    if (fallbacks & WIRE_NO_PROC_CHILDREN)
        return 0;
    if (known == 0) {
        char leaf[48] = "task/";
        char digits[24];
        char *begin = put_number(digits + sizeof(digits), (unsigned long)getpid());
        size_t n = (size_t)(digits + sizeof(digits) - begin);
        int fd;

        memcpy(leaf + 5, begin, n);
        memcpy(leaf + 5 + n, "/children", sizeof("/children"));
        fd = tree_open_proc(getpid(), leaf, O_RDONLY);
        known = fd >= 0 ? 1 : -1;
        (void)close_fd(fd);
    }
    return known > 0;
}

/* It has ended or is about to: a signal would tell it nothing. */
static int is_over(pid_t pid)
{
    struct stat_line line;

    return read_stat(pid, &line) < 0 || line.state == 'Z' || line.exiting;
}

/* True when self is an ancestor of pid, as /proc says it at this moment. */
static int is_descendant(pid_t pid, pid_t self)
{
    for (int depth = 0; depth < ANCESTORS_MAX; depth++) {
        struct stat_line line;

        if (read_stat(pid, &line) < 0 || line.parent <= 0)
            return 0;
        if (line.parent == self)
            return 1;
        pid = line.parent;
    }
    return 0;
}

static int visit_any_process(int dir_fd, const char *name, void *arg)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);

    (void)dir_fd;
    if (pid != *(const pid_t *)arg && is_descendant(pid, *(const pid_t *)arg))
        add_found(pid);
    return 0;
}

/* The older way, where the kernel keeps no lists of children: look at every process there is. */
static void find_all_by_scan(pid_t self)
{
    auto_close int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        (void)tree_each_number(fd, visit_any_process, &self);
}

/* Sends signo through a pidfd, but only if pid is still what the list said: a descendant. The pidfd
 * holds on to one process; if that is alive after /proc named it a descendant, /proc spoke of it.
 */
static int signal_checked(pid_t pid, pid_t self, int signo, int cont)
{
    auto_close int pidfd = sys_pidfd_open(pid);
    int r;

    if (pidfd < 0)
        return pidfd;
    if (is_over(pid) || !is_descendant(pid, self))
        return -ESRCH;
    r = sys_pidfd_signal(pidfd, signo);
    if (r == 0 && cont)
        (void)sys_pidfd_signal(pidfd, SIGCONT);
    return r;
}

static void reverse(pid_t *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        pid_t pid = v[i];

        v[i] = v[n - 1 - i];
        v[n - 1 - i] = pid;
    }
}

/* One pass. Each process is asked for its children before it is signalled, because those of a dead
 * one have moved up to us; they are met in the next pass. The first n_skip of found[] were
 * signalled by an earlier pass. */
static size_t signal_pass(int signo, int terminate, size_t n_skip, uint32_t fallbacks)
{
    pid_t self = getpid();
    int lists = have_children_lists(fallbacks);
    size_t n_signalled = 0;

    n_found = n_skip;
    if (lists)
        (void)add_children(self);
    else
        find_all_by_scan(self);
    if (!terminate)
        reverse(found + n_skip, n_found - n_skip); /* the youngest is the one that forks */
    for (size_t i = n_skip; i < n_found; i++) {
        int seen = 0;

        for (size_t k = 0; k < n_skip && !seen; k++)
            seen = found[k] == found[i];
        if (lists)
            (void)add_children(found[i]);
        if (!seen && signal_checked(found[i], self, signo, terminate) == 0)
            n_signalled++;
    }
    return n_signalled;
}

size_t tree_signal(int signo, int terminate, uint32_t fallbacks)
{
    size_t total = signal_pass(signo, terminate, 0, fallbacks);

    for (int round = 1; terminate && round < TERMINATE_ROUNDS; round++) {
        size_t n = signal_pass(signo, terminate, n_found, fallbacks);

        if (n == 0)
            break;
        total += n;
    }
    return total;
}

/* The arguments. In the middle of its exec a process has none, for a moment. */
static ssize_t read_arguments(pid_t pid, char *buf, size_t size)
{
    ssize_t n = read_proc(pid, "cmdline", buf, size);

    for (int i = 0; n == 0 && i < NAME_TRIES; i++) {
        (void)poll(NULL, 0, 1);
        n = read_proc(pid, "cmdline", buf, size);
    }
    return n;
}

/* Text for people: the arguments joined by spaces, or the name in brackets where there are none. */
static void read_command(pid_t pid, char *buf, size_t size)
{
    ssize_t n = read_arguments(pid, buf, size);

    if (n <= 0) {
        buf[0] = '[';
        n = read_proc(pid, "comm", buf + 1, size - 2);
        if (n < 1)
            n = 1;
        buf[n] = ']'; /* over the newline */
        buf[n + 1] = '\0';
        return;
    }
    while (n > 0 && buf[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (buf[i] == '\0')
            buf[i] = ' ';
    buf[n] = '\0';
}

/* Fills found[] with all descendants. */
static void find_all(uint32_t fallbacks)
{
    n_found = 0;
    if (!have_children_lists(fallbacks)) {
        find_all_by_scan(getpid());
        return;
    }
    (void)add_children(getpid());
    for (size_t i = 0; i < n_found; i++)
        (void)add_children(found[i]);
}

int tree_each(int (*visit)(pid_t pid, void *arg), void *arg, uint32_t fallbacks)
{
    int r = 0;

    find_all(fallbacks);
    for (size_t i = 0; i < n_found && r == 0; i++)
        r = visit(found[i], arg);
    return r;
}

size_t tree_list(struct wire_left *left, size_t max, size_t *ret_named, uint32_t fallbacks)
{
    size_t n_alive = 0;
    size_t n_named = 0;

    find_all(fallbacks);
    for (size_t i = 0; i < n_found; i++) {
        if (is_over(found[i]))
            continue;
        n_alive++;
        if (n_named < max) {
            left[n_named].pid = found[i];
            read_command(found[i], left[n_named].command, sizeof(left[n_named].command));
            n_named++;
        }
    }
    *ret_named = n_named;
    return n_alive;
}
