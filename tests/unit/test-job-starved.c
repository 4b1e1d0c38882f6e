/*
 * Too few descriptors, too few processes: a start fails with an error that says so, or all goes
 * well. Nothing in between, and nothing is left behind.
 */
#include "job-test.h"

#include <sys/resource.h>

#include "job/job.h"
#include "lines.h"

#define FDS_ENOUGH 64 /* a job needs fewer than that */

static int play_lines(int argc, char **argv)
{
    write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
    return 0;
}

static int set_limit(int resource, rlim_t n)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return -1;
    limit.rlim_cur = n;
    return setrlimit(resource, &limit);
}

/* What a job that could be started has to be like, whatever else was scarce. */
static int check_job(rein_job *job, uint64_t n_lines)
{
    struct rein_result result = {.size = sizeof(result)};
    static char bytes[65536];
    struct rein_piece piece;
    uint64_t at = 0;
    ssize_t n;
    int good;

    if (rein_wait(job, PATIENCE_MS, &result) < 0)
        return 0;
    while ((n = rein_read(job, bytes, sizeof(bytes), 0, &piece)) > 0) {
        at += piece.skipped_bytes;
        if (!are_lines(bytes, (size_t)n, 'O', at))
            return 0;
        at += (uint64_t)n;
    }
    good = n == 0 && result.reason == REIN_REASON_EXIT && result.exit_code == 0 &&
           at == n_lines * LINE_SIZE && (result.gap_end == 0 || result.warnings[0]);
    if (!good)
        print_error("%s %d, %llu bytes, read gave %zd\n", rein_reason_name(result.reason),
                    result.exit_code, (unsigned long long)at, n);
    rein_result_done(&result);
    return good;
}

/* Starts with every limit on descriptors from nothing to plenty. */
static void check_scarce_descriptors(const char *lines, uint32_t flags, int stdin_kind)
{
    struct rlimit before;
    int started = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t limit = 0; limit < FDS_ENOUGH; limit++) {
        struct rein_spec spec = ROLE("lines", lines);
        struct rein_error *error = NULL;
        rein_job *job = NULL;
        int err;
        int good = 0;

        spec.flags = flags;
        spec.stdin_kind = stdin_kind;
        assert_int_equal(set_limit(RLIMIT_NOFILE, limit), 0);
        err = rein_start(context, &spec, &job, &error);
        if (err == 0)
            good = check_job(job, strtoull(lines, NULL, 10));
        (void)rein_job_free(job);
        context = rein_free(context); /* what it holds is not to count for the next */
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        context = open_context();
        if (err < 0) {
            if (error->errnum != EMFILE)
                print_error("%d: %s: %s: %s\n", (int)limit, error->code, error->step,
                            error->message);
            assert_int_equal(error->errnum, EMFILE);
            assert_string_equal(error->code, "spawn_failed");
            error = rein_error_free(error);
            assert_false(started);
        } else {
            if (!good)
                print_error("with %d descriptors\n", (int)limit);
            assert_true(good);
            started = 1;
        }
        assert_true(same_fds());
        assert_true(no_child_left());
    }
    assert_true(started);
}

static void test_few_descriptors(void **state)
{
    check_scarce_descriptors("10", 0, REIN_STDIN_NULL);
    check_scarce_descriptors("10", REIN_SPEC_SPLIT, REIN_STDIN_PIPE);
}

/* Such a job's log moves to the disk, and its new descriptors need room, too. */
static void test_few_descriptors_for_much_output(void **state)
{
    check_scarce_descriptors("80000", 0, REIN_STDIN_NULL);
    check_scarce_descriptors("80000", REIN_SPEC_SPLIT, REIN_STDIN_NULL);
}

/* The host has used up its own in the middle of a job. */
static void test_no_descriptor_when_the_log_moves(void **state)
{
    for (unsigned split = 0; split < 2; split++) {
        struct rein_spec spec = SCRIPT("read x; exec \"$0\" lines 80000");
        const char *argv[] = {"/bin/sh", "-c", spec.argv[2], self_path, NULL};
        struct rlimit before;
        int fillers[FDS_ENOUGH];
        int n = 0;
        int good;

        spec.argv = argv;
        spec.flags = split ? REIN_SPEC_SPLIT : 0;
        spec.stdin_kind = REIN_STDIN_PIPE;
        rein_job *job = start(&spec);
        assert_int_equal(rein_send(job, "\n", 1), 1);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(set_limit(RLIMIT_NOFILE, FDS_ENOUGH), 0);
        while ((fillers[n] = fcntl(job->log_fd, F_DUPFD_CLOEXEC, 0)) >= 0)
            n++;
        good = check_job(job, 80000);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        while (n > 0)
            (void)close(fillers[--n]);
        assert_true(good);
        end_job(job);
    }
}

/* An ordinary user with room for fewer processes than a job needs. */
static int run_with_few_processes(void)
{
    int started = 0;

    for (rlim_t limit = 1; limit < 10; limit++) {
        struct rein_spec spec = COMMAND("/bin/true");
        struct rein_result result = {.size = sizeof(result)};
        struct rein_error *error = NULL;
        rein_job *job = NULL;
        int err;

        if (set_limit(RLIMIT_NPROC, limit) < 0)
            return 1;
        err = rein_start(context, &spec, &job, &error);
        if (err == 0 && rein_wait(job, PATIENCE_MS, &result) < 0)
            return 2;
        if (err == 0 && (result.reason != REIN_REASON_EXIT || result.exit_code != 0))
            return 3;
        if (err < 0 && (err != -EAGAIN || strcmp(error->code, "spawn_failed") != 0))
            return 4;
        started |= err == 0;
        rein_result_done(&result);
        error = rein_error_free(error);
        (void)rein_job_free(job);
        (void)rein_free(context); /* waits for the supervisor, which counts until it has gone */
        context = open_context();
        if (waitpid(-1, NULL, WNOHANG) != -1)
            return 5;
    }
    return started ? 0 : 6;
}

static void test_few_processes(void **state)
{
    if (getuid() != 0)
        skip(); /* others of this user count, too */
    assert_int_equal(as_nobody(run_with_few_processes), 0);
}

static const struct role roles[] = {{"lines", play_lines}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_few_descriptors),
        job_test(test_few_descriptors_for_much_output),
        job_test(test_no_descriptor_when_the_log_moves),
        job_test(test_few_processes),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
