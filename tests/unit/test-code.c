/* Running code: from a text and from a file, in every language that is installed here. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "code/interpreter.h"
#include "code/languages.h"
#include "temp-dir.h"

#define SYSTEM_PATH "/usr/bin:/bin" /* no shims in it */
#define DEADLINE_MS 20000

static rein *context;

static int setup(void **state)
{
    struct rein_options options = {.size = sizeof(options)};

    if (temp_dir_setup(state) < 0)
        return -1;
    options.state_dir = in_temp_dir("state");
    make_parents("work/x");
    context = rein_open(&options, NULL);
    return context && chdir(in_temp_dir("work")) == 0 && setenv("PATH", SYSTEM_PATH, 1) == 0 ? 0
                                                                                             : -1;
}

static int teardown(void **state)
{
    context = rein_free(context);
    return chdir("/") < 0 ? -1 : temp_dir_teardown(state);
}

static int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    int n = 0;

    while (stream && (entry = readdir(stream)))
        n += entry->d_name[0] != '.';
    if (stream)
        (void)closedir(stream);
    return n;
}

static struct rein_code new_code(const char *language, const char *text)
{
    return (struct rein_code){.size = sizeof(struct rein_code),
                              .language = language,
                              .text = text,
                              .text_size = text ? strlen(text) : 0};
}

static struct rein_spec new_spec(void)
{
    return (struct rein_spec){.size = sizeof(struct rein_spec),
                              .timeout_ns = DEADLINE_MS * NSEC_PER_MSEC};
}

/* Runs code to its end and gives its output, at most a megabyte. */
static char *run_spec(const struct rein_code *code, const struct rein_spec *spec, int exit_code)
{
    auto_buf struct buf output = {0};
    auto_error struct rein_error *error = NULL;
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    char piece[4096];
    ssize_t n;

    if (rein_start_code(context, code, spec, &job, &error) < 0)
        fail_msg("%s", error->message);
    while ((n = rein_read(job, piece, sizeof(piece), -1, NULL)) > 0 && output.len < MIB)
        buf_add(&output, piece, (size_t)n);
    assert_int_equal(n, 0);
    assert_int_equal(rein_wait(job, -1, &result), 0);
    rein_job_free(job);
    if (result.reason != REIN_REASON_EXIT || result.exit_code != exit_code)
        fail_msg("%s, exit code %d: %s", rein_reason_name(result.reason), result.exit_code,
                 output.data);
    rein_result_done(&result);
    return buf_take(&output);
}

static void expect(const struct rein_code *code, const char *output)
{
    const struct rein_spec spec = new_spec();
    auto_free char *got = run_spec(code, &spec, 0);

    assert_string_equal(got, output);
}

static void expect_refused(const struct rein_code *code,
                           const struct rein_spec *spec,
                           int err,
                           const char *error_code)
{
    auto_error struct rein_error *error = NULL;
    rein_job *job = NULL;

    assert_int_equal(rein_start_code(context, code, spec, &job, &error), err);
    assert_null(job);
    assert_string_equal(error->code, error_code);
    assert_int_equal(rein_start_code(context, code, spec, &job, NULL), err);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
}

/* ---- languages ---------------------------------------------------------------------------- */

/* A program that prints its first argument. */
static const struct {
    const char *language;
    const char *text;
} programs[] = {
    {"python", "import sys\nprint(sys.argv[1])\n"},
    {"bash", "echo \"${BASH_VERSION:+$1}\"\n"},
    {"sh", "echo \"$1\"\n"},
    {"node", "console.log(process.argv[2])\n"},
    {"perl", "print \"$ARGV[0]\\n\";\n"},
    {"ruby", "puts ARGV[0]\n"},
    {"powershell", "Write-Output $args[0]\n"},
};

static void test_every_language(void **state)
{
    static const char *const args[] = {"one 'word'", NULL};

    assert_int_equal(ARRAY_SIZE(programs), language_count());
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        struct rein_code code = new_code(programs[i].language, programs[i].text);
        const struct rein_spec spec = new_spec();
        auto_free char *found = NULL;

        code.args = args;
        if (interpreter_find(language_find(code.language), SYSTEM_PATH, NULL, &found) == 0)
            expect(&code, "one 'word'\n");
        else
            expect_refused(&code, &spec, -ENOENT, "command_not_found");
    }
}

