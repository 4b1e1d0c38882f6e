/*
 * Tells clients when a process of the job's tree listens on a TCP port. The kernel sends no news of
 * that, so this looks from time to time, but only while somebody waits for it, and in one place for
 * all who wait.
 */
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "supervisor.h"
#include "tree.h"

#define LOOK_AGAIN_NS (50 * NSEC_PER_MSEC)
#define SOCKETS_MAX 64 /* listening sockets on one port: one for each address, or process */
#define PORT_MAX 65535

/* Sockets that listen on a port, by inode. */
struct listeners {
    uint32_t port;
    unsigned long inodes[SOCKETS_MAX];
    size_t n;
};

/* The columns of /proc/net/tcp that count, and how many there are up to the last of these. */
enum { COLUMN_LOCAL = 1, COLUMN_STATE = 3, COLUMN_INODE = 9, COLUMNS };
#define STATE_LISTEN "0A"

static void take_line(struct listeners *l, char *line)
{
    char *columns[COLUMNS];
    const char *colon;

    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = strtok_r(i ? NULL : line, " ", &line);
        if (!columns[i])
            return;
    }
    colon = strrchr(columns[COLUMN_LOCAL], ':');
    if (!colon || strcmp(columns[COLUMN_STATE], STATE_LISTEN) != 0 ||
        strtoul(colon + 1, NULL, 16) != l->port || l->n == SOCKETS_MAX)
        return;
    l->inodes[l->n++] = strtoul(columns[COLUMN_INODE], NULL, 10);
}

static void read_table(struct listeners *l, int fd)
{
    static char buf[8192];
    size_t kept = 0;

    for (;;) {
        ssize_t n = io_read(fd, buf + kept, sizeof(buf) - 1 - kept);
        char *line = buf;
        char *end;

        if (n <= 0)
            return;
        buf[kept + (size_t)n] = '\0';
        while ((end = strchr(line, '\n'))) {
            *end = '\0';
            take_line(l, line);
            line = end + 1;
        }
        kept = strlen(line);
        memmove(buf, line, kept);
    }
}

/* The table is that of the process's network namespace. */
static void find_listeners(struct listeners *l, pid_t pid)
{
    static const char *const tables[] = {"net/tcp", "net/tcp6"};

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        auto_close int fd = tree_open_proc(pid, tables[i], O_RDONLY);

        if (fd >= 0)
            read_table(l, fd);
    }
}

/* Is this descriptor of a process one of the sockets? The link reads "socket:[INODE]". */
static int is_listener(const struct listeners *l, int dir_fd, const char *name)
{
    static const char prefix[] = "socket:[";
    char target[64];
    ssize_t n = readlinkat(dir_fd, name, target, sizeof(target) - 1);
    unsigned long inode;

    if (n <= 0)
        return 0;
    target[n] = '\0';
    if (strncmp(target, prefix, sizeof(prefix) - 1) != 0)
        return 0;
    inode = strtoul(target + sizeof(prefix) - 1, NULL, 10);
    for (size_t i = 0; i < l->n; i++)
        if (l->inodes[i] == inode)
            return 1;
    return 0;
}

static int visit_fd(int dir_fd, const char *name, void *arg)
{
    return is_listener(arg, dir_fd, name) ? 1 : 0;
}

static int visit_process(pid_t pid, void *arg)
{
    auto_close int fd = tree_open_proc(pid, "fd", O_RDONLY | O_DIRECTORY);

    return fd >= 0 && tree_each_number(fd, visit_fd, arg) > 0;
}

static int is_open(const struct supervisor *s, uint32_t port)
{
    struct listeners l = {.port = port};

    find_listeners(&l, s->main_ended ? getpid() : s->main_pid);
    return l.n > 0 && tree_each(visit_process, &l, s->plan.head->test_fallbacks) > 0;
}

void ports_ask(struct supervisor *s, struct client *c, uint32_t port)
{
    c->port = port <= PORT_MAX ? port : 0;
    if (c->port)
        s->ports_next_ns = 0;
}

void ports_tick(struct supervisor *s, int64_t now_ns)
{
    int waiting = 0;

    if (now_ns < s->ports_next_ns)
        return;
    for (int i = 0; i < s->n_clients; i++) {
        struct client *c = &s->clients[i];

        if (c->fd < 0 || !c->port)
            continue;
        if (is_open(s, c->port))
            report_port_open(s, c);
        else
            waiting = 1;
    }
    s->ports_next_ns = waiting ? now_ns + LOOK_AGAIN_NS : INT64_MAX;
}
