/*
 * The calls of rein.h in every order and with every wrong argument: each answers, none crashes, and
 * what is freed is gone.
 */
#include "job-test.h"

#include "job/job.h"

static const char quick[] = "echo text; exit 2";

/* ---- wrong arguments ---------------------------------------------------------------------- */

static void test_version(void **state)
{
    char expected[32];

    (void)snprintf(expected, sizeof(expected), "%d.%d.%d", REIN_VERSION_MAJOR, REIN_VERSION_MINOR,
                   REIN_VERSION_PATCH);
    assert_string_equal(rein_version(), expected);
}

static void test_nothing_is_fine_to_free(void **state)
{
    struct rein_result result = {0};

    assert_null(rein_free(NULL));
    assert_null(rein_job_free(NULL));
    assert_null(rein_error_free(NULL));
    rein_result_done(&result);
    rein_result_done(NULL);
}

static void test_open_checks_its_options(void **state)
{
    struct rein_options options = {.size = 0, .state_dir = "/nonexistent"};
    struct rein_error *error = NULL;

    assert_null(rein_open(&options, &error));
    assert_string_equal(error->code, "bad_request");
    assert_int_equal(error->errnum, EINVAL);
    error = rein_error_free(error);
    assert_null(rein_open(&options, NULL));
}

static void test_start_needs_its_pointers(void **state)
{
    struct rein_spec spec = COMMAND("true");
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    assert_int_equal(rein_start(NULL, &spec, &job, &error), -EINVAL);
    assert_string_equal(error->code, "bad_request");
    error = rein_error_free(error);
    assert_int_equal(rein_start(context, NULL, &job, NULL), -EINVAL);
    assert_int_equal(rein_start(context, &spec, NULL, NULL), -EINVAL);
    assert_null(job);
}

static void test_calls_need_a_job(void **state)
{
    struct rein_result result = {.size = sizeof(result)};
    struct rein_piece piece;
    char byte;

    assert_int_equal(rein_read(NULL, &byte, 1, 0, &piece), -EINVAL);
    assert_int_equal(rein_read_at(NULL, 0, &byte, 1, &piece), -EINVAL);
    assert_int_equal(rein_wait(NULL, 0, &result), -EINVAL);
    assert_int_equal(rein_stop(NULL, 0), -EINVAL);
    assert_int_equal(rein_send(NULL, &byte, 1), -EINVAL);
    assert_int_equal(rein_send(NULL, NULL, 0), -EINVAL);
    assert_int_equal(rein_send_eof(NULL), -EINVAL);
    assert_int_equal(rein_job_keep_output(NULL, NULL), -EINVAL);
}

static void check_wrong_arguments(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result) - 1};
    char byte;

    assert_int_equal(rein_read(job, NULL, 1, 0, NULL), -EINVAL);
    assert_int_equal(rein_read(job, &byte, 0, 0, NULL), -EINVAL);
    assert_int_equal(rein_read_at(job, 0, NULL, 1, NULL), -EINVAL);
    assert_int_equal(rein_read_at(job, 0, &byte, 0, NULL), -EINVAL);
    assert_int_equal(rein_send(job, NULL, 1), -EINVAL);
    assert_int_equal(rein_wait(job, 0, NULL), -EINVAL);
    assert_int_equal(rein_wait(job, 0, &result), -EINVAL);
    result.size = 0;
    assert_int_equal(rein_wait(job, 0, &result), -EINVAL);
}

static void test_wrong_arguments(void **state)
{
    struct rein_spec spec = SCRIPT("read x");

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    check_wrong_arguments(job);
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_wrong_arguments(job);
}

/* ---- orders ------------------------------------------------------------------------------- */

static void do_read(rein_job *job)
{
    char bytes[64];
    ssize_t n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL);

    assert_true(n == 0 || n == 5);
}

static void do_read_at(rein_job *job)
{
    char bytes[64];
    ssize_t n = rein_read_at(job, 0, bytes, sizeof(bytes), NULL);

    assert_true(n == 0 || n == 5);
}

static void do_wait(rein_job *job)
{
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 2);
}

static void do_look(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};
    int r = rein_wait(job, 0, &result);

    assert_true(r == 0 || r == -EAGAIN);
    assert_int_equal(result.running, r != 0);
    rein_result_done(&result);
}

static void do_stop(rein_job *job)
{
    auto_result result = finish(job); /* or else it would not end by itself */

    assert_int_equal(rein_stop(job, 0), 0);
}

static void do_send(rein_job *job)
{
    ssize_t n = rein_send(job, "x", 1);

    assert_true(n == 1 || n == -EPIPE || n == -ESRCH);
}

static void do_send_eof(rein_job *job)
{
    int r = rein_send_eof(job);

    assert_true(r == 0 || r == -EPIPE || r == -ESRCH);
}

static void do_keep(rein_job *job)
{
    int r = rein_job_keep_output(job, NULL);

    assert_true(r == 0 || r == -EINVAL);
}

static void do_identify(rein_job *job)
{
    assert_int_equal(strlen(rein_job_id(job)), 8);
    assert_true(rein_job_pid(job) > 0);
    assert_true(rein_job_fd(job) > 2);
}

/* Every call after every other. */
static void test_any_order(void **state)
{
    static void (*const calls[])(rein_job *) = {do_read, do_read_at,  do_wait, do_look,    do_stop,
                                                do_send, do_send_eof, do_keep, do_identify};

    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        for (size_t k = 0; k < ARRAY_SIZE(calls); k++) {
            struct rein_spec spec = SCRIPT(quick);

            spec.stdin_kind = REIN_STDIN_PIPE;
            rein_job *job = start(&spec);
            calls[i](job);
            calls[k](job);
            calls[i](job);
            do_wait(job);
            end_job(job);
        }
    }
}

