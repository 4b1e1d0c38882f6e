/*
 * One tree, one end: whatever a job's descendants did to get away, none is alive when the job is
 * reported ended. And the end is the main process's end, whoever holds its pipes.
 */
#include "job-test.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "base/syscall-linux.h"
#include "job/job.h"

/* ---- trees, built by the test program as the job's command -------------------------------- */

static int ready_fds[2]; /* each member holds the write end until it is what it shall be */

static void become_ready(void)
{
    (void)close(ready_fds[1]);
    wait_for_the_end();
}

static void plain_child(void)
{
    if (fork() == 0)
        become_ready();
}

static void new_session(void)
{
    if (fork() == 0) {
        (void)setsid();
        become_ready();
    }
}

static void double_fork(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)setsid();
        if (fork() == 0)
            become_ready();
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
}

static void stopped(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)raise(SIGSTOP);
        wait_for_the_end();
    }
    (void)waitpid(pid, NULL, WUNTRACED);
}

static void deaf(void)
{
    if (fork() == 0) {
        for (int signo = 1; signo < NSIG; signo++)
            (void)signal(signo, SIG_IGN);
        become_ready();
    }
}

static void deep_chain(void)
{
    for (int i = 0; i < 30; i++) {
        if (fork() != 0) {
            if (i > 0)
                become_ready();
            return;
        }
    }
    become_ready();
}

static void *fork_in_thread(void *stay)
{
    plain_child();
    if (stay)
        become_ready();
    return NULL;
}

static void child_of_a_thread(void)
{
    pthread_t thread;

    (void)pthread_create(&thread, NULL, fork_in_thread, ready_fds);
    while (poll(&(struct pollfd){.fd = ready_fds[0]}, 1, 0) == 0)
        (void)sched_yield(); /* the thread has closed our write end */
}

static void child_of_an_ended_thread(void)
{
    pthread_t thread;

    (void)pthread_create(&thread, NULL, fork_in_thread, NULL);
    (void)pthread_join(thread, NULL);
}

static void many(void)
{
    for (int i = 0; i < 300; i++)
        plain_child();
}

/* Each has two children, and so on. */
static void wide_and_deep(void)
{
    for (int depth = 0; depth < 6; depth++)
        if (fork() != 0 && fork() != 0) {
            if (depth > 0)
                become_ready();
            return;
        }
    become_ready();
}

/* As if it came from another subreaper: orphans below it do not come up to ours by themselves. */
static void subreaper(void)
{
    if (fork() == 0) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        double_fork();
        become_ready();
    }
}

static void nobody(void) {}

static const struct {
    const char *name;
    void (*build)(void);
    int n; /* descendants alive in the end */
} trees[] = {
    {"nobody", nobody, 0},
    {"plain child", plain_child, 1},
    {"new session", new_session, 1},
    {"double fork", double_fork, 1},
    {"stopped", stopped, 1},
    {"deaf", deaf, 1},
    {"deep chain", deep_chain, 30},
    {"child of a thread", child_of_a_thread, 1},
    {"child of an ended thread", child_of_an_ended_thread, 1},
    {"many", many, 300},
    {"subreaper", subreaper, 2},
    {"wide and deep", wide_and_deep, 126},
};

/* tree NAME exit|stay: builds it, says "ready", and ends or not. */
static int play_tree(int argc, char **argv)
{
    char byte;

    if (pipe2(ready_fds, O_CLOEXEC) < 0)
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
        if (strcmp(trees[i].name, argv[1]) == 0)
            trees[i].build();
    (void)close(ready_fds[1]);
    if (strcmp(argv[1], "stopped") != 0)
        (void)io_read(ready_fds[0], &byte, 1);
    say("ready\n");
    if (strcmp(argv[2], "exit") == 0)
        _exit(7);
    wait_for_the_end();
    return 0;
}

/* storm WIDTH TOTAL: lines of processes in which each has a child and ends at once. */
static int play_storm(int argc, char **argv)
{
    int width = atoi(argv[1]);
    int total = atoi(argv[2]);

    for (int i = 0; i < width; i++) {
        if (fork() == 0) {
            for (int generation = 0; generation < total / width; generation++)
                if (fork() != 0)
                    _exit(0);
            wait_for_the_end();
        }
    }
    say("ready\n");
    wait_for_the_end();
    return 0;
}