static void test_interpreter_of_the_jobs_path(void **state)
{
    static const char *const env[] = {"PATH=", NULL};
    struct rein_code code = new_code("bash", "echo not mine");
    struct rein_spec spec = new_spec();
    auto_free char *output = NULL;

    write_temp_file("work/bash", 0755, "#!/bin/sh\necho mine\n");
    spec.env = env; /* an empty PATH is the working directory */
    output = run_spec(&code, &spec, 0);
    assert_string_equal(output, "mine\n");
    spec.cwd = "/";
    expect_refused(&code, &spec, -ENOENT, "command_not_found");
}

/* ---- text --------------------------------------------------------------------------------- */

static void test_private_file_is_gone(void **state)
{
    struct rein_code code = new_code("sh", "test -f \"$0\" && echo \"$0\"");
    const struct rein_spec spec = new_spec();
    auto_free char *file = run_spec(&code, &spec, 0);

    assert_memory_equal(file, in_temp_dir("state/code/"), strlen(in_temp_dir("state/code/")));
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
}

static void test_large_text(void **state)
{
    size_t size = MIB;
    auto_free char *text = malloc(size + 16);
    struct rein_code code;

    assert_non_null(text);
    memset(text, '#', size);
    (void)strcpy(text + size, "\necho ran\n");
    code = new_code("bash", text);
    expect(&code, "ran\n");
}

static void test_text_with_a_size(void **state)
{
    struct rein_code code = new_code("sh", "echo one; echo two");

    code.text_size = strlen("echo one");
    expect(&code, "one\n");
    code.text_size = 0;
    expect(&code, "");
}

static void test_nul_in_text(void **state)
{
    struct rein_code code = new_code("python", "print(1)");
    const struct rein_spec spec = new_spec();

    code.text = "print('a\0b')";
    code.text_size = 12;
    expect_refused(&code, &spec, -EINVAL, "bad_request");
    code = new_code("perl", NULL);
    code.text = "print length 'a\0b'";
    code.text_size = 18;
    expect(&code, "3");
}

static void test_working_directory_is_importable(void **state)
{
    static const char *const env[] = {"PYTHONPATH=extra", NULL};
    struct rein_code code = new_code("python", "import here, there\nprint(here.x, there.x)");
    struct rein_spec spec = new_spec();
    auto_free char *output = NULL;

    write_temp_file("work/sub/here.py", 0644, "x = 1\n");
    write_temp_file("work/sub/extra/here.py", 0644, "x = 2\n");
    write_temp_file("work/sub/extra/there.py", 0644, "x = 3\n");
    spec.cwd = "sub";
    spec.env = env;
    output = run_spec(&code, &spec, 0);
    assert_string_equal(output, "1 3\n");
}

static void test_working_directory_with_a_colon(void **state)
{
    struct rein_code code =
        new_code("python", "import os; os.chdir('/'); import here; print(here.x)");
    struct rein_spec spec = new_spec();
    auto_free char *output = NULL;

    write_temp_file("work/a:b/here.py", 0644, "x = 1\n");
    spec.cwd = "a:b";
    output = run_spec(&code, &spec, 0);
    assert_string_equal(output, "1\n");
}

static void test_tracebacks_have_the_texts_lines(void **state)
{
    struct rein_code code = new_code("python", "\n\nraise OSError('third line')\n");
    const struct rein_spec spec = new_spec();
    auto_free char *output = run_spec(&code, &spec, 1);

    assert_non_null(strstr(output, "script.ai.py\", line 3,"));
}

/* ---- file --------------------------------------------------------------------------------- */

