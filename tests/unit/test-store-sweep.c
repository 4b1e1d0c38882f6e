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

#define UNLOCKED_AGE_S 60 /* then a directory without a lock is nobody's any more */

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

static void set_path_age(const char *path, int64_t seconds)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void set_file_age(const char *id, const char *name, int64_t seconds)
{
    set_path_age(job_path(id, name), seconds);
}

/* Of a job: of its record, if it has one, and of its directory. */
static void set_age(const char *id, int64_t seconds)
{
    if (access(job_path(id, "exit.json"), F_OK) == 0)
        set_file_age(id, "exit.json", seconds);
    set_file_age(id, "", seconds);
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

/* Sweeps; gives how many jobs went. */
static size_t sweep(void)
{
    size_t n_removed = 99;

    assert_int_equal(store_sweep(context, &n_removed), 0);
    return n_removed;
}

static int is_there(const char *id)
{
    return access(job_path(id, ""), F_OK) == 0;
}

static void test_no_store(void **state)
{
    assert_int_equal(sweep(), 0);
    store_sweep_sometimes(context);
    assert_int_equal(access(in_temp_dir("state"), F_OK), -1); /* and none is made */
}

static void test_old_jobs_go(void **state)
{
    make_job("00000001", 0, 0);
    make_job("00000002", STORE_AGE_MAX_S - 60, 0);
    make_job("00000003", STORE_AGE_MAX_S + 60, 0);
    make_job("00000004", 1000 * STORE_AGE_MAX_S, 0);
    assert_int_equal(sweep(), 2);
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
    assert_int_equal(sweep(), 5);
    for (unsigned i = 0; i < STORE_JOBS_MAX + 5; i++) {
        (void)snprintf(id, sizeof(id), "%08x", i);
        assert_int_equal(is_there(id), i < STORE_JOBS_MAX);
    }
}

static void test_large_ones_go(void **state)
{
    off_t half = STORE_BYTES_MAX / 2;
    auto_close int fd = -EBADF;

    make_job("00000001", 10, 0); /* ages so far apart that time passes them by */
    fd = open(job_path("00000001", "output.log"), O_WRONLY | O_CLOEXEC);
    if (fallocate(fd, 0, 0, half) < 0)
        skip(); /* this file system has no room, or writes zeros */
    set_age("00000001", 10);
    make_job("00000002", 20, half - (1 << 20));
    make_job("00000003", 30, 2 << 20); /* with this one it is too much */
    make_job("00000004", 40, 0);       /* and it does not become less */
    assert_int_equal(sweep(), 2);
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
    assert_int_equal(sweep(), 0);
    assert_true(is_there("00000001"));
    assert_true(is_there("00000002"));
}

/* Age is that of the end, not of the last change of the directory. */
static void test_age_is_counted_from_the_end(void **state)
{
    make_job("00000001", 0, 0);
    make_job("00000002", STORE_AGE_MAX_S + 60, 0);
    assert_int_equal(unlink(job_path("00000002", "exit.json")), 0); /* lost */
    set_age("00000002", STORE_AGE_MAX_S + 60);
    set_file_age("00000001", "exit.json", STORE_AGE_MAX_S + 60);
    assert_int_equal(sweep(), 2);
    assert_false(is_there("00000001"));
    assert_false(is_there("00000002"));
}

static int hold(const char *id, int kind)
{
    int fd = open(job_path(id, "lock"), O_RDONLY | O_CLOEXEC);

    assert_int_equal(flock(fd, kind), 0);
    return fd;
}

static void test_locked_jobs_stay(void **state)
{
    auto_close int fd = -EBADF;

    make_job("00000001", 1000 * STORE_AGE_MAX_S, 0);
    make_job("00000002", 1000 * STORE_AGE_MAX_S, 0);
    fd = hold("00000001", LOCK_EX);
    assert_int_equal(sweep(), 1);
    assert_true(is_there("00000001"));
    assert_false(is_there("00000002"));
}

/* Who only looks whether the lock is held holds it, too: such a job does not run, but cannot go
 * now either. */
static void test_looked_at_jobs_wait(void **state)
{
    auto_close int fd = -EBADF;

    make_job("00000001", 1000 * STORE_AGE_MAX_S, 0);
    fd = hold("00000001", LOCK_SH);
    assert_int_equal(sweep(), 0);
    assert_true(is_there("00000001"));
    fd = close_fd(fd);
    assert_int_equal(sweep(), 1);
    assert_false(is_there("00000001"));
}

/* ---- what starts leave behind --------------------------------------------------------------- */

static void remove_file(const char *id, const char *name)
{
    assert_int_equal(unlink(job_path(id, name)), 0);
}

/* The rest of a start that failed: it was locked once and is not any more, so that nobody is making
 * it. It is no job, and not counted as one. */
static void test_rests_of_starts_go_at_once(void **state)
{
    auto_close int fd = -EBADF;

    make_job("00000001", 0, 0);
    remove_file("00000001", "job.json");
    make_job("00000002", 1000 * STORE_AGE_MAX_S, 0);
    remove_file("00000002", "job.json");
    fd = hold("00000002", LOCK_EX); /* this one is just being made */
    assert_int_equal(sweep(), 0);
    assert_false(is_there("00000001"));
    assert_true(is_there("00000002"));
}

/* Without a lock it may be one that is being made, unless it is old. */
static void test_directories_without_a_lock(void **state)
{
    static const char *const ids[] = {"00000001", "00000002", "00000003"};
    static const int64_t ages[] = {0, UNLOCKED_AGE_S - 20, UNLOCKED_AGE_S + 20};

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        make_job(ids[i], 0, 0);
        remove_file(ids[i], "lock");
        remove_file(ids[i], "job.json");
        remove_file(ids[i], "exit.json");
        set_age(ids[i], ages[i]);
    }
    assert_int_equal(sweep(), 0);
    assert_true(is_there("00000001"));
    assert_true(is_there("00000002"));
    assert_false(is_there("00000003"));
}

