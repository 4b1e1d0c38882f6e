/* Where interpreters are found, and what is taken for a version manager's shim. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "code/interpreter.h"
#include "temp-dir.h"

/* A row to look for, with names that no machine has. */
static const struct language fake = {.name = "fake", .interpreters = {"fake3", "fake"}};

static const char *path_of(const char *first, const char *second)
{
    static char path[8192];

    (void)snprintf(path, sizeof(path), "%s:%s", first, second);
    return path;
}

static void expect_found(const char *path, const char *cwd, const char *expected)
{
    auto_free char *found = NULL;

    assert_int_equal(interpreter_find(&fake, path, cwd, &found), 0);
    assert_string_equal(found, expected);
}

static void expect_none(const char *path, const char *cwd)
{
    char *found = NULL;

    assert_int_equal(interpreter_find(&fake, path, cwd, &found), -ENOENT);
    assert_null(found);
}

static void test_first_directory_wins(void **state)
{
    write_temp_file("a/fake3", 0755, "a");
    write_temp_file("b/fake3", 0755, "b");
    expect_found(path_of(in_temp_dir("a"), in_temp_dir("b")), "/", in_temp_dir("a/fake3"));
    expect_found(path_of(in_temp_dir("b"), in_temp_dir("a")), "/", in_temp_dir("b/fake3"));
    expect_found(path_of("/nowhere", in_temp_dir("a")), "/", in_temp_dir("a/fake3"));
}

static void test_first_name_wins_over_first_directory(void **state)
{
    write_temp_file("a/fake", 0755, "a");
    expect_found(path_of(in_temp_dir("a"), in_temp_dir("b")), "/", in_temp_dir("a/fake"));
    write_temp_file("b/fake3", 0755, "b");
    expect_found(path_of(in_temp_dir("a"), in_temp_dir("b")), "/", in_temp_dir("b/fake3"));
}

static void test_what_cannot_be_executed_is_passed_over(void **state)
{
    write_temp_file("a/fake3", 0644, "a");
    write_temp_file("b/fake3/x", 0755, "a directory of that name");
    expect_none(path_of(in_temp_dir("a"), in_temp_dir("b")), "/");
    write_temp_file("c/fake3", 0755, "c");
    expect_found(path_of(in_temp_dir("a"), in_temp_dir("c")), "/", in_temp_dir("c/fake3"));
    assert_int_equal(symlink("/nowhere/fake3", (make_parents("d/x"), in_temp_dir("d/fake3"))), 0);
    expect_none(in_temp_dir("d"), "/");
}

static void test_links_are_kept(void **state)
{
    write_temp_file("real/fake3", 0755, "real");
    make_parents("venv/x");
    assert_int_equal(symlink("../real/fake3", in_temp_dir("venv/fake3")), 0);
    expect_found(in_temp_dir("venv"), "/", in_temp_dir("venv/fake3"));
}

static void test_relative_entries(void **state)
{
    write_temp_file("fake3", 0755, "here");
    write_temp_file("sub/fake3", 0755, "sub");
    expect_found("sub", temp_dir, in_temp_dir("sub/fake3"));
    expect_found("", temp_dir, in_temp_dir("fake3"));
    expect_found("/nowhere::/bin", temp_dir, in_temp_dir("fake3"));
    expect_found("/nowhere:", temp_dir, in_temp_dir("fake3"));
    assert_int_equal(chdir(temp_dir), 0); /* of this process, which says nothing about the job */
    expect_none("sub:", NULL);
    expect_none("sub", "/");
    assert_int_equal(chdir("/"), 0);
}

static void test_default_path(void **state)
{
    const struct language shell = {.name = "sh", .interpreters = {"sh"}};
    auto_free char *found = NULL;

    assert_int_equal(interpreter_find(&shell, NULL, NULL, &found), 0);
    assert_true(strcmp(found, "/usr/bin/sh") == 0 || strcmp(found, "/bin/sh") == 0);
    expect_none(NULL, "/");
}

static const struct {
    const char *file;
    int in_shim_dir;
} shim_paths[] = {
    {"/home/u/.pyenv/shims/python3", 1},
    {"/home/u/.rbenv/shims/ruby", 1},
    {"/home/u/.asdf/shims/node", 1},
    {"/home/u/.local/share/mise/shims/node", 1},
    {"/home/u/.volta/bin/node", 1},
    {"/shims/x", 1},
    {"/usr/bin/python3", 0},
    {"/home/u/.pyenv/versions/3.11.7/bin/python3", 0},
    {"/home/u/shims/bin/python3", 0},
    {"/home/u/myshims/python3", 0},
    {"/home/u/volta/bin/node", 0},
    {"/shims", 0},
    {"python3", 0},
};

static void test_shim_directories(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(shim_paths); i++)
        if (interpreter_in_shim_dir(shim_paths[i].file) != shim_paths[i].in_shim_dir)
            fail_msg("%s", shim_paths[i].file);
}

static void test_what_may_be_a_shim(void **state)
{
    assert_int_equal(symlink("/bin/sh", in_temp_dir("link")), 0);
    assert_true(interpreter_may_be_shim(write_temp_file("script", 0755, "#!/bin/sh\n")));
    assert_true(interpreter_may_be_shim(write_temp_file("shims/elf", 0755, "\177ELF")));
    assert_false(interpreter_may_be_shim(write_temp_file("bin/elf", 0755, "\177ELF")));
    assert_false(interpreter_may_be_shim(in_temp_dir("link")));
    assert_false(interpreter_may_be_shim(write_temp_file("bin/short", 0755, "#")));
    assert_false(interpreter_may_be_shim(write_temp_file("bin/empty", 0755, "")));
    assert_false(interpreter_may_be_shim(in_temp_dir("nothing")));
    assert_false(interpreter_may_be_shim(temp_dir));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_first_directory_wins),
        TEST(test_first_name_wins_over_first_directory),
        TEST(test_what_cannot_be_executed_is_passed_over),
        TEST(test_links_are_kept),
        TEST(test_relative_entries),
        TEST(test_default_path),
        TEST(test_shim_directories),
        TEST(test_what_may_be_a_shim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
