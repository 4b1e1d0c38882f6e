/* Taking hold of a job that stands in the store: through its control socket while it runs, through
 * its files when it has ended. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd-util.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/socket-util.h"
#include "base/time-util.h"
#include "job.h"
#include "store.h"

#define HELLO_TIMEOUT_MS 10000
#define TRIES_MAX 200 /* while a job is neither to be reached nor ended */
#define TRY_AGAIN_MS 5

DEFINE_FREEP(rein_job, rein_job_free)

static int no_such_job(const char *id, struct rein_error **reterr)
{
    return rein_fail(reterr, -ENOENT, "no_such_job", "attach",
                     "No background command with process_id '%.100s'", id);
}

/* ---- the control socket ------------------------------------------------------------------- */

/* Socket paths have 108 bytes, stores any length: the name goes by way of a descriptor. Without
 * waiting: -EAGAIN when too many others do. */
static int connect_control(int dir_fd, int *ret_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    auto_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/control", dir_fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    (void)fcntl(fd, F_SETFL, 0);
    *ret_fd = fd_above_stdio(TAKE_FD(fd));
    return 0;
}

static void take_hello(rein_job *job, const struct wire_hello *hello, int fds[2], size_t n_fds)
{
    job->pid = hello->pid;
    job->started_ns = hello->started_ns;
    job->log = hello->log;
    job->log_moved = (int)hello->log_in_store;
    job->armed = 0;
    if (n_fds > 0) {
        (void)close_fd(job->log_fd);
        job->log_fd = fd_above_stdio(TAKE_FD(fds[0]));
    }
    if (n_fds > 1) {
        (void)close_fd(job->marks_fd);
        job->marks_fd = fd_above_stdio(TAKE_FD(fds[1]));
    }
}

/* 0, -EAGAIN when the supervisor went away meanwhile, -ETIMEDOUT when it says nothing, -EPROTO when
 * it is of another version. */
static int receive_hello(rein_job *job, int socket_fd)
{
    struct wire_hello hello = {0};
    int fds[2] = {-EBADF, -EBADF};
    size_t n_fds = 0;
    int r = io_poll(socket_fd, POLLIN, HELLO_TIMEOUT_MS);
    ssize_t n;

    if (r <= 0)
        return r < 0 ? r : -ETIMEDOUT;
    n = socket_receive(socket_fd, &hello, sizeof(hello), fds, 2, &n_fds, MSG_DONTWAIT);
    if (n == -EMFILE)
        return (int)n;
    if (n >= (ssize_t)sizeof(hello) && hello.type == WIRE_HELLO && hello.version == WIRE_VERSION) {
        take_hello(job, &hello, fds, n_fds);
        r = 0;
    } else {
        r = n <= 0 ? -EAGAIN : -EPROTO;
    }
    for (size_t i = 0; i < n_fds; i++)
        (void)close_fd(fds[i]);
    return r;
}

/* Into the place of an old socket, so that a caller who polls needs not know. */
static int use_socket(rein_job *job, int take_fd)
{
    auto_close int fd = take_fd;

    if (job_make_room(job) < 0)
        return -ENOMEM;
    if (job->socket_fd < 0) {
        job->socket_fd = TAKE_FD(fd);
        return 0;
    }
    return dup3(fd, job->socket_fd, O_CLOEXEC) < 0 ? -errno : 0;
}

static int say_hello(rein_job *job, int dir_fd)
{
    auto_close int fd = -EBADF;
    int r = connect_control(dir_fd, &fd);

    if (r == 0)
        r = receive_hello(job, fd);
    return r < 0 ? r : use_socket(job, TAKE_FD(fd));
}

/* ---- how it is ---------------------------------------------------------------------------- */

/* What should be in the file and is not has been deleted, or cut off, by somebody else. */
static void note_missing(rein_job *job, uint64_t size)
{
    struct wire_log_state *log = &job->log;
    uint64_t kept_end = log->gap_end == log->total ? log->gap_begin : log->total;

    if (log->total == 0 || size >= kept_end)
        return;
    if (log->gap_end == 0 || size < log->gap_begin)
        log->gap_begin = size;
    log->gap_end = log->total;
    job->exit.log = *log;
    job->exit.notes |= WIRE_NOTE_LOG_TRUNCATED;
}

