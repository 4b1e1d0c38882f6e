/*
 * The host process is untouched: its descriptors, signals, children, threads and memory map are its
 * own, and whatever it does with them, jobs work.
 */
#include "job-test.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "job/job.h"

#define MANY 1000

/* ---- what must stay the same -------------------------------------------------------------- */

struct host {
    struct sigaction actions[NSIG];
    sigset_t mask;
    int subreaper;
    int death_signal;
    mode_t umask;
    char cwd[4096];
    char descriptors[8192]; /* number and target of each */
};

static void list_descriptors(char text[static 8192])
{
    size_t used = 0;

    for (int fd = 0; fd < WATCHED_FDS; fd++) {
        char path[64];
        char target[256] = "";

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof(target) - 1) > 0)
            used += (size_t)snprintf(text + used, 8192 - used, "%d %s %d %d\n", fd, target,
                                     fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
        assert_true(used < 8192);
    }
}

static void look(struct host *host)
{
    for (int signo = 1; signo < NSIG; signo++)
        (void)sigaction(signo, NULL, &host->actions[signo]);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &host->mask);
    (void)prctl(PR_GET_CHILD_SUBREAPER, &host->subreaper);
    (void)prctl(PR_GET_PDEATHSIG, &host->death_signal);
    host->umask = umask(0);
    (void)umask(host->umask);
    assert_non_null(getcwd(host->cwd, sizeof(host->cwd)));
    list_descriptors(host->descriptors);
}

static void check_same(const struct host *before)
{
    static struct host after;

    look(&after);
    assert_string_equal(after.descriptors, before->descriptors);
    assert_string_equal(after.cwd, before->cwd);
    assert_int_equal(after.subreaper, before->subreaper);
    assert_int_equal(after.death_signal, before->death_signal);
    assert_int_equal(after.umask, before->umask);
    for (int signo = 1; signo < NSIG; signo++) {
        assert_ptr_equal(after.actions[signo].sa_handler, before->actions[signo].sa_handler);
        assert_int_equal(after.actions[signo].sa_flags, before->actions[signo].sa_flags);
        assert_int_equal(sigismember(&after.mask, signo), sigismember(&before->mask, signo));
    }
}

static void run_one(int i)
{
    static const char *const scripts[] = {":", "echo text", "exit 3", "kill -9 $$", "sleep 60 &"};
    struct rein_spec spec = SCRIPT(scripts[(size_t)i % ARRAY_SIZE(scripts)]);
    rein_job *job;

    spec.flags = i % 3 ? 0 : REIN_SPEC_SPLIT;
    spec.stdin_kind = i % 7 ? REIN_STDIN_NULL : REIN_STDIN_PIPE;
    job = start(&spec);
    auto_result result = finish(job);
    end_job(job);
}

/* Jobs of every kind, and starts that fail. */
static void test_nothing_changes_over_many_jobs(void **state)
{
    static struct host before;

    context = rein_free(context);
    look(&before);
    context = open_context();
    for (int i = 0; i < MANY; i++) {
        struct rein_spec spec = COMMAND(i % 10 == 1 ? "/nonexistent" : "/bin/true");
        rein_job *job = NULL;

        if (i % 20 == 0)
            run_one(i / 20);
        assert_int_equal(rein_start(context, &spec, &job, NULL), i % 10 == 1 ? -ENOENT : 0);
        assert_null(rein_job_free(job));
    }
    context = rein_free(context);
    check_same(&before);
}

/* ---- children ----------------------------------------------------------------------------- */

/* Some have ended already, some do when the gate is closed. */
static void test_statuses_of_other_children_stay(void **state)
{
    pid_t pids[6];
    int gate[2];

    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    for (int i = 0; i < 6; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            char byte;

            (void)close(gate[1]);
            if (i % 2)
                (void)io_read(gate[0], &byte, 1);
            _exit(40 + i);
        }
    }
    for (int i = 0; i < 30; i++)
        run_one(i);
    (void)close(gate[0]);
    (void)close(gate[1]);
    for (int i = 0; i < 6; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 40 + i);
    }
}

static void test_sigchld_ignored(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;

    (void)sigaction(SIGCHLD, &ignore, &before);
    for (int i = 0; i < 30; i++)
        run_one(i);
    struct rein_spec spec = SCRIPT("exit 9");
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 9);
    end_job(job);
    context = rein_free(context);
    (void)sigaction(SIGCHLD, &before, NULL);
}

static void reap_all(int signo)
{
    int saved = errno;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

/* A host that reaps whatever it can, in a handler that interrupts us. */
static void test_host_that_reaps_everything(void **state)
{
    struct sigaction greedy = {.sa_handler = reap_all};
    struct sigaction before;

    (void)sigaction(SIGCHLD, &greedy, &before);
    for (int i = 0; i < 30; i++)
        run_one(i);
    struct rein_spec spec = SCRIPT("exit 9");
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 9);
    end_job(job);
    context = rein_free(context);
    (void)sigaction(SIGCHLD, &before, NULL);
}

