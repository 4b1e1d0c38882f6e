/*
 * How jobs of the background end without anybody's asking: with an owner, who may be another
 * process; as lost, when their supervisor is killed; and the command that is told of every end.
 */
#include "background-test.h"

/* family: a deaf child in its own session, and the main process. */
static int play_family(int argc, char **argv)
{
    int fds[2];
    char byte;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return 1;
    if (fork() == 0) {
        (void)setsid();
        (void)signal(SIGTERM, SIG_IGN);
        (void)close(fds[1]);
        wait_for_the_end();
    }
    (void)close(fds[1]);
    (void)io_read(fds[0], &byte, 1);
    say("up\n");
    wait_for_the_end();
    return 0;
}

/* ---- owners ------------------------------------------------------------------------------- */

static pid_t start_owner(void)
{
    pid_t pid = fork();

    if (pid == 0)
        wait_for_the_end();
    assert_true(pid > 0);
    return pid;
}

static void end_owner(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_another_process_is_the_owner(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("family");
    pid_t owner = start_owner();
    rein_job *job;

    spec.owner_pid = owner;
    job = start_background_with_life(spec, 0, &life);
    read_until(job, "up\n");
    assert_false(life_is_over(&life, 0));
    end_owner(owner);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_OWNER_GONE, -SIGKILL);
    assert_true(life_is_over(&life, 0));
}

/* Then freeing the handle ends nothing; nor does the end of the one that started it. */
static void test_starter_is_not_the_owner(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("stay");
    pid_t owner = start_owner();
    struct id id;
    rein_job *job;

    spec.owner_pid = owner;
    job = start_background_with_life(spec, 0, &life);
    id = id_of(job);
    end_job(job);
    job = attach(id.text);
    read_until(job, "up\n");
    assert_false(life_is_over(&life, 0));
    end_owner(owner);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_OWNER_GONE, -SIGKILL);
}

static void test_owner_that_has_gone_already(void **state)
{
    struct rein_spec spec = ROLE("stay");
    struct rein_error *error;
    pid_t owner = start_owner();

    end_owner(owner);
    spec.flags = REIN_SPEC_BACKGROUND;
    spec.owner_pid = owner;
    error = start_fails(&spec, -ESRCH, "bad_request");
    error = rein_error_free(error);
    assert_int_equal(count_jobs(), 0);
}

/* A host that is killed right after its start. */
static struct id start_in_host(uint32_t flags, struct life *life)
{
    struct rein_spec spec = ROLE("stay");
    struct id id = {""};
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    spec.flags = REIN_SPEC_BACKGROUND | flags;
    spec.pass_fds = &life->given_fd;
    spec.n_pass_fds = 1;
    pid = fork();
    if (pid == 0) {
        rein *r = open_context();
        rein_job *job = NULL;

        if (rein_start(r, &spec, &job, NULL) < 0)
            _exit(1);
        life_done(life);
        (void)io_write_all(fds[1], rein_job_id(job), ID_SIZE);
        wait_for_the_end();
    }
    life->given_fd = close_fd(life->given_fd);
    assert_int_equal(io_read_full(fds[0], id.text, ID_SIZE), ID_SIZE);
    end_owner(pid);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return id;
}

static void test_host_is_killed(void **state)
{
    auto_life life = life_new();
    struct id id = start_in_host(0, &life);
    rein_job *job = attach(id.text);

    auto_result result = finish(job);
    check_end(&result, REIN_REASON_OWNER_GONE, -SIGKILL);
    assert_true(life_is_over(&life, 0));
}

static void test_host_of_a_detached_job_is_killed(void **state)
{
    auto_life life = life_new();
    struct id id = start_in_host(REIN_SPEC_DETACHED, &life);
    rein_job *job = attach(id.text);

    read_until(job, "up\n");
    assert_false(life_is_over(&life, 0));
    stop_and_wait(job);
    assert_true(life_is_over(&life, 0));
}

/* ---- losses ------------------------------------------------------------------------------- */

static void check_lost(const struct rein_result *result, uint64_t output_bytes)
{
    assert_string_equal(rein_reason_name(result->reason), "lost");
    assert_false(result->success);
    assert_false(result->has_exit_code);
    assert_int_equal(result->signal, 0);
    assert_int_equal(result->output_bytes, output_bytes);
    assert_true(result->duration_ns >= 0); /* the clock of files is a coarse one */
}

static void test_supervisor_is_killed(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_background_with_life((struct rein_spec)ROLE("family"), 0, &life);
    rein_job *other = attach(rein_job_id(job));
    auto_close int pidfd = open_supervisor(job);

    read_until(job, "up\n");
    assert_int_equal(sys_pidfd_signal(pidfd, SIGKILL), 0);
    auto_result result = finish(job);
    check_lost(&result, 3);
    assert_true(life_is_over(&life, 0)); /* nothing of its tree is left */
    auto_result there = finish(other);
    check_lost(&there, 3);
    check_output(other, "up\n");
    auto_result later = finish(attach(rein_job_id(job)));
    check_lost(&later, 3);
    assert_true(is_file(rein_job_id(job), "exit.json"));
    assert_false(is_file(rein_job_id(job), "control"));
}