static void open_files(rein_job *job)
{
    struct stat st;

    job_open_log(job);
    note_missing(job, job->log_fd >= 0 && fstat(job->log_fd, &st) == 0 ? (uint64_t)st.st_size : 0);
}

/* Finds out how a job is, and takes hold of it. What is seen may be over a moment later, so it is
 * looked at again until two looks agree. */
static int take_hold(rein_job *job, int dir_fd)
{
    int r = -EAGAIN;

    for (int i = 0; i < TRIES_MAX; i++) {
        int locked =
            store_is_locked(dir_fd); /* before the record, which is written under the lock */

        r = store_read_end(job, dir_fd);
        if (r == 0 || !locked) {
            if (r < 0)
                store_read_loss(job, dir_fd);
            open_files(job);
            return 0;
        }
        if (r != -ENOENT && r != -EBADMSG)
            return r;
        r = say_hello(job, dir_fd);
        if (r != -EAGAIN && r != -ECONNREFUSED && r != -ENOENT && r != -ECONNRESET)
            return r;
        (void)poll(NULL, 0, TRY_AGAIN_MS);
    }
    return -ETIMEDOUT;
}

static int open_job_dir(const rein *r, const char *id, int *ret_fd, struct rein_error **reterr)
{
    auto_error struct rein_error *error = NULL;
    auto_close int jobs_fd = -EBADF;
    int err = job_id_is_valid(id) ? context_open_jobs(r, &jobs_fd, &error) : -ENOENT;

    if (err == 0) {
        *ret_fd =
            fd_above_stdio(openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (*ret_fd >= 0)
            return 0;
        err = errno == ENOTDIR || errno == ELOOP ? -ENOENT : -errno;
    }
    if (err == -ENOENT)
        return no_such_job(id, reterr);
    if (error && reterr)
        *reterr = TAKE_PTR(error);
    else if (!error)
        return rein_fail(reterr, err, "internal", "attach", "cannot look for job %s: %s", id,
                         strerror(-err));
    return err;
}

/* Words for what keeps us from a job that is there. */
static int fail_attach(const char *id, int err, struct rein_error **reterr)
{
    switch (-err) {
    case ENOENT:
        return no_such_job(id, reterr);
    case EPROTO:
        return rein_fail_hint(reterr, err, "internal", "attach",
                              "use the version of rein that started it",
                              "job %s belongs to another version of rein", id);
    case EBADMSG:
        return rein_fail(reterr, err, "internal", "attach", "the record of job %s is damaged", id);
    case ENOMEM:
        return rein_oom(reterr);
    case ETIMEDOUT:
        return rein_fail(reterr, err, "internal", "attach",
                         "the supervisor of job %s does not answer", id);
    default:
        return rein_fail(reterr, err, "internal", "attach", "cannot reach job %s: %s", id,
                         strerror(-err));
    }
}

int rein_attach(rein *r, const char *process_id, rein_job **ret, struct rein_error **reterr)
{
    auto_(rein_job_freep) rein_job *job = NULL;
    auto_close int dir_fd = -EBADF;
    int err;

    if (!r || !process_id || !ret)
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments", "a required pointer is NULL");
    err = open_job_dir(r, process_id, &dir_fd, reterr);
    if (err < 0)
        return err;
    if (job_new(r, &job) < 0)
        return rein_oom(reterr);
    memcpy(job->id, process_id, sizeof(job->id));
    job->background = job->attached = job->let_go = 1;
    job->armed = 0;
    err = job_set_store_dir(job);
    if (err == 0)
        err = store_read_job(job, dir_fd);
    if (err == 0)
        err = take_hold(job, dir_fd);
    if (err < 0)
        return fail_attach(process_id, err, reterr);
    *ret = TAKE_PTR(job);
    return 0;
}

int job_reconnect(rein_job *job)
{
    auto_close int dir_fd = open(job->store_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = dir_fd < 0 ? -errno : take_hold(job, dir_fd);

    if (r == 0 || (dir_fd >= 0 && store_is_locked(dir_fd)))
        return r;
    job->exit = (struct wire_exit){.type = WIRE_EXIT, /* even its directory has gone */
                                   .reason = REIN_REASON_LOST,
                                   .duration_ns = time_mono_ns() - job->started_ns,
                                   .log = job->log};
    job->ended = 1;
    return 0;
}
