/* Starting, stopping and freeing a job, and the messages of its supervisor. */
#include "job.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd-util.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/socket-util.h"
#include "base/strv.h"
#include "base/syscall-linux.h"
#include "base/time-util.h"
#include "launch.h"
#include "spec-check.h"
#include "store.h"

#define STOP_GRACE_DEFAULT_NS (5 * NSEC_PER_SEC)
#define REFRESH_TIMEOUT_MS 2000
#define PORT_MAX 65535

DEFINE_FREEP(rein_job, rein_job_free)

/* ---- messages ----------------------------------------------------------------------------- */

static void take_news(rein_job *job, const void *message)
{
    job->log = ((const struct wire_news *)message)->log;
    job->armed = 0;
}

static void take_exit(rein_job *job, const void *message, size_t size)
{
    size_t n;

    memcpy(&job->exit, message, sizeof(job->exit));
    n = (size - sizeof(job->exit)) / sizeof(job->left[0]);
    n = MIN(MIN((size_t)job->exit.n_left_named, n), WIRE_LEFT_MAX);
    free(job->left);
    job->left = n > 0 ? malloc(n * sizeof(job->left[0])) : NULL;
    job->exit.n_left_named = job->left ? (uint32_t)n : 0;
    if (job->left)
        memcpy(job->left, (const char *)message + sizeof(job->exit), n * sizeof(job->left[0]));
    job->log = job->exit.log;
    job->ended = 1;
    cgroup_dispose(&job->leaf);
}

/* The log has moved to the store, or to a new file there; offsets stay the same. */
static void take_log(rein_job *job, int *fds, size_t n_fds)
{
    if (n_fds < 1)
        return;
    job->log_moved = 1;
    (void)close_fd(job->log_fd);
    job->log_fd = fd_above_stdio(TAKE_FD(fds[0]));
    if (n_fds > 1) {
        (void)close_fd(job->marks_fd);
        job->marks_fd = fd_above_stdio(TAKE_FD(fds[1]));
    }
}

