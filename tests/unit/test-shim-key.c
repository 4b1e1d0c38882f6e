/* The key of a shim's answer: it changes with all that the answer depends on, and with nothing
 * else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "code/shim-key.h"
#include "temp-dir.h"

/* A manager's directory, a home and a project in it, and a working directory in the project. */
struct world {
    char shim[256];
    char cwd[256];
    const char *env[8];
};

static struct world new_world(void)
{
    static char home[256];
    struct world w = {0};

    (void)snprintf(w.shim, sizeof(w.shim), "%s",
                   write_temp_file("manager/shims/python3", 0755, "#!"));
    make_parents("manager/versions/x");
    make_parents("home/project/src/x");
    (void)snprintf(w.cwd, sizeof(w.cwd), "%s", in_temp_dir("home/project/src"));
    (void)snprintf(home, sizeof(home), "HOME=%s", in_temp_dir("home"));
    w.env[0] = home;
    w.env[1] = "PATH=/bin";
    w.env[2] = "EDITOR=vi";
    return w;
}

static char *key_of(const struct world *w)
{
    const struct interpreter_place place = {.env = w->env, .cwd = w->cwd};
    auto_buf struct buf key = {0};

    assert_int_equal(shim_key(language_find("python"), w->shim, &place, &key), 0);
    return buf_take(&key);
}

/* Compares with the key before, which it frees, and gives the new one. */
static char *expect_changed(const struct world *w, char *take_before, int changed, const char *by)
{
    auto_free char *before = take_before;
    char *key = key_of(w);

    if ((strcmp(before, key) != 0) != changed)
        fail_msg("%s: the key %s", by, changed ? "is the same" : "has changed");
    return key;
}

static void test_files_count(void **state)
{
    static const char *const files[] = {
        "home/project/src/.python-version",
        "home/project/.python-version",
        "home/.python-version",
        "home/project/.tool-versions",
        "home/.tool-versions",
        "home/project/mise.toml",
        "home/project/.mise.toml",
        "home/project/src/mise.local.toml",
        "home/.config/mise/config.toml",
        "manager/version",
        "manager/versions/3.12.1/x",
        "manager/shims/python3",
    };
    struct world w = new_world();
    char *key = key_of(&w);

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        write_temp_file(files[i], 0755, "one");
        key = expect_changed(&w, key, 1, files[i]);
        write_temp_file(files[i], 0755, "other");
        /* A version's own contents do not choose it. */
        key = expect_changed(&w, key, !strstr(files[i], "versions/"), files[i]);
        if (!strstr(files[i], "versions/") && !strstr(files[i], "shims/")) {
            assert_int_equal(unlink(in_temp_dir(files[i])), 0);
            key = expect_changed(&w, key, 1, files[i]);
        }
    }
    free(key);
}

static void test_time_alone_counts(void **state)
{
    struct world w = new_world();
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1, .tv_nsec = 1}};
    char *key = key_of(&w);

    assert_int_equal(utimensat(AT_FDCWD, w.shim, times, 0), 0);
    key = expect_changed(&w, key, 1, "time");
    times[1].tv_nsec = 2;
    assert_int_equal(utimensat(AT_FDCWD, w.shim, times, 0), 0);
    key = expect_changed(&w, key, 1, "a nanosecond");
    free(key);
}

static void test_variables_count(void **state)
{
    static const struct {
        const char *entry;
        int counts;
    } variables[] = {
        {"PYENV_VERSION=3.12", 1}, {"PYENV_VERSION=3.11", 1}, {"ASDF_PYTHON_VERSION=3", 1},
        {"MISE_ENV=x", 1},         {"XDG_CONFIG_HOME=/x", 1}, {"COLUMNS=80", 0},
        {"COLUMNS=81", 0},         {"PYTHONPATH=/x", 0},      {NULL, 0},
    };
    struct world w = new_world();
    char *key = key_of(&w);
    int counted = 0;

    for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
        w.env[3] = variables[i].entry;
        key = expect_changed(&w, key, variables[i].counts || counted,
                             variables[i].entry ? variables[i].entry : "none");
        counted = variables[i].counts;
    }
    w.env[1] = "PATH=/usr/bin";
    key = expect_changed(&w, key, 1, "PATH");
    free(key);
}

static void test_directory_counts(void **state)
{
    struct world w = new_world();
    char *key = key_of(&w);

    write_temp_file("home/project/src/main.py", 0644, "");
    key = expect_changed(&w, key, 0, "other files");
    *strrchr(w.cwd, '/') = '\0';
    key = expect_changed(&w, key, 1, "directory");
    (void)snprintf(w.cwd, sizeof(w.cwd), "/");
    key = expect_changed(&w, key, 1, "the root directory");
    free(key);
}

/* Two different worlds must never give one text. */
static void test_newline_is_no_key(void **state)
{
    struct world w = new_world();
    const struct interpreter_place place = {.env = w.env, .cwd = w.cwd};
    const struct interpreter_place odd_place = {.env = w.env, .cwd = "/a\nenv b"};
    auto_buf struct buf key = {0};

    assert_int_equal(shim_key(language_find("python"), w.shim, &odd_place, &key), -EINVAL);
    buf_done(&key);
    assert_int_equal(shim_key(language_find("python"), "/a\nb", &place, &key), -EINVAL);
    buf_done(&key);
    w.env[3] = "PYENV_VERSION=3\nenv b";
    assert_int_equal(shim_key(language_find("python"), w.shim, &place, &key), -EINVAL);
    buf_done(&key);
    w.env[3] = "EDITOR=vi\n";
    assert_int_equal(shim_key(language_find("python"), w.shim, &place, &key), 0);
}

/* An empty line would end the entry in the memory of shims. */
static void test_no_empty_line(void **state)
{
    struct world w = new_world();
    auto_free char *key = NULL;

    w.env[3] = "PYENV_VERSION=";
    w.env[4] = "PYENV_DIR= ";
    key = key_of(&w);
    assert_null(strstr(key, "\n\n"));
    assert_int_equal(key[strlen(key) - 1], '\n');
}

static int same_versions(const struct world *w, const char *dir)
{
    const struct interpreter_place place = {.env = w->env, .cwd = w->cwd};

    return shim_same_versions(language_find("python"), &place, in_temp_dir(dir));
}

static void test_versions_from_another_directory(void **state)
{
    struct world w = new_world();

    make_parents("home/other/x");
    assert_true(same_versions(&w, "home/other"));
    write_temp_file("home/.python-version", 0644, "3.11");
    assert_true(same_versions(&w, "home/other")); /* both go by the same file */
    write_temp_file("home/other/.python-version", 0644, "3.12");
    assert_false(same_versions(&w, "home/other"));
    assert_true(same_versions(&w, "home/project"));
    write_temp_file("home/project/.python-version", 0644, "3.12");
    assert_true(same_versions(&w, "home/project"));
    assert_false(same_versions(&w, "home"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_count),
        TEST(test_time_alone_counts),
        TEST(test_variables_count),
        TEST(test_directory_counts),
        TEST(test_newline_is_no_key),
        TEST(test_no_empty_line),
        TEST(test_versions_from_another_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
