/* Private script files: modes, locks, what a sweep takes and leaves, the ways round a bad place. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "code/script.h"
#include "temp-dir.h"

static rein *context;
static const struct language *python;

/* A store of its own below the temporary directory, and $TMPDIR, which stays empty if all is well.
 */
static int setup(void **state)
{
    struct rein_options options = {.size = sizeof(options)};

    if (temp_dir_setup(state) < 0)
        return -1;
    options.state_dir = in_temp_dir("state");
    make_parents("tmp/x");
    if (setenv("TMPDIR", in_temp_dir("tmp"), 1) < 0)
        return -1;
    python = language_find("python");
    context = rein_open(&options, NULL);
    return context ? 0 : -1;
}

static int teardown(void **state)
{
    context = rein_free(context);
    return temp_dir_teardown(state);
}

static int exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

/* How many entries a directory has. */
static int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    int n = 0;

    while (stream && readdir(stream))
        n++;
    if (stream)
        (void)closedir(stream);
    return n - 2;
}

static void expect_text(const char *path, const char *expected, size_t size)
{
    auto_free char *text = malloc(size + 2);
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size + 1, file), size);
    assert_memory_equal(text, expected, size);
    (void)fclose(file);
}

static struct script create(const char *text)
{
    struct script script = SCRIPT_UNSET;
    auto_error struct rein_error *error = NULL;

    if (script_create(context, python, text, strlen(text), &script, &error) < 0)
        fail_msg("%s", error->message);
    return script;
}

