/*
 * Out of memory, at each allocation in turn: every call answers with an error or does its work, and
 * neither a descriptor nor a child nor a byte is left behind. The supervisor allocates nothing.
 *
 * The linker sends the library's allocations here; the n-th of a run fails, or all from the n-th
 * on.
 */
#include "job-test.h"

#include <dirent.h>

#include "job/job.h"

#define RUNS_MAX 2000 /* far more than a start has allocations */

static int counting;   /* only the library's own calls count */
static int n_calls;    /* since the beginning of the run */
static int fail_at;    /* 0: never */
static int fail_after; /* also all that follow */
static int n_failed;

static int fails_now(void)
{
    if (!counting)
        return 0;
    n_calls++;
    if (!fail_at || (fail_after ? n_calls < fail_at : n_calls != fail_at))
        return 0;
    n_failed++;
    errno = ENOMEM;
    return 1;
}

/* Each real function, and what stands in its place. */
#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails_now() ? NULL : __real_##name arguments;                                       \
    }

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t size), (p, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))
WRAP(char *, getcwd, (char *buf, size_t size), (buf, size))
WRAP(DIR *, opendir, (const char *path), (path))
WRAP(DIR *, fdopendir, (int fd), (fd))

static int print_text(char **ret, const char *format, va_list ap) REIN_PRINTF(2, 0);
static int print_text(char **ret, const char *format, va_list ap)
{
    return fails_now() ? -1 : vasprintf(ret, format, ap);
}

/* With and without the checks that _FORTIFY_SOURCE adds. */
int __wrap_asprintf(char **ret, const char *format, ...) REIN_PRINTF(2, 3);
int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = print_text(ret, format, ap);
    va_end(ap);
    return n;
}

int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...) REIN_PRINTF(3, 4);
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = print_text(ret, format, ap);
    va_end(ap);
    return n;
}

int __real_vasprintf(char **ret, const char *format, va_list ap) REIN_PRINTF(2, 0);
int __wrap_vasprintf(char **ret, const char *format, va_list ap) REIN_PRINTF(2, 0);
int __wrap_vasprintf(char **ret, const char *format, va_list ap)
{
    return fails_now() ? -1 : __real_vasprintf(ret, format, ap);
}

int __real___vasprintf_chk(char **ret, int flag, const char *format, va_list ap) REIN_PRINTF(3, 0);
int __wrap___vasprintf_chk(char **ret, int flag, const char *format, va_list ap) REIN_PRINTF(3, 0);
int __wrap___vasprintf_chk(char **ret, int flag, const char *format, va_list ap)
{
    return fails_now() ? -1 : __real___vasprintf_chk(ret, flag, format, ap);
}

/* ---- runs --------------------------------------------------------------------------------- */

/* A job from the opening of a context to the last byte of its result. */
struct scenario {
    struct rein_spec spec;
    int start_error; /* that the start has when there is memory; 0: it succeeds */
    int keep;        /* its output is moved to the store */
    int moves;       /* it does so by itself */
};

static void check_error(int err, struct rein_error *error, int allowed)
{
    assert_true(err == -ENOMEM || (allowed && err == allowed));
    assert_non_null(error);
    assert_non_null(error->code);
    assert_non_null(error->step);
    assert_non_null(error->message);
    assert_null(rein_error_free(error));
}

static void use_job(rein_job *job, const struct scenario *s)
{
    struct rein_result result = {.size = sizeof(result)};
    struct rein_error *error = NULL;
    char bytes[4096];
    int kept;
    int r;

    while ((r = (int)rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL)) > 0)
        continue;
    assert_true(r == 0 || r == -ENOMEM);
    r = s->keep ? rein_job_keep_output(job, &error) : 0;
    kept = s->keep && r == 0;
    if (r < 0)
        check_error(r, error, 0);
    r = rein_wait(job, PATIENCE_MS, &result);
    assert_true(r == 0 || r == -ENOMEM);
    if (r == 0) {
        assert_int_equal(result.reason, REIN_REASON_EXIT);
        assert_non_null(result.warnings);
        assert_non_null(result.missing);
        assert_non_null(result.command[0]);
        assert_int_equal(result.name != NULL, s->spec.name != NULL);
        if (result.log_file)
            assert_int_equal(access(result.log_file, F_OK), 0);
        assert_int_equal(result.log_file != NULL, s->moves || kept);
    } else { /* nothing was filled in, so there is nothing to free */
        assert_null(result.command);
    }
    rein_result_done(&result);
}

