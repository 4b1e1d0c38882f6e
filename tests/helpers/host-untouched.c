/*
 * host-untouched MODE MEGABYTES JOBS - a program with a life of its own that uses the library.
 *
 * It has so much touched memory, threads, a SIGCHLD handler, blocked signals and children, starts
 * so many jobs of all kinds through rein.h, and checks that each result is right and that nothing
 * of its own has changed. Prints a line "ok …" for each thing that held, or says what did not and
 * exits with 1. MODE says what is hard about the host:
 *
 *   plain     nothing
 *   greedy    its SIGCHLD handler reaps every child it can get, the library's too
 *   ignore    it ignores SIGCHLD, so that the kernel reaps for it
 *   threads   four threads with a context each start jobs at the same time
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rein.h"

#define N_IDLE_THREADS 3
#define N_BUSY_THREADS 4
#define N_CHILDREN 3
#define OWN_CHILD_EVERY 100 /* jobs */
#define FD_TEXT_SIZE 8192

static int report_fd = STDOUT_FILENO; /* our real standard output, while 1 and 2 are watched */
static volatile sig_atomic_t sigchld_count;
static int greedy;

/* ---- reporting ---------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2))) ok(const char *format, ...)
{
    va_list args;

    (void)dprintf(report_fd, "ok ");
    va_start(args, format);
    (void)vdprintf(report_fd, format, args);
    va_end(args);
    (void)dprintf(report_fd, "\n");
}

static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
    va_list args;

    (void)dprintf(report_fd, "not ok ");
    va_start(args, format);
    (void)vdprintf(report_fd, format, args);
    va_end(args);
    (void)dprintf(report_fd, "\n");
    _exit(1);
}

static void check_error(int r, const struct rein_error *error, const char *what)
{
    if (r < 0)
        fail("%s: %s: %s (%s)", what, strerror(-r), error ? error->message : "no message",
             error ? error->step : "no step");
}

/* ---- what belongs to the host ------------------------------------------------------------- */

struct host {
    struct sigaction actions[NSIG];
    sigset_t mask;
    char fds[FD_TEXT_SIZE];
    char cwd[4096];
    mode_t umask;
    char **environ;
    long n_environ;
    int subreaper;
    int death_signal;
    long threads;
};

static long status_value(const char *key)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    long value = -1;

    if (!f)
        fail("cannot read /proc/self/status");
    while (fgets(line, sizeof(line), f))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    (void)fclose(f);
    return value;
}

/* "0 /dev/null\n1 …": every open descriptor with its target. */
static void list_fds(char text[static FD_TEXT_SIZE])
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t used = 0;

    if (!dir)
        fail("cannot read /proc/self/fd");
    text[0] = '\0';
    while ((entry = readdir(dir))) {
        char target[512];
        ssize_t n;

        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir))
            continue;
        n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));
        if (n < 0)
            continue;
        used += (size_t)snprintf(text + used, FD_TEXT_SIZE - used, "%s %.*s\n", entry->d_name,
                                 (int)n, target);
        if (used >= FD_TEXT_SIZE)
            fail("too many descriptors");
    }
    (void)closedir(dir);
}

static void look(struct host *h)
{
    memset(h, 0, sizeof(*h));
    for (int signo = 1; signo < NSIG; signo++)
        (void)sigaction(signo, NULL, &h->actions[signo]);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &h->mask);
    list_fds(h->fds);
    if (!getcwd(h->cwd, sizeof(h->cwd)))
        fail("cannot tell the working directory");
    h->umask = umask(0);
    (void)umask(h->umask);
    h->environ = environ;
    while (environ[h->n_environ])
        h->n_environ++;
    (void)prctl(PR_GET_CHILD_SUBREAPER, &h->subreaper);
    (void)prctl(PR_GET_PDEATHSIG, &h->death_signal);
    h->threads = status_value("Threads:");
}

static void check_signals(const struct host *before, const struct host *after)
{
    for (int signo = 1; signo < NSIG; signo++) {
        const struct sigaction *a = &before->actions[signo], *b = &after->actions[signo];

        if (a->sa_handler != b->sa_handler || a->sa_flags != b->sa_flags)
            fail("the disposition of signal %d has changed", signo);
        if (sigismember(&before->mask, signo) != sigismember(&after->mask, signo))
            fail("the mask has changed for signal %d", signo);
    }
}

