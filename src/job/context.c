/* Opens and frees contexts. Nothing is made on disk and no process is started before it is needed.
 */
#include "context.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd-util.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "image.h"

const char *rein_version(void)
{
    return REIN_VERSION_STRING;
}

static char *join(const char *directory, const char *rest)
{
    char *path = NULL;

    return asprintf(&path, "%s%s", directory, rest) < 0 ? NULL : path;
}

static char *home_state_dir(void)
{
    const char *home = getenv("HOME");
    struct passwd *user;

    if (home && home[0] == '/')
        return join(home, "/.local/state/rein");
    user = getpwuid(getuid());
    return user ? join(user->pw_dir, "/.local/state/rein") : join("/tmp", "/rein-state");
}

static char *default_state_dir(void)
{
    const char *state = getenv("REIN_STATE");
    const char *xdg = getenv("XDG_STATE_HOME");

    if (state && state[0])
        return strdup(state);
    if (xdg && xdg[0] == '/')
        return join(xdg, "/rein");
    return home_state_dir();
}

/* Makes a path absolute; the supervisor does not work in our directory. */
static char *absolute(char *take_path)
{
    auto_free char *path = take_path;
    auto_free char *cwd = NULL;
    char *joined = NULL;

    if (!path || path[0] == '/')
        return TAKE_PTR(path);
    cwd = getcwd(NULL, 0);
    if (!cwd || asprintf(&joined, "%s/%s", cwd, path) < 0)
        return NULL;
    return joined;
}

rein *rein_open(const struct rein_options *options, struct rein_error **reterr)
{
    rein *r;

    if (options && options->size < sizeof(*options)) {
        (void)rein_fail(reterr, -EINVAL, "bad_request", "options",
                        "options->size is not set to its size");
        return NULL;
    }
    r = calloc(1, sizeof(*r));
    if (r) {
        r->owner_pid = getpid();
        r->image_fd = r->null_fd = r->owner_pidfd = -EBADF;
        r->test_fallbacks = image_test_fallbacks();
        r->cgroup = (struct cgroup)CGROUP_UNSET;
        r->state_dir = absolute(options && options->state_dir ? strdup(options->state_dir)
                                                              : default_state_dir());
    }
    if (!r || !r->state_dir) {
        (void)rein_oom(reterr);
        return rein_free(r);
    }
    return r;
}

