/* Descriptors of a plan: what is opened for it and what is passed on, in the order of the wire. */
#include "plan-parts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd-util.h"
#include "base/syscall-linux.h"

static void send_fd(struct plan_message *plan, enum wire_plan_fd kind, int fd)
{
    plan->head.fd_mask |= 1u << kind;
    plan->fds[plan->n_fds++] = fd;
}

static int open_stdin_file(const char *path, int *ret_fd, struct rein_error **reterr)
{
    auto_close int fd = -EBADF;
    struct stat st;

    if (!path || !path[0])
        return rein_fail(reterr, -EINVAL, "bad_request", "stdin", "no file for standard input");
    /* Without waiting, for a FIFO that nobody writes would hold us before any deadline does. */
    fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return rein_fail(reterr, -errno, "bad_request", "stdin",
                         "cannot open '%s' for standard input: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return rein_fail(reterr, -EISDIR, "bad_request", "stdin", "'%s' is a directory, not a file",
                         path);
    (void)fcntl(fd, F_SETFL, 0);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int
add_stdin(struct plan_message *plan, const struct rein_spec *spec, struct rein_error **reterr)
{
    int fd = -EBADF;
    int r;

    switch ((enum rein_stdin_kind)spec->stdin_kind) {
    case REIN_STDIN_NULL:
        return 0;
    case REIN_STDIN_PIPE:
        plan->head.flags |= WIRE_PLAN_STDIN_PIPE;
        return 0;
    case REIN_STDIN_INHERIT:
        if (fcntl(0, F_GETFD) < 0)
            return 0; /* the caller has none: nothing to read is what the job gets */
        send_fd(plan, WIRE_FD_STDIN, 0);
        return 0;
    case REIN_STDIN_FD:
        if (fcntl(spec->stdin_fd, F_GETFD) < 0)
            return rein_fail(reterr, -EBADF, "bad_request", "stdin", "descriptor %d is not open",
                             spec->stdin_fd);
        send_fd(plan, WIRE_FD_STDIN, spec->stdin_fd);
        return 0;
    case REIN_STDIN_FILE:
        r = open_stdin_file(spec->stdin_path, &fd, reterr);
        if (r < 0)
            return r;
        plan->own_fds[plan->n_own_fds++] = fd;
        send_fd(plan, WIRE_FD_STDIN, fd);
        return 0;
    }
    return 0;
}

/* A pid may be reused at any time; from here on the descriptor holds on to the process. */
static int add_owner(struct plan_message *plan,
                     const rein *r,
                     const struct rein_spec *spec,
                     struct rein_error **reterr)
{
    int fd;

    if (spec->flags & REIN_SPEC_DETACHED)
        return 0;
    if (!spec->owner_pid) {
        send_fd(plan, WIRE_FD_OWNER, r->owner_pidfd);
        return 0;
    }
    fd = fd_above_stdio(sys_pidfd_open(spec->owner_pid));
    if (fd == -ESRCH || fd == -EINVAL)
        return rein_fail(reterr, fd, "bad_request", "owner",
                         "there is no process %d to be the owner", (int)spec->owner_pid);
    if (fd < 0)
        return rein_fail(reterr, fd, "spawn_failed", "owner", "cannot watch process %d: %s",
                         (int)spec->owner_pid, strerror(-fd));
    plan->own_fds[plan->n_own_fds++] = fd;
    send_fd(plan, WIRE_FD_OWNER, fd);
    return 0;
}

static int make_memfd(const char *name, int *ret_fd, struct rein_error **reterr)
{
    *ret_fd = fd_above_stdio(memfd_create(name, MFD_CLOEXEC));
    if (*ret_fd < 0)
        return rein_fail(reterr, -errno, "spawn_failed", "memfd",
                         "cannot make room for the output: %s", strerror(errno));
    return 0;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void add_leaf(struct plan_message *plan)
{
    const struct cgroup_leaf *leaf = plan->leaf;

    if (!leaf || leaf->fd < 0)
        return;
    send_fd(plan, WIRE_FD_CGROUP, leaf->fd);
    memcpy(plan->head.leaf_name, leaf->name, sizeof(leaf->name));
}

/* In ascending order, without doubles, so that the child can fill and close around them in one go.
 */
static void add_pass_fds(struct plan_message *plan, const struct rein_spec *spec)
{
    int sorted[WIRE_PASS_FDS_MAX];

    if (!spec->n_pass_fds)
        return;
    memcpy(sorted, spec->pass_fds, spec->n_pass_fds * sizeof(int));
    qsort(sorted, spec->n_pass_fds, sizeof(int), compare_ints);
    for (size_t i = 0; i < spec->n_pass_fds; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        plan->head.pass_fds[plan->head.n_pass_fds++] = sorted[i];
        plan->fds[plan->n_fds++] = sorted[i];
    }
}

/* In the order of enum wire_plan_fd. */
int plan_add_fds(rein *r,
                 const struct rein_spec *spec,
                 const struct job_extras *extras,
                 struct plan_message *plan,
                 struct rein_error **reterr)
{
    int err = make_memfd("rein-output", &plan->log_fd, reterr);

    if (err < 0)
        return err;
    send_fd(plan, WIRE_FD_LOG, plan->log_fd);
    if (spec->flags & REIN_SPEC_SPLIT) {
        err = make_memfd("rein-marks", &plan->marks_fd, reterr);
        if (err < 0)
            return err;
        send_fd(plan, WIRE_FD_MARKS, plan->marks_fd);
    }
    err = add_owner(plan, r, spec, reterr);
    if (err == 0)
        err = add_stdin(plan, spec, reterr);
    if (err < 0)
        return err;
    if (extras && extras->cleanup_dir)
        send_fd(plan, WIRE_FD_CLEANUP, extras->cleanup_dir_fd);
    add_leaf(plan);
    add_pass_fds(plan, spec);
    return 0;
}