/* Nobody is left to write how it ended: it is seen from the lock. */
static void kill_both(const rein_job *job)
{
    auto_close int guard_fd = open_guard(job);
    auto_close int supervisor_fd = open_supervisor(job);

    assert_int_equal(sys_pidfd_signal(guard_fd, SIGKILL), 0); /* before it could take over */
    assert_int_equal(sys_pidfd_signal(supervisor_fd, SIGKILL), 0);
}

static void test_supervisor_and_guard_are_killed(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_background_with_life((struct rein_spec)ROLE("stay"), 0, &life);
    rein_job *other = attach(rein_job_id(job));
    struct rein_result before = {.size = sizeof(before)};

    read_until(other, "up\n");
    assert_int_equal(rein_wait(other, 0, &before), -EAGAIN);
    rein_result_done(&before);
    kill_both(job);
    auto_result there = finish(other); /* who was there */
    check_lost(&there, 3);
    auto_result result = finish(job);
    check_lost(&result, 3);
    assert_false(is_file(rein_job_id(job), "exit.json"));
    rein_job *late = attach(rein_job_id(job)); /* who comes later */
    auto_result later = finish(late);
    check_lost(&later, 3);
    check_output(late, "up\n");
    assert_true(life_is_over(&life, PATIENCE_MS));
    assert_int_equal(rein_forget(context, rein_job_id(job), NULL), 0);
}

