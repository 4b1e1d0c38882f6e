/*
 * What a job costs in things that can be counted: system calls, and allocations of the host. Times
 * differ from machine to machine and from minute to minute; these do not, so a change that makes
 * every job dearer is seen when it is made. Not for builds with a sanitizer, which adds its own.
 *
 * System calls are counted in a child that lets itself be traced, and with it all that it starts.
 * Each process is known by its distance from the host: its child is the guard, that one's child the
 * supervisor, the next one the main process, which counts until it has executed its command.
 *
 * The bounds leave room for a few calls more, and for a libc whose programs begin with more calls
 * than musl's. Whoever needs more should know what for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "rein.h"

/* Bounds for one job: start, wait, free. The others are guard and supervisor, and the main process
 * before its command. */
#define HOST_CALLS_MAX 30
#define OTHER_CALLS_MAX 72
#define ALLOCATIONS_MAX 64
#define ALLOCATED_BYTES_MAX (96u << 10)

#define WARMING_JOBS 2 /* a context that has several jobs makes what only they need */
#define JOBS 4
#define CANNOT_TRACE 77

static void run_job(rein *r)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;

    if (rein_start(r, &spec, &job, NULL) < 0 || rein_wait(job, -1, &result) < 0 || !result.success)
        abort();
    rein_result_done(&result);
    (void)rein_job_free(job);
}

/* ---- system calls ------------------------------------------------------------------------- */

/* A call that the library has no reason to make: counting of the host's calls begins and ends. */
static void mark(void)
{
    (void)syscall(SYS_write, -1, NULL, 0);
}

static int is_mark(const struct __ptrace_syscall_info *info)
{
    return info->entry.nr == SYS_write && (int)info->entry.args[0] == -1;
}

static void be_host(void)
{
    rein *r;

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
        _exit(CANNOT_TRACE);
    r = rein_open(NULL, NULL);
    if (!r)
        _exit(1);
    for (int i = 0; i < WARMING_JOBS; i++)
        run_job(r);
    mark();
    for (int i = 0; i < JOBS; i++)
        run_job(r);
    mark();
    (void)rein_free(r);
    _exit(0);
}

enum distance { HOST, GUARD, SUPERVISOR, MAIN };

struct tracee {
    pid_t pid;
    int distance;
    int executed;
};

struct trace {
    struct tracee tracees[(WARMING_JOBS + JOBS) * 3 + 1];
    size_t n;
    int counting; /* the host's calls */
    int host_calls;
    int other_calls;
    int host_status;
};

static struct tracee *find_tracee(struct trace *t, pid_t pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->tracees[i].pid == pid)
            return &t->tracees[i];
    return NULL;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &parent), 1);
    (void)fclose(file);
    return parent;
}

/* The first stop of a process. Its parent is alive: it waits for the exec or for the end of it. */
static void add_tracee(struct trace *t, pid_t pid)
{
    struct tracee *parent = find_tracee(t, parent_of(pid));
    int options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                  PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

    assert_true(t->n < ARRAY_SIZE(t->tracees));
    t->tracees[t->n++] =
        (struct tracee){.pid = pid, .distance = parent ? parent->distance + 1 : HOST};
    if (!parent)
        assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, options), 0);
}

static void count_call(struct trace *t, const struct tracee *who)
{
    struct __ptrace_syscall_info info = {.op = PTRACE_SYSCALL_INFO_NONE};

    assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, who->pid, sizeof(info), &info) > 0);
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return;
    if (is_mark(&info))
        t->counting = !t->counting;
    else if (who->distance == HOST)
        t->host_calls += t->counting;
    else if (who->distance < MAIN || !who->executed)
        t->other_calls++;
}

static void take_stop(struct trace *t, pid_t pid, int status)
{
    struct tracee *who = find_tracee(t, pid);
    int signo = WSTOPSIG(status);

    if (!who) {
        add_tracee(t, pid);
        signo = 0;
    } else if (signo == (SIGTRAP | 0x80)) {
        count_call(t, who);
        signo = 0;
    } else if (status >> 16) {
        who->executed |= status >> 16 == PTRACE_EVENT_EXEC;
        signo = 0;
    }
    (void)ptrace(PTRACE_SYSCALL, pid, NULL, signo);
}

/* Fills t from a host that runs its jobs one after the other. */
static void trace_jobs(struct trace *t)
{
    pid_t host = fork();
    pid_t pid;
    int status;

    assert_true(host >= 0);
    if (host == 0)
        be_host();
    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status))
            take_stop(t, pid, status);
        else if (pid == host)
            t->host_status = status;
    }
}

static void few_system_calls(void **state)
{
    struct trace t = {.n = 0};
    int host_calls, other_calls;

    trace_jobs(&t);
    if (WIFEXITED(t.host_status) && WEXITSTATUS(t.host_status) == CANNOT_TRACE) {
        assert_null(getenv("REIN_TEST_MUST_WORK"));
        print_message("# processes may not be traced here\n");
        skip();
    }
    assert_int_equal(t.host_status, 0);
    assert_int_equal(t.n, ARRAY_SIZE(t.tracees)); /* three processes a job, no more */
    host_calls = t.host_calls / JOBS;
    other_calls = t.other_calls / (WARMING_JOBS + JOBS);
    print_message("# system calls for each job: %d in the host, %d beside it\n", host_calls,
                  other_calls);
    assert_in_range(host_calls, 1, HOST_CALLS_MAX);
    assert_in_range(other_calls, 1, OTHER_CALLS_MAX);
}

/* ---- allocations -------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static int allocations;
static size_t allocated_bytes;

static void count_allocation(size_t size)
{
    allocations++;
    allocated_bytes += size;
}

#define VISIBLE __attribute__((visibility("default")))

/* In the place of libc's own, for its functions as well as for the library's. */
VISIBLE void *malloc(size_t size)
{
    count_allocation(size);
    return __libc_malloc(size);
}

VISIBLE void *calloc(size_t n, size_t size)
{
    count_allocation(n * size);
    return __libc_calloc(n, size);
}

VISIBLE void *realloc(void *old, size_t size)
{
    count_allocation(size);
    return __libc_realloc(old, size);
}

static void few_allocations(void **state)
{
    /* The caller's variables cost one allocation each; so that it is always the same number: */
    char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"HOME=/"},
                           (char[]){"LANG=C.UTF-8"}, (char[]){"USER=somebody"}, NULL};
    char **old_environment = environ;
    rein *r;

    environ = environment;
    r = rein_open(NULL, NULL);
    assert_non_null(r);
    for (int i = 0; i < WARMING_JOBS; i++)
        run_job(r);
    allocations = 0;
    allocated_bytes = 0;
    run_job(r);
    environ = old_environment;
    print_message("# allocations for a job: %d, %zu bytes\n", allocations, allocated_bytes);
    assert_in_range(allocations, 1, ALLOCATIONS_MAX);
    assert_in_range(allocated_bytes, 1, ALLOCATED_BYTES_MAX);
    (void)rein_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_system_calls),
        cmocka_unit_test(few_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