/* hold: leaves a daemon that holds standard output until the descriptor argv[1] ends. */
static int play_hold(int argc, char **argv)
{
    int gate_fd = atoi(argv[1]);

    if (fork() == 0) {
        char byte;

        (void)setsid();
        (void)io_read(gate_fd, &byte, 1);
        say("late\n");
        _exit(0);
    }
    say("main\n");
    return 3;
}

static int play_zombies(int argc, char **argv)
{
    for (int i = 0; i < 8; i++) {
        pid_t pid = fork();
        siginfo_t info;

        if (pid == 0)
            _exit(1);
        (void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    }
    return 0;
}

static int play_deaf(int argc, char **argv)
{
    for (int signo = 1; signo < NSIG; signo++)
        (void)signal(signo, SIG_IGN);
    say("ready\n");
    wait_for_the_end();
    return 0;
}

/* ---- how they end ------------------------------------------------------------------------- */

static void by_stop(rein_job *job)
{
    assert_int_equal(rein_stop(job, 0), 0);
}

static void by_patient_stop(rein_job *job)
{
    assert_int_equal(rein_stop(job, 60000), 0);
}

static void by_itself(rein_job *job) {}

struct way {
    const char *then;
    void (*end)(rein_job *job);
    int64_t timeout_ns;
    int reason;
    int exit_code;
};

static const struct way by_exit = {"exit", by_itself, 0, REIN_REASON_EXIT, 7};
static const struct way by_kill = {"stay", by_stop, 0, REIN_REASON_STOPPED, -SIGKILL};
static const struct way by_term = {"stay", by_patient_stop, 0, REIN_REASON_STOPPED, -SIGTERM};
static const struct way by_deadline = {"stay", by_itself, 50 * NSEC_PER_MSEC, REIN_REASON_TIMEOUT,
                                       -SIGKILL};

static void check_tree(size_t i, const struct way *way)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("tree", trees[i].name, way->then);
    rein_job *job;

    spec.timeout_ns = way->timeout_ns;
    job = start_with_life(spec, &life);
    if (!way->timeout_ns)
        read_until(job, "ready\n");
    way->end(job);
    auto_result result = finish(job);
    assert_true(life_is_over(&life, 0));
    check_end(&result, way->reason, way->exit_code);
    assert_int_equal(result.warnings[0] != NULL, trees[i].n > 64 && way == &by_exit);
    if (way != &by_exit)
        assert_int_equal(result.n_left_running, 0); /* it was rein that ended them */
    else
        assert_int_equal(result.n_left_running, MIN(trees[i].n, 64));
    end_job(job);
}

static void check_trees(const struct way *way)
{
    for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
        if (way == &by_term && strcmp(trees[i].name, "deaf") == 0)
            continue; /* would use all of its grace */
        print_message("# %s\n", trees[i].name);
        check_tree(i, way);
    }
}

static void test_nothing_is_alive_after_the_exit(void **state)
{
    check_trees(&by_exit);
}

static void test_nothing_is_alive_after_a_stop(void **state)
{
    check_trees(&by_kill);
}

static void test_nothing_is_alive_after_a_stop_with_grace(void **state)
{
    check_trees(&by_term);
}

static void test_nothing_is_alive_after_the_deadline(void **state)
{
    check_trees(&by_deadline);
}

/* The same where the kernel keeps no lists of children. */
static void test_scan_of_all_processes_finds_them_too(void **state)
{
    context->test_fallbacks = WIRE_NO_PROC_CHILDREN;
    check_trees(&by_exit);
    check_trees(&by_term);
}

/* At once, whatever grace the job would have had, and before the call returns. */
static void test_free_ends_the_tree(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
        auto_life life = life_new();
        struct rein_spec spec = ROLE("tree", trees[i].name, "stay");

        spec.grace_ns = 60 * NSEC_PER_SEC;
        rein_job *job = start_with_life(spec, &life);
        read_until(job, "ready\n");
        end_job(job);
        assert_true(life_is_over(&life, 0));
    }
}

/* Processes that are gone again before anybody can name them. */
static void test_storm_of_forks(void **state)
{
    static const char *const widths[] = {"1", "4", "16", "64"};

    for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
        auto_life life = life_new();
        rein_job *job =
            start_with_life((struct rein_spec)ROLE("storm", widths[i], "100000"), &life);

        read_until(job, "ready\n");
        assert_int_equal(rein_stop(job, 0), 0);
        auto_result result = finish(job);
        assert_true(life_is_over(&life, 0));
        assert_null(result.warnings[0]);
        end_job(job);
    }
}

