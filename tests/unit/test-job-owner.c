/*
 * Who dies when: a job ends with its owner, by SIGKILL too; a supervisor that is killed takes its
 * tree along and is told as lost; a guard that is killed changes nothing.
 */
#include "job-processes.h"
#include "job-test.h"

#include <pthread.h>
#include <sys/stat.h>

#include "base/syscall-linux.h"
#include "job/job.h"
#include "lines.h"

static int play_lines(int argc, char **argv)
{
    write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
    say("done\n");
    wait_for_the_end();
    return 0;
}

/* family: a deaf child in its own session, a daemon, and the main process. */
static int play_family(int argc, char **argv)
{
    int fds[2];
    char byte;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            (void)setsid();
            (void)signal(SIGTERM, SIG_IGN);
            (void)signal(SIGHUP, SIG_IGN);
            if (i == 1 && fork() != 0)
                _exit(0);
            (void)close(fds[1]);
            wait_for_the_end();
        }
    }
    (void)close(fds[1]);
    (void)io_read(fds[0], &byte, 1);
    say("ready\n");
    wait_for_the_end();
    return 0;
}

/* ---- the owner ---------------------------------------------------------------------------- */

#define ID_SIZE 8

static int stop_first; /* the host has asked for the end already, with a long grace */

/* A host: starts a job that holds the life pipe, says so, and waits to be killed. */
static void be_host(struct rein_spec spec, struct life *life, int ready_fd)
{
    rein *r = open_context();
    rein_job *job = NULL;
    char bytes[64];

    spec.pass_fds = &life->given_fd;
    spec.n_pass_fds = 1;
    if (!r || rein_start(r, &spec, &job, NULL) < 0)
        _exit(1);
    life_done(life);
    if (rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL) <= 0)
        _exit(1);
    if (stop_first && rein_stop(job, 2 * PATIENCE_MS) < 0)
        _exit(1);
    (void)io_write_all(ready_fd, rein_job_id(job), ID_SIZE);
    wait_for_the_end();
}

struct host {
    pid_t pid;
    int ready_fd;
    char id[ID_SIZE + 1]; /* of its job */
};

static struct host start_host(struct rein_spec spec, struct life *life)
{
    int fds[2];
    struct host host = {.id = ""};

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    host.pid = fork();
    if (host.pid == 0) {
        (void)close(fds[0]);
        be_host(spec, life, fds[1]);
    }
    (void)close(fds[1]);
    host.ready_fd = fds[0];
    life->given_fd = close_fd(life->given_fd);
    assert_int_equal(io_read_full(host.ready_fd, host.id, ID_SIZE), ID_SIZE);
    return host;
}

static void end_host(struct host *host, int signo)
{
    assert_int_equal(kill(host->pid, signo), 0);
    assert_int_equal(waitpid(host->pid, NULL, 0), host->pid);
    host->ready_fd = close_fd(host->ready_fd);
}

/* The supervisor goes on to the end of its work; the record is the last of it. */
static void wait_for_record(const char *id)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "state/jobs/%s/exit.json", id);
    for (int i = 0; i < PATIENCE_MS && access(in_temp_dir(path), F_OK) < 0; i++)
        (void)poll(NULL, 0, 1);
    assert_int_equal(access(in_temp_dir(path), F_OK), 0);
}

static void test_tree_ends_with_its_owner(void **state)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGQUIT};

    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        auto_life life = life_new();
        struct host host = start_host((struct rein_spec)ROLE("family"), &life);

        assert_false(life_is_over(&life, 0));
        end_host(&host, signals[i]);
        assert_true(life_is_over(&life, PATIENCE_MS));
        wait_for_record(host.id);
    }
}

/* A child of the owner that has inherited its descriptors keeps the socket open; its death counts
 * all the same. */
