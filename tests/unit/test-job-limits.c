/*
 * Resource limits reach the job, end it with their own reason, and are never claimed to be stronger
 * than they are.
 */
#include "job-test.h"

#include <limits.h>
#include <sys/resource.h>

#include "job/job.h"

static int play_spin(int argc, char **argv)
{
    (void)alarm(60);
    for (;;)
        continue;
    return 0;
}

/* fill FILE: writes until that fails. */
static int play_fill(int argc, char **argv)
{
    static char bytes[65536];
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    for (int i = 0; i < 1000; i++)
        if (io_write_all(fd, bytes, sizeof(bytes)) < 0)
            return 7;
    return 0;
}

/* The soft limit that a job has, as /proc shows it. */
static unsigned long long told_limit(const char *text, const char *name)
{
    const char *line = strstr(text, name);

    assert_non_null(line);
    line += strlen(name);
    line += strspn(line, " ");
    return strncmp(line, "unlimited", 9) == 0 ? ULLONG_MAX : strtoull(line, NULL, 10);
}

static unsigned long long own_limit(int resource)
{
    struct rlimit limit = {0};

    assert_int_equal(getrlimit(resource, &limit), 0);
    return limit.rlim_cur == RLIM_INFINITY ? ULLONG_MAX : limit.rlim_cur;
}

static int has(char **v, const char *text)
{
    for (; *v; v++)
        if (strstr(*v, text))
            return 1;
    return 0;
}

static void test_no_limits_by_default(void **state)
{
    struct rein_spec spec = COMMAND("cat", "/proc/self/limits");
    rein_job *job = start(&spec);
    auto_free char *text = read_all(job, NULL);

    assert_int_equal(told_limit(text, "Max address space"), own_limit(RLIMIT_AS));
    assert_int_equal(told_limit(text, "Max cpu time"), own_limit(RLIMIT_CPU));
    assert_int_equal(told_limit(text, "Max file size"), own_limit(RLIMIT_FSIZE));
    assert_int_equal(told_limit(text, "Max processes"), own_limit(RLIMIT_NPROC));
    assert_int_equal(told_limit(text, "Max open files"), own_limit(RLIMIT_NOFILE));
}

static void test_limits_reach_the_job(void **state)
{
    struct rein_spec spec = COMMAND("cat", "/proc/self/limits");
    auto_free char *text = NULL;

    spec.memory_limit = 777 * MIB;
    spec.cpu_time_ns = 2500 * NSEC_PER_MSEC;
    spec.file_size_limit = 12345;
    spec.procs_limit = 1000;
    rein_job *job = start(&spec);
    text = read_all(job, NULL);
    assert_int_equal(told_limit(text, "Max address space"), 777 * MIB);
    assert_int_equal(told_limit(text, "Max cpu time"), 3); /* whole seconds: rounded up */
    assert_int_equal(told_limit(text, "Max file size"), 12345);
    assert_true(told_limit(text, "Max processes") > 1000); /* over those that there are */
    assert_true(told_limit(text, "Max processes") < 1000000);
    auto_result result = finish(job);
    assert_true(has(result.missing, "memory"));
    assert_true(has(result.missing, "cpu"));
    assert_true(has(result.missing, "procs"));
    assert_true(has(result.warnings, "rounded up to 3 s"));
    assert_true(has(result.warnings, "each process"));
    assert_true(has(result.warnings, getuid() == 0 ? "does not bind root" : "all processes of"));
}