/* True when somebody has locked the directory. */
static int is_locked(const char *dir)
{
    auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void sweep(void)
{
    auto_close int fd = open(in_temp_dir("state/code"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    script_sweep(fd);
}

/* ---- making and discarding ---------------------------------------------------------------- */

static void test_create(void **state)
{
    struct script script = create("print(1)\n");

    assert_string_equal(strrchr(script.file, '/'), "/script.ai.py");
    assert_memory_equal(script.file, script.dir, strlen(script.dir));
    assert_memory_equal(script.dir, in_temp_dir("state/code/"), strlen(temp_dir) + 12);
    assert_int_equal(mode_of(script.dir), 0700);
    assert_int_equal(mode_of(script.file), 0600);
    assert_int_equal(mode_of(in_temp_dir("state/code")), 0700);
    assert_int_equal(fcntl(script.dir_fd, F_GETFD), FD_CLOEXEC);
    assert_true(is_locked(script.dir));
    expect_text(script.file, "print(1)\n", 9);
    assert_int_equal(count_entries(in_temp_dir("tmp")), 0);
    script_discard(&script);
    assert_int_equal(script.dir_fd, -EBADF);
    assert_null(script.dir);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
    script_discard(&script); /* an unset one is fine */
}

static void test_umask_does_not_open_it(void **state)
{
    mode_t before = umask(0);
    struct script script = create("x");

    (void)umask(before);
    assert_int_equal(mode_of(script.dir), 0700);
    assert_int_equal(mode_of(script.file), 0600);
    script_discard(&script);
}

static void test_empty_and_nul(void **state)
{
    struct script script = SCRIPT_UNSET;

    assert_int_equal(script_create(context, python, "", 0, &script, NULL), 0);
    expect_text(script.file, "", 0);
    script_discard(&script);
    assert_int_equal(script_create(context, python, "a\0b", 3, &script, NULL), 0);
    expect_text(script.file, "a\0b", 3);
    script_discard(&script);
}

static void test_large(void **state)
{
    size_t size = 1 << 20;
    auto_free char *text = malloc(size);
    struct script script = SCRIPT_UNSET;

    assert_non_null(text);
    memset(text, '#', size);
    assert_int_equal(script_create(context, python, text, size, &script, NULL), 0);
    expect_text(script.file, text, size);
    script_discard(&script);
}

static void test_too_large(void **state)
{
    struct script script = SCRIPT_UNSET;
    auto_error struct rein_error *error = NULL;

    assert_int_equal(script_create(context, python, "x", CODE_SIZE_MAX + 1, &script, &error),
                     -E2BIG);
    assert_string_equal(error->code, "limit_exceeded");
    assert_false(exists(in_temp_dir("state")));
}

static void test_companion(void **state)
{
    struct script script = SCRIPT_UNSET;
    char path[4096];

    assert_int_equal(script_create(context, language_find("node"), "1", 1, &script, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/package.json", script.dir);
    expect_text(path, "{}\n", 3);
    script_discard(&script);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
}

static void test_done_leaves_the_file(void **state)
{
    struct script script = create("x");
    auto_free char *file = strdup(script.file);

    script_done(&script);
    assert_true(exists(file));
    script_done(&script);
}

static void test_discard_takes_what_the_job_wrote(void **state)
{
    struct script script = create("x");
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/sub", script.dir);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/sub/link", script.dir);
    write_temp_file("outside/kept", 0644, "kept");
    assert_int_equal(symlink(in_temp_dir("outside"), path), 0);
    script_discard(&script);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
    assert_true(exists(in_temp_dir("outside/kept")));
}

/* ---- sweeping ----------------------------------------------------------------------------- */

static void test_sweep_leaves_what_is_locked(void **state)
{
    struct script script = create("x");

    sweep();
    assert_true(exists(script.file));
    script_discard(&script);
}

static void test_create_sweeps_what_a_crash_left(void **state)
{
    struct script crashed = create("x");
    struct script next;
    auto_free char *dir = strdup(crashed.dir);

    write_temp_file("outside/kept", 0644, "kept");
    assert_int_equal(symlinkat(in_temp_dir("outside"), crashed.dir_fd, "link"), 0);
    assert_int_equal(mkdirat(crashed.dir_fd, "deep", 0700), 0);
    assert_int_equal(mkdirat(crashed.dir_fd, "deep/deeper", 0700), 0);
    script_done(&crashed); /* as the end of its process */
    next = create("y");
    assert_false(exists(dir));
    assert_true(exists(next.file));
    assert_true(exists(in_temp_dir("outside/kept")));
    script_discard(&next);
}

/* The lock belongs to the open directory and not to a process: a child that inherits it holds it.
 */
static void test_lock_outlives_the_maker(void **state)
{
    struct script script = create("x");
    auto_close int copy = fcntl(script.dir_fd, F_DUPFD_CLOEXEC, 3);
    auto_free char *file = strdup(script.file);

    script_done(&script);
    sweep();
    assert_true(exists(file));
    copy = close_fd(copy);
    sweep();
    assert_false(exists(file));
}

static void test_sweep_takes_nothing_else(void **state)
{
    write_temp_file("state/code/shims", 0600, "");
    write_temp_file("state/code/0123456/x", 0600, ""); /* not eight digits */
    write_temp_file("state/code/0123456789/x", 0600, "");
    write_temp_file("state/code/0123456G/x", 0600, "");
    write_temp_file("state/code/01234567", 0600, ""); /* no directory */
    write_temp_file("outside/x", 0600, "");
    assert_int_equal(symlink(in_temp_dir("outside"), in_temp_dir("state/code/deadbeef")), 0);
    sweep();
    assert_int_equal(count_entries(in_temp_dir("state/code")), 6);
    assert_true(exists(in_temp_dir("state/code/0123456/x")));
    assert_true(exists(in_temp_dir("outside/x")));
}

static void test_sweep_is_bounded(void **state)
{
    char name[64];
    int before;

    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof(name), "state/code/%08x/x", (unsigned)i);
        write_temp_file(name, 0600, "");
    }
    sweep();
    before = count_entries(in_temp_dir("state/code"));
    assert_in_range(before, 1, 199);
    for (int i = 0; i < 10; i++)
        sweep();
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
}

/* ---- places ------------------------------------------------------------------------------- */

static void expect_in_tmp(const struct script *script)
{
    size_t n = strlen(in_temp_dir("tmp/rein-code-"));

    assert_memory_equal(script->dir, in_temp_dir("tmp/rein-code-"), n);
    assert_int_equal(mode_of(script->dir), 0700);
    assert_int_equal(mode_of(script->file), 0600);
    assert_true(is_locked(script->dir));
}

static void test_state_dir_cannot_be_made(void **state)
{
    struct script script;

    write_temp_file("state", 0600, "a file where the directory should be");
    script = create("x");
    expect_in_tmp(&script);
    script_discard(&script);
    assert_int_equal(count_entries(in_temp_dir("tmp")), 0);
}

static void test_code_dir_is_a_link(void **state)
{
    struct script script;

    make_parents("state/x");
    make_parents("elsewhere/x");
    assert_int_equal(symlink(in_temp_dir("elsewhere"), in_temp_dir("state/code")), 0);
    script = create("x");
    expect_in_tmp(&script);
    assert_int_equal(count_entries(in_temp_dir("elsewhere")), 0);
    script_discard(&script);
}

static void test_code_dir_is_open_to_others(void **state)
{
    struct script script;

    make_parents("state/code/x");
    assert_int_equal(chmod(in_temp_dir("state/code"), 0777), 0);
    script = create("x");
    expect_in_tmp(&script);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
    script_discard(&script);
}

/* A file size limit stands for a full disk: nothing half-written stays behind. */
static void fill_up_in_child(void)
{
    struct rlimit limit = {.rlim_cur = 4, .rlim_max = 4};
    struct script script = SCRIPT_UNSET;
    struct rein_error *error = NULL;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        _exit(3);
    if (script_create(context, python, "print(1)", 8, &script, &error) != -EFBIG)
        _exit(4);
    if (strcmp(error->code, "spawn_failed") != 0 || !error->hint || script.dir)
        _exit(5);
    rein_error_free(error);
    _exit(0);
}

static void test_disk_is_full(void **state)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        fill_up_in_child();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
    assert_int_equal(count_entries(in_temp_dir("tmp")), 0);
}

static void test_relative_tmpdir_is_passed_over(void **state)
{
    struct script script;

    write_temp_file("state", 0600, "");
    assert_int_equal(setenv("TMPDIR", "tmp", 1), 0);
    assert_int_equal(chdir(temp_dir), 0);
    script = create("x");
    assert_int_equal(chdir("/"), 0);
    assert_memory_equal(script.dir, "/tmp/rein-code-", 15);
    script_discard(&script);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_create),
        TEST(test_umask_does_not_open_it),
        TEST(test_empty_and_nul),
        TEST(test_large),
        TEST(test_too_large),
        TEST(test_companion),
        TEST(test_done_leaves_the_file),
        TEST(test_discard_takes_what_the_job_wrote),
        TEST(test_sweep_leaves_what_is_locked),
        TEST(test_create_sweeps_what_a_crash_left),
        TEST(test_lock_outlives_the_maker),
        TEST(test_sweep_takes_nothing_else),
        TEST(test_sweep_is_bounded),
        TEST(test_state_dir_cannot_be_made),
        TEST(test_code_dir_is_a_link),
        TEST(test_code_dir_is_open_to_others),
        TEST(test_disk_is_full),
        TEST(test_relative_tmpdir_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