/* The mask and the dispositions of the host do not reach the job. */
static void test_host_that_blocks_everything(void **state)
{
    struct rein_spec spec = SCRIPT("sleep 60 & kill $!; wait $!; exit $(($? - 128))");
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigset_t all;
    sigset_t mask;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &mask);
    (void)sigaction(SIGTERM, &ignore, &before);
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    (void)sigaction(SIGTERM, &before, NULL);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    check_end(&result, REIN_REASON_EXIT, SIGTERM);
}

static volatile sig_atomic_t interrupted;

static void count_signal(int signo)
{
    interrupted++;
}

/* Calls that wait are interrupted again and again, and go on. */
static void test_host_that_is_interrupted(void **state)
{
    struct sigaction counting = {.sa_handler = count_signal}; /* no SA_RESTART */
    struct sigaction before;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {.it_interval.tv_nsec = 300000, .it_value.tv_nsec = 300000};
    struct rein_spec spec = SCRIPT("echo a; sleep 0.05; echo b; exit 9");

    (void)sigaction(SIGALRM, &counting, &before);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
    rein_job *job = start(&spec);
    check_output(job, "a\nb\n");
    auto_result result = finish(job);
    for (int i = 0; i < 10; i++)
        run_one(i);
    assert_int_equal(timer_delete(timer), 0);
    (void)sigaction(SIGALRM, &before, NULL);
    check_end(&result, REIN_REASON_EXIT, 9);
    assert_true(interrupted > 10);
}

/* ---- threads ------------------------------------------------------------------------------ */

static void *run_in_thread(void *ret_failed)
{
    rein *r = open_context();

    for (int i = 0; r && i < 20; i++) {
        char script[64];
        struct rein_spec spec = SCRIPT(script);
        struct rein_result result = {.size = sizeof(result)};
        rein_job *job = NULL;
        char text[16] = "";

        (void)snprintf(script, sizeof(script), "echo %d; exit %d", i, i);
        if (rein_start(r, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0 ||
            result.exit_code != i || rein_read(job, text, sizeof(text) - 1, 0, NULL) <= 0 ||
            atoi(text) != i)
            *(int *)ret_failed = 1;
        rein_result_done(&result);
        (void)rein_job_free(job);
    }
    (void)rein_free(r);
    return NULL;
}

static void test_contexts_in_several_threads(void **state)
{
    pthread_t threads[4];
    int failed[4] = {0};

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &failed[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(failed[i]);
    }
}

static void test_no_thread_is_made(void **state)
{
    struct rein_spec spec = COMMAND("sleep", "60");
    rein_job *job = start(&spec);
    char text[4096] = "";
    auto_close int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

    assert_true(io_read_full(fd, text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, "Threads:\t1\n"));
    end_job(job);
}

/* ---- odd descriptors ---------------------------------------------------------------------- */

/* 0, 1 and 2 are closed: whatever the library opens must not take their place, for the host may
 * print. The test itself says nothing meanwhile. */
static int run_without_stdio(void)
{
    struct rein_spec spec = SCRIPT("echo out; echo err >&2; cat; exit 4");
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    char text[64] = "";
    int r = 0;

    for (int fd = 0; fd < 3; fd++)
        (void)close(fd);
    spec.stdin_kind = REIN_STDIN_INHERIT;
    spec.flags = REIN_SPEC_SPLIT;
    if (rein_start(context, &spec, &job, NULL) < 0)
        return 1;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 2;
    if (rein_wait(job, PATIENCE_MS, &result) < 0 || result.exit_code != 4)
        return 3;
    for (size_t used = 0; (r = (int)rein_read(job, text + used, 20, 0, NULL)) > 0;)
        used += (size_t)r;
    if (strcmp(text, "out\nerr\n") != 0 && strcmp(text, "err\nout\n") != 0)
        return 4;
    rein_result_done(&result);
    (void)rein_job_free(job);
    return 0;
}

static void test_host_without_standard_descriptors(void **state)
{
    assert_int_equal(as_nobody(run_without_stdio), 0);
}

/* The log that moves to the disk arrives as a new descriptor, which must not land there either. */
static int move_log_without_stdio(void)
{
    struct rein_spec spec = SCRIPT("head -c 2000000 /dev/zero");
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;

    for (int fd = 0; fd < 3; fd++)
        (void)close(fd);
    if (rein_start(context, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 2;
    if (!result.log_file || result.output_bytes != 2000000)
        return 3;
    rein_result_done(&result);
    (void)rein_job_free(job);
    return 0;
}

static void test_log_moves_in_a_host_without_standard_descriptors(void **state)
{
    assert_int_equal(chmod(temp_dir, 0777), 0);
    assert_int_equal(as_nobody(move_log_without_stdio), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_nothing_changes_over_many_jobs),
        job_test(test_statuses_of_other_children_stay),
        job_test(test_sigchld_ignored),
        job_test(test_host_that_reaps_everything),
        job_test(test_host_that_blocks_everything),
        job_test(test_host_that_is_interrupted),
        job_test(test_contexts_in_several_threads),
        job_test(test_no_thread_is_made),
        job_test(test_host_without_standard_descriptors),
        job_test(test_log_moves_in_a_host_without_standard_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