static void test_file_as_it_is(void **state)
{
    struct rein_code code = new_code("python", NULL);

    write_temp_file("work/sub/main.py", 0644,
                    "import os, sys, beside\n"
                    "print(sys.argv, os.path.basename(sys.path[0]), 'PYTHONPATH' in os.environ)\n");
    write_temp_file("work/sub/beside.py", 0644, "");
    code.file = "sub/main.py";
    expect(&code, "['sub/main.py'] sub False\n");
    assert_int_equal(count_entries(in_temp_dir("state/code")), 0);
}

static void test_file_named_like_an_option(void **state)
{
    struct rein_code code = new_code("python", NULL);

    write_temp_file("work/-c", 0644, "print('ran')\n");
    code.file = "-c";
    expect(&code, "ran\n");
}

/* A relative name is the caller's, whatever directory the job gets. */
static void test_file_and_directory(void **state)
{
    struct rein_code code = new_code("sh", NULL);
    struct rein_spec spec = new_spec();
    auto_free char *output = NULL;

    write_temp_file("work/where.sh", 0644, "pwd\n");
    code.file = "where.sh";
    spec.cwd = "/usr";
    output = run_spec(&code, &spec, 0);
    assert_string_equal(output, "/usr\n");
}

static void test_missing_file(void **state)
{
    struct rein_code code = new_code("sh", NULL);
    struct rein_spec spec = new_spec();

    code.file = "nothing.sh";
    expect_refused(&code, &spec, -ENOENT, "bad_request");
    write_temp_file("elsewhere/nothing.sh", 0644, "echo ran\n");
    spec.cwd = in_temp_dir("elsewhere");
    expect_refused(&code, &spec, -ENOENT, "bad_request");
}

/* Some interpreters run directories: that is theirs to say. */
static void test_directory_as_file(void **state)
{
    struct rein_code code = new_code("python", NULL);

    write_temp_file("work/package/__main__.py", 0644, "print('ran')\n");
    code.file = "package";
    expect(&code, "ran\n");
}

/* ---- start-up files ----------------------------------------------------------------------- */

static void test_shells_read_no_startup_files(void **state)
{
    static const char *const shells[] = {"bash", "sh"};
    const char *rc = write_temp_file("home/.bashrc", 0644, "echo started\n");

    write_temp_file("home/.bash_profile", 0644, "echo started\n");
    write_temp_file("home/.profile", 0644, "echo started\n");
    assert_int_equal(setenv("HOME", in_temp_dir("home"), 1), 0);
    assert_int_equal(setenv("BASH_ENV", rc, 1), 0);
    assert_int_equal(setenv("ENV", rc, 1), 0);
    for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
        struct rein_code code = new_code(shells[i], "echo ok");

        expect(&code, "ok\n");
    }
    assert_int_equal(unsetenv("BASH_ENV"), 0);
    assert_int_equal(unsetenv("ENV"), 0);
}