static void check_host(const struct host *before, const struct host *after)
{
    check_signals(before, after);
    ok("signal dispositions and mask");
    if (strcmp(before->fds, after->fds) != 0)
        fail("descriptors, before:\n%safter:\n%s", before->fds, after->fds);
    ok("descriptors");
    if (before->threads != after->threads)
        fail("%ld threads became %ld", before->threads, after->threads);
    ok("threads");
    if (strcmp(before->cwd, after->cwd) != 0 || before->umask != after->umask ||
        before->environ != after->environ || before->n_environ != after->n_environ ||
        before->subreaper != after->subreaper || before->death_signal != after->death_signal)
        fail("working directory, umask, environment or a process attribute has changed");
    ok("working directory, umask, environment, process attributes");
}

/* ---- the host's own life ------------------------------------------------------------------ */

static void on_sigchld(int signo)
{
    int saved = errno;

    (void)signo;
    sigchld_count++;
    while (greedy && waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

static void on_sigint(int signo)
{
    (void)signo;
}

static void set_signals(const char *mode)
{
    struct sigaction action;
    sigset_t blocked;

    memset(&action, 0, sizeof(action));
    action.sa_handler = strcmp(mode, "ignore") == 0 ? SIG_IGN : on_sigchld;
    (void)sigaction(SIGCHLD, &action, NULL); /* without SA_RESTART: calls are interrupted */
    action.sa_handler = on_sigint;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR1);
    (void)sigaddset(&blocked, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

static void *idle(void *unused)
{
    sigset_t all;

    (void)unused;
    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (;;)
        (void)pause();
    return NULL;
}

/* Children that wait for the end of the pipe and exit with 40, 41, … */
static int start_children(pid_t children[static N_CHILDREN])
{
    int gate[2];

    if (pipe2(gate, O_CLOEXEC) < 0)
        fail("pipe");
    for (int i = 0; i < N_CHILDREN; i++) {
        children[i] = fork();
        if (children[i] < 0)
            fail("fork");
        if (children[i] == 0) {
            char byte;

            (void)close(gate[1]);
            while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
                ;
            _exit(40 + i);
        }
    }
    (void)close(gate[0]);
    return gate[1];
}

static pid_t wait_for(pid_t pid, int *ret_status)
{
    pid_t r;

    do
        r = waitpid(pid, ret_status, 0);
    while (r < 0 && errno == EINTR);
    return r;
}

/* A child of the host's own that comes and goes between jobs: its status is the host's to get. */
static void run_own_child(void)
{
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
    pid_t pid;
    int status;

    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
        fail("posix_spawn");
    if (wait_for(pid, &status) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail("the status of a child of the host's own was lost");
}

static void end_children(int gate_fd, const pid_t children[static N_CHILDREN])
{
    (void)close(gate_fd);
    for (int i = 0; i < N_CHILDREN; i++) {
        int status;

        if (wait_for(children[i], &status) != children[i] || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 40 + i)
            fail("the status of child %d was lost", i);
    }
    ok("the statuses of the host's own children");
}

/* ---- jobs --------------------------------------------------------------------------------- */

struct sample {
    const char *argv[4];
    int64_t timeout_ns;
    int stop; /* ask for the end, instead of waiting */
    int reason;
    int exit_code;
    const char *output;
};

static const struct sample samples[] = {
    {.argv = {"true"}, .reason = REIN_REASON_EXIT, .output = ""},
    {.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"},
     .reason = REIN_REASON_EXIT,
     .exit_code = 3,
     .output = "out\nerr\n"},
    {.argv = {"sh", "-c", "kill -9 $$"}, .reason = REIN_REASON_SIGNAL, .exit_code = -SIGKILL},
    {.argv = {"true"}, .reason = REIN_REASON_EXIT, .output = ""},
    {.argv = {"sh", "-c", "sleep 60 & echo left"}, .reason = REIN_REASON_EXIT, .output = "left\n"},
    {.argv = {"sleep", "60"},
     .timeout_ns = 5000000,
     .reason = REIN_REASON_TIMEOUT,
     .exit_code = -SIGKILL},
    {.argv = {"sleep", "60"}, .stop = 1, .reason = REIN_REASON_STOPPED, .exit_code = -SIGTERM},
    {.argv = {"seq", "1", "20000"}, .reason = REIN_REASON_EXIT},
};

#define N_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static void check_output(rein_job *job, const char *expected)
{
    char text[256];
    size_t used = 0;
    ssize_t n;

    while ((n = rein_read(job, text + used, sizeof(text) - used, 10000, NULL)) > 0) {
        used += (size_t)n;
        if (used == sizeof(text))
            fail("more output than '%s'", expected);
    }
    if (n < 0)
        fail("rein_read: %s", strerror((int)-n));
    if (used != strlen(expected) || memcmp(text, expected, used) != 0)
        fail("the output is '%.*s' instead of '%s'", (int)used, text, expected);
}

static void run_job(rein *r, const struct sample *sample)
{
    struct rein_spec spec = {.size = sizeof(spec)};
    struct rein_result result = {.size = sizeof(result)};
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    int err;

    spec.argv = sample->argv;
    spec.timeout_ns = sample->timeout_ns;
    check_error(rein_start(r, &spec, &job, &error), error, "rein_start");
    if (sample->stop)
        check_error(rein_stop(job, 5000), NULL, "rein_stop");
    if (sample->output)
        check_output(job, sample->output);
    err = rein_wait(job, 20000, &result);
    if (err < 0)
        fail("rein_wait of %s: %s", sample->argv[0], strerror(-err));
    if (result.running || result.reason != sample->reason || result.exit_code != sample->exit_code)
        fail("%s ended by %s with %d", sample->argv[0], rein_reason_name(result.reason),
             result.exit_code);
    rein_result_done(&result);
    if (rein_job_free(job))
        fail("rein_job_free gave something back");
}

/* A command that is not there is an error, and leaves nothing. */
static void run_failing_job(rein *r)
{
    const char *argv[] = {"/nonexistent/program", NULL};
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    int err = rein_start(r, &spec, &job, &error);

    if (err != -ENOENT || !error || strcmp(error->code, "command_not_found") != 0 || job)
        fail("a missing command gave %d, %s", err, error ? error->code : "no error");
    if (rein_error_free(error))
        fail("rein_error_free gave something back");
}

static void run_jobs(int count, int with_own_children)
{
    struct rein_error *error = NULL;
    rein *r = rein_open(NULL, &error);

    if (!r)
        check_error(-EIO, error, "rein_open");
    for (int i = 0; i < count; i++) {
        run_job(r, &samples[(size_t)i % N_SAMPLES]);
        if (i % OWN_CHILD_EVERY == 0) {
            run_failing_job(r);
            if (with_own_children)
                run_own_child();
        }
    }
    if (rein_free(r))
        fail("rein_free gave something back");
}

static void *run_jobs_in_thread(void *count)
{
    run_jobs(*(int *)count, 0);
    return NULL;
}

static void run_in_threads(int count)
{
    pthread_t threads[N_BUSY_THREADS];
    int share = count / N_BUSY_THREADS;

    for (int i = 0; i < N_BUSY_THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_jobs_in_thread, &share) != 0)
            fail("pthread_create");
    for (int i = 0; i < N_BUSY_THREADS; i++)
        (void)pthread_join(threads[i], NULL);
}

/* ---- main --------------------------------------------------------------------------------- */

static char *touch_memory(size_t megabytes)
{
    size_t size = megabytes << 20;
    char *memory = NULL;

    if (size > 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            fail("no memory");
        memset(memory, 1, size);
    }
    return memory;
}

/* From here on all that is written to 1 and 2 lands in a file. */
static int watch_output(void)
{
    int fd = memfd_create("watched", MFD_CLOEXEC);

    report_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0 || report_fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(1);
    return fd;
}

static void check_nothing_written(int fd)
{
    char text[1024];
    ssize_t n = pread(fd, text, sizeof(text), 0);

    if (n != 0)
        fail("written to the host's output: '%.*s'", (int)n, text);
    ok("nothing written");
}

int main(int argc, char **argv)
{
    pthread_t idle_threads[N_IDLE_THREADS];
    pid_t children[N_CHILDREN];
    struct host before, after;
    int own_children, gate_fd = -1, watched_fd, jobs;

    if (argc != 4) {
        fprintf(stderr, "usage: host-untouched plain|greedy|ignore|threads MEGABYTES JOBS\n");
        return 2;
    }
    jobs = atoi(argv[3]);
    greedy = strcmp(argv[1], "greedy") == 0;
    own_children = strcmp(argv[1], "plain") == 0;
    watched_fd = watch_output();
    set_signals(argv[1]);
    if (own_children)
        gate_fd = start_children(children);
    (void)touch_memory((size_t)atoi(argv[2]));
    for (int i = 0; i < N_IDLE_THREADS; i++)
        if (pthread_create(&idle_threads[i], NULL, idle, NULL) != 0)
            fail("pthread_create");

    look(&before);
    if (strcmp(argv[1], "threads") == 0)
        run_in_threads(jobs);
    else
        run_jobs(jobs, own_children);
    look(&after);

    ok("%d jobs", jobs);
    check_host(&before, &after);
    if (own_children)
        end_children(gate_fd, children);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        fail("a child was left");
    ok("no child and no zombie left");
    if (own_children && sigchld_count == 0)
        fail("the SIGCHLD handler was never called");
    check_nothing_written(watched_fd);
    return 0;
}
