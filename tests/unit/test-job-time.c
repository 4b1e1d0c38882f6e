/*
 * Deadlines hold whatever the tree does, on the monotonic clock; a stop keeps its grace; and an
 * exit before the deadline is an exit.
 */
#include "job-test.h"

#include <sys/resource.h>

#include "job/job.h"

#define LATE_NS NSEC_PER_SEC              /* more than any machine is late, less than any fault */
#define SETTLED_NS (1500 * NSEC_PER_MSEC) /* by then a command has set its handlers */

/* quiet|deaf|stopped|reading|writing|forking|spinning: what a tree does while its time runs out. */
static int play_busy(int argc, char **argv)
{
    const char *how = argv[1];
    char bytes[4096] = {0};

    (void)alarm(60);
    if (strcmp(how, "deaf") == 0)
        for (int signo = 1; signo < NSIG; signo++)
            (void)signal(signo, SIG_IGN);
    if (strcmp(how, "stopped") == 0)
        (void)raise(SIGSTOP);
    if (strcmp(how, "reading") == 0)
        (void)io_read(STDIN_FILENO, bytes, 1);
    while (strcmp(how, "writing") == 0)
        (void)io_write_all(STDOUT_FILENO, bytes, sizeof(bytes));
    while (strcmp(how, "forking") == 0) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(0);
        (void)waitpid(pid, NULL, 0);
    }
    while (strcmp(how, "spinning") == 0)
        continue;
    wait_for_the_end();
    return 0;
}

/* catch CODE: says "caught" at SIGTERM and ends with the code. */
static int exit_code;

static void on_term(int signo)
{
    say("caught\n");
    _exit(exit_code);
}

static int play_catch(int argc, char **argv)
{
    exit_code = atoi(argv[1]);
    (void)signal(SIGTERM, on_term);
    say("ready\n");
    wait_for_the_end();
    return 0;
}

/* ---- deadlines ---------------------------------------------------------------------------- */

static void test_deadline_holds_whatever_the_tree_does(void **state)
{
    static const char *const ways[] = {"quiet",   "deaf",    "stopped", "reading",
                                       "writing", "forking", "spinning"};

    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        auto_life life = life_new();
        struct rein_spec spec = ROLE("busy", ways[i]);
        int64_t began_ns = time_mono_ns();

        spec.timeout_ns = 60 * NSEC_PER_MSEC;
        spec.stdin_kind = REIN_STDIN_PIPE;
        spec.output_limit = 65536;
        rein_job *job = start_with_life(spec, &life);
        auto_result result = finish(job);
        check_end(&result, REIN_REASON_TIMEOUT, -SIGKILL);
        assert_true(life_is_over(&life, 0));
        assert_true(result.duration_ns >= 60 * NSEC_PER_MSEC);
        assert_true(time_mono_ns() - began_ns < 60 * NSEC_PER_MSEC + LATE_NS);
        assert_int_equal(result.n_left_running, 0);
        end_job(job);
    }
}

static void test_exit_before_the_deadline_is_an_exit(void **state)
{
    struct rein_spec spec = SCRIPT("exit 4");

    spec.timeout_ns = 60 * NSEC_PER_SEC;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 4);
    assert_true(result.duration_ns < 10 * NSEC_PER_SEC);
}

static void test_longest_deadline(void **state)
{
    struct rein_spec spec = SCRIPT("exit 0");

    spec.timeout_ns = INT64_MAX;
    spec.grace_ns = INT64_MAX;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 0);
}

/* SIGTERM first, and what the command makes of it is its exit code; the reason stays. */
static void test_grace_at_the_deadline(void **state)
{
    struct rein_spec spec = ROLE("catch", "0");

    spec.timeout_ns = SETTLED_NS;
    spec.grace_ns = 60 * NSEC_PER_SEC;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_TIMEOUT, 0);
    assert_false(result.success);
    check_output(job, "ready\ncaught\n");
}

static void test_grace_runs_out(void **state)
{
    struct rein_spec spec = ROLE("busy", "deaf");

    spec.timeout_ns = SETTLED_NS;
    spec.grace_ns = 40 * NSEC_PER_MSEC;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_TIMEOUT, -SIGKILL);
    assert_true(result.duration_ns >= SETTLED_NS + spec.grace_ns);
    assert_true(result.duration_ns < SETTLED_NS + spec.grace_ns + LATE_NS);
}

