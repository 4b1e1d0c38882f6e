/* The private directory of a job goes, whatever the job has put there; what its links point to
 * stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "supervisor/remove-dir.c"
#include "temp-dir.h"

static const char *private_dir(void)
{
    return in_temp_dir("private");
}

static int is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static int setup(void **state)
{
    return temp_dir_setup(state) < 0 ? -1 : mkdir(private_dir(), 0700);
}

static void test_empty(void **state)
{
    assert_int_equal(remove_dir(private_dir()), 0);
    assert_false(is_there(private_dir()));
}

static void test_not_there(void **state)
{
    assert_int_equal(remove_dir(in_temp_dir("none")), 0);
    assert_int_equal(remove_dir(in_temp_dir("none/none")), 0);
}

static void test_everything_in_it(void **state)
{
    (void)write_temp_file("private/a", 0600, "x");
    (void)write_temp_file("private/sub/b", 0000, "x");
    (void)write_temp_file("private/sub/sub/.hidden", 0400, "x");
    (void)write_temp_file("private/...", 0600, "x");
    assert_int_equal(mkfifo(in_temp_dir("private/fifo"), 0600), 0);
    assert_int_equal(symlink("nowhere", in_temp_dir("private/dangling")), 0);
    assert_int_equal(remove_dir(private_dir()), 0);
    assert_false(is_there(private_dir()));
}

static void test_links_are_not_followed(void **state)
{
    (void)write_temp_file("outside/file", 0600, "x");
    assert_int_equal(symlink("../outside", in_temp_dir("private/link")), 0);
    assert_int_equal(symlink("../outside/file", in_temp_dir("private/link-to-file")), 0);
    assert_int_equal(remove_dir(private_dir()), 0);
    assert_false(is_there(private_dir()));
    assert_true(is_there(in_temp_dir("outside/file")));
    assert_int_equal(symlink("outside", private_dir()), 0); /* nor is the directory itself one */
    assert_true(remove_dir(private_dir()) < 0);
    assert_true(is_there(in_temp_dir("outside/file")));
}

/* What may not be read or searched is no obstacle to its owner; for root nothing is. */
static int remove_closed(void)
{
    if (getuid() == 0 && setuid(1000000) < 0)
        return 1;
    if (mkdir(private_dir(), 0700) < 0 || mkdir(in_temp_dir("private/closed"), 0700) < 0 ||
        mkdir(in_temp_dir("private/closed/inner"), 0700) < 0 ||
        mkdir(in_temp_dir("private/unsearchable"), 0700) < 0)
        return 2;
    (void)write_temp_file("private/closed/inner/file", 0400, "x");
    (void)write_temp_file("private/unsearchable/file", 0400, "x");
    if (chmod(in_temp_dir("private/closed/inner"), 0) < 0 ||
        chmod(in_temp_dir("private/closed"), 0) < 0 ||
        chmod(in_temp_dir("private/unsearchable"), 0600) < 0 || chmod(private_dir(), 0500) < 0)
        return 3;
    return remove_dir(private_dir()) == 0 && !is_there(private_dir()) ? 0 : 4;
}

static void test_closed_directories(void **state)
{
    pid_t pid;
    int status;

    assert_int_equal(rmdir(private_dir()), 0);
    assert_int_equal(chmod(temp_dir, 0777), 0);
    pid = fork();
    if (pid == 0)
        _exit(remove_closed());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_many_entries(void **state)
{
    for (int i = 0; i < 400; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "private/file-with-a-long-name-%d", i);
        (void)close(open(in_temp_dir(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    assert_int_equal(remove_dir(private_dir()), 0);
    assert_false(is_there(private_dir()));
}

/* Deeper than a path can be, and than is believed: an error, not a crash; the rest is removed. */
static void test_depth(void **state)
{
    int fd = open(private_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int depth = 0; depth < DEPTH_MAX - 2; depth++) {
        int next;

        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)close(fd);
        fd = next;
    }
    (void)close(fd);
    assert_int_equal(remove_dir(private_dir()), 0);
    assert_false(is_there(private_dir()));
}

static void test_too_deep(void **state)
{
    int fd;

    fd = open(private_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int depth = 0; depth < 2 * DEPTH_MAX; depth++) {
        int next;

        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)close(fd);
        fd = next;
    }
    (void)close(fd);
    assert_int_equal(remove_dir(private_dir()), -ELOOP);
    assert_true(is_there(private_dir()));
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_empty),
        test(test_not_there),
        test(test_everything_in_it),
        test(test_links_are_not_followed),
        test(test_closed_directories),
        test(test_many_entries),
        test(test_depth),
        test(test_too_deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
