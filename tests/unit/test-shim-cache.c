/* The memory of shims: what was put in comes out, and a file that is wrong in any way is empty. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "code/shim-cache.h"
#include "temp-dir.h"

static int dir_fd = -EBADF;

static int setup(void **state)
{
    if (temp_dir_setup(state) < 0)
        return -1;
    dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir_fd >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
    dir_fd = close_fd(dir_fd);
    return temp_dir_teardown(state);
}

static void expect(const char *key, const char *answer)
{
    auto_free char *got = shim_cache_get(dir_fd, key);

    if (!answer)
        assert_null(got);
    else if (!got)
        fail_msg("nothing for %s", key);
    else
        assert_string_equal(got, answer);
}

static off_t cache_size(void)
{
    struct stat st;

    return fstatat(dir_fd, "shims", &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_size : -1;
}

static void test_put_and_get(void **state)
{
    struct stat st;

    expect("shim a\ncwd b\n", NULL);
    shim_cache_put(dir_fd, "shim a\ncwd b\n", "/x/python3");
    shim_cache_put(dir_fd, "shim c\n", "/y y/ruby");
    expect("shim a\ncwd b\n", "/x/python3");
    expect("shim c\n", "/y y/ruby");
    assert_int_equal(fstatat(dir_fd, "shims", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(fstatat(dir_fd, "shims.new", &st, AT_SYMLINK_NOFOLLOW), -1);
}

/* A key is found as a whole or not at all. */
static void test_other_keys(void **state)
{
    shim_cache_put(dir_fd, "shim a\ncwd b\n", "/x/python3");
    expect("shim a\n", NULL);
    expect("cwd b\n", NULL);
    expect("shim a\ncwd b", NULL);
    expect("shim a\ncwd b\nfile c\n", NULL);
    expect("shim a\ncwd bb\n", NULL);
    expect("", NULL);
}

static void test_newest_wins(void **state)
{
    shim_cache_put(dir_fd, "shim a\n", "/old");
    shim_cache_put(dir_fd, "shim b\n", "/b");
    shim_cache_put(dir_fd, "shim a\n", "/new");
    expect("shim a\n", "/new");
    expect("shim b\n", "/b");
}

static void test_size_is_bounded(void **state)
{
    char key[8192];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "shim %d %04000d\n", i, i);
        shim_cache_put(dir_fd, key, "/x");
        assert_in_range(cache_size(), 1, SHIM_CACHE_SIZE_MAX);
        expect(key, "/x");
    }
    assert_in_range(cache_size(), SHIM_CACHE_SIZE_MAX - 5000, SHIM_CACHE_SIZE_MAX);
    (void)snprintf(key, sizeof(key), "shim %d %04000d\n", 95, 95);
    expect(key, "/x");
    (void)snprintf(key, sizeof(key), "shim %d %04000d\n", 0, 0);
    expect(key, NULL);
}

static void test_what_is_too_large_is_not_kept(void **state)
{
    auto_free char *key = malloc(SHIM_CACHE_KEY_MAX + 2);

    assert_non_null(key);
    memset(key, 'k', SHIM_CACHE_KEY_MAX + 1);
    key[SHIM_CACHE_KEY_MAX + 1] = '\0';
    shim_cache_put(dir_fd, key, "/x");
    shim_cache_put(dir_fd, "shim a\n", key);
    shim_cache_put(dir_fd, "shim a\n", "/x\n\nshim b\n= /y");
    assert_int_equal(cache_size(), -1);
}

static const char *const broken[] = {
    "",
    "\n",
    "\n\n",
    "= \n\n",
    "shim a\n",
    "shim a\n= /x",
    "shim a\n= /x\n", /* cut off */
    "shim a\n=/x\n\n",
    "shim a\n\n= /x\n\n",
    "xshim a\n= /x\n\n",
    "\nshim a\n= /x\n\n",
};

static void test_broken_files_are_empty(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        write_temp_file("shims", 0600, broken[i]);
        expect("shim a\n", NULL);
        shim_cache_put(dir_fd, "shim a\n", "/right");
        expect("shim a\n", "/right");
    }
}

static void test_nul_ends_the_text(void **state)
{
    static const char text[] = "shim b\n= /y\n\n\0shim a\n= /x\n\n";
    auto_close int fd = openat(dir_fd, "shims", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
    expect("shim a\n", NULL);
    expect("shim b\n", "/y");
}

static void test_huge_file_is_empty(void **state)
{
    write_temp_file("shims", 0600, "shim a\n= /x\n\n");
    expect("shim a\n", "/x");
    assert_int_equal(truncate(in_temp_dir("shims"), SHIM_CACHE_SIZE_MAX + 1), 0);
    expect("shim a\n", NULL);
}

/* Whoever could write the file could choose what is executed. */
static void test_file_of_others_is_empty(void **state)
{
    write_temp_file("shims", 0620, "shim a\n= /x\n\n");
    expect("shim a\n", NULL);
    write_temp_file("shims", 0602, "shim a\n= /x\n\n");
    expect("shim a\n", NULL);
    write_temp_file("elsewhere", 0600, "shim a\n= /x\n\n");
    assert_int_equal(unlinkat(dir_fd, "shims", 0), 0);
    assert_int_equal(symlinkat("elsewhere", dir_fd, "shims"), 0);
    expect("shim a\n", NULL);
    assert_int_equal(unlinkat(dir_fd, "shims", 0), 0);
    assert_int_equal(mkfifoat(dir_fd, "shims", 0600), 0);
    expect("shim a\n", NULL); /* and it does not wait for a writer */
}

static void test_put_does_not_follow_links(void **state)
{
    struct stat st;

    write_temp_file("victim", 0600, "victim");
    assert_int_equal(symlinkat("victim", dir_fd, "shims.new"), 0);
    shim_cache_put(dir_fd, "shim a\n", "/x");
    expect("shim a\n", NULL);
    assert_int_equal(unlinkat(dir_fd, "shims.new", 0), 0);
    assert_int_equal(symlinkat("victim", dir_fd, "shims"), 0);
    shim_cache_put(dir_fd, "shim a\n", "/x");
    expect("shim a\n", "/x"); /* the link was replaced */
    assert_int_equal(fstatat(dir_fd, "victim", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_size, strlen("victim"));
}

static void test_one_writer_at_a_time(void **state)
{
    auto_close int other = openat(dir_fd, "shims.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(flock(other, LOCK_EX), 0);
    shim_cache_put(dir_fd, "shim a\n", "/x");
    expect("shim a\n", NULL);
    assert_int_equal(write(other, "half of something that is longer", 32), 32);
    other = close_fd(other); /* it crashed: what it left is taken over */
    shim_cache_put(dir_fd, "shim a\n", "/x");
    expect("shim a\n", "/x");
    assert_int_equal(cache_size(), strlen("shim a\n= /x\n\n"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_put_and_get),
        TEST(test_other_keys),
        TEST(test_newest_wins),
        TEST(test_size_is_bounded),
        TEST(test_what_is_too_large_is_not_kept),
        TEST(test_broken_files_are_empty),
        TEST(test_nul_ends_the_text),
        TEST(test_huge_file_is_empty),
        TEST(test_file_of_others_is_empty),
        TEST(test_put_does_not_follow_links),
        TEST(test_one_writer_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