static void test_asked_startup_file_is_read(void **state)
{
    char entry[4096];
    const char *const env[] = {entry, NULL};
    struct rein_code code = new_code("bash", "echo ok");
    struct rein_spec spec = new_spec();
    auto_free char *output = NULL;

    (void)snprintf(entry, sizeof(entry), "BASH_ENV=%s",
                   write_temp_file("rc", 0644, "echo started\n"));
    spec.env = env;
    output = run_spec(&code, &spec, 0);
    assert_string_equal(output, "started\nok\n");
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void test_bad_requests(void **state)
{
    static const char *const argv[] = {"true", NULL};
    const struct rein_code good = new_code("sh", "echo ok");
    const struct rein_spec good_spec = new_spec();
    struct rein_code code;
    struct rein_spec spec;

    code = good;
    code.language = "cobol";
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    code.language = NULL;
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    code = good;
    code.file = "x";
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    code.text = NULL;
    code.file = NULL;
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    code.file = "";
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    code = good;
    code.size = 0;
    expect_refused(&code, &good_spec, -EINVAL, "bad_request");
    expect_refused(NULL, &good_spec, -EINVAL, "bad_request");
    expect_refused(&good, NULL, -EINVAL, "bad_request");
    spec = good_spec;
    spec.argv = argv;
    expect_refused(&good, &spec, -EINVAL, "bad_request");
    spec = good_spec;
    spec.flags = REIN_SPEC_SHELL;
    expect_refused(&good, &spec, -EINVAL, "bad_request");
    spec = good_spec;
    spec.size = 0;
    expect_refused(&good, &spec, -EINVAL, "bad_request");
}

/* What the job layer refuses leaves no private file. */
static void test_refused_by_the_job_layer(void **state)
{
    const struct rein_code code = new_code("sh", "echo ok");
    struct rein_spec spec = new_spec();

    spec.cwd = "/nope";
    expect_refused(&code, &spec, -ENOENT, "bad_cwd");
    spec = new_spec();
    spec.timeout_ns = -1;
    expect_refused(&code, &spec, -EINVAL, "bad_request");
}

/* Counted without a context, which may keep a few for later. */
static void test_no_descriptor_is_left(void **state)
{
    const struct rein_options options = {.size = sizeof(options),
                                         .state_dir = in_temp_dir("state")};
    struct rein_code code = new_code("sh", "echo ok");
    struct rein_spec spec = new_spec();
    int before;

    context = rein_free(context);
    before = count_entries("/proc/self/fd");
    context = rein_open(&options, NULL);
    assert_non_null(context);
    expect(&code, "ok\n");
    spec.cwd = "/nope";
    expect_refused(&code, &spec, -ENOENT, "bad_cwd");
    context = rein_free(context);
    assert_int_equal(count_entries("/proc/self/fd"), before);
}

/* ---- the caller's end --------------------------------------------------------------------- */

/* Starts code that never ends, says so, and never ends itself. */
static void run_for_ever(int ready_fd)
{
    struct rein_options options = {.size = sizeof(options), .state_dir = in_temp_dir("state")};
    struct rein_code code = new_code("sh", "echo running; while :; do sleep 98798; done");
    const struct rein_spec spec = new_spec();
    rein *own = rein_open(&options, NULL);
    rein_job *job;
    char c;

    if (own && rein_start_code(own, &code, &spec, &job, NULL) == 0 &&
        rein_read(job, &c, 1, -1, NULL) == 1 && write(ready_fd, &c, 1) == 1)
        for (;;)
            (void)pause();
    _exit(1);
}

/* Waits until the directory has no entries; fd tells when one goes. */
static void wait_until_empty(int inotify_fd, const char *dir)
{
    struct pollfd pfd = {.fd = inotify_fd, .events = POLLIN};
    char events[4096];

    while (count_entries(dir) > 0) {
        assert_int_equal(poll(&pfd, 1, DEADLINE_MS), 1);
        assert_true(read(inotify_fd, events, sizeof(events)) > 0);
    }
}

static void test_file_is_gone_when_the_caller_was_killed(void **state)
{
    auto_close int inotify_fd = inotify_init1(IN_CLOEXEC);
    int ready[2], status;
    char c;
    pid_t pid;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0)
        run_for_ever(ready[1]);
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    (void)close(ready[0]);
    assert_int_equal(count_entries(in_temp_dir("state/code")), 1);
    assert_true(inotify_add_watch(inotify_fd, in_temp_dir("state/code"), IN_DELETE) >= 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    wait_until_empty(inotify_fd, in_temp_dir("state/code"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_language),
        TEST(test_interpreter_of_the_jobs_path),
        TEST(test_private_file_is_gone),
        TEST(test_large_text),
        TEST(test_text_with_a_size),
        TEST(test_nul_in_text),
        TEST(test_working_directory_is_importable),
        TEST(test_working_directory_with_a_colon),
        TEST(test_tracebacks_have_the_texts_lines),
        TEST(test_file_as_it_is),
        TEST(test_file_named_like_an_option),
        TEST(test_file_and_directory),
        TEST(test_missing_file),
        TEST(test_directory_as_file),
        TEST(test_shells_read_no_startup_files),
        TEST(test_asked_startup_file_is_read),
        TEST(test_bad_requests),
        TEST(test_refused_by_the_job_layer),
        TEST(test_no_descriptor_is_left),
        TEST(test_file_is_gone_when_the_caller_was_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
