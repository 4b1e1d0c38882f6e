/*
 * From a spec to what the supervisor unpacks at the other end of the socket: the whole way of a
 * plan, small and large, with its descriptors in their places.
 */
#include "job-test.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/error.h"
#include "job/plan.h"
#include "job/store.h"
#include "supervisor/plan-read.c"

static struct plan_message made;
static struct plan received;

static int plan_setup(void **state)
{
    made = (struct plan_message)PLAN_MESSAGE_UNSET;
    memset(&received, 0, sizeof(received));
    memset(small_pointers, 0, sizeof(small_pointers)); /* as in a process that has just begun */
    for (int i = 0; i < WIRE_FD_KINDS; i++)
        received.fds[i] = -EBADF;
    for (int i = 0; i < WIRE_PASS_FDS_MAX; i++)
        received.pass_fds[i] = -EBADF;
    return job_setup(state) < 0 || context_prepare(context, NULL) < 0 ? -1 : 0;
}

static int plan_teardown(void **state)
{
    plan_done(&made);
    for (int i = 0; i < WIRE_FD_KINDS; i++)
        (void)close_fd(received.fds[i]);
    for (int i = 0; i < WIRE_PASS_FDS_MAX; i++)
        (void)close_fd(received.pass_fds[i]);
    return job_teardown(state);
}

