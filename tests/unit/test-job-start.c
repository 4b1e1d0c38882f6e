/*
 * How a command is found and started, and each way in which that can fail: the right code, a
 * message that names the thing, nothing left behind.
 */
#include "job-test.h"

#include <sys/stat.h>

#include "job/job.h"

static void check_run(struct rein_spec spec, const char *expected)
{
    rein_job *job = start(&spec);

    check_output(job, expected);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    end_job(job);
}

static void check_fails(struct rein_spec spec, int err, const char *code, const char *text)
{
    struct rein_error *error = start_fails(&spec, err, code);

    if (!strstr(error->message, text))
        print_error("'%s' does not say '%s'\n", error->message, text);
    assert_non_null(strstr(error->message, text));
    error = rein_error_free(error);
}

/* A script that says its text, as an executable file. */
static const char *write_script(const char *name, mode_t mode, const char *says)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "#!/bin/sh\necho %s \"$0\" \"$@\"\n", says);
    return write_temp_file(name, mode, text);
}

/* "PATH=…" of directories below the temporary one. */
static const char *path_of(const char *list)
{
    static char text[4096];
    size_t n = (size_t)snprintf(text, sizeof(text), "PATH=");

    for (const char *p = list; *p; p++) {
        if (*p == '@')
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", temp_dir);
        else
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%c", *p);
    }
    return text;
}

static struct rein_spec with_env(struct rein_spec spec, const char *entry)
{
    static const char *env[2];

    env[0] = entry;
    spec.env = env;
    return spec;
}

/* ---- where the command is ----------------------------------------------------------------- */

static void test_path_of_the_job_counts(void **state)
{
    auto_free char *expected = NULL;

    (void)write_script("a/tool", 0755, "from-a");
    (void)write_script("b/tool", 0755, "from-b");
    assert_true(asprintf(&expected, "from-b %s/b/tool x\n", temp_dir) > 0);
    check_run(with_env((struct rein_spec)COMMAND("tool", "x"), path_of("@/none:@/b:@/a")),
              expected);
}

static void test_empty_place_is_the_working_directory(void **state)
{
    static const char *const lists[] = {"", ":@/none", "@/none:", "@/none::@/none", "."};

    (void)write_script("here/tool", 0755, "here");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct rein_spec spec = COMMAND("tool");

        spec.cwd = in_temp_dir("here");
        check_run(with_env(spec, path_of(lists[i])), "here ./tool\n");
    }
}

static void test_relative_place(void **state)
{
    struct rein_spec spec = COMMAND("tool");

    (void)write_script("here/bin/tool", 0755, "relative");
    spec.cwd = in_temp_dir("here");
    check_run(with_env(spec, "PATH=bin"), "relative bin/tool\n");
}

static void test_command_with_a_slash_is_not_looked_up(void **state)
{
    struct rein_spec spec = COMMAND("./tool");

    (void)write_script("here/tool", 0755, "here");
    (void)write_script("bin/tool", 0755, "wrong");
    spec.cwd = in_temp_dir("here");
    check_run(with_env(spec, path_of("@/bin")), "here ./tool\n");
    spec.cwd = temp_dir;
    check_fails(with_env(spec, path_of("@/bin")), -ENOENT, "command_not_found", "./tool");
}

/* One that may not be executed is passed by, for one that may. */
static void test_denied_then_found(void **state)
{
    auto_free char *expected = NULL;

    (void)write_script("a/tool", 0644, "denied");
    (void)write_script("b/tool", 0755, "found");
    assert_true(asprintf(&expected, "found %s/b/tool\n", temp_dir) > 0);
    check_run(with_env((struct rein_spec)COMMAND("tool"), path_of("@/a:@/b")), expected);
}

static void test_denied_and_not_found(void **state)
{
    (void)write_script("a/tool", 0644, "denied");
    check_fails(with_env((struct rein_spec)COMMAND("tool"), path_of("@/a:@/none")), -EACCES,
                "not_executable", "'tool'");
    check_fails(with_env((struct rein_spec)COMMAND("tool"), path_of("@/none:@/a")), -EACCES,
                "not_executable", "'tool'");
}

