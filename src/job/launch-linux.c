/*
 * Starts the supervisor's program with vfork semantics: the child borrows our memory until it
 * executes, so that no page table is copied. Between clone and exec it calls the kernel only, and
 * writes nothing but its own stack and struct launch.
 */
#include "launch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/fd-util.h"
#include "base/syscall-linux.h"
#include "wire.h"

#define CHILD_STACK_SIZE 16384
#define IMAGE_FD (WIRE_SOCKET_FD + 1)
#define KERNEL_SIGSET_SIZE 8

struct launch {
    int image_fd;
    int null_fd;
    int socket_fd;
    char **env;
    volatile int errnum;
};

/* The kernel's own set: libc's functions leave out the signals that it uses itself. */
static void set_mask(uint64_t mask, uint64_t *ret_old)
{
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, ret_old, KERNEL_SIGSET_SIZE);
}

/* Sources first move above all targets, for a host may have any of them at any number. */
static int place_descriptors(const struct launch *l)
{
    int socket_fd = fcntl(l->socket_fd, F_DUPFD_CLOEXEC, IMAGE_FD + 1);
    int image_fd = fcntl(l->image_fd, F_DUPFD_CLOEXEC, IMAGE_FD + 1);
    int null_fd = fcntl(l->null_fd, F_DUPFD_CLOEXEC, IMAGE_FD + 1);

    if (socket_fd < 0 || image_fd < 0 || null_fd < 0)
        return -1;
    if (dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0 ||
        dup2(socket_fd, WIRE_SOCKET_FD) < 0 || dup3(image_fd, IMAGE_FD, O_CLOEXEC) < 0)
        return -1;
    return sys_close_range(IMAGE_FD + 1, ~0u) < 0 ? -1 : 0;
}

static int child_main(void *arg)
{
    struct launch *l = arg;
    char name[] = "rein-supervisor";
    char *argv[] = {name, NULL};

    if (place_descriptors(l) == 0)
        (void)syscall(SYS_execveat, IMAGE_FD, "", argv, l->env, AT_EMPTY_PATH);
    l->errnum = errno;
    _exit(127);
}

/* The supervisor needs no environment. One built with a sanitizer reads its options there. */
static char **supervisor_env(void)
{
    static char *empty[] = {NULL};
#if REIN_SUPERVISOR_HOST
    return environ ? environ : empty;
#else
    return empty;
#endif
}

int launch_supervisor(int image_fd, int null_fd, int socket_fd, int *ret_pidfd)
{
    _Alignas(16) char stack[CHILD_STACK_SIZE];
    struct launch l = {
        .image_fd = image_fd, .null_fd = null_fd, .socket_fd = socket_fd, .env = supervisor_env()};
    uint64_t mask;
    int pidfd = -EBADF;
    int saved;
    pid_t pid;

    set_mask(UINT64_MAX, &mask);
    pid = clone(child_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                &l, &pidfd);
    saved = errno;
    set_mask(mask, NULL);
    if (pid < 0)
        return -saved;
    if (l.errnum) {
        siginfo_t info;

        (void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
        (void)close_fd(pidfd);
        return -l.errnum;
    }
    *ret_pidfd = fd_above_stdio(pidfd);
    return 0;
}
