/* Looking behind shims: asked once and not twice, asked again when something has changed, and left
 * in charge where they do more than choose. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "code/code.h"
#include "code/interpreter.h"
#include "temp-dir.h"

#define PYTHON "/usr/bin/python3"
#define SHIM "manager/shims/python3"

static rein *context;
static char *path_before;

static void use_path(const char *dir)
{
    char path[8192];

    (void)snprintf(path, sizeof(path), "%s:/usr/bin:/bin", in_temp_dir(dir));
    if (setenv("PATH", path, 1) < 0)
        abort();
}

static int setup(void **state)
{
    struct rein_options options = {.size = sizeof(options)};

    if (temp_dir_setup(state) < 0)
        return -1;
    options.state_dir = in_temp_dir("state");
    make_parents("project/x");
    path_before = strdup(getenv("PATH"));
    use_path("manager/shims");
    if (setenv("HERE", temp_dir, 1) < 0)
        return -1;
    context = rein_open(&options, NULL);
    return context && path_before && chdir(in_temp_dir("project")) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    int r = setenv("PATH", path_before, 1);

    free(path_before);
    context = rein_free(context);
    return r < 0 || chdir("/") < 0 ? -1 : temp_dir_teardown(state);
}

/* Writes a script that counts its runs, does what lines say and becomes a program. */
static void write_shim(const char *name, const char *lines, const char *program)
{
    char text[8192];

    (void)snprintf(text, sizeof(text), "#!/bin/sh\necho run >>%s\n%s\nexec %s\n",
                   in_temp_dir("runs"), lines, program);
    write_temp_file(name, 0755, text);
}

/* How often shims have run. */
static int runs(void)
{
    FILE *file = fopen(in_temp_dir("runs"), "re");
    int n = 0, c;

    while (file && (c = fgetc(file)) != EOF)
        n += c == '\n';
    if (file)
        (void)fclose(file);
    return n;
}

static char *interpreter_of(const char *language)
{
    struct rein_spec spec = {.size = sizeof(spec)};
    char *got = NULL;
    auto_error struct rein_error *error = NULL;

    if (code_interpreter(context, language_find(language), &spec, &got, &error) < 0)
        fail_msg("%s", error->message);
    return got;
}

static void expect(const char *language, const char *expected, int expected_runs)
{
    auto_free char *got = interpreter_of(language);

    assert_string_equal(got, expected);
    assert_int_equal(runs(), expected_runs);
}

static void test_asked_once(void **state)
{
    write_shim(SHIM, "", PYTHON " \"$@\"");
    expect("python", PYTHON, 1);
    expect("python", PYTHON, 1);
    expect("py", PYTHON, 1);
}

static void test_asked_again_when_the_shim_changes(void **state)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};

    write_shim(SHIM, "", PYTHON " \"$@\"");
    expect("python", PYTHON, 1);
    assert_int_equal(utimensat(AT_FDCWD, in_temp_dir(SHIM), times, 0), 0);
    expect("python", PYTHON, 2);
    expect("python", PYTHON, 2);
}

static void test_asked_again_when_a_version_file_changes(void **state)
{
    write_shim(SHIM, "", PYTHON " \"$@\"");
    expect("python", PYTHON, 1);
    write_temp_file("project/.python-version", 0644, "3.11");
    expect("python", PYTHON, 2);
    expect("python", PYTHON, 2);
    write_temp_file("project/.python-version", 0644, "3.12");
    expect("python", PYTHON, 3);
    write_temp_file("manager/version", 0644, "3.12");
    expect("python", PYTHON, 4);
}

