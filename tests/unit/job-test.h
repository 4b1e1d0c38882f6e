/*
 * What the tests of jobs share: a context with a store of its own; a start that has to succeed; the
 * parts that the test program itself plays as a job's command; and a pipe whose end tells when the
 * last process of a tree is gone, without a pid that may have been reused.
 */
#ifndef REIN_TESTS_JOB_TEST_H
#define REIN_TESTS_JOB_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "job/context.h"
#include "rein.h"
#include "temp-dir.h"

#define PATIENCE_MS 20000 /* longer than anything here takes on a slow and busy machine */
#define WATCHED_FDS 1024
#define TRACKED_JOBS 16

static rein *context;
static int without_leaves;   /* its jobs get no cgroup of their own, as on most machines */
static char self_path[4096]; /* of the test program */
static char start_dir[4096]; /* where it was started */
static rein_job *tracked[TRACKED_JOBS];
static unsigned char fds_before[WATCHED_FDS];

/* ---- before and after each test ----------------------------------------------------------- */

static inline void look_at_fds(unsigned char ret[static WATCHED_FDS])
{
    for (int fd = 0; fd < WATCHED_FDS; fd++)
        ret[fd] = fcntl(fd, F_GETFD) >= 0;
}

static inline int same_fds(void)
{
    unsigned char now[WATCHED_FDS];

    look_at_fds(now);
    for (int fd = 0; fd < WATCHED_FDS; fd++) {
        if (now[fd] != fds_before[fd]) {
            print_error("descriptor %d was left %s\n", fd, now[fd] ? "open" : "closed");
            return 0;
        }
    }
    return 1;
}

static inline int no_child_left(void)
{
    pid_t pid = waitpid(-1, NULL, WNOHANG);

    if (pid == -1 && errno == ECHILD)
        return 1;
    print_error("a child was left: %d\n", (int)pid);
    return 0;
}

static inline rein *open_context(void)
{
    struct rein_options options = {.size = sizeof(options), .state_dir = in_temp_dir("state")};
    rein *r = rein_open(&options, NULL);

    if (r)
        r->cgroup.unusable |= without_leaves;
    return r;
}

static inline int job_setup(void **state)
{
    ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);

    look_at_fds(fds_before);
    if (n < 0 || !getcwd(start_dir, sizeof(start_dir)) || temp_dir_setup(state) < 0)
        return -1;
    self_path[n] = '\0';
    context = open_context();
    return context ? 0 : -1;
}

static inline int job_setup_without_leaves(void **state)
{
    without_leaves = 1;
    return job_setup(state);
}

static inline int job_teardown(void **state)
{
    int good;

    without_leaves = 0;
    for (size_t i = 0; i < TRACKED_JOBS; i++)
        tracked[i] = rein_job_free(tracked[i]);
    context = rein_free(context);
    good = same_fds();
    good &= no_child_left();
    good &= chdir(start_dir) == 0;
    return temp_dir_teardown(state) == 0 && good ? 0 : -1;
}

#define job_test(function) cmocka_unit_test_setup_teardown(function, job_setup, job_teardown)

/* The same test where the kernel cannot end a tree as a whole. */
#define job_test_without_leaves(function)                                                          \
    {                                                                                              \
#function "_without_leaves", function, job_setup_without_leaves, job_teardown, NULL        \
    }

/* ---- jobs --------------------------------------------------------------------------------- */

/* A spec for a command; further fields may follow the macro's own after it. */
#define COMMAND(...)                                                                               \
    {                                                                                              \
        .size = sizeof(struct rein_spec), .argv = (const char *const[])                            \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }

#define SCRIPT(text) COMMAND("/bin/sh", "-c", text)

/* Remembers a job, so that a test that fails leaves nothing. */
static inline rein_job *track(rein_job *job)
{
    for (size_t i = 0; i < TRACKED_JOBS; i++) {
        if (!tracked[i]) {
            tracked[i] = job;
            return job;
        }
    }
    abort();
}

static inline rein_job *start(const struct rein_spec *spec)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    if (rein_start(context, spec, &job, &error) < 0) {
        print_error("%s: %s: %s\n", error->code, error->step, error->message);
        error = rein_error_free(error);
        fail();
    }
    return track(job);
}

static inline void end_job(rein_job *job)
{
    for (size_t i = 0; i < TRACKED_JOBS; i++)
        if (tracked[i] == job)
            tracked[i] = NULL;
    assert_null(rein_job_free(job));
}

/* The result at the end; the caller cleans it. */
#define auto_result auto_(rein_result_done) struct rein_result

static inline struct rein_result finish(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};

    assert_int_equal(rein_wait(job, PATIENCE_MS, &result), 0);
    assert_false(result.running);
    return result;
}