/* ---- stops -------------------------------------------------------------------------------- */

static void test_stop_gives_a_chance(void **state)
{
    struct rein_spec spec = ROLE("catch", "9");
    rein_job *job = start(&spec);

    read_until(job, "ready\n");
    assert_int_equal(rein_stop(job, 60000), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, 9);
    check_output(job, "caught\n");
}

/* -1: the job's own grace; REIN_GRACE_NONE in the spec means none for a stop, too. */
static void test_stop_with_the_grace_of_the_job(void **state)
{
    struct rein_spec spec = SCRIPT("trap '' TERM; echo up; while :; do :; done");

    spec.grace_ns = 50 * NSEC_PER_MSEC;
    rein_job *job = start(&spec);
    read_until(job, "up\n");
    assert_int_equal(rein_stop(job, -1), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    end_job(job);

    struct rein_spec hard = ROLE("catch", "0");

    hard.grace_ns = REIN_GRACE_NONE;
    job = start(&hard);
    read_until(job, "ready\n");
    assert_int_equal(rein_stop(job, -1), 0);
    rein_result_done(&result);
    result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

/* Without a grace anywhere a stop has one of 5 s: enough for a command to see SIGTERM. */
static void test_stop_has_a_grace_by_default(void **state)
{
    struct rein_spec spec = ROLE("catch", "0");
    rein_job *job = start(&spec);

    read_until(job, "ready\n");
    assert_int_equal(rein_stop(job, -1), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, 0);
    assert_false(result.success);
}

static void test_second_stop_shortens_the_grace(void **state)
{
    struct rein_spec spec = SCRIPT("trap '' TERM; echo up; while :; do :; done");
    struct rein_result running = {.size = sizeof(running)};
    rein_job *job = start(&spec);

    read_until(job, "up\n");
    assert_int_equal(rein_stop(job, 60000), 0);
    assert_int_equal(rein_wait(job, 50, &running), -EAGAIN);
    rein_result_done(&running);
    assert_int_equal(rein_stop(job, 600000), 0); /* longer changes nothing */
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

/* The deadline of a job that is being stopped does not become its reason. */
static void test_first_reason_stays(void **state)
{
    struct rein_spec spec = SCRIPT("trap '' TERM; echo up; while :; do :; done");

    spec.timeout_ns = SETTLED_NS;
    rein_job *job = start(&spec);
    read_until(job, "up\n");
    assert_int_equal(rein_stop(job, 1600), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

static void test_stop_after_the_end(void **state)
{
    struct rein_spec spec = SCRIPT("exit 6");
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    for (int i = 0; i < 3; i++)
        assert_int_equal(rein_stop(job, 0), 0);
    rein_result_done(&result);
    result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 6);
}

/* Around the end: whatever crosses on the way, the job has ended by itself or by the stop, and the
 * end that was sent is received. */
static void test_stop_at_any_moment(void **state)
{
    for (int i = 0; i < 150; i++) {
        struct rein_spec spec = COMMAND("/bin/true");
        rein_job *job = start(&spec);
        int64_t until_ns = time_mono_ns() + i * 20 * NSEC_PER_USEC;

        while (time_mono_ns() < until_ns)
            continue;
        for (int k = 0; k < 3; k++)
            assert_int_equal(rein_stop(job, 0), 0);
        auto_result result = finish(job);
        if (result.reason == REIN_REASON_STOPPED)
            assert_true(result.exit_code == -SIGKILL || result.exit_code == 0);
        else
            check_end(&result, REIN_REASON_EXIT, 0);
        end_job(job);
    }
}

/* ---- exit codes and signals --------------------------------------------------------------- */

static int play_end(int argc, char **argv)
{
    static const struct rlimit no_core = {0, 0};
    int how = atoi(argv[1]);

    if (how >= 0)
        _exit(how);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(-how, SIG_DFL); /* a sanitizer has handlers of its own */
    (void)raise(-how);
    wait_for_the_end();
    return 0;
}

static void test_exit_codes(void **state)
{
    for (int code = 0; code < 256; code += code < 4 || code > 120 ? 1 : 29) {
        char number[12];

        (void)snprintf(number, sizeof(number), "%d", code);
        struct rein_spec spec = ROLE("end", number);
        rein_job *job = start(&spec);
        auto_result result = finish(job);
        check_end(&result, REIN_REASON_EXIT, code);
        end_job(job);
    }
}

static int ends_a_process(int signo)
{
    static const int harmless[] = {SIGCHLD, SIGCONT,  SIGSTOP, SIGTSTP, SIGTTIN,
                                   SIGTTOU, SIGWINCH, SIGURG,  32,      33};

    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (harmless[i] == signo)
            return 0;
    return 1;
}

static void test_signals(void **state)
{
    for (int signo = 1; signo < NSIG; signo++) {
        char number[12];

        if (!ends_a_process(signo))
            continue;
        (void)snprintf(number, sizeof(number), "%d", -signo);
        struct rein_spec spec = ROLE("end", number);
        rein_job *job = start(&spec);
        auto_result result = finish(job);
        check_end(&result, REIN_REASON_SIGNAL, -signo);
        end_job(job);
    }
}

/* ---- what the job uses -------------------------------------------------------------------- */

static int play_use(int argc, char **argv)
{
    struct rusage usage;
    char *memory = malloc(64 << 20);

    if (!memory)
        return 1;
    memset(memory, argc, 64 << 20);
    do {
        for (volatile int i = 0; i < 1000000; i++)
            continue;
        (void)getrusage(RUSAGE_SELF, &usage);
    } while (usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec < 50000);
    argc -= memory[argc];
    free(memory);
    return argc;
}

static void test_usage_is_told(void **state)
{
    struct rein_spec spec = ROLE("use");
    auto_result result = run(&spec);

    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(result.user_us >= 50000);
    assert_true(result.user_us < 5000000);
    assert_true(result.max_rss_bytes >= 64 * MIB);
    assert_true(result.max_rss_bytes < GIB);
    assert_true(result.duration_ns >= 50 * NSEC_PER_MSEC);
}

/* That of descendants, too, also when rein had to end them. */
static void test_usage_of_the_tree_is_told(void **state)
{
    struct rein_spec spec = SCRIPT("\"$0\" use & wait; :");
    const char *const argv[] = {"/bin/sh", "-c", spec.argv[2], self_path, NULL};

    spec.argv = argv;
    auto_result result = run(&spec);
    assert_true(result.user_us >= 50000);
    assert_true(result.max_rss_bytes >= 64 * MIB);
}

static void test_result_says_what_ran(void **state)
{
    struct rein_spec spec = COMMAND("sh", "-c", "exit 1", "", "a b");
    int64_t now_ns = time_wall_ns();

    spec.name = "label";
    spec.cwd = "/";
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    for (int i = 0; spec.argv[i]; i++)
        assert_string_equal(result.command[i], spec.argv[i]);
    assert_null(result.command[5]);
    assert_string_equal(result.cwd, "/");
    assert_string_equal(result.name, "label");
    assert_string_equal(result.process_id, rein_job_id(job));
    assert_int_equal(strspn(result.process_id, "0123456789abcdef"), 8);
    assert_int_equal(result.pid, rein_job_pid(job));
    assert_true(result.started_at_ns >= now_ns);
    assert_true(result.started_at_ns < now_ns + 60 * NSEC_PER_SEC);
    assert_int_equal(result.size, sizeof(result));
    assert_null(result.warnings[0]);
    assert_null(result.missing[0]);
}

static const struct role roles[] = {
    {"busy", play_busy}, {"catch", play_catch}, {"end", play_end}, {"use", play_use}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_deadline_holds_whatever_the_tree_does),
        job_test(test_exit_before_the_deadline_is_an_exit),
        job_test(test_longest_deadline),
        job_test(test_grace_at_the_deadline),
        job_test(test_grace_runs_out),
        job_test(test_stop_gives_a_chance),
        job_test(test_stop_with_the_grace_of_the_job),
        job_test(test_stop_has_a_grace_by_default),
        job_test(test_second_stop_shortens_the_grace),
        job_test(test_first_reason_stays),
        job_test(test_stop_after_the_end),
        job_test(test_stop_at_any_moment),
        job_test(test_exit_codes),
        job_test(test_signals),
        job_test(test_usage_is_told),
        job_test(test_usage_of_the_tree_is_told),
        job_test(test_result_says_what_ran),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