/* Two versions, chosen by directory: what is known of one says nothing about the other. */
static void test_each_directory_has_its_answer(void **state)
{
    make_parents("one/x");
    make_parents("two/x");
    assert_int_equal(symlink(PYTHON, in_temp_dir("one/python3")), 0);
    assert_int_equal(symlink(PYTHON, in_temp_dir("two/python3")), 0);
    write_shim(SHIM, "", "$HERE/$(cat .python-version)/python3 \"$@\"");
    write_temp_file("project/.python-version", 0644, "one");
    write_temp_file("project2/.python-version", 0644, "two");
    expect("python", in_temp_dir("one/python3"), 1);
    assert_int_equal(chdir(in_temp_dir("project2")), 0);
    expect("python", in_temp_dir("two/python3"), 2);
    assert_int_equal(chdir(in_temp_dir("project")), 0);
    expect("python", in_temp_dir("one/python3"), 2);
}

static void test_asked_again_when_the_interpreter_is_gone(void **state)
{
    make_parents("one/x");
    assert_int_equal(symlink(PYTHON, in_temp_dir("one/python3")), 0);
    write_shim(SHIM, "", "$HERE/one/python3 \"$@\"");
    expect("python", in_temp_dir("one/python3"), 1);
    assert_int_equal(unlink(in_temp_dir("one/python3")), 0);
    expect("python", in_temp_dir(SHIM), 2);
}

/* Some shims go by the directory of the file they run: where that says something else than the
 * working directory, the choice is theirs. */
static void test_file_elsewhere(void **state)
{
    struct rein_spec spec = {.size = sizeof(spec)};
    struct rein_code code = {.size = sizeof(code), .language = "python"};
    static const char *const files[] = {"../other/x.py", "../project/x.py"};
    static const char *const programs[] = {SHIM, "one/python3"};

    make_parents("one/x");
    assert_int_equal(symlink(PYTHON, in_temp_dir("one/python3")), 0);
    write_shim(SHIM, "", "$HERE/one/python3 \"$@\"");
    write_temp_file("other/x.py", 0644, "");
    write_temp_file("other/.python-version", 0644, "3");
    write_temp_file("project/x.py", 0644, "");
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct rein_result result = {.size = sizeof(result)};
        rein_job *job = NULL;

        code.file = files[i];
        assert_int_equal(rein_start_code(context, &code, &spec, &job, NULL), 0);
        assert_int_equal(rein_wait(job, -1, &result), 0);
        assert_string_equal(result.command[0], in_temp_dir(programs[i]));
        rein_result_done(&result);
        rein_job_free(job);
    }
}

/* What a manager's shim may do without being more than a choice. */
static void test_managers_bookkeeping(void **state)
{
    write_shim(SHIM, "export PYENV_VERSION=3.11 PYENV_DIR=/x PATH=/x/bin:$PATH; echo noise >&2",
               PYTHON " \"$@\"");
    expect("python", PYTHON, 1);
}

/* Outside of a manager's directory a script may stand for anything. */
static void test_plain_wrapper(void **state)
{
    write_shim("bin/python3", "", PYTHON " \"$@\"");
    use_path("bin");
    expect("python", PYTHON, 1);
    expect("python", PYTHON, 1);
}

static const struct {
    const char *dir;
    const char *lines;
    const char *program;
} in_charge[] = {
    {"manager/shims", "export EXTRA=1", PYTHON " \"$@\""},
    {"manager/shims", "unset HOME", PYTHON " \"$@\""},
    {"manager/shims", "export HOME=/x", PYTHON " \"$@\""},
    {"manager/shims", "", PYTHON " -O \"$@\""},
    {"manager/shims", "", PYTHON " \"$@\" more"},
    {"manager/shims", "echo noise", PYTHON " \"$@\""},
    {"manager/shims", "exit 3", "true"},
    {"manager/shims", "exit 0", "true"},
    {"manager/shims", "", "echo " PYTHON},
    {"manager/shims", "", "printf '" PYTHON "\\0x\\0'"},
    {"manager/shims", "", "printf 'python3\\0'"},
    {"bin", "export PATH=/x/bin:$PATH", PYTHON " \"$@\""},
};