static void test_owner_is_the_process_not_its_descriptors(void **state)
{
    auto_life life = life_new();
    auto_life heir = life_new();
    auto_close int guard_fd = -EBADF;
    struct rein_spec spec = ROLE("family");
    pid_t guard;
    int fds[2];
    char byte;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        rein *r = open_context();
        rein_job *job = NULL;

        spec.pass_fds = &life.given_fd;
        spec.n_pass_fds = 1;
        if (!r || rein_start(r, &spec, &job, NULL) < 0)
            _exit(1);
        if (rein_read(job, &byte, 1, PATIENCE_MS, NULL) != 1)
            _exit(1);
        life_done(&life);
        if (fork() == 0) { /* until the test closes its end */
            heir.given_fd = close_fd(heir.given_fd);
            guard = parent_of(parent_of(rein_job_pid(job)));
            (void)io_write_all(fds[1], &guard, sizeof(guard));
            (void)io_read(heir.fd, &byte, 1);
            _exit(0);
        }
        wait_for_the_end();
    }
    life.given_fd = close_fd(life.given_fd);
    assert_int_equal(io_read_full(fds[0], &guard, sizeof(guard)), sizeof(guard));
    guard_fd = sys_pidfd_open(guard);
    assert_true(guard_fd >= 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(life_is_over(&life, PATIENCE_MS));
    heir.given_fd = close_fd(heir.given_fd);
    assert_int_equal(io_poll(guard_fd, POLLIN, PATIENCE_MS), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void test_grace_when_the_owner_is_gone(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = SCRIPT("trap 'exit 0' TERM; echo up; while :; do :; done");

    spec.grace_ns = 60 * NSEC_PER_SEC; /* more than the test's patience */
    struct host host = start_host(spec, &life);
    end_host(&host, SIGKILL);
    assert_true(life_is_over(&life, PATIENCE_MS));
    wait_for_record(host.id);
}

static char *read_file(const char *id, const char *name)
{
    static char text[4096];
    char path[128];
    auto_close int fd = -EBADF;

    (void)snprintf(path, sizeof(path), "state/jobs/%s/%s", id, name);
    fd = open(in_temp_dir(path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        print_error("%s is not there\n", path);
    assert_true(fd >= 0);
    memset(text, 0, sizeof(text));
    assert_true(io_read_full(fd, text, sizeof(text) - 1) > 0);
    return text;
}

/* What was written, and why it ended, can be read by others afterwards. */
static void test_output_of_an_orphan_is_in_the_store(void **state)
{
    for (stop_first = 0; stop_first < 2; stop_first++) {
        auto_life life = life_new();
        struct rein_spec spec =
            SCRIPT("trap 'echo termed; exit 3' TERM; echo up; while :; do :; done");
        struct rein_spec deaf = SCRIPT("trap '' TERM; echo up; while :; do :; done");
        struct host host;

        spec.grace_ns = 2 * PATIENCE_MS * NSEC_PER_MSEC;
        deaf.grace_ns = REIN_GRACE_NONE;
        host = start_host(stop_first ? deaf : spec, &life);
        end_host(&host, SIGKILL);
        assert_true(life_is_over(&life, PATIENCE_MS));
        wait_for_record(host.id);
        assert_string_equal(read_file(host.id, "output.log"), stop_first ? "up\n" : "up\ntermed\n");
        assert_non_null(
            strstr(read_file(host.id, "exit.json"), stop_first ? "\"stopped\"" : "\"owner_gone\""));
        assert_non_null(strstr(read_file(host.id, "exit.json"),
                               stop_first ? "\"exit_code\": -9" : "\"exit_code\": 3"));
    }
    stop_first = 0;
}

/* A job that was started by a thread goes on when that thread has ended. */
static void *start_in_thread(void *spec)
{
    return start(spec);
}

static void test_thread_that_started_the_job_may_end(void **state)
{
    struct rein_spec spec = SCRIPT("read x; exit 5");
    pthread_t thread;
    void *job;

    spec.stdin_kind = REIN_STDIN_PIPE;
    assert_int_equal(pthread_create(&thread, NULL, start_in_thread, &spec), 0);
    assert_int_equal(pthread_join(thread, &job), 0);
    assert_int_equal(rein_send(job, "\n", 1), 1);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 5);
}

/* ---- the supervisor ----------------------------------------------------------------------- */

static void test_killed_supervisor_loses_the_job_and_ends_the_tree(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)ROLE("family"), &life);
    auto_close int pidfd = -EBADF;

    read_until(job, "ready\n");
    pidfd = open_supervisor(job);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    assert_true(life_is_over(&life, 0));
    assert_string_equal(rein_reason_name(result.reason), "lost");
    assert_false(result.success);
    assert_false(result.has_exit_code);
    assert_int_equal(result.signal, 0);
    assert_true(result.duration_ns > 0);
    assert_int_equal(result.n_left_running, 0);
}

static void test_output_of_a_lost_job_is_there(void **state)
{
    static const char *const sizes[] = {"1000", "120000"}; /* in memory, on the disk */

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct rein_spec spec = ROLE("lines", sizes[i]);
        struct rein_result running = {.size = sizeof(running)};
        uint64_t n = strtoull(sizes[i], NULL, 10) * LINE_SIZE + strlen("done\n");
        rein_job *job = start(&spec);
        auto_close int pidfd = open_supervisor(job);
        size_t size;

        do {
            rein_result_done(&running);
            running.size = sizeof(running);
            assert_int_equal(rein_wait(job, 1, &running), -EAGAIN);
        } while (running.output_bytes < n);
        rein_result_done(&running);
        assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
        auto_free char *text = read_all(job, &size);
        assert_int_equal(size, n);
        assert_true(are_lines(text, size - strlen("done\n"), 'O', 0));
        auto_result result = finish(job);
        assert_int_equal(result.reason, REIN_REASON_LOST);
        assert_int_equal(result.output_bytes, n);
        end_job(job);
    }
}