/* ---- what is left running ----------------------------------------------------------------- */

static void test_leftovers_are_named(void **state)
{
    struct rein_spec spec = SCRIPT("sleep 61 & (exec sleep 62) & echo ok; exit 0");
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    int seen[2] = {0};

    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.n_left_running, 2);
    for (size_t i = 0; i < result.n_left_running; i++) {
        assert_true(result.left_running[i].pid > 0);
        assert_int_not_equal(result.left_running[i].pid, result.pid);
        /* a child that has not executed its command yet still has the shell's */
        seen[0] |= strstr(result.left_running[i].command, "sleep 61") != NULL;
        seen[1] |= strstr(result.left_running[i].command, "sleep 62") != NULL;
    }
    assert_true(seen[0] && seen[1]);
}

static void test_long_command_of_a_leftover_is_cut(void **state)
{
    char argument[5000];
    struct rein_spec spec = ROLE("tree", "plain child", "exit", argument);

    memset(argument, 'x', sizeof(argument) - 1);
    argument[sizeof(argument) - 1] = '\0';
    auto_result result = run(&spec);
    assert_int_equal(result.n_left_running, 1);
    assert_int_equal(strncmp(result.left_running[0].command, self_path, strlen(self_path)), 0);
    assert_true(strlen(result.left_running[0].command) > 100);
    assert_true(strlen(result.left_running[0].command) < 300);
}

/* Who has ended is no leftover, although nobody has waited for it. */
static void test_zombies_are_no_leftovers(void **state)
{
    struct rein_spec spec = ROLE("zombies");
    auto_result result = run(&spec);

    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.n_left_running, 0);
}

struct gate {
    int read_fd;
    int write_fd;
};

/* A job whose daemon stays until the gate is closed. */
static rein_job *start_with_gate(int after, struct life *life, struct gate *gate)
{
    char number[12];
    int fds[2];
    int pass[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    *gate = (struct gate){fds[0], fds[1]};
    (void)snprintf(number, sizeof(number), "%d", gate->read_fd);
    struct rein_spec spec = ROLE("hold", number);
    spec.after = after;
    pass[0] = life->given_fd;
    pass[1] = gate->read_fd;
    spec.pass_fds = pass;
    spec.n_pass_fds = 2;
    rein_job *job = start(&spec);
    life->given_fd = close_fd(life->given_fd);
    gate->read_fd = close_fd(gate->read_fd);
    return job;
}

static void test_daemon_that_holds_the_pipe_delays_nothing(void **state)
{
    auto_life life = life_new();
    struct gate gate;
    rein_job *job = start_with_gate(REIN_AFTER_KILL, &life, &gate);
    int64_t began_ns = time_mono_ns();
    auto_result result = finish(job);

    assert_true(time_mono_ns() - began_ns < 2 * NSEC_PER_SEC);
    check_end(&result, REIN_REASON_EXIT, 3);
    assert_int_equal(result.n_left_running, 1);
    assert_true(life_is_over(&life, 0));
    check_output(job, "main\n");
    gate.write_fd = close_fd(gate.write_fd);
}

static void test_keep_leaves_the_daemon_alone(void **state)
{
    auto_life life = life_new();
    struct gate gate;
    rein_job *job = start_with_gate(REIN_AFTER_KEEP, &life, &gate);
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 3);
    assert_int_equal(result.n_left_running, 1);
    check_output(job, "main\n");
    end_job(job);
    context = rein_free(context); /* and with it the supervisor */
    assert_false(life_is_over(&life, 50));
    gate.write_fd = close_fd(gate.write_fd);
    assert_true(life_is_over(&life, PATIENCE_MS));
}

