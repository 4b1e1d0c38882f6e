/*
 * usage: bench-host [RESIDENT_MIB]
 *
 * Measures on request. bench.py keeps several of these and asks them in turn, so that what is
 * compared is measured side by side; what is timed is timed here, with no interpreter in between.
 * With RESIDENT_MIB the host has touched so much memory, in pages of the ordinary size, before it
 * answers anything.
 *
 * A request is one line on standard input, its words separated by tabs:
 *
 *   spawn COUNT PROGRAM ARG...         posix_spawn and waitpid, COUNT times
 *   job COUNT PROGRAM ARG...           rein_start to rein_job_free, COUNT times, in one context
 *   code COUNT LANGUAGE TEXT           the same with rein_start_code
 *   output LIMIT PROGRAM ARG...        one such job that keeps so many bytes of its output
 *   peak PROGRAM ARG...                one spawn; the second figure is its largest resident set,
 * KiB deadline COUNT MS PROGRAM ARG...   jobs that do not end by themselves: how late each was over
 *   hold COUNT PROGRAM ARG...          starts jobs and keeps them: their pids
 *   release                            ends them
 *   stop-job|stop-by-term|kill-group PROGRAM ARG...   see stop.c
 *
 * The answer is one line of numbers, times in nanoseconds. Whatever fails ends the host, with a
 * line on standard error.
 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 64

int64_t now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench-host: %s: %s\n", what, why);
    exit(1);
}

static void put(struct host *host, int64_t number)
{
    (void)fprintf(host->answer, "%lld ", (long long)number);
}

/* ---- posix_spawn -------------------------------------------------------------------------- */

static int64_t spawn_once(char **argv, struct rusage *ret_usage)
{
    int64_t start_ns = now_ns();
    pid_t pid;
    int status;
    int err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

    if (err)
        fail(argv[0], strerror(err));
    while (wait4(pid, &status, 0, ret_usage) < 0)
        if (errno != EINTR)
            fail(argv[0], strerror(errno));
    start_ns = now_ns() - start_ns;
    /* 124: over its deadline, which is asked for where that can happen */
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 124))
        fail(argv[0], "did not succeed");
    return start_ns;
}

static void request_spawn(struct host *host, char **argv)
{
    int count = atoi(argv[0]);

    for (int i = 0; i < count; i++)
        put(host, spawn_once(argv + 1, NULL));
}

static void request_peak(struct host *host, char **argv)
{
    struct rusage usage;

    put(host, spawn_once(argv, &usage));
    put(host, usage.ru_maxrss);
}

/* ---- the library -------------------------------------------------------------------------- */

rein_job *start_job(struct host *host, const struct rein_spec *spec)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    if (rein_start(host->context, spec, &job, &error) < 0)
        fail(spec->argv[0], error->message);
    return job;
}

void end_job(rein_job *job, int reason)
{
    struct rein_result result = {.size = sizeof(result)};
    int r = rein_wait(job, -1, &result);

    if (r < 0)
        fail("rein_wait", strerror(-r));
    if (result.reason != reason)
        fail(result.command[0], rein_reason_name(result.reason));
    rein_result_done(&result);
    (void)rein_job_free(job);
}

static struct rein_spec make_spec(char **argv)
{
    return (struct rein_spec){.size = sizeof(struct rein_spec), .argv = (const char *const *)argv};
}

/* From the start to when nothing of the job is left, in this process either. */
static void time_job(struct host *host, const struct rein_spec *spec)
{
    int64_t start_ns = now_ns();

    end_job(start_job(host, spec), REIN_REASON_EXIT);
    put(host, now_ns() - start_ns);
}

static void request_job(struct host *host, char **argv)
{
    struct rein_spec spec = make_spec(argv + 1);
    int count = atoi(argv[0]);

    for (int i = 0; i < count; i++)
        time_job(host, &spec);
}

static void request_output(struct host *host, char **argv)
{
    struct rein_spec spec = make_spec(argv + 1);

    spec.output_limit = strtoull(argv[0], NULL, 10);
    time_job(host, &spec);
}