static void reap_now(int take_pidfd)
{
    siginfo_t info;

    while (waitid(P_PIDFD, (id_t)take_pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue; /* ECHILD: the host has reaped it, which is fine */
    (void)close_fd(take_pidfd);
}

/* Reaps those that have ended. */
static void reap_loose(rein *r)
{
    size_t kept = 0;

    if (r->n_loose == 0 || poll(r->loose, r->n_loose, 0) <= 0)
        return;
    for (size_t i = 0; i < r->n_loose; i++) {
        if (r->loose[i].revents)
            reap_now(r->loose[i].fd);
        else
            r->loose[kept++] = r->loose[i];
    }
    r->n_loose = kept;
}

void context_let_go(rein *r, int take_pidfd)
{
    reap_loose(r);
    if (r->n_loose == r->loose_allocated) {
        size_t want = MAX(r->loose_allocated * 2, (size_t)16);
        struct pollfd *grown = reallocarray(r->loose, want, sizeof(*grown));

        if (!grown) { /* it will be our zombie until we end */
            (void)close_fd(take_pidfd);
            return;
        }
        r->loose = grown;
        r->loose_allocated = want;
    }
    r->loose[r->n_loose++] = (struct pollfd){.fd = take_pidfd, .events = POLLIN};
}

rein *rein_free(rein *r)
{
    if (!r)
        return NULL;
    if (r->owner_pid == getpid())
        reap_loose(r);
    for (size_t i = 0; i < r->n_loose; i++)
        (void)close_fd(r->loose[i].fd);
    free(r->loose);
    if (r->owner_pid == getpid())
        for (size_t i = 0; i < r->n_to_reap; i++)
            reap_now(r->to_reap[i]);
    cgroup_done(&r->cgroup, /* own= */ r->owner_pid == getpid());
    (void)close_fd(r->image_fd);
    (void)close_fd(r->null_fd);
    (void)close_fd(r->owner_pidfd);
    free(r->state_dir);
    free(r);
    return NULL;
}

void context_reap(rein *r, int take_pidfd)
{
    size_t kept = 0;

    if (r->n_to_reap == CONTEXT_REAP_MAX)
        reap_now(r->to_reap[--r->n_to_reap]);
    r->to_reap[r->n_to_reap++] = take_pidfd;
    for (size_t i = 0; i < r->n_to_reap; i++) {
        if (io_poll(r->to_reap[i], POLLIN, 0) == 1)
            reap_now(r->to_reap[i]);
        else
            r->to_reap[kept++] = r->to_reap[i];
    }
    r->n_to_reap = kept;
}

const char *context_state_dir(const rein *r)
{
    return r->state_dir;
}

int context_make_directories(const char *path)
{
    auto_free char *copy = strdup(path);

    if (!copy)
        return -ENOMEM;
    for (char *p = copy + 1;; p++) {
        char end = *p;

        if (end != '/' && end != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return -errno;
        if (end == '\0')
            return 0;
        *p = end;
    }
}

int context_make_state_dir(rein *r, const char *subdir, int *ret_fd, struct rein_error **reterr)
{
    auto_free char *path = NULL;
    int err;

    if (asprintf(&path, "%s/%s", r->state_dir, subdir) < 0)
        return rein_oom(reterr);
    err = context_make_directories(path);
    if (err < 0)
        return rein_fail(reterr, err, "internal", "state", "cannot make the directory '%s'", path);
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0)
        return rein_fail(reterr, -errno, "internal", "state", "cannot open '%s'", path);
    return 0;
}

/* Whoever can write to a store can make others believe anything about jobs. */
static int check_private(const rein *r, int dir_fd, struct rein_error **reterr)
{
    struct stat st;

    if (fstat(dir_fd, &st) < 0)
        return rein_fail(reterr, -errno, "internal", "state", "cannot look at the store '%s': %s",
                         r->state_dir, strerror(errno));
    if (st.st_uid != geteuid())
        return rein_fail_hint(reterr, -EPERM, "internal", "state",
                              "REIN_STATE names a store of your own",
                              "the store '%s' belongs to another user", r->state_dir);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return rein_fail_hint(reterr, -EPERM, "internal", "state", "chmod go-w makes it private",
                              "the store '%s' can be written by others", r->state_dir);
    return 0;
}

int context_check_private(const rein *r, struct rein_error **reterr)
{
    auto_close int state_fd = open(r->state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (state_fd >= 0)
        return check_private(r, state_fd, reterr);
    if (errno == ENOENT)
        return 0;
    return rein_fail(reterr, -errno, "internal", "state", "cannot open the store '%s': %s",
                     r->state_dir, strerror(errno));
}

int context_open_jobs(const rein *r, int *ret_fd, struct rein_error **reterr)
{
    auto_close int state_fd = open(r->state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    auto_close int jobs_fd = -EBADF;
    int err;

    if (state_fd < 0)
        return rein_fail(reterr, -errno, "internal", "state", "cannot open the store '%s': %s",
                         r->state_dir, strerror(errno));
    err = check_private(r, state_fd, reterr);
    if (err < 0)
        return err;
    jobs_fd = openat(state_fd, "jobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (jobs_fd < 0)
        return rein_fail(reterr, -errno, "internal", "state", "cannot open the store '%s/jobs': %s",
                         r->state_dir, strerror(errno));
    err = check_private(r, jobs_fd, reterr);
    if (err < 0)
        return err;
    *ret_fd = fd_above_stdio(TAKE_FD(jobs_fd));
    return 0;
}

/* Where there is no /dev/null, the end of an empty pipe reads as nothing, too. */
static int open_null(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int pair[2];

    if (fd >= 0)
        return fd;
    if (pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    (void)close_fd(pair[1]);
    return pair[0];
}

/* A job's tree is found through /proc. One that is missing, or another PID namespace's, shows
 * nothing or strangers: then there is no keeping of promises, and it is better to say so. */
static int check_proc(struct rein_error **reterr)
{
    char link[24];
    ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

    link[n > 0 ? n : 0] = '\0';
    if (n > 0 && strtol(link, NULL, 10) == (long)getpid())
        return 0;
    return rein_fail_hint(reterr, -ENOENT, "spawn_failed", "proc", "mount -t proc proc /proc",
                          "/proc is missing or belongs to another PID namespace");
}

int context_prepare(rein *r, struct rein_error **reterr)
{
    int fd;

    if (r->owner_pid != getpid())
        return rein_fail(reterr, -EPERM, "bad_request", "context",
                         "the context was made by another process; open one after fork()");
    if (r->image_fd < 0) {
        int err = check_proc(reterr);

        if (err < 0)
            return err;
    }
    if (r->image_fd < 0) {
        fd = fd_above_stdio(image_open(r->state_dir, r->test_fallbacks));
        if (fd < 0)
            return rein_fail(reterr, fd, "spawn_failed", "image",
                             "cannot make the supervisor's image: %s", strerror(-fd));
        r->image_fd = fd;
    }
    if (r->null_fd < 0) {
        fd = fd_above_stdio(open_null());
        if (fd < 0)
            return rein_fail(reterr, fd, "spawn_failed", "null", "cannot open /dev/null: %s",
                             strerror(-fd));
        r->null_fd = fd;
    }
    if (r->owner_pidfd < 0) {
        fd = fd_above_stdio(sys_pidfd_open(getpid()));
        if (fd < 0)
            return rein_fail(reterr, fd, "spawn_failed", "pidfd", "cannot open a pidfd: %s",
                             strerror(-fd));
        r->owner_pidfd = fd;
    }
    return 0;
}