static void test_wait_lets_the_job_go_on(void **state)
{
    auto_life life = life_new();
    struct gate gate;
    rein_job *job = start_with_gate(REIN_AFTER_WAIT, &life, &gate);
    auto_close int main_fd = sys_pidfd_open(rein_job_pid(job));
    struct rein_result running = {.size = sizeof(running)};

    if (main_fd >= 0)
        assert_int_equal(io_poll(main_fd, POLLIN, PATIENCE_MS), 1);
    assert_int_equal(rein_wait(job, 20, &running), -EAGAIN);
    assert_true(running.running);
    rein_result_done(&running);
    gate.write_fd = close_fd(gate.write_fd);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 3);
    assert_int_equal(result.n_left_running, 0);
    assert_true(life_is_over(&life, 0));
    check_output(job, "main\nlate\n");
}

/* Also while the job lingers the deadline and a stop hold. */
static void test_wait_ends_at_the_deadline(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("tree", "double fork", "exit");

    spec.after = REIN_AFTER_WAIT;
    spec.timeout_ns = 1500 * NSEC_PER_MSEC;
    rein_job *job = start_with_life(spec, &life);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_TIMEOUT, 7);
    assert_true(life_is_over(&life, 0));
}

static void test_grace_for_leftovers(void **state)
{
    struct rein_spec spec =
        SCRIPT("(trap 'echo termed; exit' TERM; echo up; while :; do :; done) & "
               "while ! read x; do :; done; exit 0");

    spec.stdin_kind = REIN_STDIN_PIPE;
    spec.grace_ns = 60 * NSEC_PER_SEC;
    rein_job *job = start(&spec);
    read_until(job, "up\n");
    assert_int_equal(rein_send(job, "\n", 1), 1);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(result.n_left_running >= 1);
    check_output(job, "termed\n");
}

/* ---- the main process itself -------------------------------------------------------------- */

static void test_main_that_ignores_all_signals(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("deaf");
    rein_job *job = start_with_life(spec, &life);

    read_until(job, "ready\n");
    assert_int_equal(rein_stop(job, 30), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(result.duration_ns >= 30 * NSEC_PER_MSEC);
    assert_true(life_is_over(&life, 0));
}

static void test_main_that_is_stopped(void **state)
{
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)SCRIPT("echo up; kill -STOP $$"), &life);

    read_until(job, "up\n");
    assert_int_equal(rein_stop(job, 60000), 0); /* SIGCONT lets SIGTERM in */
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGTERM);
    assert_true(life_is_over(&life, 0));
}

static void test_signal_to_its_own_group_stays_there(void **state)
{
    struct rein_spec spec = SCRIPT("kill 0; sleep 60");
    auto_result result = run(&spec);

    check_end(&result, REIN_REASON_SIGNAL, -SIGTERM);
}

static const struct role roles[] = {{"tree", play_tree},
                                    {"storm", play_storm},
                                    {"hold", play_hold},
                                    {"deaf", play_deaf},
                                    {"zombies", play_zombies}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_nothing_is_alive_after_the_exit),
        job_test(test_nothing_is_alive_after_a_stop),
        job_test(test_nothing_is_alive_after_a_stop_with_grace),
        job_test(test_nothing_is_alive_after_the_deadline),
        job_test(test_free_ends_the_tree),
        job_test(test_storm_of_forks),
        job_test(test_leftovers_are_named),
        job_test(test_long_command_of_a_leftover_is_cut),
        job_test(test_zombies_are_no_leftovers),
        job_test(test_daemon_that_holds_the_pipe_delays_nothing),
        job_test(test_keep_leaves_the_daemon_alone),
        job_test(test_wait_lets_the_job_go_on),
        job_test(test_wait_ends_at_the_deadline),
        job_test(test_grace_for_leftovers),
        job_test(test_main_that_ignores_all_signals),
        job_test(test_main_that_is_stopped),
        job_test(test_signal_to_its_own_group_stays_there),
        job_test_without_leaves(test_nothing_is_alive_after_the_exit),
        job_test_without_leaves(test_nothing_is_alive_after_a_stop),
        job_test_without_leaves(test_nothing_is_alive_after_a_stop_with_grace),
        job_test_without_leaves(test_nothing_is_alive_after_the_deadline),
        job_test_without_leaves(test_scan_of_all_processes_finds_them_too),
        job_test_without_leaves(test_free_ends_the_tree),
        job_test_without_leaves(test_storm_of_forks),
        job_test_without_leaves(test_daemon_that_holds_the_pipe_delays_nothing),
        job_test_without_leaves(test_keep_leaves_the_daemon_alone),
        job_test_without_leaves(test_wait_ends_at_the_deadline),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