static void test_not_found(void **state)
{
    check_fails(with_env((struct rein_spec)COMMAND("no-such-command"), "PATH=/usr/bin:/bin"),
                -ENOENT, "command_not_found", "'no-such-command' was not found");
    check_fails((struct rein_spec)COMMAND("/nonexistent/command"), -ENOENT, "command_not_found",
                "/nonexistent/command");
    check_fails((struct rein_spec)COMMAND("/bin/sh/command"), -ENOTDIR, "command_not_found",
                "/bin/sh/command");
    check_fails(with_env((struct rein_spec)COMMAND("sh"), "PATH="), -ENOENT, "command_not_found",
                "'sh'");
}

static void test_no_path_at_all(void **state)
{
    struct rein_spec spec = COMMAND("sh", "-c", "echo \"${PATH-none}\"");
    auto_free char *path = strdup(getenv("PATH"));
    auto_free char *text = NULL;
    rein_job *job;

    spec.env_profile = REIN_ENV_INHERIT;
    (void)unsetenv("PATH");
    job = start(&spec); /* found all the same */
    text = read_all(job, NULL);
    (void)setenv("PATH", path, 1);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
}

/* ---- what it is --------------------------------------------------------------------------- */

static void test_directory_is_not_executable(void **state)
{
    check_fails((struct rein_spec)COMMAND("/tmp"), -EACCES, "not_executable", "/tmp");
}

/* A script without a first line that says so is the shell's, as for execvp. */
static void test_file_without_a_format_is_run_by_sh(void **state)
{
    const char *path = write_temp_file("script", 0755, "echo run by sh: $1 $#\n");

    check_run((struct rein_spec)COMMAND(path, "a b", ""), "run by sh: a b 2\n");
}

static void test_empty_file_is_run_by_sh(void **state)
{
    check_run((struct rein_spec)COMMAND(write_temp_file("script", 0755, "")), "");
}

static void test_binary_rubbish(void **state)
{
    const char *path = write_temp_file("rubbish", 0755, "\177ELF\2\1\1");
    struct rein_spec spec = COMMAND(path);
    rein_job *job = NULL;
    int r = rein_start(context, &spec, &job, NULL);

    if (r == 0) { /* the shell was given it, and says so */
        auto_result result = finish(track(job));
        assert_int_not_equal(result.exit_code, 0);
    } else {
        assert_int_equal(r, -ENOEXEC);
    }
}

/* Open for writing by somebody. */
static void test_busy_file(void **state)
{
    const char *path = write_script("busy", 0755, "busy");
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

    check_fails((struct rein_spec)COMMAND(path), -ETXTBSY, "not_executable", path);
}

static void check_hint(struct rein_spec spec, const char *text)
{
    struct rein_error *error = start_fails(&spec, -ENOENT, "command_not_found");

    assert_non_null(error->hint);
    assert_non_null(strstr(error->hint, text));
    assert_non_null(strstr(error->message, spec.argv[0]));
    error = rein_error_free(error);
}

static void test_missing_interpreter_is_named(void **state)
{
    struct rein_spec spec = COMMAND("./tool");

    (void)write_temp_file("here/tool", 0755, "#! /nonexistent/python3 -x\n");
    check_hint((struct rein_spec)COMMAND(in_temp_dir("here/tool")), "/nonexistent/python3");
    spec.cwd = in_temp_dir("here"); /* not the caller's directory */
    check_hint(spec, "/nonexistent/python3");
    check_hint(with_env((struct rein_spec)COMMAND("tool"), path_of("@/none:@/here")),
               "/nonexistent/python3");
    spec = (struct rein_spec)COMMAND("tool");
    spec.cwd = in_temp_dir("here");
    check_hint(with_env(spec, "PATH=:/none"), "/nonexistent/python3");
}

/* A line end of another system is part of the name. */
static void test_interpreter_with_a_carriage_return(void **state)
{
    check_hint((struct rein_spec)COMMAND(write_temp_file("tool", 0755, "#!/bin/sh\r\necho\r\n")),
               "/bin/sh");
}

/* What is in the caller's directory says nothing about a command in the job's. */
static void test_no_hint_from_the_wrong_directory(void **state)
{
    struct rein_spec spec = COMMAND("./tool");
    struct rein_error *error;

    (void)write_temp_file("here/tool", 0755, "#!/nonexistent/python3\n");
    assert_int_equal(chdir(in_temp_dir("here")), 0);
    spec.cwd = temp_dir;
    error = start_fails(&spec, -ENOENT, "command_not_found");
    assert_null(error->hint);
    error = rein_error_free(error);
}

