/*
 * Resource limits reach the job, end it with their own reason, and are never claimed to be stronger
 * than they are.
 */
#include "job-test.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "job/job.h"

/* limits: prints those that a job may have. */
static int play_limits(int argc, char **argv)
{
    static const int resources[] = {RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC};
    struct rlimit limit;

    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        (void)getrlimit(resources[i], &limit);
        printf("%lld ", (long long)limit.rlim_cur);
    }
    return 0;
}

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

/* map SIZE: takes address space. */
static int play_map(int argc, char **argv)
{
    void *map = mmap(NULL, (size_t)strtoull(argv[1], NULL, 10), PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return map == MAP_FAILED ? 7 : 0;
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
    struct rein_spec spec = ROLE("limits");
    rein_job *job = start(&spec);
    auto_free char *text = read_all(job, NULL);
    auto_free char *expected = NULL;
    struct rlimit limits[4];

    (void)getrlimit(RLIMIT_AS, &limits[0]);
    (void)getrlimit(RLIMIT_CPU, &limits[1]);
    (void)getrlimit(RLIMIT_FSIZE, &limits[2]);
    (void)getrlimit(RLIMIT_NPROC, &limits[3]);
    assert_true(asprintf(&expected, "%lld %lld %lld %lld ", (long long)limits[0].rlim_cur,
                         (long long)limits[1].rlim_cur, (long long)limits[2].rlim_cur,
                         (long long)limits[3].rlim_cur) > 0);
    assert_string_equal(text, expected);
}

static void test_limits_reach_the_job(void **state)
{
    struct rein_spec spec = ROLE("limits");
    long long memory, cpu, file_size, procs;
    auto_free char *text = NULL;

    spec.memory_limit = 777 * MIB;
    spec.cpu_time_ns = 2500 * NSEC_PER_MSEC;
    spec.file_size_limit = 12345;
    spec.procs_limit = 1000;
    rein_job *job = start(&spec);
    text = read_all(job, NULL);
    assert_int_equal(sscanf(text, "%lld %lld %lld %lld", &memory, &cpu, &file_size, &procs), 4);
    assert_int_equal(memory, 777 * MIB);
    assert_int_equal(cpu, 3); /* whole seconds: rounded up */
    assert_int_equal(file_size, 12345);
    assert_true(procs > 1000); /* over those that there are */
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
    struct rein_spec spec = ROLE("limits");
    struct rlimit before;
    struct rlimit low;
    long long memory, cpu, file_size;
    auto_free char *text = NULL;

    assert_int_equal(getrlimit(RLIMIT_CPU, &before), 0);
    low = (struct rlimit){100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_CPU, &low), 0);
    spec.cpu_time_ns = 50 * NSEC_PER_SEC;
    rein_job *job = start(&spec);
    text = read_all(job, NULL);
    assert_int_equal(setrlimit(RLIMIT_CPU, &before), 0);
    assert_int_equal(sscanf(text, "%lld %lld %lld", &memory, &cpu, &file_size), 3);
    assert_int_equal(cpu, 50);
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
    char size[32];

    (void)snprintf(size, sizeof(size), "%llu", (unsigned long long)(2 * GIB));
    struct rein_spec spec = ROLE("map", size);
    spec.memory_limit = GIB;
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 7);
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

static const struct role roles[] = {
    {"limits", play_limits}, {"spin", play_spin}, {"fill", play_fill}, {"map", play_map}};

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