/* Sends the plan of a spec, and receives it. */
static void travel(const struct rein_spec *spec, const struct job_extras *extras)
{
    struct rein_error *error = NULL;
    int pair[2];

    if (plan_make(context, spec, extras, &made, &error) < 0) {
        print_error("%s\n", error->message);
        error = rein_error_free(error);
        fail();
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(plan_send(&made, pair[0]), 0);
    assert_int_equal(plan_receive(pair[1], &received), 0);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void check_same_file(int fd, int other)
{
    struct stat a, b;

    assert_int_equal(fstat(fd, &a), 0);
    assert_int_equal(fstat(other, &b), 0);
    assert_int_equal(a.st_ino, b.st_ino);
    assert_int_equal(a.st_dev, b.st_dev);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void test_plain_plan(void **state)
{
    struct rein_spec spec = COMMAND("tool", "", "two words");
    static const char *const env[] = {"PATH=/a::/b/", NULL};
    char jobs_dir[128];

    spec.env = env;
    travel(&spec, NULL);
    const struct wire_plan *head = received.head;
    assert_int_equal(head->type, WIRE_PLAN);
    assert_int_equal(head->flags, 0);
    assert_int_equal(head->argc, 3);
    assert_string_equal(received.argv[0], "tool");
    assert_string_equal(received.argv[1], "");
    assert_string_equal(received.argv[2], "two words");
    assert_null(received.argv[3]);
    assert_int_equal(head->pathc, 3);
    assert_string_equal(received.paths[0], "/a/tool");
    assert_string_equal(received.paths[1], "./tool");
    assert_string_equal(received.paths[2], "/b//tool");
    assert_null(received.env[head->envc]);
    for (uint32_t i = 0; i < head->envc; i++)
        assert_non_null(strchr(received.env[i], '='));
    assert_string_equal(received.cwd, ""); /* stays where it is */
    (void)snprintf(jobs_dir, sizeof(jobs_dir), "%s/jobs", in_temp_dir("state"));
    assert_string_equal(received.jobs_dir, jobs_dir);
    assert_string_equal(received.job_json, made.job_json);
    assert_string_equal(received.cleanup_dir, "");
    assert_int_equal(head->notifyc, 0);
    assert_null(received.notify[0]);
    assert_string_equal(head->process_id, made.id);
    assert_int_equal(head->log_limit, OUTPUT_LIMIT_DEFAULT);
    assert_int_equal(head->memory_limit, OUTPUT_IN_MEMORY_MAX);
    assert_int_equal(head->after, WIRE_AFTER_KILL);
    assert_int_equal(head->timeout_ns, 0);
    assert_int_equal(head->n_rlimits, 0);
    assert_int_equal(head->n_pass_fds, 0);
    check_same_file(received.fds[WIRE_FD_LOG], made.log_fd);
    check_same_file(received.fds[WIRE_FD_OWNER], context->owner_pidfd);
    assert_true(received.fds[WIRE_FD_MARKS] < 0);
    assert_true(received.fds[WIRE_FD_STDIN] < 0);
    assert_true(received.fds[WIRE_FD_CLEANUP] < 0);
    assert_int_equal(received.argv[-1], NULL); /* room for the shell */
}

static void test_everything_at_once(void **state)
{
    struct rein_spec spec = COMMAND("/bin/tool");
    auto_close int cleanup_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct job_extras extras = {.cleanup_dir = temp_dir, .cleanup_dir_fd = cleanup_fd};
    auto_close int first = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    auto_close int second = open("/dev/full", O_RDONLY | O_CLOEXEC);
    int pass[3] = {second, first, second};

    spec.flags = REIN_SPEC_SPLIT | REIN_SPEC_PACED;
    spec.cwd = "/";
    spec.timeout_ns = 12;
    spec.grace_ns = 34;
    spec.output_limit = 56000;
    spec.on_output_limit = REIN_OUTPUT_KILL;
    spec.after = REIN_AFTER_WAIT;
    spec.stdin_kind = REIN_STDIN_FILE;
    spec.stdin_path = write_temp_file("input", 0600, "text");
    spec.pass_fds = pass;
    spec.n_pass_fds = 3;
    spec.memory_limit = 777;
    spec.file_size_limit = 888;
    travel(&spec, &extras);
    const struct wire_plan *head = received.head;
    assert_int_equal(head->flags, WIRE_PLAN_SPLIT | WIRE_PLAN_PACED | WIRE_PLAN_OUTPUT_KILL);
    assert_int_equal(head->timeout_ns, 12);
    assert_int_equal(head->grace_ns, 34);
    assert_int_equal(head->log_limit, 56000);
    assert_int_equal(head->after, WIRE_AFTER_WAIT);
    assert_int_equal(head->pathc, 1);
    assert_string_equal(received.paths[0], "/bin/tool");
    assert_string_equal(received.cwd, "/");
    assert_string_equal(received.cleanup_dir, temp_dir);
    assert_int_equal(head->n_rlimits, 2);
    assert_int_equal(head->rlimits[0].resource, RLIMIT_AS);
    assert_int_equal(head->rlimits[0].soft, 777);
    assert_int_equal(head->rlimits[0].hard, 777);
    assert_int_equal(head->rlimits[1].resource, RLIMIT_FSIZE);
    check_same_file(received.fds[WIRE_FD_LOG], made.log_fd);
    check_same_file(received.fds[WIRE_FD_MARKS], made.marks_fd);
    check_same_file(received.fds[WIRE_FD_STDIN], made.own_fds[0]);
    check_same_file(received.fds[WIRE_FD_CLEANUP], cleanup_fd);
    assert_int_equal(head->n_pass_fds, 2); /* sorted, without doubles */
    assert_int_equal(head->pass_fds[0], first < second ? first : second);
    check_same_file(received.pass_fds[0], head->pass_fds[0]);
    check_same_file(received.pass_fds[1], head->pass_fds[1]);
}

/* The supervisor gets the values and the real arguments; what others will read has stars. */
static void test_secrets(void **state)
{
    static const char *const env[] = {"A=first", "B=abc", NULL};
    static const char *const names[] = {"A", "B", "REIN_TEST_SECRET", "A", "NOT_THERE", NULL};
    struct rein_spec spec = COMMAND("tool", "--key=first", "second");

    spec.env = env;
    spec.env_profile = REIN_ENV_CLEAN; /* which does not let the last one through */
    spec.secrets = names;
    assert_int_equal(setenv("REIN_TEST_SECRET", "second", 1), 0);
    travel(&spec, NULL);
    assert_int_equal(unsetenv("REIN_TEST_SECRET"), 0);
    assert_int_equal(received.head->secretc, 2);
    assert_string_equal(received.secrets[0], "first");
    assert_string_equal(received.secrets[1], "second");
    assert_string_equal(received.argv[1], "--key=first");
    assert_string_equal(received.argv[2], "second");
    assert_string_equal(made.argv[1], "--key=*****");
    assert_string_equal(made.argv[2], "******");
    assert_non_null(strstr(made.job_json, "[\"tool\", \"--key=*****\", \"******\"]"));
    assert_string_equal(made.warnings[0], "secret B: it is shorter than 4 bytes, and not masked");
    assert_string_equal(made.warnings[1],
                        "secret NOT_THERE: there is no such variable, and not masked");
    assert_null(made.warnings[2]);
}

static void test_background(void **state)
{
    static const char *const notify[] = {"/bin/tell", "", "it is over", NULL};
    struct rein_spec spec = COMMAND("/bin/tool");

    spec.flags = REIN_SPEC_BACKGROUND;
    spec.session = "some session";
    spec.notify = notify;
    travel(&spec, NULL);
    assert_int_equal(received.head->flags, WIRE_PLAN_BACKGROUND);
    assert_int_equal(received.head->notifyc, 3);
    for (int i = 0; i < 4; i++)
        if (notify[i])
            assert_string_equal(received.notify[i], notify[i]);
        else
            assert_null(received.notify[i]);
    assert_string_equal(received.paths[0], "/bin/tool");
    check_same_file(received.fds[WIRE_FD_OWNER], context->owner_pidfd);
}

/* The process behind a pidfd. */
static pid_t owner_in(int fd)
{
    char path[64];
    auto_free char *text = calloc(1, 4096);
    auto_close int info_fd = -EBADF;
    const char *line;

    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    info_fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(text && read(info_fd, text, 4095) > 0);
    line = strstr(text, "\nPid:");
    assert_non_null(line);
    return (pid_t)strtol(line + strlen("\nPid:"), NULL, 10);
}

static void test_owners(void **state)
{
    struct rein_spec spec = COMMAND("/bin/tool");

    spec.flags = REIN_SPEC_BACKGROUND;
    spec.owner_pid = getppid();
    travel(&spec, NULL);
    assert_int_equal(owner_in(received.fds[WIRE_FD_OWNER]), getppid());
    (void)plan_teardown(state);
    assert_int_equal(plan_setup(state), 0);
    spec.flags |= REIN_SPEC_DETACHED;
    spec.owner_pid = 0;
    travel(&spec, NULL);
    assert_int_equal(received.head->flags, WIRE_PLAN_BACKGROUND);
    assert_true(received.fds[WIRE_FD_OWNER] < 0);
}

static void test_owner_that_is_not_there(void **state)
{
    struct rein_spec spec = COMMAND("/bin/tool");
    struct rein_error *error = NULL;
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
    spec.flags = REIN_SPEC_BACKGROUND;
    spec.owner_pid = pid;
    assert_int_equal(plan_make(context, &spec, NULL, &made, &error), -ESRCH);
    assert_string_equal(error->code, "bad_request");
    error = rein_error_free(error);
}

/* Strings that do not fit into the message come along in a memory file. */
static void test_large_plan(void **state)
{
    static char argument[WIRE_PLAN_INLINE_MAX];
    struct rein_spec spec = COMMAND("tool", argument, "last");

    memset(argument, 'x', sizeof(argument) - 1);
    travel(&spec, NULL);
    assert_true(made.head.strings_size > WIRE_PLAN_INLINE_MAX);
    assert_true(received.head->flags & WIRE_PLAN_IN_MEMFD);
    assert_string_equal(received.argv[1], argument);
    assert_string_equal(received.argv[2], "last");
    assert_string_equal(received.job_json, made.job_json);
    check_same_file(received.fds[WIRE_FD_LOG], made.log_fd);
}

static void test_more_strings_than_there_is_static_room_for(void **state)
{
    static const char *argv[5001];
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};

    for (int i = 0; i < 5000; i++)
        argv[i] = "x";
    travel(&spec, NULL);
    assert_int_equal(received.head->argc, 5000);
    assert_string_equal(received.argv[4999], "x");
    assert_null(received.argv[5000]);
    assert_null(received.argv[-1]);
}

static void test_default_path_without_one(void **state)
{
    struct rein_spec spec = COMMAND("tool");
    auto_free char *before = strdup(getenv("PATH"));

    spec.env_profile = REIN_ENV_INHERIT;
    (void)unsetenv("PATH");
    travel(&spec, NULL);
    (void)setenv("PATH", before, 1);
    assert_int_equal(received.head->pathc, 2);
    assert_string_equal(received.paths[0], "/bin/tool");
    assert_string_equal(received.paths[1], "/usr/bin/tool");
}

static void test_relative_directory_is_told_as_it_is_and_absolute(void **state)
{
    struct rein_spec spec = COMMAND("tool");
    auto_free char *expected = NULL;

    assert_true(asprintf(&expected, "%s/some/where", start_dir) > 0);
    spec.cwd = "some/where";
    travel(&spec, NULL);
    assert_string_equal(received.cwd, "some/where");
    assert_string_equal(made.cwd, expected);
    assert_non_null(strstr(made.job_json, expected));
}

static void test_every_stdin_kind(void **state)
{
    struct rein_spec spec = COMMAND("tool");
    int kinds[] = {REIN_STDIN_NULL, REIN_STDIN_INHERIT, REIN_STDIN_FD, REIN_STDIN_PIPE};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        spec.stdin_kind = kinds[i];
        spec.stdin_fd = context->null_fd;
        assert_int_equal(plan_make(context, &spec, NULL, &made, NULL), 0);
        assert_int_equal((made.head.flags & WIRE_PLAN_STDIN_PIPE) != 0,
                         kinds[i] == REIN_STDIN_PIPE);
        assert_int_equal((made.head.fd_mask & 1u << WIRE_FD_STDIN) != 0,
                         kinds[i] == REIN_STDIN_FD ||
                             (kinds[i] == REIN_STDIN_INHERIT && fcntl(0, F_GETFD) >= 0));
        plan_done(&made);
        made = (struct plan_message)PLAN_MESSAGE_UNSET;
    }
}

static void test_what_the_store_is_told(void **state)
{
    struct rein_spec spec = COMMAND("a \"b\"", "c\\d", "\xff");

    spec.name = "n\n";
    spec.flags = REIN_SPEC_SPLIT;
    travel(&spec, NULL);
    assert_non_null(
        strstr(made.job_json, "\"command\": [\"a \\\"b\\\"\", \"c\\\\d\", \"\xef\xbf\xbd\"]"));
    assert_non_null(strstr(made.job_json, "\"name\": \"n\\u000a\""));
    assert_non_null(strstr(made.job_json, "\"split\": true"));
    assert_non_null(strstr(made.job_json, made.id));
}

/* The text is complete once the supervisor has added the pids. */
static json_t *complete_json(const char *open_text)
{
    auto_free char *text = NULL;
    json_t *read;

    assert_null(strchr(open_text, '\n'));
    assert_true(asprintf(&text,
                         "%s, \"guard_pid\": 11, \"supervisor_pid\": 12, \"pid\": 34        }\n",
                         open_text) > 0);
    read = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(read);
    return read;
}

static void test_all_that_the_store_is_told(void **state)
{
    struct rein_spec spec = COMMAND("/bin/tool");
    json_error_t error;
    json_t *read, *expected;
    int64_t now_ns = time_mono_ns();

    spec.flags = REIN_SPEC_BACKGROUND | REIN_SPEC_DETACHED;
    spec.session = "s";
    spec.stdin_kind = REIN_STDIN_PIPE;
    spec.grace_ns = 7;
    spec.cpu_time_ns = NSEC_PER_SEC; /* holds in a weaker form, which is a warning */
    travel(&spec, NULL);
    read = complete_json(received.job_json);
    expected =
        json_pack_ex(&error, 0, "{si ss s[s] so* sn ss sb sb sb si si s[s] s[s] si si si}",
                     "format", STORE_FORMAT, "process_id", made.id, "command", "/bin/tool", "cwd",
                     json_string(made.cwd), "name", "session", "s", "background", 1, "split", 0,
                     "stdin_pipe", 1, "grace_ns", 7, "owner_pid", 0, "warnings", made.warnings[0],
                     "missing", made.missing[0], "guard_pid", 11, "supervisor_pid", 12, "pid", 34);
    assert_non_null(expected);
    assert_true(json_integer_value(json_object_get(read, "started_at_ns")) == made.started_at_ns);
    assert_true(json_integer_value(json_object_get(read, "started_ns")) >= now_ns);
    assert_true(json_integer_value(json_object_get(read, "started_ns")) <= time_mono_ns());
    assert_true(json_is_string(json_object_get(read, "started_at")));
    (void)json_object_del(read, "started_at_ns");
    (void)json_object_del(read, "started_ns");
    (void)json_object_del(read, "started_at");
    assert_true(json_equal(read, expected));
    json_decref(read);
    json_decref(expected);
}

static void test_whom_the_store_is_told_to_be_the_owner(void **state)
{
    struct rein_spec spec = COMMAND("/bin/tool");
    json_t *read;

    spec.flags = REIN_SPEC_BACKGROUND;
    travel(&spec, NULL);
    read = complete_json(received.job_json);
    assert_int_equal(json_integer_value(json_object_get(read, "owner_pid")), getpid());
    assert_true(json_is_null(json_object_get(read, "session")));
    json_decref(read);
    (void)plan_teardown(state);
    assert_int_equal(plan_setup(state), 0);
    spec.owner_pid = getppid();
    travel(&spec, NULL);
    read = complete_json(received.job_json);
    assert_int_equal(json_integer_value(json_object_get(read, "owner_pid")), getppid());
    json_decref(read);
}

/* ---- steps that fail ---------------------------------------------------------------------- */

static void check_failed(enum wire_step step, int errnum, const char *code, const char *told_step)
{
    struct rein_spec spec = COMMAND("some-command");
    struct wire_failed failed = {.type = WIRE_FAILED, .step = step, .errnum = errnum};
    struct rein_error *error = NULL;

    spec.cwd = "/some/where";
    if (!made.argv)
        assert_int_equal(plan_make(context, &spec, NULL, &made, NULL), 0);
    assert_int_equal(plan_failed(context, &made, &failed, &error), -errnum);
    assert_string_equal(error->code, code);
    assert_string_equal(error->step, told_step);
    assert_int_equal(error->errnum, errnum);
    if (step == WIRE_STEP_EXEC)
        assert_non_null(strstr(error->message, "some-command"));
    if (step == WIRE_STEP_CHDIR)
        assert_non_null(strstr(error->message, "/some/where"));
    if (step == WIRE_STEP_STORE || step == WIRE_STEP_LOCK || step == WIRE_STEP_CONTROL) {
        assert_non_null(strstr(error->message, in_temp_dir("state")));
        assert_non_null(strstr(error->hint, "REIN_STATE"));
    }
    error = rein_error_free(error);
}

static void test_steps_that_fail(void **state)
{
    static const int not_executable[] = {EACCES,       ENOEXEC, EISDIR, ETXTBSY, ELOOP,
                                         ENAMETOOLONG, ELIBBAD, EPERM,  EINVAL};

    check_failed(WIRE_STEP_EXEC, ENOENT, "command_not_found", "exec");
    check_failed(WIRE_STEP_EXEC, ENOTDIR, "command_not_found", "exec");
    check_failed(WIRE_STEP_EXEC, E2BIG, "limit_exceeded", "exec");
    check_failed(WIRE_STEP_EXEC, ENOMEM, "spawn_failed", "exec");
    for (size_t i = 0; i < ARRAY_SIZE(not_executable); i++)
        check_failed(WIRE_STEP_EXEC, not_executable[i], "not_executable", "exec");
    check_failed(WIRE_STEP_CHDIR, ENOENT, "bad_cwd", "chdir");
    check_failed(WIRE_STEP_CHDIR, EACCES, "bad_cwd", "chdir");
    check_failed(WIRE_STEP_CLONE, EAGAIN, "spawn_failed", "clone");
    check_failed(WIRE_STEP_CLONE, ENOMEM, "spawn_failed", "clone");
    check_failed(WIRE_STEP_PLAN, EPROTO, "spawn_failed", "plan");
    check_failed(WIRE_STEP_PIPE, EMFILE, "spawn_failed", "pipe");
    check_failed(WIRE_STEP_SESSION, EPERM, "spawn_failed", "session");
    check_failed(WIRE_STEP_DESCRIPTORS, EMFILE, "spawn_failed", "descriptors");
    check_failed(WIRE_STEP_LIMITS, EPERM, "spawn_failed", "limits");
    check_failed(WIRE_STEP_STORE, EROFS, "spawn_failed", "store");
    check_failed(WIRE_STEP_LOCK, ENOLCK, "spawn_failed", "lock");
    check_failed(WIRE_STEP_CONTROL, EPERM, "spawn_failed", "control");
    check_failed(WIRE_STEP_MAX, EIO, "spawn_failed", "supervisor"); /* one that we do not know */
}

/* A failure without a reason is one all the same. */
static void test_failure_without_an_errno(void **state)
{
    struct rein_spec spec = COMMAND("x");
    struct wire_failed failed = {.type = WIRE_FAILED, .step = WIRE_STEP_PIPE};

    assert_int_equal(plan_make(context, &spec, NULL, &made, NULL), 0);
    assert_int_equal(plan_failed(context, &made, &failed, NULL), -EIO);
}

#define plan_test(function) cmocka_unit_test_setup_teardown(function, plan_setup, plan_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        plan_test(test_plain_plan),
        plan_test(test_everything_at_once),
        plan_test(test_secrets),
        plan_test(test_background),
        plan_test(test_owners),
        plan_test(test_owner_that_is_not_there),
        plan_test(test_large_plan),
        plan_test(test_more_strings_than_there_is_static_room_for),
        plan_test(test_default_path_without_one),
        plan_test(test_relative_directory_is_told_as_it_is_and_absolute),
        plan_test(test_every_stdin_kind),
        plan_test(test_what_the_store_is_told),
        plan_test(test_all_that_the_store_is_told),
        plan_test(test_whom_the_store_is_told_to_be_the_owner),
        plan_test(test_steps_that_fail),
        plan_test(test_failure_without_an_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