/* ---- working directory -------------------------------------------------------------------- */

static void test_working_directory(void **state)
{
    struct rein_spec spec = COMMAND("pwd");
    auto_free char *expected = NULL;
    auto_free char *line = NULL;

    assert_true(asprintf(&line, "%s\n", start_dir) > 0);
    check_run(spec, line);
    assert_int_equal(mkdir(in_temp_dir("sub dir"), 0755), 0);
    assert_true(asprintf(&expected, "%s/sub dir\n", temp_dir) > 0);
    spec.cwd = in_temp_dir("sub dir");
    check_run(spec, expected);
    assert_int_equal(chdir(temp_dir), 0);
    spec.cwd = "sub dir"; /* from the caller's */
    check_run(spec, expected);
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    expected[strlen(expected) - 1] = '\0';
    assert_string_equal(result.cwd, expected);
}

static void test_working_directories_that_are_none(void **state)
{
    static const struct {
        const char *cwd;
        int err;
    } cases[] = {{"/nonexistent", -ENOENT}, {"/bin/sh", -ENOTDIR}, {"", -ENOENT}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rein_spec spec = COMMAND("true");

        spec.cwd = cases[i].cwd;
        check_fails(spec, cases[i].err, "bad_cwd", cases[i].cwd);
    }
}

static int enter_closed_directory(void)
{
    struct rein_spec spec = COMMAND("true");
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    int r;

    spec.cwd = in_temp_dir("closed");
    r = rein_start(context, &spec, &job, &error);
    return r == -EACCES && strcmp(error->code, "bad_cwd") == 0 ? 0 : 1;
}

static void test_working_directory_that_may_not_be_entered(void **state)
{
    assert_int_equal(chmod(temp_dir, 0755), 0);
    assert_int_equal(mkdir(in_temp_dir("closed"), 0), 0);
    assert_int_equal(as_nobody(enter_closed_directory), 0);
}

static void test_callers_directory_is_gone(void **state)
{
    struct rein_spec spec = COMMAND("true");
    struct rein_error *error;

    assert_int_equal(mkdir(in_temp_dir("gone"), 0755), 0);
    assert_int_equal(chdir(in_temp_dir("gone")), 0);
    assert_int_equal(rmdir(in_temp_dir("gone")), 0);
    error = start_fails(&spec, -ENOENT, "bad_cwd");
    error = rein_error_free(error);
    spec.cwd = temp_dir; /* that one is there */
    auto_result result = run(&spec);
    check_end(&result, REIN_REASON_EXIT, 0);
}

/* ---- size --------------------------------------------------------------------------------- */

/* Plans beyond 64 KiB travel in another way. */
static void test_large_plans(void **state)
{
    static char argument[100001];
    static const char *const sizes[] = {"60000", "65536", "66000", "100000"};

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct rein_spec spec = COMMAND("/bin/sh", "-c", "echo ${#0} ${#1}", argument, argument);
        auto_free char *expected = NULL;
        size_t size = strtoul(sizes[i], NULL, 10);

        memset(argument, 'x', size);
        argument[size] = '\0';
        assert_true(asprintf(&expected, "%zu %zu\n", size, size) > 0);
        check_run(spec, expected);
    }
}

static void test_many_arguments(void **state)
{
    static const char *argv[20005] = {"/bin/sh", "-c", "echo $# $20000", "sh"};
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};

    for (int i = 4; i < 20004; i++)
        argv[i] = i == 20003 ? "last" : "";
    spec.argv = argv;
    argv[2] = "echo $#; shift 19999; echo $1";
    check_run(spec, "20000\nlast\n");
}

static void test_large_environment(void **state)
{
    static char variables[3000][64];
    static const char *env[3001];
    struct rein_spec spec = SCRIPT("echo $V0 $V2999");

    for (int i = 0; i < 3000; i++) {
        (void)snprintf(variables[i], sizeof(variables[i]), "V%d=value-%d-%040d", i, i, i);
        env[i] = variables[i];
    }
    spec.env = env;
    check_run(spec, "value-0-0000000000000000000000000000000000000000 "
                    "value-2999-0000000000000000000000000000000000002999\n");
}