static void request_code(struct host *host, char **argv)
{
    int count = atoi(argv[0]);
    struct rein_code code = {
        .size = sizeof(code), .language = argv[1], .text = argv[2], .text_size = strlen(argv[2])};

    for (int i = 0; i < count; i++) {
        struct rein_spec spec = {.size = sizeof(spec)};
        struct rein_error *error = NULL;
        rein_job *job = NULL;
        int64_t start_ns = now_ns();

        if (rein_start_code(host->context, &code, &spec, &job, &error) < 0)
            fail(argv[1], error->message);
        end_job(job, REIN_REASON_EXIT);
        put(host, now_ns() - start_ns);
    }
}

static void request_deadline(struct host *host, char **argv)
{
    int count = atoi(argv[0]);
    int64_t timeout_ns = atoi(argv[1]) * INT64_C(1000000);

    for (int i = 0; i < count; i++) {
        struct rein_spec spec = make_spec(argv + 2);
        int64_t start_ns = now_ns();

        spec.timeout_ns = timeout_ns;
        end_job(start_job(host, &spec), REIN_REASON_TIMEOUT);
        put(host, now_ns() - start_ns - timeout_ns);
    }
}

static void request_hold(struct host *host, char **argv)
{
    int count = atoi(argv[0]);

    for (int i = 0; i < count && host->n_held < HELD_MAX; i++) {
        struct rein_spec spec = make_spec(argv + 1);
        rein_job *job = start_job(host, &spec);

        host->held[host->n_held++] = job;
        put(host, rein_job_pid(job));
    }
}

static void request_release(struct host *host, char **argv)
{
    (void)argv;
    while (host->n_held > 0)
        (void)rein_job_free(host->held[--host->n_held]);
}

/* ---- requests ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int words_min; /* after the name */
    void (*act)(struct host *host, char **argv);
} requests[] = {
    {"spawn", 2, request_spawn},
    {"job", 2, request_job},
    {"code", 3, request_code},
    {"output", 2, request_output},
    {"peak", 1, request_peak},
    {"deadline", 3, request_deadline},
    {"hold", 2, request_hold},
    {"release", 0, request_release},
    {"stop-job", 1, request_stop_job},
    {"stop-by-term", 1, request_stop_by_term},
    {"kill-group", 1, request_kill_group},
};

/* Splits a line at its tabs, in place. */
static int split(char *line, char **words)
{
    int n = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok(line, "\t"); word && n < WORDS_MAX; word = strtok(NULL, "\t"))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

static void answer(struct host *host, char *line)
{
    char *words[WORDS_MAX + 1];
    int n = split(line, words);

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        if (n > requests[i].words_min && strcmp(words[0], requests[i].name) == 0) {
            requests[i].act(host, words + 1);
            (void)fputs("\n", host->answer);
            (void)fflush(host->answer);
            return;
        }
    fail("unknown request", n > 0 ? words[0] : "");
}

/* What is started here must find nothing to read, and must not write into the answers. */
static FILE *move_away(int fd, const char *mode)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    FILE *file = moved < 0 ? NULL : fdopen(moved, mode);

    if (!file || null < 0 || dup2(null, fd) < 0)
        fail("/dev/null", strerror(errno));
    (void)close(null);
    return file;
}

static void grow(size_t mib)
{
    size_t size = mib << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        fail("memory", strerror(errno));
    (void)madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
}

int main(int argc, char **argv)
{
    struct host host = {.n_held = 0};
    FILE *requests_in = move_away(STDIN_FILENO, "r");
    char *line = NULL;
    size_t size = 0;

    host.answer = move_away(STDOUT_FILENO, "w");
    if (argc > 1)
        grow(strtoul(argv[1], NULL, 10));
    host.context = rein_open(NULL, NULL);
    if (!host.context)
        fail("rein_open", "no context");
    while (getline(&line, &size, requests_in) > 0)
        answer(&host, line);
    request_release(&host, NULL);
    (void)rein_free(host.context);
    free(line);
    return 0;
}