/* A limit of the caller's own that is lower stays, and does not make the job impossible. */
static void test_limits_are_never_raised(void **state)
{
    struct rein_spec spec = COMMAND("cat", "/proc/self/limits");
    struct rlimit low = {50000000, 50000000};
    pid_t pid;
    int status;

    spec.file_size_limit = 60000000;
    pid = fork(); /* a hard limit cannot be taken back */
    if (pid == 0) {
        struct rein_result result = {.size = sizeof(result)};
        rein_job *job = NULL;
        char bytes[4096] = "";

        context->owner_pid = getpid();
        if (setrlimit(RLIMIT_FSIZE, &low) < 0 || rein_start(context, &spec, &job, NULL) < 0 ||
            rein_wait(job, PATIENCE_MS, &result) < 0 ||
            rein_read(job, bytes, sizeof(bytes) - 1, 0, NULL) <= 0)
            _exit(1);
        _exit(strstr(bytes, "Max file size             50000000             50000000") ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_processor_time_runs_out(void **state)
{
    struct rein_spec spec = ROLE("spin");

    spec.cpu_time_ns = 1;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_CPU_LIMIT, -SIGXCPU);
    assert_true(result.user_us + result.system_us >= 300000); /* the kernel counts ticks */
}

/* Without the limit the same signal is a signal. */
static void test_signals_of_limits_without_a_limit(void **state)
{
    struct rein_spec spec = SCRIPT("kill -XCPU $$");
    auto_result result = run(&spec);

    check_end(&result, REIN_REASON_SIGNAL, -SIGXCPU);
}

static void test_file_becomes_too_large(void **state)
{
    struct rein_spec spec = ROLE("fill", in_temp_dir("file"));
    struct stat st;

    spec.file_size_limit = 100000;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_FILE_SIZE_LIMIT, -SIGXFSZ);
    assert_int_equal(stat(in_temp_dir("file"), &st), 0);
    assert_int_equal(st.st_size, 100000);
    assert_null(result.missing[0]); /* this one holds as it was asked for */
}

/* The limit is the job's: its log may be larger. */
static void test_file_limit_does_not_bound_the_log(void **state)
{
    struct rein_spec spec = SCRIPT("head -c 3000000 /dev/zero");

    spec.file_size_limit = 1000;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.output_bytes, 3000000);
    assert_int_equal(result.gap_end, 0);
}

static void test_memory_runs_out(void **state)
{
    struct rein_spec spec = COMMAND("dd", "if=/dev/null", "of=/dev/null", "bs=2G", "count=1");
    auto_result unlimited = run(&spec);

    check_end(&unlimited, REIN_REASON_EXIT, 0);
    spec.memory_limit = GIB;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 1);
}

/* An address space in which the command cannot even be loaded. */
static void test_memory_limit_that_is_far_too_small(void **state)
{
    struct rein_spec spec = COMMAND("/bin/true");
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    spec.memory_limit = 1;
    if (rein_start(context, &spec, &job, &error) == 0) {
        auto_result result = finish(track(job));
        assert_false(result.success);
    } else {
        assert_non_null(error->message);
        error = rein_error_free(error);
    }
}

/* An ordinary user's limit on processes holds: the job cannot have more. */
static int fork_too_often(void)
{
    struct rein_spec spec = SCRIPT("n=0; while [ $n -lt 60 ]; do sleep 60 & n=$((n + 1)); done");
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    char text[4096] = "";
    int r = 0;

    spec.procs_limit = 20;
    if (rein_start(context, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    (void)rein_read(job, text, sizeof(text) - 1, 0, NULL);
    if (!strstr(text, "fork"))
        r = 2; /* the shell says that it cannot */
    else if (result.n_left_running == 0 || result.n_left_running > 30)
        r = 3;
    rein_result_done(&result);
    (void)rein_job_free(job);
    return r;
}

static void test_too_many_processes(void **state)
{
    assert_int_equal(as_nobody(fork_too_often), 0);
}

static void test_amounts_that_mean_nothing(void **state)
{
    struct rein_spec specs[] = {COMMAND("true"), COMMAND("true"), COMMAND("true"), COMMAND("true"),
                                COMMAND("true")};

    specs[0].timeout_ns = -1;
    specs[1].cpu_time_ns = -1;
    specs[2].grace_ns = -2;
    specs[3].output_limit = UINT64_MAX;
    specs[4].output_limit = 1;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
        (void)rein_error_free(start_fails(&specs[i], -EINVAL, "bad_request"));
}

static void test_largest_amounts(void **state)
{
    struct rein_spec spec = COMMAND("true");

    spec.timeout_ns = INT64_MAX;
    spec.grace_ns = INT64_MAX;
    spec.cpu_time_ns = INT64_MAX;
    spec.memory_limit = UINT64_MAX;
    spec.file_size_limit = UINT64_MAX;
    spec.procs_limit = UINT64_MAX;
    spec.output_limit = UINT64_C(1) << 50;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 0);
}

static const struct role roles[] = {{"spin", play_spin}, {"fill", play_fill}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_no_limits_by_default),
        job_test(test_limits_reach_the_job),
        job_test(test_limits_are_never_raised),
        job_test(test_processor_time_runs_out),
        job_test(test_signals_of_limits_without_a_limit),
        job_test(test_file_becomes_too_large),
        job_test(test_file_limit_does_not_bound_the_log),
        job_test(test_memory_runs_out),
        job_test(test_memory_limit_that_is_far_too_small),
        job_test(test_too_many_processes),
        job_test(test_amounts_that_mean_nothing),
        job_test(test_largest_amounts),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