/* They do not take a place of the jobs that may stay. */
static void test_rests_are_not_counted(void **state)
{
    char id[16];

    for (unsigned i = 0; i < STORE_JOBS_MAX; i++) {
        (void)snprintf(id, sizeof(id), "%08x", i);
        make_job(id, 100, 0);
    }
    make_job("ffffffff", 0, 0);
    remove_file("ffffffff", "job.json");
    assert_int_equal(sweep(), 0);
    assert_false(is_there("ffffffff"));
    assert_true(is_there("00000000"));
}

/* ---- from time to time ---------------------------------------------------------------------- */

static void set_stamp_age(int64_t seconds)
{
    set_path_age(in_temp_dir("state/last-sweep"), seconds);
}

static int is_swept_sometimes(void)
{
    make_job("00000001", STORE_AGE_MAX_S + 60, 0);
    store_sweep_sometimes(context);
    return !is_there("00000001");
}

/* At most once in a few seconds, whoever did it; a mark from the future puts off nothing. */
static void test_sometimes(void **state)
{
    assert_true(is_swept_sometimes());
    assert_false(is_swept_sometimes());
    set_stamp_age(60);
    assert_true(is_swept_sometimes());
    assert_false(is_swept_sometimes());
    set_stamp_age(-60);
    assert_true(is_swept_sometimes());
    assert_false(is_swept_sometimes());
    assert_int_equal(sweep(), 1); /* one that was asked for is never put off */
}

/* Where no mark can be made there is no pause. */
static void test_sometimes_without_a_mark(void **state)
{
    make_job("00000001", 0, 0);
    (void)write_temp_file("elsewhere", 0600, "mine");
    assert_int_equal(symlink("../elsewhere", in_temp_dir("state/last-sweep")), 0);
    assert_true(is_swept_sometimes());
    assert_true(is_swept_sometimes());
}

/* What has no handle's name, or is a link, is left alone, and so is what somebody keeps beside the
 * files of a job, which is forgotten all the same. */
static void test_strangers_stay(void **state)
{
    static const char *const names[] = {"0000000", "000000001", "0000000G", "ABCDEF01", "other"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        make_job(names[i], 1000 * STORE_AGE_MAX_S, 0);
    make_job("00000001", 1000 * STORE_AGE_MAX_S, 0);
    (void)write_temp_file("state/jobs/00000001/mine", 0600, "not rein's");
    (void)write_temp_file("state/jobs/00000001/folder/file", 0600, "not rein's");
    set_age("00000001", 1000 * STORE_AGE_MAX_S);
    (void)write_temp_file("elsewhere/lock", 0600, "");
    assert_int_equal(symlink("../../elsewhere", in_temp_dir("state/jobs/00000002")), 0);
    assert_int_equal(sweep(), 1);
    assert_int_equal(sweep(), 0);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_true(is_there(names[i]));
    assert_int_equal(access(job_path("00000001", "job.json"), F_OK), -1);
    assert_int_equal(access(job_path("00000001", "mine"), F_OK), 0);
    assert_int_equal(access(job_path("00000001", "folder/file"), F_OK), 0);
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
        test(test_age_is_counted_from_the_end),
        test(test_locked_jobs_stay),
        test(test_looked_at_jobs_wait),
        test(test_rests_of_starts_go_at_once),
        test(test_directories_without_a_lock),
        test(test_rests_are_not_counted),
        test(test_sometimes),
        test(test_sometimes_without_a_mark),
        test(test_strangers_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