static void test_free_of_running_jobs(void **state)
{
    for (int i = 0; i < 20; i++) {
        struct rein_spec spec = COMMAND("sleep", "60");

        end_job(start(&spec));
    }
}

static void test_many_jobs_at_once(void **state)
{
    rein_job *jobs[TRACKED_JOBS];

    for (int i = 0; i < TRACKED_JOBS; i++) {
        char script[64];

        (void)snprintf(script, sizeof(script), "read x; echo %d; exit %d", i, i);
        struct rein_spec spec = SCRIPT(script);
        spec.stdin_kind = REIN_STDIN_PIPE;
        jobs[i] = start(&spec);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(rein_job_id(jobs[i]), rein_job_id(jobs[k]));
    }
    for (int i = TRACKED_JOBS - 1; i >= 0; i--)
        assert_int_equal(rein_send(jobs[i], "\n", 1), 1);
    for (int i = 0; i < TRACKED_JOBS; i++) {
        auto_result result = finish(jobs[i]);

        check_end(&result, REIN_REASON_EXIT, i);
        end_job(jobs[i]);
    }
}

/* Ended supervisors whose handles are still held are reaped in the end, however many there are. */
static void test_more_jobs_than_are_reaped_later(void **state)
{
    for (int i = 0; i < CONTEXT_REAP_MAX + 40; i++) {
        struct rein_spec spec = COMMAND("/bin/true");
        rein_job *job = start(&spec);

        if (i % 2) {
            auto_result result = finish(job);
            check_end(&result, REIN_REASON_EXIT, 0);
        }
        end_job(job);
    }
    assert_true(context->n_to_reap <= CONTEXT_REAP_MAX);
}

/* ---- time --------------------------------------------------------------------------------- */

static void test_timeouts(void **state)
{
    struct rein_spec spec = SCRIPT("read x; echo now; exit 2");
    struct rein_result result = {.size = sizeof(result)};
    char bytes[64];
    int64_t began_ns;

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), -EAGAIN);
    assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
    rein_result_done(&result);
    result.size = sizeof(result);
    began_ns = time_mono_ns();
    assert_int_equal(rein_read(job, bytes, sizeof(bytes), 30, NULL), -EAGAIN);
    assert_true(time_mono_ns() - began_ns >= 30 * NSEC_PER_MSEC);
    began_ns = time_mono_ns();
    assert_int_equal(rein_wait(job, 30, &result), -EAGAIN);
    assert_true(time_mono_ns() - began_ns >= 30 * NSEC_PER_MSEC);
    assert_true(time_mono_ns() - began_ns < 10 * NSEC_PER_SEC);
    rein_result_done(&result);
    result.size = sizeof(result);

    assert_int_equal(rein_send(job, "\n", 1), 1);
    assert_int_equal(rein_read(job, bytes, sizeof(bytes), -1, NULL), 4);
    assert_int_equal(rein_read(job, bytes, sizeof(bytes), -1, NULL), 0);
    assert_int_equal(rein_wait(job, -1, &result), 0);
    check_end(&result, REIN_REASON_EXIT, 2);
    rein_result_done(&result);
}

static void test_result_of_a_running_job(void **state)
{
    struct rein_spec spec = SCRIPT("printf 12345; read x");
    auto_result result = {.size = sizeof(result)};

    spec.stdin_kind = REIN_STDIN_PIPE;
    spec.name = "name";
    rein_job *job = start(&spec);
    read_until(job, "12345");
    assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
    assert_true(result.running);
    assert_true(result.success);
    assert_int_equal(result.reason, REIN_REASON_NONE);
    assert_false(result.has_exit_code);
    assert_int_equal(result.output_bytes, 5);
    assert_true(result.duration_ns > 0);
    assert_int_equal(result.pid, rein_job_pid(job));
    assert_string_equal(result.name, "name");
    assert_non_null(result.warnings);
    assert_non_null(result.missing);
    assert_int_equal(result.n_left_running, 0);
}

static void test_reason_names(void **state)
{
    static const char *const names[] = {
        "running",      "exit",      "signal",          "timeout",      "stopped", "owner_gone",
        "memory_limit", "cpu_limit", "file_size_limit", "output_limit", "lost"};

    for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
        assert_string_equal(rein_reason_name(i), names[i]);
    assert_int_equal(ARRAY_SIZE(names) - 1, REIN_REASON_LOST);
    assert_non_null(rein_reason_name(-1));
    assert_non_null(rein_reason_name(1000));
}

/* ---- fork --------------------------------------------------------------------------------- */

/* In a child the context may be freed, and nothing else; that touches nothing of the parent's. */
static void test_child_cannot_use_the_context(void **state)
{
    struct rein_spec spec = SCRIPT("read x; exit 4");
    int status;

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    pid_t pid = fork();
    if (pid == 0) {
        struct rein_error *error = NULL;
        rein_job *another = NULL;
        int r = rein_start(context, &spec, &another, &error);

        if (r != -EPERM || another || !error || strcmp(error->code, "bad_request") != 0)
            _exit(1);
        (void)rein_error_free(error);
        (void)rein_job_free(job);
        (void)rein_free(context);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(rein_send(job, "\n", 1), 1);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_version),
        job_test(test_nothing_is_fine_to_free),
        job_test(test_open_checks_its_options),
        job_test(test_start_needs_its_pointers),
        job_test(test_calls_need_a_job),
        job_test(test_wrong_arguments),
        job_test(test_any_order),
        job_test(test_free_of_running_jobs),
        job_test(test_many_jobs_at_once),
        job_test(test_more_jobs_than_are_reaped_later),
        job_test(test_timeouts),
        job_test(test_result_of_a_running_job),
        job_test(test_reason_names),
        job_test(test_child_cannot_use_the_context),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
