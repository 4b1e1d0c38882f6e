/* Forgetting finished jobs: by age, number and size, oldest first; never one that is locked, never
 * what is not a job. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <time.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "job/store.h"
#include "temp-dir.h"

static rein *context;

static int setup(void **state)
{
    struct rein_options options = {.size = sizeof(options)};

    if (temp_dir_setup(state) < 0)
        return -1;
    options.state_dir = in_temp_dir("state");
    context = rein_open(&options, NULL);
    return context ? 0 : -1;
}

static int teardown(void **state)
{
    context = rein_free(context);
    return temp_dir_teardown(state);
}

static const char *job_path(const char *id, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "state/jobs/%s/%s", id, name);
    return in_temp_dir(path);
}

static void set_age(const char *id, int64_t seconds)
{
    char path[128];
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};

    (void)snprintf(path, sizeof(path), "state/jobs/%s", id);
    assert_int_equal(utimensat(AT_FDCWD, in_temp_dir(path), times, 0), 0);
}

static void make_job(const char *id, int64_t age_s, off_t size)
{
    static const char *const files[] = {"lock", "job.json", "exit.json", "output.marks"};
    char name[128];

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        (void)snprintf(name, sizeof(name), "state/jobs/%s/%s", id, files[i]);
        (void)write_temp_file(name, 0600, "{}");
    }
    (void)snprintf(name, sizeof(name), "state/jobs/%s/output.log", id);
    (void)write_temp_file(name, 0600, "");
    if (size > 0) {
        auto_close int fd = open(in_temp_dir(name), O_WRONLY | O_CLOEXEC);

        assert_int_equal(posix_fallocate(fd, 0, size), 0); /* blocks count, not lengths */
    }
    set_age(id, age_s);
}

static int is_there(const char *id)
{
    return access(job_path(id, ""), F_OK) == 0;
}

static void test_no_store(void **state)
{
    store_sweep(context);
    assert_int_equal(access(in_temp_dir("state/jobs"), F_OK), 0);
}

static void test_old_jobs_go(void **state)
{
    make_job("00000001", 0, 0);
    make_job("00000002", STORE_AGE_MAX_S - 60, 0);
    make_job("00000003", STORE_AGE_MAX_S + 60, 0);
    make_job("00000004", 1000 * STORE_AGE_MAX_S, 0);
    store_sweep(context);
    assert_true(is_there("00000001"));
    assert_true(is_there("00000002"));
    assert_false(is_there("00000003"));
    assert_false(is_there("00000004"));
}

static void test_the_newest_stay(void **state)
{
    char id[16];

    for (unsigned i = 0; i < STORE_JOBS_MAX + 5; i++) {
        (void)snprintf(id, sizeof(id), "%08x", i);
        make_job(id, 10 * i, 0);
    }
    store_sweep(context);
    for (unsigned i = 0; i < STORE_JOBS_MAX + 5; i++) {
        (void)snprintf(id, sizeof(id), "%08x", i);
        assert_int_equal(is_there(id), i < STORE_JOBS_MAX);
    }
}

static void test_large_ones_go(void **state)
{
    off_t half = STORE_BYTES_MAX / 2;
    auto_close int fd = -EBADF;

    make_job("00000001", 1, 0);
    fd = open(job_path("00000001", "output.log"), O_WRONLY | O_CLOEXEC);
    if (fallocate(fd, 0, 0, half) < 0)
        skip(); /* this file system has no room, or writes zeros */
    set_age("00000001", 1);
    make_job("00000002", 2, half - (1 << 20));
    make_job("00000003", 3, 2 << 20); /* with this one it is too much */
    make_job("00000004", 4, 0);       /* and it does not become less */
    store_sweep(context);
    assert_true(is_there("00000001"));
    assert_true(is_there("00000002"));
    assert_false(is_there("00000003"));
    assert_false(is_there("00000004"));
}

/* A hole in a log is not counted. */
static void test_holes_are_no_bytes(void **state)
{
    make_job("00000001", 1, 0);
    assert_int_equal(truncate(job_path("00000001", "output.log"), (off_t)(STORE_BYTES_MAX * 4)), 0);
    set_age("00000001", 1);
    make_job("00000002", 2, 0);
    store_sweep(context);
    assert_true(is_there("00000001"));
    assert_true(is_there("00000002"));
}

static void test_locked_jobs_stay(void **state)
{
    auto_close int fd = -EBADF;

    make_job("00000001", 1000 * STORE_AGE_MAX_S, 0);
    make_job("00000002", 1000 * STORE_AGE_MAX_S, 0);
    fd = open(job_path("00000001", "lock"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    store_sweep(context);
    assert_true(is_there("00000001"));
    assert_false(is_there("00000002"));
}

/* A directory without a lock is one that is being made, unless it is old. */
static void test_directories_without_a_lock(void **state)
{
    make_job("00000001", 0, 0);
    make_job("00000002", 0, 0);
    assert_int_equal(unlink(job_path("00000001", "lock")), 0);
    assert_int_equal(unlink(job_path("00000002", "lock")), 0);
    set_age("00000001", STORE_AGE_MAX_S - 60);
    set_age("00000002", STORE_AGE_MAX_S + 60);
    store_sweep(context);
    assert_true(is_there("00000001"));
    assert_false(is_there("00000002"));
}

/* What has no handle's name, or is a link, or has foreign files in it, is left alone. */
static void test_strangers_stay(void **state)
{
    static const char *const names[] = {"0000000", "000000001", "0000000G", "ABCDEF01", "other"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        make_job(names[i], 1000 * STORE_AGE_MAX_S, 0);
    make_job("00000001", 1000 * STORE_AGE_MAX_S, 0);
    (void)write_temp_file("state/jobs/00000001/mine", 0600, "not rein's");
    set_age("00000001", 1000 * STORE_AGE_MAX_S);
    (void)write_temp_file("elsewhere/lock", 0600, "");
    assert_int_equal(symlink("../../elsewhere", in_temp_dir("state/jobs/00000002")), 0);
    store_sweep(context);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_true(is_there(names[i]));
    assert_int_equal(access(job_path("00000001", "mine"), F_OK), 0);
    assert_int_equal(access(in_temp_dir("elsewhere/lock"), F_OK), 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_no_store),
        test(test_old_jobs_go),
        test(test_the_newest_stay),
        test(test_large_ones_go),
        test(test_holes_are_no_bytes),
        test(test_locked_jobs_stay),
        test(test_directories_without_a_lock),
        test(test_strangers_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