/* What a lost job has in the store says so. */
static void test_record_of_a_lost_job(void **state)
{
    struct rein_spec spec = ROLE("lines", "120000");
    char path[128];
    char text[1024] = "";
    rein_job *job = start(&spec);
    auto_close int pidfd = open_supervisor(job);
    auto_close int fd = -EBADF;

    for (uint64_t at = 0; at < 120000 * LINE_SIZE;) {
        char bytes[65536];
        ssize_t n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL);

        assert_true(n > 0);
        at += (uint64_t)n;
    }
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    (void)snprintf(path, sizeof(path), "state/jobs/%s/exit.json", rein_job_id(job));
    fd = open(in_temp_dir(path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(io_read_full(fd, text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, "\"reason\": \"lost\""));
    assert_non_null(strstr(text, "\"exit_code\": null"));
}

static void test_crash_of_the_supervisor_counts_as_well(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)ROLE("family"), &life);
    auto_close int pidfd = -EBADF;

    read_until(job, "ready\n");
    pidfd = open_supervisor(job);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGSEGV), 0); /* blocked, but not when it is real */
    assert_int_equal(sys_pidfd_signal(pidfd, SIGABRT), 0);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_true(life_is_over(&life, 0));
}

/* Killed while the tree is being ended: the rest is the guard's. */
static void test_supervisor_killed_during_the_grace(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)ROLE("family"), &life);
    auto_close int pidfd = -EBADF;

    read_until(job, "ready\n");
    pidfd = open_supervisor(job);
    assert_int_equal(rein_stop(job, 60000), 0);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_true(life_is_over(&life, 0));
}

static void test_killed_guard_changes_nothing(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = SCRIPT("echo up; (setsid sleep 60 &) ; read x; echo $x; exit 3");
    auto_close int pidfd = -EBADF;

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start_with_life(spec, &life);
    read_until(job, "up\n");
    pidfd = open_guard(job);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    assert_int_equal(io_poll(pidfd, POLLIN, PATIENCE_MS), 1);
    assert_int_equal(rein_send(job, "still here\n", 11), 11);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 3);
    check_output(job, "still here\n");
    assert_true(life_is_over(&life, 0));
}

static void test_both_killed_is_lost(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = COMMAND("sleep", "60");
    rein_job *job = start_with_life(spec, &life);
    auto_close int guard_fd = open_guard(job);
    auto_close int supervisor_fd = open_supervisor(job);

    assert_int_equal(sys_pidfd_signal(guard_fd, SIGKILL), 0);
    assert_int_equal(sys_pidfd_signal(supervisor_fd, SIGKILL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_true(life_is_over(&life, PATIENCE_MS)); /* the death signal of the main process */
}

/* SIGTERM to the supervisor, from whomever, is an orderly stop. */
static void test_term_to_the_supervisor_is_a_stop(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)ROLE("family"), &life);
    auto_close int pidfd = -EBADF;

    read_until(job, "ready\n");
    pidfd = open_supervisor(job);
    assert_int_equal(sys_pidfd_signal(pidfd, SIGTERM), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(life_is_over(&life, 0));
}

/* A job cannot reach its supervisor's memory and descriptors, root aside. */
static int look_at_supervisor(void)
{
    struct rein_spec spec = SCRIPT("for i in fd/3 mem; do cat <\"/proc/$PPID/$i\" && exit 1; done");
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    char text[256] = "";

    spec.stdin_kind = REIN_STDIN_PIPE;
    if (rein_start(context, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    if (rein_read(job, text, sizeof(text) - 1, 0, NULL) <= 0 || !strstr(text, "ermission denied"))
        return 2;
    return result.exit_code == 0 ? 3 : 0;
}

static void test_supervisor_is_closed_to_its_job(void **state)
{
    assert_int_equal(as_nobody(look_at_supervisor), 0);
}

static const struct role roles[] = {{"lines", play_lines}, {"family", play_family}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_tree_ends_with_its_owner),
        job_test(test_owner_is_the_process_not_its_descriptors),
        job_test(test_grace_when_the_owner_is_gone),
        job_test(test_output_of_an_orphan_is_in_the_store),
        job_test(test_thread_that_started_the_job_may_end),
        job_test(test_killed_supervisor_loses_the_job_and_ends_the_tree),
        job_test(test_output_of_a_lost_job_is_there),
        job_test(test_record_of_a_lost_job),
        job_test(test_crash_of_the_supervisor_counts_as_well),
        job_test(test_supervisor_killed_during_the_grace),
        job_test(test_killed_guard_changes_nothing),
        job_test(test_both_killed_is_lost),
        job_test(test_term_to_the_supervisor_is_a_stop),
        job_test(test_supervisor_is_closed_to_its_job),
        job_test_without_leaves(test_tree_ends_with_its_owner),
        job_test_without_leaves(test_owner_is_the_process_not_its_descriptors),
        job_test_without_leaves(test_grace_when_the_owner_is_gone),
        job_test_without_leaves(test_output_of_an_orphan_is_in_the_store),
        job_test_without_leaves(test_killed_supervisor_loses_the_job_and_ends_the_tree),
        job_test_without_leaves(test_output_of_a_lost_job_is_there),
        job_test_without_leaves(test_record_of_a_lost_job),
        job_test_without_leaves(test_crash_of_the_supervisor_counts_as_well),
        job_test_without_leaves(test_supervisor_killed_during_the_grace),
        job_test_without_leaves(test_killed_guard_changes_nothing),
        job_test_without_leaves(test_both_killed_is_lost),
        job_test_without_leaves(test_term_to_the_supervisor_is_a_stop),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
