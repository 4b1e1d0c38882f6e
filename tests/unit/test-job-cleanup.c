/* The private directory that comes with a job is gone when the job has ended, however that was. */
#include "job-test.h"

#include <sys/file.h>
#include <sys/stat.h>

#include "base/syscall-linux.h"
#include "job/job.h"

static struct job_extras extras;
static char private_dir[4096];

static int cleanup_setup(void **state)
{
    if (job_setup(state) < 0)
        return -1;
    (void)snprintf(private_dir, sizeof(private_dir), "%s", in_temp_dir("private"));
    (void)write_temp_file("private/script", 0600, "echo from the script\n");
    extras.cleanup_dir = private_dir;
    extras.cleanup_dir_fd = open(private_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return extras.cleanup_dir_fd < 0 ? -1 : 0;
}

static int cleanup_teardown(void **state)
{
    extras.cleanup_dir_fd = close_fd(extras.cleanup_dir_fd);
    return job_teardown(state);
}

static int is_there(void)
{
    return access(private_dir, F_OK) == 0;
}

static rein_job *start_private(struct rein_spec spec)
{
    rein_job *job = NULL;

    assert_int_equal(job_start(context, &spec, &extras, &job, NULL), 0);
    return track(job);
}

static void test_after_the_exit(void **state)
{
    rein_job *job =
        start_private((struct rein_spec)COMMAND("/bin/sh", in_temp_dir("private/script")));
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 0);
    assert_false(is_there());
    assert_null(result.warnings[0]);
    check_output(job, "from the script\n");
}

static void test_with_what_the_job_has_put_there(void **state)
{
    struct rein_spec spec = SCRIPT("mkdir -p a/b c && chmod 0 c && echo x >a/b/f && ln -s / root");

    spec.cwd = private_dir;
    auto_result result = finish(start_private(spec));
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_false(is_there());
    assert_null(result.warnings[0]);
}

/* Not before the tree is empty: nobody can put anything there any more. */
static void test_with_leftovers_that_write(void **state)
{
    struct rein_spec spec = SCRIPT(
        "(i=0; while :; do echo x >f$i; i=$((i + 1)); done) & while [ ! -e f5 ]; do :; done");

    spec.cwd = private_dir;
    auto_result result = finish(start_private(spec));
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.n_left_running, 1);
    assert_false(is_there());
}

static void test_after_a_start_that_failed(void **state)
{
    struct rein_spec spec = COMMAND("/nonexistent");
    rein_job *job = NULL;

    assert_int_equal(job_start(context, &spec, &extras, &job, NULL), -ENOENT);
    context = rein_free(context); /* waits for the supervisor */
    assert_false(is_there());
}

static void test_after_a_stop_and_a_free(void **state)
{
    end_job(start_private((struct rein_spec)COMMAND("sleep", "60")));
    assert_false(is_there());
}

static void test_after_the_owners_death(void **state)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct rein_spec spec = SCRIPT("kill -9 $0; sleep 60");
        char number[16];
        const char *argv[] = {"/bin/sh", "-c", spec.argv[2], number, NULL};
        rein *r = open_context();
        rein_job *job = NULL;

        (void)snprintf(number, sizeof(number), "%d", (int)getpid());
        spec.argv = argv;
        (void)job_start(r, &spec, &extras, &job, NULL);
        wait_for_the_end();
    }
    extras.cleanup_dir_fd = close_fd(extras.cleanup_dir_fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < PATIENCE_MS / 5 && is_there(); i++)
        (void)poll(NULL, 0, 5);
    assert_false(is_there());
}

static pid_t supervisor_of(const rein_job *job)
{
    char path[64];
    char text[512] = "";
    auto_close int fd = -EBADF;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)rein_job_pid(job));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && io_read_full(fd, text, sizeof(text) - 1) > 0);
    return (pid_t)atoi(strrchr(text, ')') + 4);
}

static void test_after_the_supervisors_death(void **state)
{
    rein_job *job = start_private((struct rein_spec)COMMAND("sleep", "60"));
    auto_close int pidfd = sys_pidfd_open(supervisor_of(job));

    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_false(is_there());
}

/* One that cannot be removed is told of; the job's end is its own all the same. */
static void test_that_cannot_be_removed(void **state)
{
    struct rein_spec spec = SCRIPT("rmdir \"$0\" || rm -r \"$0\"; ln -s / \"$0\"; exit 3");
    const char *argv[] = {"/bin/sh", "-c", spec.argv[2], private_dir, NULL};

    spec.argv = argv;
    auto_result result = finish(start_private(spec));
    check_end(&result, REIN_REASON_EXIT, 3);
    assert_non_null(result.warnings[0]);
    assert_non_null(strstr(result.warnings[0], "private directory"));
}

/* The lock on it is held until it is gone, also when its maker is not there any more. */
static void test_lock_is_held_meanwhile(void **state)
{
    struct rein_spec spec = SCRIPT("read x");
    auto_close int other = open(private_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(flock(extras.cleanup_dir_fd, LOCK_EX | LOCK_NB), 0);
    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start_private(spec);
    extras.cleanup_dir_fd = close_fd(extras.cleanup_dir_fd);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(job);
    assert_false(is_there());
}

#define cleanup_test(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, cleanup_setup, cleanup_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cleanup_test(test_after_the_exit),
        cleanup_test(test_with_what_the_job_has_put_there),
        cleanup_test(test_with_leftovers_that_write),
        cleanup_test(test_after_a_start_that_failed),
        cleanup_test(test_after_a_stop_and_a_free),
        cleanup_test(test_after_the_owners_death),
        cleanup_test(test_after_the_supervisors_death),
        cleanup_test(test_that_cannot_be_removed),
        cleanup_test(test_lock_is_held_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