/* A small environment: each of its variables is one allocation and one run. */
static char *few_variables[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"HOME=/"}, NULL};

static void run_scenario(const struct scenario *s)
{
    char **all_variables = environ;
    struct rein_options options = {.size = sizeof(options), .state_dir = in_temp_dir("state")};
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    rein *r;
    int err;

    environ = few_variables;
    counting = 1;
    r = rein_open(&options, &error);
    if (r) {
        err = rein_start(r, &s->spec, &job, &error);
        if (err == 0) {
            assert_int_equal(s->start_error, 0);
            assert_non_null(job);
            use_job(job, s);
        } else {
            assert_null(job);
            check_error(err, error, s->start_error);
        }
        job = rein_job_free(job);
        r = rein_free(r);
    } else {
        check_error(-ENOMEM, error, 0);
    }
    counting = 0;
    environ = all_variables;
    assert_true(same_fds());
    assert_true(no_child_left());
}

/* n = 1, 2, 3, … until no allocation is left that could fail. */
static void check_scenario(const struct scenario *s)
{
    context = rein_free(context);
    for (fail_at = 1; fail_at < RUNS_MAX; fail_at++) {
        n_calls = n_failed = 0;
        run_scenario(s);
        if (n_failed == 0)
            break;
    }
    assert_true(fail_at > 10); /* or nothing was tried */
    assert_true(fail_at < RUNS_MAX);
    fail_at = 0;
}

static void test_plain_job(void **state)
{
    struct scenario s = {.spec = COMMAND("true")};

    check_scenario(&s);
    fail_after = 1;
    check_scenario(&s);
    fail_after = 0;
}

static void test_job_with_everything(void **state)
{
    static const char *const env[] = {"A=1", "PATH", "B=2", NULL};
    struct scenario s = {.spec = SCRIPT("echo out; echo err >&2; sleep 60 & exit 3"), .keep = 1};

    s.spec.flags = REIN_SPEC_SPLIT;
    s.spec.cwd = ".";
    s.spec.name = "name";
    s.spec.env = env;
    s.spec.memory_limit = GIB;
    s.spec.cpu_time_ns = 1500 * NSEC_PER_MSEC;
    s.spec.procs_limit = 1000;
    check_scenario(&s);
}

static void test_job_with_secrets(void **state)
{
    static const char *const env[] = {"A=secret", "B=abc", NULL};
    static const char *const keep[] = {"LC_TOKEN", NULL};
    static const char *const secrets[] = {"A", "B", "NOT_THERE", NULL};
    struct scenario s = {.spec = SCRIPT("echo secret")};

    assert_int_equal(setenv("LC_TOKEN", "kept", 1), 0);
    assert_int_equal(setenv("LC_KEY", "left out", 1), 0);
    s.spec.env_profile = REIN_ENV_CLEAN;
    s.spec.env = env;
    s.spec.env_keep = keep;
    s.spec.secrets = secrets;
    check_scenario(&s);
}

static void test_job_whose_log_moves(void **state)
{
    struct scenario s = {.spec = SCRIPT("head -c 10000 /dev/zero"), .moves = 1};

    s.spec.output_limit = 8192;
    check_scenario(&s);
}

static void test_starts_that_fail(void **state)
{
    struct scenario not_found = {.spec = COMMAND("/nonexistent/command"), .start_error = -ENOENT};
    struct scenario bad_cwd = {.spec = COMMAND("true"), .start_error = -ENOENT};
    struct scenario no_interpreter = {.start_error = -ENOENT};
    const char *argv[] = {write_temp_file("tool", 0755, "#!/nonexistent/x\n"), NULL};

    check_scenario(&not_found);
    bad_cwd.spec.cwd = "/nonexistent";
    check_scenario(&bad_cwd);
    no_interpreter.spec = (struct rein_spec){.size = sizeof(struct rein_spec), .argv = argv};
    check_scenario(&no_interpreter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_plain_job),        job_test(test_job_with_everything),
        job_test(test_job_with_secrets), job_test(test_job_whose_log_moves),
        job_test(test_starts_that_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
