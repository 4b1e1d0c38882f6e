/* Waiting for jobs: what can be waited for, and that each of several waiters is right. */
#include "job-test.h"
#include "tools/wait.h"

static struct patience endless = PATIENCE_ENDLESS;

static const char *const goals_refused[] = {
    "", "exit ", "Exit", "line", "port:", "port:0", "port:x", "port:65536", "port:-1", "line:("};

static void test_goals(void **state)
{
    struct wait_goal goal;

    assert_int_equal(wait_goal_parse("exit", &goal, NULL), 0);
    assert_int_equal(goal.kind, WAIT_EXIT);
    wait_goal_done(&goal);
    assert_int_equal(wait_goal_parse("line:^a:b$", &goal, NULL), 0);
    assert_int_equal(goal.kind, WAIT_LINE);
    assert_int_equal(regex_matches(goal.line, "a:b", 3, NULL), 1);
    wait_goal_done(&goal);
    assert_int_equal(wait_goal_parse("port:65535", &goal, NULL), 0);
    assert_int_equal(goal.kind, WAIT_PORT);
    assert_int_equal(goal.port, 65535);
    wait_goal_done(&goal);
    for (size_t i = 0; i < ARRAY_SIZE(goals_refused); i++) {
        struct rein_error *error = NULL;

        assert_true(wait_goal_parse(goals_refused[i], &goal, &error) < 0);
        assert_string_equal(error->code, "bad_request");
        rein_error_free(error);
        wait_goal_done(&goal);
    }
}

static rein_job *start_script(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};

    return start(&spec);
}

static struct waiter *wait_on(rein_job *job, const struct wait_goal *goal)
{
    struct waiter *w = NULL;

    assert_int_equal(waiter_new(job, goal, 0, &w, NULL), 0);
    assert_int_equal(waiter_state(w), WAIT_GOES_ON);
    assert_ptr_equal(waiter_job(w), job);
    return w;
}

static void check_matched(const struct waiter *w, const char *expected)
{
    json_t *matched = waiter_matched(w);
    char *text = json_dumps(matched, JSON_ENCODE_ANY);

    assert_string_equal(text, expected);
    free(text);
    json_decref(matched);
}

static void test_all_and_any(void **state)
{
    struct wait_goal goal;
    rein_job *jobs[] = {start_script("exit 1"), start_script("sleep 300")};
    struct waiter *waiters[2];
    struct rein_error *error = NULL;

    assert_int_equal(wait_goal_parse("exit", &goal, NULL), 0);
    for (size_t i = 0; i < 2; i++)
        waiters[i] = wait_on(jobs[i], &goal);
    assert_int_equal(wait_for_jobs(waiters, 2, true, -1, &endless, NULL), 0);
    assert_int_equal(waiter_state(waiters[0]), WAIT_HAPPENED);
    assert_int_equal(waiter_state(waiters[1]), WAIT_GOES_ON);
    check_matched(waiters[0], "null");
    assert_int_equal(wait_for_jobs(waiters, 2, false, 50 * NSEC_PER_MSEC, &endless, &error),
                     -ETIMEDOUT);
    assert_string_equal(error->code, "timeout");
    error = rein_error_free(error);
    assert_int_equal(rein_stop(jobs[1], 0), 0);
    assert_int_equal(wait_for_jobs(waiters, 2, false, -1, &endless, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        waiters[i] = waiter_free(waiters[i]);
        end_job(jobs[i]);
    }
    wait_goal_done(&goal);
}

static void test_broken_off(void **state)
{
    struct wait_goal goal;
    rein_job *job = start_script("sleep 300");
    struct rein_error *error = NULL;
    struct waiter *w;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(wait_goal_parse("exit", &goal, NULL), 0);
    w = wait_on(job, &goal);
    assert_int_equal(
        wait_for_jobs(&w, 1, false, -1, &(struct patience){.stop_fd = ends[0]}, &error),
        -ETIMEDOUT);
    assert_non_null(strstr(error->message, "broken off"));
    assert_int_equal(waiter_state(w), WAIT_GOES_ON);
    rein_error_free(error);
    waiter_free(w);
    end_job(job);
    wait_goal_done(&goal);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void test_lines(void **state)
{
    struct wait_goal goal;
    rein_job *job = start_script("echo one; printf '\\033[1mtwo: '; sleep 300");
    struct waiter *w;
    size_t len;

    assert_int_equal(wait_goal_parse("line:^two", &goal, NULL), 0);
    w = wait_on(job, &goal);
    check_matched(w, "null");
    assert_int_equal(wait_for_jobs(&w, 1, false, -1, &endless, NULL), 0);
    check_matched(w, "\"two: \"");
    assert_string_equal(waiter_matched_text(w, &len), "two: ");
    assert_int_equal(len, 5);
    waiter_free(w);
    end_job(job);
    wait_goal_done(&goal);
}

static void test_too_late(void **state)
{
    struct wait_goal goal;
    rein_job *job = start_script("echo one");
    struct rein_error *error = NULL;
    struct waiter *w;

    assert_int_equal(wait_goal_parse("line:two", &goal, NULL), 0);
    w = wait_on(job, &goal);
    assert_int_equal(wait_for_jobs(&w, 1, true, -1, &endless, &error), -ESRCH);
    assert_string_equal(error->code, "job_ended");
    assert_int_equal(waiter_state(w), WAIT_MISSED);
    rein_error_free(error);
    waiter_free(w);
    end_job(job);
    wait_goal_done(&goal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goals),
        cmocka_unit_test_setup_teardown(test_all_and_any, job_setup, job_teardown),
        cmocka_unit_test_setup_teardown(test_broken_off, job_setup, job_teardown),
        cmocka_unit_test_setup_teardown(test_lines, job_setup, job_teardown),
        cmocka_unit_test_setup_teardown(test_too_late, job_setup, job_teardown),
    };

    return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