static inline struct rein_result run(const struct rein_spec *spec)
{
    return finish(start(spec));
}

static inline void check_end(const struct rein_result *result, int reason, int exit_code)
{
    assert_string_equal(rein_reason_name(result->reason), rein_reason_name(reason));
    assert_true(result->has_exit_code);
    assert_int_equal(result->exit_code, exit_code);
    assert_int_equal(result->signal, exit_code < 0 ? -exit_code : 0);
    assert_int_equal(result->success, reason == REIN_REASON_EXIT && exit_code == 0);
}

/* Reads to the end of the output; the caller frees it. NUL-terminated. */
static inline char *read_all(rein_job *job, size_t *ret_size)
{
    struct buf text = {0};
    char bytes[65536];
    ssize_t n;

    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL)) > 0)
        buf_add(&text, bytes, (size_t)n);
    assert_int_equal(n, 0);
    if (ret_size)
        *ret_size = text.len;
    return buf_take(&text);
}

/* Reads until the output ends with text; fails when it ends before. */
static inline void read_until(rein_job *job, const char *text)
{
    auto_buf struct buf got = {0};
    char byte;

    while (got.len < strlen(text) || strcmp(got.data + got.len - strlen(text), text) != 0) {
        assert_int_equal(rein_read(job, &byte, 1, PATIENCE_MS, NULL), 1);
        buf_add_char(&got, byte);
    }
}

static inline void check_output(rein_job *job, const char *expected)
{
    auto_free char *text = read_all(job, NULL);

    assert_string_equal(text, expected);
}

/* A start that has to fail in a certain way; gives the error to look at. */
static inline struct rein_error *
start_fails(const struct rein_spec *spec, int err, const char *code)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    assert_int_equal(rein_start(context, spec, &job, &error), err);
    assert_null(job);
    assert_non_null(error);
    assert_string_equal(error->code, code);
    assert_int_equal(error->errnum, -err);
    assert_non_null(error->step);
    assert_true(error->message[0] != '\0');
    assert_true(error->message[strlen(error->message) - 1] != '.');
    return error;
}

/* Calls a function in a child, which is an ordinary user if we are root, and gives what it returns.
 * The child may use the context; it must not fail an assertion. The user is one that nobody else
 * is: limits on processes count all of a user's. */
static inline int as_nobody(int (*function)(void))
{
    unsigned id = 1000000 + (unsigned)getpid();
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        if (getuid() == 0 && (setgroups(0, NULL) < 0 || setgid(id) < 0 || setuid(id) < 0))
            _exit(126);
        context->owner_pid = getpid();
        status = function();
        context = rein_free(context);
        _exit(status);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- life of a tree ----------------------------------------------------------------------- */

/* A pipe that every process of a tree holds open, because none of them closes what it inherits. */
struct life {
    int fd;       /* read end: at its end when all have gone */
    int given_fd; /* write end, for the job */
};

static inline struct life life_new(void)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    return (struct life){.fd = fds[0], .given_fd = fds[1]};
}

static inline void life_done(struct life *life)
{
    life->fd = close_fd(life->fd);
    life->given_fd = close_fd(life->given_fd);
}
#define auto_life auto_(life_done) struct life

/* Starts a job that holds the pipe; afterwards nobody else does. */
static inline rein_job *start_with_life(struct rein_spec spec, struct life *life)
{
    rein_job *job;

    spec.pass_fds = &life->given_fd;
    spec.n_pass_fds = 1;
    job = start(&spec);
    life->given_fd = close_fd(life->given_fd);
    return job;
}

/* Is there nobody left? Waits for it at most timeout_ms. */
static inline int life_is_over(const struct life *life, int timeout_ms)
{
    struct pollfd pfd = {.fd = life->fd, .events = POLLIN};

    return poll(&pfd, 1, timeout_ms) == 1 && pfd.revents == POLLHUP;
}

/* ---- the parts that the test program plays ------------------------------------------------ */

struct role {
    const char *name;
    int (*play)(int argc, char **argv);
};

static inline int play_role(const struct role *roles, size_t n, int argc, char **argv)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(roles[i].name, argv[1]) == 0)
            return roles[i].play(argc - 1, argv + 1);
    return 2;
}

/* A command that plays a role. */
#define ROLE(...) COMMAND(self_path, __VA_ARGS__)

static inline void say(const char *text)
{
    (void)io_write_all(STDOUT_FILENO, text, strlen(text));
}

/* Until a signal ends us, or a minute is over: what a broken test forgot does not stay for ever. */
static inline void wait_for_the_end(void)
{
    (void)alarm(60);
    for (;;)
        (void)pause();
}

#endif