static void test_argument_that_is_too_long(void **state)
{
    static char argument[200000];
    struct rein_spec spec = COMMAND("/bin/true", argument);
    struct rein_error *error;

    memset(argument, 'x', sizeof(argument) - 1);
    error = start_fails(&spec, -E2BIG, "limit_exceeded");
    assert_non_null(error->hint);
    error = rein_error_free(error);
}

static void test_plan_that_is_too_long(void **state)
{
    static const char *argv[1002];
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};
    char *argument = malloc(100000);

    memset(argument, 'x', 99999);
    argument[99999] = '\0';
    argv[0] = "/bin/true";
    for (int i = 1; i < 1001; i++)
        argv[i] = argument;
    (void)rein_error_free(start_fails(&spec, -E2BIG, "limit_exceeded"));
    free(argument);
}

/* ---- shell -------------------------------------------------------------------------------- */

static void test_shell(void **state)
{
    struct rein_spec spec = COMMAND("echo \"$0\" $((1 + 2)) [[ a == a ]]");

    spec.flags = REIN_SPEC_SHELL;
    rein_job *job = start(&spec);
    check_output(job, "bash 3 [[ a == a ]]\n");
    auto_result result = finish(job);
    assert_string_equal(result.command[0], "bash");
    assert_string_equal(result.command[1], "-c");
    assert_string_equal(result.command[2], spec.argv[0]);
    assert_null(result.command[3]);
}

/* ---- what the main process finds ----------------------------------------------------------- */

static void test_main_process_is_on_its_own(void **state)
{
    struct rein_spec spec = SCRIPT("exec cat /proc/self/stat /proc/self/status");
    auto_free char *text = NULL;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction saved;
    sigset_t all;
    sigset_t mask;
    int pid, parent, group, session, terminal;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &mask);
    (void)sigaction(SIGPIPE, &ignore, &saved);
    rein_job *job = start(&spec);
    (void)sigaction(SIGPIPE, &saved, NULL);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    text = read_all(job, NULL);
    assert_int_equal(
        sscanf(text, "%d (cat) %*c %d %d %d %d", &pid, &parent, &group, &session, &terminal), 5);
    assert_int_equal(pid, rein_job_pid(job));
    assert_int_equal(group, pid);
    assert_int_equal(session, pid);
    assert_int_equal(terminal, 0);
    assert_non_null(strstr(text, "SigBlk:\t0000000000000000\n"));
    assert_non_null(strstr(text, "SigIgn:\t0000000000000000\n"));
    assert_non_null(strstr(text, "SigPnd:\t0000000000000000\n"));
}

/* Descriptors 0, 1 and 2, whatever the caller has open. */
static void test_no_other_descriptors(void **state)
{
    struct rein_spec spec = COMMAND("ls", "/proc/self/fd");
    int fds[40];

    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        fds[i] = dup(1);             /* without close-on-exec */
    check_run(spec, "0\n1\n2\n3\n"); /* 3 is the directory that it reads */
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        (void)close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_path_of_the_job_counts),
        job_test(test_empty_place_is_the_working_directory),
        job_test(test_relative_place),
        job_test(test_command_with_a_slash_is_not_looked_up),
        job_test(test_denied_then_found),
        job_test(test_denied_and_not_found),
        job_test(test_not_found),
        job_test(test_no_path_at_all),
        job_test(test_directory_is_not_executable),
        job_test(test_file_without_a_format_is_run_by_sh),
        job_test(test_empty_file_is_run_by_sh),
        job_test(test_binary_rubbish),
        job_test(test_busy_file),
        job_test(test_missing_interpreter_is_named),
        job_test(test_interpreter_with_a_carriage_return),
        job_test(test_no_hint_from_the_wrong_directory),
        job_test(test_working_directory),
        job_test(test_working_directories_that_are_none),
        job_test(test_working_directory_that_may_not_be_entered),
        job_test(test_callers_directory_is_gone),
        job_test(test_large_plans),
        job_test(test_many_arguments),
        job_test(test_large_environment),
        job_test(test_argument_that_is_too_long),
        job_test(test_plan_that_is_too_long),
        job_test(test_shell),
        job_test(test_main_process_is_on_its_own),
        job_test(test_no_other_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
