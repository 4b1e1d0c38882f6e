/* Makes the pipes of a job and starts its main process with vfork semantics. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/syscall-linux.h"
#include "clone-linux.h"
#include "exec-child.h"
#include "supervisor.h"

/* Deep enough for the child, which calls a dozen kernel functions. */
static _Alignas(16) char child_stack[32u << 10];

static int make_output(struct supervisor *s, int stream, int *ret_write_fd)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    s->outputs[s->n_outputs].fd = fds[0];
    s->outputs[s->n_outputs].stream = stream;
    s->n_outputs++;
    *ret_write_fd = fds[1];
    return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int make_input(struct supervisor *s, int *ret_read_fd)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    s->input.fd = fds[1];
    *ret_read_fd = fds[0];
    return fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int make_pipes(struct supervisor *s, int fds[3])
{
    uint32_t flags = s->plan.head->flags;
    int r = 0;

    if (flags & WIRE_PLAN_STDIN_PIPE)
        r = make_input(s, &fds[0]);
    else if (s->plan.fds[WIRE_FD_STDIN] >= 0)
        fds[0] = TAKE_FD(s->plan.fds[WIRE_FD_STDIN]);
    if (r == 0)
        r = make_output(s, 0, &fds[1]);
    if (r == 0 && flags & WIRE_PLAN_SPLIT)
        r = make_output(s, 1, &fds[2]);
    return r;
}

static void close_pass_fds(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->head->n_pass_fds; i++)
        plan->pass_fds[i] = close_fd(plan->pass_fds[i]);
}

/* The pid, or a negative errno when the child has to be started without a leaf: refused by an older
 * kernel or a container's filter, or killed at birth for what cgroup_leaf_kill() tells about. */
static pid_t clone_into_leaf(const struct supervisor *s, struct exec_child *child, int *ret_pidfd)
{
    int leaf_fd = s->plan.fds[WIRE_FD_CGROUP];
    pid_t pid = leaf_fd < 0 ? -EBADF
                            : clone_into_cgroup(leaf_fd, exec_child_main, child, child_stack,
                                                sizeof(child_stack), ret_pidfd);

    if (pid < 0 || child->began)
        return pid;
    (void)waitpid(pid, NULL, 0);
    *ret_pidfd = close_fd(*ret_pidfd);
    return -EAGAIN;
}

/* Clones the child and waits until it has executed the command or failed. */
static int clone_child(struct supervisor *s, struct exec_child *child)
{
    int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    int pidfd = -EBADF;
    pid_t pid = clone_into_leaf(s, child, &pidfd);

    if (pid < 0)
        pid = clone(exec_child_main, child_stack + sizeof(child_stack), flags, child, &pidfd);
    if (pid < 0)
        return -errno;
    s->main_pid = pid;
    s->main_pidfd = pidfd;
    return 0;
}

int spawn_main(struct supervisor *s, enum wire_step *ret_step)
{
    int fds[3] = {0, -EBADF, -EBADF}; /* 0 is /dev/null, see launch.h */
    struct exec_child child = {
        .plan = &s->plan, .parent = getpid(), .file_size = &s->owner_file_size};
    int r = make_pipes(s, fds);

    *ret_step = WIRE_STEP_PIPE;
    if (r == 0) {
        child.stdio[0] = fds[0];
        child.stdio[1] = fds[1];
        child.stdio[2] = fds[2] >= 0 ? fds[2] : fds[1];
        *ret_step = WIRE_STEP_CLONE;
        r = clone_child(s, &child);
    }
    if (fds[0] > 2)
        (void)close_fd(fds[0]);
    (void)close_fd(fds[1]);
    (void)close_fd(fds[2]);
    close_pass_fds(&s->plan);
    if (r < 0)
        return r;
    if (child.errnum) {
        (void)waitpid(s->main_pid, NULL, 0);
        *ret_step = (enum wire_step)child.step;
        return -child.errnum;
    }
    return 0;
}
