/*
 * Between clone and exec. The child shares its memory with the supervisor (vfork semantics), so
 * nothing here may allocate, lock, or write to anything but its own stack, struct exec_child and
 * the free slot in front of argv. Only async-signal-safe calls; the project's lint has their list.
 */
#include "exec-child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/syscall-linux.h"
#include "supervisor.h"

static int fail(struct exec_child *c, enum wire_step step)
{
    c->errnum = errno;
    c->step = (int)step;
    return -1;
}

static int is_target(const struct wire_plan *head, int fd)
{
    for (uint32_t i = 0; i < head->n_pass_fds; i++)
        if (head->pass_fds[i] == fd)
            return 1;
    return 0;
}

/* A copy at a number that is not about to be filled. Above all of them there may be none: the limit
 * on descriptors is often just as high as the highest. Copies that land on such a number on the way
 * there are filled over. */
static int move_away(const struct wire_plan *head, int fd)
{
    do
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    while (fd >= 0 && is_target(head, fd));
    return fd;
}

/* Moves what is passed on out of the way of the numbers that are about to be filled, then fills
 * those. 0, 1 and 2 come first, so their sources may be anywhere. */
static int set_descriptors(struct exec_child *c)
{
    const struct wire_plan *head = c->plan->head;
    int pass[WIRE_PASS_FDS_MAX];

    for (uint32_t i = 0; i < head->n_pass_fds; i++)
        if ((pass[i] = move_away(head, c->plan->pass_fds[i])) < 0)
            return fail(c, WIRE_STEP_DESCRIPTORS);
    for (int i = 0; i < 3; i++)
        if (c->stdio[i] != i && dup2(c->stdio[i], i) < 0)
            return fail(c, WIRE_STEP_DESCRIPTORS);
    for (uint32_t i = 0; i < head->n_pass_fds; i++)
        if (dup2(pass[i], head->pass_fds[i]) < 0)
            return fail(c, WIRE_STEP_DESCRIPTORS);
    return 0;
}

/* Closes everything that is not meant for the job. All of it is close-on-exec as well; this is the
 * second lock on the door, so that a kernel without the call is no reason to fail. */
static void close_others(const struct wire_plan *head)
{
    unsigned int first = 3;

    for (uint32_t i = 0; i < head->n_pass_fds; i++) {
        unsigned int number = (unsigned int)head->pass_fds[i];

        if (number > first)
            (void)sys_close_range(first, number - 1);
        first = number + 1;
    }
    (void)sys_close_range(first, ~0u);
}

static int set_limits(struct exec_child *c)
{
    const struct wire_plan *head = c->plan->head;

    if (c->file_size->rlim_cur != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, c->file_size) < 0)
        return fail(c, WIRE_STEP_LIMITS);
    for (uint32_t i = 0; i < head->n_rlimits; i++) {
        const struct wire_rlimit *want = &head->rlimits[i];
        struct rlimit limit;

        if (getrlimit(want->resource, &limit) < 0)
            return fail(c, WIRE_STEP_LIMITS);
        /* A hard limit that is lower already stays: nobody may raise it by way of a smaller wish.
         */
        if (limit.rlim_max == RLIM_INFINITY || want->hard < limit.rlim_max)
            limit.rlim_max = want->hard;
        limit.rlim_cur = want->soft < limit.rlim_max ? want->soft : limit.rlim_max;
        if (setrlimit(want->resource, &limit) < 0)
            return fail(c, WIRE_STEP_LIMITS);
    }
    return 0;
}

/* The main process dies with its supervisor. The parent is looked at again afterwards, for it may
 * have died just before. */
static int tie_to_parent(struct exec_child *c)
{
    if (c->parent == 0)
        return 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return fail(c, WIRE_STEP_SESSION);
    if (getppid() != c->parent)
        _exit(127);
    return 0;
}

/* The supervisor's handlers must not run here: they would write to its memory. */
static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    (void)sigaction(SIGCHLD, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    sys_set_signal_mask(0);
}

/* As execvp: go on where a place does not have it, remember where it may not be run, and give a
 * file without a known format to the shell. */
static void exec_first(struct exec_child *c)
{
    const struct plan *plan = c->plan;
    int denied = 0;

    for (uint32_t i = 0; i < plan->head->pathc; i++) {
        (void)execve(plan->paths[i], plan->argv, plan->env);
        if (errno == ENOEXEC) {
            char *name = plan->argv[0];

            plan->argv[-1] = (char *)(uintptr_t) "/bin/sh";
            plan->argv[0] = plan->paths[i];
            (void)execve("/bin/sh", plan->argv - 1, plan->env);
            plan->argv[0] = name;
        }
        if (errno == EACCES)
            denied = 1;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
                 errno != ETIMEDOUT)
            break;
    }
    if (denied && (errno == ENOENT || errno == ENOTDIR))
        errno = EACCES;
    (void)fail(c, WIRE_STEP_EXEC);
}

int exec_child_main(void *arg)
{
    struct exec_child *c = arg;

    c->began = 1;
    if (setsid() < 0)
        (void)fail(c, WIRE_STEP_SESSION);
    else if (set_descriptors(c) == 0) {
        close_others(c->plan->head);
        if (c->plan->cwd[0] && chdir(c->plan->cwd) < 0)
            (void)fail(c, WIRE_STEP_CHDIR);
        else if (set_limits(c) == 0 && tie_to_parent(c) == 0) {
            reset_signals();
            exec_first(c);
        }
    }
    _exit(127);
}