static int wait_for_loss(rein *r, const char *id)
{
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;

    if (rein_attach(r, id, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    return result.reason == REIN_REASON_LOST && result.output_bytes == 3 ? 0 : 2;
}

/* The list tells the same. */
static void test_lost_jobs_in_the_list(void **state)
{
    rein_list *list = NULL;
    rein_job *job = start_stay(0);

    kill_both(job);
    assert_int_equal(in_child(wait_for_loss, rein_job_id(job)), 0);
    assert_int_equal(rein_jobs(context, &list), 0);
    assert_int_equal(rein_list_count(list), 1);
    check_lost(rein_list_get(list, 0), 3);
    list = rein_list_free(list);
}

static void test_killed_guard_changes_nothing(void **state)
{
    rein_job *job = start_stay(0);
    rein_job *other = attach(rein_job_id(job));
    auto_close int guard_fd = open_guard(job);

    assert_int_equal(sys_pidfd_signal(guard_fd, SIGKILL), 0);
    read_until(attach(rein_job_id(job)), "up\n");
    assert_int_equal(rein_stop(other, 0), 0);
    auto_result result = finish(other);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    auto_result same = finish(job);
    check_end(&same, REIN_REASON_STOPPED, -SIGKILL);
    wait_unlocked(rein_job_id(job)); /* nobody reaps it for us */
}

/* ---- the command for the end -------------------------------------------------------------- */

/* tell PIPE [GATE]: says what it knows of the job. With a gate it first waits to be let through. */
static int play_tell(int argc, char **argv)
{
    char text[8192];
    char record[4096];
    char cwd[1024] = "";
    const char *id = getenv("REIN_PROCESS_ID");
    const char *state_dir = getenv("REIN_STATE");
    const char *own = getenv("OWN");
    auto_close int fd = -EBADF;
    auto_close int gate_fd = -EBADF;

    (void)alarm(60);
    (void)snprintf(record, sizeof(record), "%s/jobs/%s/exit.json", state_dir, id);
    if (argc > 2)
        gate_fd = open(argv[2], O_RDONLY | O_CLOEXEC);
    fd = open(argv[1], O_WRONLY | O_CLOEXEC);
    if (!getcwd(cwd, sizeof(cwd)))
        return 1;
    (void)snprintf(text, sizeof(text), "%s %s %s %s %s\n", id, state_dir,
                   access(record, F_OK) == 0 ? "recorded" : "unrecorded", own ? own : "-", cwd);
    return io_write_all(fd, text, strlen(text)) < 0;
}

static const char *notify[] = {NULL, "tell", NULL, NULL, NULL};

static int notify_setup(void **state)
{
    static char pipe_path[4096], gate_path[4096];

    if (job_setup(state) < 0)
        return -1;
    (void)snprintf(pipe_path, sizeof(pipe_path), "%s", in_temp_dir("pipe"));
    (void)snprintf(gate_path, sizeof(gate_path), "%s", in_temp_dir("gate"));
    notify[0] = self_path;
    notify[2] = pipe_path;
    notify[3] = NULL;
    return mkfifo(pipe_path, 0600) < 0 || mkfifo(gate_path, 0600) < 0 ? -1 : 0;
}

#define notify_test(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, notify_setup, background_teardown)

/* Both ends of the pipe, so that it has no end before all have written. */
static int open_pipe(void)
{
    int fd = open(notify[2], O_RDWR | O_NONBLOCK | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void check_told(int fd, const char *id, const char *own, const char *cwd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    char expected[1024];
    char text[8192] = "";

    assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    (void)snprintf(expected, sizeof(expected), "%s %s recorded %s %s\n", id, in_temp_dir("state"),
                   own, cwd);
    assert_string_equal(text, expected);
}

static void check_nothing_more(int fd)
{
    char byte;

    assert_int_equal(read(fd, &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
}

/* With the job's environment and directory, once. */
static void test_told_of_an_exit(void **state)
{
    static const char *const env[] = {"OWN=value", "REIN_PROCESS_ID=other", "REIN_STATE=/nowhere",
                                      NULL};
    struct rein_spec spec = COMMAND("/bin/true");
    auto_close int fd = open_pipe();
    rein_job *job;

    spec.notify = notify;
    spec.env = env;
    spec.cwd = "/usr";
    job = start_background(spec, 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_null(result.warnings[0]);
    check_told(fd, rein_job_id(job), "value", "/usr");
    wait_unlocked(rein_job_id(job)); /* who could tell again has gone */
    check_nothing_more(fd);
}

static void test_told_of_a_stop(void **state)
{
    struct rein_spec spec = ROLE("stay");
    auto_close int fd = open_pipe();
    rein_job *job;

    spec.notify = notify;
    job = start_background(spec, REIN_SPEC_DETACHED);
    check_nothing_more(fd);
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_told(fd, rein_job_id(job), "-", start_dir);
}

static void test_told_of_a_loss(void **state)
{
    struct rein_spec spec = ROLE("stay");
    auto_close int fd = open_pipe();
    auto_close int supervisor_fd = -EBADF;
    rein_job *job;

    spec.notify = notify;
    job = start_background(spec, 0);
    supervisor_fd = open_supervisor(job);
    assert_int_equal(sys_pidfd_signal(supervisor_fd, SIGKILL), 0);
    auto_result result = finish(job);
    check_lost(&result, result.output_bytes);
    check_told(fd, rein_job_id(job), "-", start_dir);
    wait_unlocked(rein_job_id(job));
    check_nothing_more(fd);
}

/* It is no part of the job: nobody waits for it, and it outlives everybody. */
static void test_told_in_its_own_time(void **state)
{
    struct rein_spec spec = COMMAND("/bin/true");
    auto_close int fd = open_pipe();
    auto_close int gate_fd = -EBADF;
    rein_job *job;
    struct id id;

    notify[3] = in_temp_dir("gate");
    spec.notify = notify;
    job = start_background(spec, 0);
    id = id_of(job);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.n_left_running, 0);
    end_job(job);
    wait_unlocked(id.text);
    check_nothing_more(fd);
    gate_fd = open(in_temp_dir("gate"), O_WRONLY | O_CLOEXEC); /* lets it through */
    assert_true(gate_fd >= 0);
    check_told(fd, id.text, "-", start_dir);
}

static void test_command_for_the_end_that_is_not_there(void **state)
{
    static const char *const missing[] = {"/no/such/command", NULL};
    struct rein_spec spec = COMMAND("/bin/true");
    rein_job *job;

    spec.notify = missing;
    job = start_background(spec, 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(has_warning(&result, "command for the job's end"));
}

/* One that never ran has no end to be told of. */
static void test_failed_start_is_not_told(void **state)
{
    struct rein_spec spec = COMMAND("/no/such/command");
    auto_close int fd = open_pipe();
    struct rein_error *error;

    spec.flags = REIN_SPEC_BACKGROUND;
    spec.notify = notify;
    error = start_fails(&spec, -ENOENT, "command_not_found");
    error = rein_error_free(error);
    reap_guards();
    check_nothing_more(fd);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        background_test(test_another_process_is_the_owner),
        background_test_without_leaves(test_another_process_is_the_owner),
        background_test(test_starter_is_not_the_owner),
        background_test(test_owner_that_has_gone_already),
        background_test(test_host_is_killed),
        background_test(test_host_of_a_detached_job_is_killed),
        background_test(test_supervisor_is_killed),
        background_test_without_leaves(test_supervisor_is_killed),
        background_test(test_supervisor_and_guard_are_killed),
        background_test_without_leaves(test_supervisor_and_guard_are_killed),
        background_test(test_lost_jobs_in_the_list),
        background_test(test_killed_guard_changes_nothing),
        notify_test(test_told_of_an_exit),
        notify_test(test_told_of_a_stop),
        notify_test(test_told_of_a_loss),
        notify_test(test_told_in_its_own_time),
        background_test(test_command_for_the_end_that_is_not_there),
        notify_test(test_failed_start_is_not_told),
    };

    if (argc > 1 && strcmp(argv[1], "family") == 0)
        return play_family(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "tell") == 0)
        return play_tell(argc - 1, argv + 1);
    if (argc > 1)
        return play_background_role(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