static int open_in_store(const rein_job *job, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", job->store_dir, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* Where there was no number free for its descriptors: ours, which are of no use any more, make
 * room. */
void job_open_log(rein_job *job)
{
    job->log_moved = 1;
    (void)close_fd(job->log_fd);
    job->log_fd = open_in_store(job, "output.log");
    if (!job->split)
        return;
    (void)close_fd(job->marks_fd);
    job->marks_fd = open_in_store(job, "output.marks");
}

/* The socket ended without EXIT. For a job of the foreground that means that supervisor and guard
 * are both gone. */
static int take_loss(rein_job *job)
{
    if (job->background)
        return job_reconnect(job);
    job->exit = (struct wire_exit){.reason = REIN_REASON_LOST,
                                   .duration_ns = time_mono_ns() - job->started_ns,
                                   .log = job->log};
    job->ended = 1;
    if (job->leaf.fd >= 0)
        cgroup_leaf_kill(job->leaf.fd);
    return 0;
}

static ssize_t receive(rein_job *job, int fds[2], size_t *ret_n_fds)
{
    return socket_receive(job->socket_fd, job->message, WIRE_MESSAGE_MAX, fds, 2, ret_n_fds,
                          MSG_DONTWAIT);
}

static void dispatch(rein_job *job, size_t size, int *fds, size_t n_fds)
{
    uint32_t type = 0;

    if (size >= sizeof(type))
        memcpy(&type, job->message, sizeof(type));
    if (type == WIRE_NEWS && size >= sizeof(struct wire_news))
        take_news(job, job->message);
    else if (type == WIRE_LOG && size >= sizeof(struct wire_log))
        take_log(job, fds, n_fds);
    else if (type == WIRE_PORT_OPEN && size >= sizeof(struct wire_port))
        job->port_open = 1;
    else if (type == WIRE_EXIT && size >= sizeof(struct wire_exit))
        take_exit(job, job->message, size);
    else if (type == WIRE_ROOM && size >= sizeof(struct wire_room)) {
        memcpy(&job->room, job->message, sizeof(job->room));
        job->room_pending = 0;
    }
    for (size_t i = 0; i < n_fds; i++)
        fds[i] = close_fd(fds[i]);
}

int job_pump(rein_job *job, int timeout_ms)
{
    int got = 0;

    if (job->ended)
        return 1;
    if (timeout_ms != 0) {
        int r = io_poll(job->socket_fd, POLLIN, timeout_ms);

        if (r <= 0)
            return r;
    }
    while (!job->ended) {
        int fds[2] = {-EBADF, -EBADF};
        size_t n_fds;
        ssize_t n = receive(job, fds, &n_fds);
        int r = 0;

        if (n == -EAGAIN)
            break;
        if (n == -EMFILE) /* only LOG brings descriptors */
            job_open_log(job);
        else if (n <= 0)
            r = take_loss(job);
        else
            dispatch(job, (size_t)n, fds, n_fds);
        if (r < 0)
            return r;
        got = 1;
    }
    return got;
}

int job_tell(rein_job *job, const void *data, size_t size)
{
    struct socket_message message = {.head = data, .head_size = size};
    int r = job->ended ? -ESRCH : socket_send(job->socket_fd, &message, 0);

    return r == -EPIPE || r == -ECONNRESET ? -ESRCH : r;
}

int job_arm(rein_job *job, uint64_t cursor)
{
    struct wire_arm message = {.type = WIRE_ARM, .cursor = cursor};
    int r;

    if (job->armed)
        return 0;
    r = job_tell(job, &message, sizeof(message));
    if (r == 0)
        job->armed = 1;
    return r == -ESRCH ? 0 : r; /* the end is on its way */
}

int job_refresh(rein_job *job)
{
    int r;

    (void)job_pump(job, 0);
    if (job->ended || job->log.total == 0)
        return 0;
    job->armed = 0;
    r = job_arm(job, MIN(job->cursor, job->log.total - 1));
    while (r >= 0 && job->armed && !job->ended) {
        r = job_pump(job, REFRESH_TIMEOUT_MS);
        if (r == 0)
            return -ETIMEDOUT;
    }
    return MIN(r, 0);
}

/* ---- start -------------------------------------------------------------------------------- */

int job_new(rein *r, rein_job **ret)
{
    rein_job *job = calloc(1, sizeof(*job));

    if (!job)
        return -ENOMEM;
    job->context = r;
    job->leaf = (struct cgroup_leaf)CGROUP_LEAF_UNSET;
    job->socket_fd = job->supervisor_fd = job->log_fd = job->marks_fd = -EBADF;
    job->armed = 1;
    *ret = job;
    return 0;
}

int job_make_room(rein_job *job)
{
    if (!job->message)
        job->message = malloc(WIRE_MESSAGE_MAX);
    return job->message ? 0 : -ENOMEM;
}

int job_set_store_dir(rein_job *job)
{
    if (asprintf(&job->store_dir, "%s/jobs/%s", context_state_dir(job->context), job->id) >= 0)
        return 0;
    job->store_dir = NULL;
    return -ENOMEM;
}

/* Moves what the job needs out of the plan and the spec. */
static int adopt(rein_job *job, struct plan_message *plan, const struct rein_spec *spec)
{
    memcpy(job->id, plan->id, sizeof(job->id));
    if (!job->log_moved) {
        job->log_fd = TAKE_FD(plan->log_fd);
        job->marks_fd = TAKE_FD(plan->marks_fd);
    }
    job->argv = TAKE_PTR(plan->argv);
    job->cwd = TAKE_PTR(plan->shown_cwd);
    job->job_json = TAKE_PTR(plan->job_json);
    job->warnings = TAKE_PTR(plan->warnings);
    job->missing = TAKE_PTR(plan->missing);
    job->split = (spec->flags & REIN_SPEC_SPLIT) != 0;
    job->stdin_pipe = spec->stdin_kind == REIN_STDIN_PIPE;
    job->after_keep = spec->after == REIN_AFTER_KEEP;
    job->grace_ns = spec->grace_ns;
    job->output_limit = plan->head.log_limit;
    job->started_at_ns = plan->started_at_ns;
    job->started_ns = time_mono_ns();
    job->background = (spec->flags & REIN_SPEC_BACKGROUND) != 0;
    job->let_go = spec->flags & REIN_SPEC_DETACHED || spec->owner_pid;
    job->name = TAKE_PTR(plan->name);
    if (str_copy(&job->session, spec->session) < 0)
        return -ENOMEM;
    return job_set_store_dir(job);
}

static int launch(rein_job *job, struct rein_error **reterr)
{
    auto_close int theirs = -EBADF;
    int pair[2];
    int err;

    if (job_make_room(job) < 0)
        return rein_oom(reterr);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return rein_fail(reterr, -errno, "spawn_failed", "socket", "cannot make a socket: %s",
                         strerror(errno));
    job->socket_fd = fd_above_stdio(pair[0]);
    theirs = fd_above_stdio(pair[1]);
    err = launch_supervisor(job->context->image_fd, job->context->null_fd, theirs,
                            &job->supervisor_fd);
    if (err < 0)
        return rein_fail(reterr, err, "spawn_failed", "supervisor",
                         "cannot start the supervisor: %s", strerror(-err));
    return 0;
}

static void take_started(rein_job *job, int *fds, size_t n_fds)
{
    const struct wire_started *started = (const void *)job->message;

    job->pid = started->pid;
    if (started->log_in_store)
        take_log(job, fds, n_fds);
}

/* The first message is STARTED or FAILED. */
static int wait_started(rein_job *job, const struct plan_message *plan, struct rein_error **reterr)
{
    int fds[2] = {-EBADF, -EBADF};
    size_t n_fds;
    ssize_t n;
    uint32_t type = 0;
    int r = io_poll(job->socket_fd, POLLIN, -1);

    n = r < 0 ? r : receive(job, fds, &n_fds);
    if (n >= (ssize_t)sizeof(type))
        memcpy(&type, job->message, sizeof(type));
    if (type == WIRE_STARTED && (size_t)n >= sizeof(struct wire_started)) {
        take_started(job, fds, n_fds);
        return 0;
    }
    if (type == WIRE_FAILED && (size_t)n >= sizeof(struct wire_failed))
        return plan_failed(job->context, plan, (const void *)job->message, reterr);
    return rein_fail(reterr, -EIO, "spawn_failed", "supervisor",
                     "the supervisor was killed at its start");
}

/* The supervisor is launched before the plan is made: while it starts up on one processor, we work
 * on another. Closing the socket without a plan sends it away again. */
static int start_with_plan(rein_job *job,
                           const struct rein_spec *spec,
                           const struct job_extras *extras,
                           struct plan_message *plan,
                           struct rein_error **reterr)
{
    int err = launch(job, reterr);

    if (err < 0)
        return err;
    if (!(job->context->test_fallbacks & WIRE_NO_CGROUP))
        cgroup_take(&job->context->cgroup, job->context->owner_pidfd, &job->leaf);
    plan->leaf = &job->leaf;
    err = plan_make(job->context, spec, extras, plan, reterr);
    if (err < 0)
        return err;
    err = plan_send(plan, job->socket_fd);
    if (err < 0 && err != -EPIPE) /* a supervisor that has gone already has said why */
        return rein_fail(reterr, err, "spawn_failed", "plan",
                         "cannot send the plan to the supervisor: %s", strerror(-err));
    return wait_started(job, plan, reterr);
}

/* The supervisor looks after the leaf of a job of the background: nobody here may be left at its
 * end. */
static void leave_leaf(rein_job *job)
{
    (void)close_fd(job->leaf.fd);
    (void)close_fd(job->leaf.events_fd);
    job->leaf = (struct cgroup_leaf)CGROUP_LEAF_UNSET;
}

/* A store that is not there yet is made by the supervisor, as a private one. */
static int check_store(const rein *r, struct rein_error **reterr)
{
    auto_error struct rein_error *error = NULL;
    auto_close int jobs_fd = -EBADF;
    int err = context_open_jobs(r, &jobs_fd, &error);

    if (err == 0 || err == -ENOENT)
        return 0;
    if (reterr)
        *reterr = TAKE_PTR(error);
    return err;
}

int job_start(rein *r,
              const struct rein_spec *spec,
              const struct job_extras *extras,
              rein_job **ret,
              struct rein_error **reterr)
{
    auto_(plan_done) struct plan_message plan = PLAN_MESSAGE_UNSET;
    auto_(rein_job_freep) rein_job *job = NULL;
    int err = spec_check(spec, reterr);

    if (err == 0)
        err = context_prepare(r, reterr);
    if (err == 0 && spec->flags & REIN_SPEC_BACKGROUND)
        err = check_store(r, reterr);
    if (err < 0)
        return err;
    if (job_new(r, &job) < 0)
        return rein_oom(reterr);
    err = start_with_plan(job, spec, extras, &plan, reterr);
    if (err < 0) {
        job->ended = 1;
        return err;
    }
    if (adopt(job, &plan, spec) < 0)
        return rein_oom(reterr);
    if (job->background)
        leave_leaf(job);
    *ret = TAKE_PTR(job);
    return 0;
}

int rein_start(rein *r, const struct rein_spec *spec, rein_job **ret, struct rein_error **reterr)
{
    if (!r || !spec || !ret)
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments", "a required pointer is NULL");
    return job_start(r, spec, NULL, ret, reterr);
}

/* ---- the running job ---------------------------------------------------------------------- */

const char *rein_job_id(const rein_job *job)
{
    return job->id;
}

pid_t rein_job_pid(const rein_job *job)
{
    return job->pid;
}

int rein_job_fd(const rein_job *job)
{
    return job->socket_fd;
}

static int64_t stop_grace_ns(const rein_job *job, int grace_ms)
{
    if (grace_ms >= 0)
        return grace_ms * NSEC_PER_MSEC;
    if (job->grace_ns)
        return MAX(job->grace_ns, 0);
    return STOP_GRACE_DEFAULT_NS;
}

int rein_stop(rein_job *job, int grace_ms)
{
    struct wire_stop message = {.type = WIRE_STOP};
    int r;

    if (!job)
        return -EINVAL;
    message.grace_ns = stop_grace_ns(job, grace_ms);
    r = job_tell(job, &message, sizeof(message));
    return r == -ESRCH ? 0 : r;
}

static int send_input(rein_job *job, const void *data, size_t size, int eof)
{
    struct {
        struct wire_input head;
        char bytes[WIRE_INPUT_MAX];
    } message = {.head = {.type = WIRE_INPUT, .eof = (uint32_t)eof}};
    int r;

    (void)job_pump(job, 0);
    size = MIN(size, sizeof(message.bytes));
    if (size)
        memcpy(message.bytes, data, size);
    r = job_tell(job, &message, sizeof(message.head) + size);
    if (r < 0)
        return r;
    job->room_pending = 1;
    while (job->room_pending && !job->ended) {
        r = job_pump(job, -1);
        if (r < 0)
            return r;
    }
    (void)job_arm(job, job->cursor); /* news that came in between is still to be polled for */
    if (job->room_pending)
        return -ESRCH;
    if (job->room.errnum)
        return -job->room.errnum;
    return job->room.accepted == 0 && size ? -EAGAIN : (int)job->room.accepted;
}

ssize_t rein_send(rein_job *job, const void *data, size_t size)
{
    if (!job || !job->stdin_pipe || (!data && size))
        return -EINVAL;
    return size ? send_input(job, data, size, /* eof= */ 0) : 0;
}

int rein_send_eof(rein_job *job)
{
    if (!job || !job->stdin_pipe)
        return -EINVAL;
    return MIN(send_input(job, NULL, 0, /* eof= */ 1), 0);
}

int rein_job_signal(rein_job *job, int signo)
{
    struct wire_signal message = {.type = WIRE_SIGNAL, .signo = signo};

    if (!job || signo < 1 || signo > SYS_SIGNALS)
        return -EINVAL;
    (void)job_pump(job, 0);
    return job_tell(job, &message, sizeof(message));
}

int rein_port_ask(rein_job *job, int port)
{
    struct wire_port message = {.type = WIRE_PORT, .port = (uint32_t)port};

    if (!job || port < 1 || port > PORT_MAX)
        return -EINVAL;
    job->port_open = 0;
    return job_tell(job, &message, sizeof(message));
}

int rein_port_is_open(const rein_job *job)
{
    return job && job->port_open;
}

int rein_wait_port(rein_job *job, int port, int timeout_ms)
{
    int64_t until_ns = timeout_ms > 0 ? time_mono_ns() + timeout_ms * NSEC_PER_MSEC : 0;
    int r = rein_port_ask(job, port);

    while (r >= 0 && !job->port_open && !job->ended) {
        r = job_pump(job, timeout_ms <= 0 ? timeout_ms : time_left_ms(until_ns));
        if (r == 0)
            return -EAGAIN;
    }
    if (r < 0)
        return r;
    return job->port_open ? 0 : -ESRCH;
}

static enum cgroup_leaf_end leaf_end(const rein_job *job)
{
    if (job->exit.type != WIRE_EXIT) /* never started, or lost with its supervisor and guard */
        return CGROUP_LEAF_LOST;
    if (job->after_keep || job->exit.notes & WIRE_NOTE_LEFT_ALIVE)
        return CGROUP_LEAF_KEPT;
    return job->exit.notes & WIRE_NOTE_LEAF_KILLED ? CGROUP_LEAF_EMPTY : CGROUP_LEAF_REUSABLE;
}

/* Ends it and waits for that. One that is let go is not even asked how it is. */
static void end_job(rein_job *job)
{
    if (job->ended || job->let_go || rein_stop(job, 0) < 0)
        return;
    while (!job->ended && job_pump(job, -1) >= 0)
        continue;
}

rein_job *rein_job_free(rein_job *job)
{
    if (!job)
        return NULL;
    if (!job->attached && job->context->owner_pid == getpid()) {
        end_job(job);
        cgroup_give_back(&job->context->cgroup, &job->leaf, leaf_end(job));
        if (job->supervisor_fd >= 0 && job->let_go)
            context_let_go(job->context, TAKE_FD(job->supervisor_fd));
        else if (job->supervisor_fd >= 0)
            context_reap(job->context, TAKE_FD(job->supervisor_fd));
        if (job->background || job->log_moved)
            store_sweep_sometimes(job->context);
    }
    (void)close_fd(job->leaf.fd);
    (void)close_fd(job->leaf.events_fd);
    (void)close_fd(job->supervisor_fd);
    (void)close_fd(job->socket_fd);
    (void)close_fd(job->log_fd);
    (void)close_fd(job->marks_fd);
    (void)strv_free(job->argv);
    (void)strv_free(job->warnings);
    (void)strv_free(job->missing);
    free(job->cwd);
    free(job->name);
    free(job->session);
    free(job->job_json);
    free(job->store_dir);
    free(job->message);
    free(job->left);
    free(job);
    return NULL;
}