/* Wrappers that do more stay in charge; and they are not asked again and again for that. */
static void test_more_than_a_choice(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(in_charge); i++) {
        char name[256];

        (void)snprintf(name, sizeof(name), "%s/python3", in_charge[i].dir);
        use_path(in_charge[i].dir);
        (void)unlink(in_temp_dir("runs"));
        write_shim(name, in_charge[i].lines, in_charge[i].program);
        expect("python", in_temp_dir(name), 1);
        expect("python", in_temp_dir(name), 1);
    }
}

/* What may go well the next time is not remembered. */
static void test_accidents_are_forgotten(void **state)
{
    write_shim(SHIM, "kill -9 $$", PYTHON);
    expect("python", in_temp_dir(SHIM), 1);
    expect("python", in_temp_dir(SHIM), 2);
}

/* Without a memory asking would double the cost instead of saving it. */
static void test_no_place_to_remember(void **state)
{
    write_temp_file("state", 0600, "");
    write_shim(SHIM, "", PYTHON " \"$@\"");
    expect("python", in_temp_dir(SHIM), 0);
}

static void test_real_interpreters_are_left_alone(void **state)
{
    make_parents("venv/bin/x");
    assert_int_equal(symlink(PYTHON, in_temp_dir("venv/bin/python3")), 0);
    use_path("venv/bin");
    expect("python", in_temp_dir("venv/bin/python3"), 0);
    write_shim("manager/shims/bash", "", "/bin/bash \"$@\"");
    use_path("manager/shims");
    expect("bash", in_temp_dir("manager/shims/bash"), 0); /* nobody manages versions of bash */
}

static int same_file(const char *a, const char *b)
{
    struct stat st_a, st_b;

    return stat(a, &st_a) == 0 && stat(b, &st_b) == 0 && st_a.st_ino == st_b.st_ino &&
           st_a.st_dev == st_b.st_dev;
}

/* The probe of every language that is installed here. Some interpreters know themselves by another
 * name than they were called by. */
static void test_probes(void **state)
{
    int tried = 0;

    for (size_t i = 0; i < language_count(); i++) {
        const struct language *l = language_at(i);
        auto_free char *plain = NULL;
        auto_free char *got = NULL;
        char name[256], program[4096 + 8];

        if (!l->probe[0] || interpreter_find(l, "/usr/bin:/bin", NULL, &plain) < 0)
            continue;
        (void)snprintf(name, sizeof(name), "manager/shims/%s", l->interpreters[0]);
        (void)snprintf(program, sizeof(program), "%s \"$@\"", plain);
        write_shim(name, "", program);
        got = interpreter_of(l->name);
        assert_true(same_file(got, plain));
        expect(l->name, got, ++tried); /* the answer is remembered */
    }
    assert_true(tried > 0);
}

static void test_not_found(void **state)
{
    struct rein_spec spec = {.size = sizeof(spec)};
    auto_error struct rein_error *error = NULL;
    char *got = NULL;

    assert_int_equal(setenv("PATH", in_temp_dir("nothing"), 1), 0);
    assert_int_equal(code_interpreter(context, language_find("powershell"), &spec, &got, &error),
                     -ENOENT);
    assert_null(got);
    assert_string_equal(error->code, "command_not_found");
    assert_non_null(strstr(error->message, "pwsh"));
    assert_non_null(strstr(error->hint, "PowerShell"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_asked_once),
        TEST(test_asked_again_when_the_shim_changes),
        TEST(test_asked_again_when_a_version_file_changes),
        TEST(test_each_directory_has_its_answer),
        TEST(test_asked_again_when_the_interpreter_is_gone),
        TEST(test_file_elsewhere),
        TEST(test_managers_bookkeeping),
        TEST(test_plain_wrapper),
        TEST(test_more_than_a_choice),
        TEST(test_accidents_are_forgotten),
        TEST(test_no_place_to_remember),
        TEST(test_real_interpreters_are_left_alone),
        TEST(test_probes),
        TEST(test_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
