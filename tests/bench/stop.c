/*
 * How long it takes to end a tree, from the wish to the moment when nothing of it is left.
 *
 * The program is one that behaves like bench-sleepers with descriptor TREE_FD: a byte from it means
 * that the whole tree stands. The processes of the tree hold the pipe's writing end, and nobody
 * else does, so that the kernel itself says whether any of them is alive. Each answer is a time and
 * 1 when, at the end of that time, something was left, else 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

#define TREE_FD 200 /* as bench.py says; out of the way of what the library opens */

/* The reading end, and the writing end at TREE_FD, which the next program inherits. */
static int open_pipe(void)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0 || dup2(fds[1], TREE_FD) < 0)
        fail("pipe", strerror(errno));
    (void)close(fds[1]);
    return fds[0];
}

static void await_tree(int fd)
{
    char byte;

    (void)close(TREE_FD);
    if (read(fd, &byte, 1) != 1)
        fail("the tree", "did not come to life");
}

static int is_anything_left(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, timeout_ms) != 1 || !(p.revents & POLLHUP);
}

static void put_end(struct host *host, int64_t start_ns, int left)
{
    (void)fprintf(host->answer, "%lld %d", (long long)(now_ns() - start_ns), left);
}

/* Starts a program by posix_spawn, first of a process group if wanted. */
static pid_t spawn(char **argv, int own_group)
{
    posix_spawnattr_t attr;
    pid_t pid = -1;
    int err = posix_spawnattr_init(&attr);

    if (!err && own_group)
        err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    if (!err)
        err = posix_spawnp(&pid, argv[0], NULL, &attr, argv, environ);
    if (err)
        fail(argv[0], strerror(err));
    (void)posix_spawnattr_destroy(&attr);
    return pid;
}

static void await_child(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0)
        if (errno != EINTR)
            fail("waitpid", strerror(errno));
}

/* The program is a job of the library: rein_stop() without grace. */
void request_stop_job(struct host *host, char **argv)
{
    static const int pass_fds[] = {TREE_FD};
    struct rein_spec spec = {.size = sizeof(spec),
                             .argv = (const char *const *)argv,
                             .pass_fds = pass_fds,
                             .n_pass_fds = 1};
    int fd = open_pipe();
    rein_job *job = start_job(host, &spec);
    int64_t start_ns;

    await_tree(fd);
    start_ns = now_ns();
    if (rein_stop(job, 0) < 0)
        fail("rein_stop", "failed");
    end_job(job, REIN_REASON_STOPPED);
    put_end(host, start_ns, is_anything_left(fd, 0));
    (void)close(fd);
}

/* The program is `rein run`: SIGTERM to it, until it has ended. */
void request_stop_by_term(struct host *host, char **argv)
{
    int fd = open_pipe();
    pid_t pid = spawn(argv, 0);
    int64_t start_ns;

    await_tree(fd);
    start_ns = now_ns();
    (void)kill(pid, SIGTERM); /* it is not reaped yet */
    await_child(pid);
    put_end(host, start_ns, is_anything_left(fd, 0));
    (void)close(fd);
}

/* For comparison, what the kernel needs at least: SIGKILL to a process group, until nothing holds
 * the pipe. It works only on trees that stay in their group. */
void request_kill_group(struct host *host, char **argv)
{
    int fd = open_pipe();
    pid_t pid = spawn(argv, 1);
    int64_t start_ns;

    await_tree(fd);
    start_ns = now_ns();
    (void)kill(-pid, SIGKILL);
    await_child(pid);
    put_end(host, start_ns, is_anything_left(fd, -1));
    (void)close(fd);
}
