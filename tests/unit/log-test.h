/*
 * What the tests of a job's log share: commands that write streams which describe themselves, and
 * readers that look at every byte.
 */
#ifndef REIN_TESTS_LOG_TEST_H
#define REIN_TESTS_LOG_TEST_H

#include "job-test.h"

#include <sys/stat.h>

#include "job/job.h"
#include "lines.h"

#define LIMIT (256 * KIB)

/* lines N [WAIT]: N lines; with WAIT it then waits for the end. */
static inline int play_lines(int argc, char **argv)
{
    write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
    if (argc > 2)
        wait_for_the_end();
    return 0;
}

/* two N A B: N times A lines to standard output and B lines to standard error. */
static inline int play_two(int argc, char **argv)
{
    uint64_t n = strtoull(argv[1], NULL, 10);
    uint64_t out_lines = strtoull(argv[2], NULL, 10);
    uint64_t err_lines = strtoull(argv[3], NULL, 10);

    for (uint64_t i = 0; i < n; i++) {
        write_lines(STDOUT_FILENO, 'O', i * out_lines, out_lines);
        write_lines(STDERR_FILENO, 'E', i * err_lines, err_lines);
    }
    return 0;
}

/* ask N: N lines for each byte of standard input. */
static inline int play_ask(int argc, char **argv)
{
    uint64_t n = strtoull(argv[1], NULL, 10);
    char byte;

    for (uint64_t i = 0; io_read(STDIN_FILENO, &byte, 1) == 1; i++)
        write_lines(STDOUT_FILENO, 'O', i * n, n);
    return 0;
}

/* Reads the whole output and checks it: the places of the pieces, their bytes, the gap. */
static inline void check_whole(rein_job *job, size_t piece_size, const struct rein_result *result)
{
    static char bytes[65536];
    struct rein_piece piece;
    uint64_t at = 0;
    uint64_t skipped = 0;
    uint64_t got = 0;
    ssize_t n;

    while ((n = rein_read(job, bytes, piece_size, PATIENCE_MS, &piece)) > 0) {
        if (piece.skipped_bytes) {
            assert_int_equal(at, result->gap_begin);
            assert_int_equal(at + piece.skipped_bytes, result->gap_end);
        }
        at += piece.skipped_bytes;
        assert_true(are_lines(bytes, (size_t)n, 'O', at));
        at += (uint64_t)n;
        got += (uint64_t)n;
        skipped += piece.skipped_bytes;
        assert_int_equal(piece.cursor, at);
    }
    assert_int_equal(n, 0);
    assert_int_equal(skipped, result->gap_end - result->gap_begin);
    assert_int_equal(got + skipped, result->output_bytes);
}

/* The disk, or memory, that a log really occupies. */
static inline uint64_t used_bytes(const rein_job *job)
{
    struct stat st;

    assert_int_equal(fstat(job->log_fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static inline int has_warning(const struct rein_result *result, const char *text)
{
    for (size_t i = 0; result->warnings[i]; i++)
        if (strstr(result->warnings[i], text))
            return 1;
    return 0;
}

/* How many bytes are in the log really, as the file says and not the supervisor. */
static inline uint64_t written_bytes(const rein_job *job)
{
    char path[128];
    struct stat st;

    (void)snprintf(path, sizeof(path), "state/jobs/%s/output.log", rein_job_id(job));
    if (stat(in_temp_dir(path), &st) < 0)
        assert_int_equal(fstat(job->log_fd, &st), 0);
    return (uint64_t)st.st_size;
}

/* Lets the job write n times more, up to total bytes, without taking a message of its supervisor.
 */
static inline void write_unheard(rein_job *job, size_t n, uint64_t total)
{
    assert_int_equal(rein_send(job, "++++", n), n);
    while (written_bytes(job) < total)
        (void)poll(NULL, 0, 1);
}

/* Reads a piece at *at, and moves that. */
static inline void read_piece(rein_job *job, size_t size, uint64_t *at)
{
    static char bytes[65536];
    struct rein_piece piece;
    ssize_t n = rein_read(job, bytes, size, PATIENCE_MS, &piece);

    assert_true(n > 0);
    *at += piece.skipped_bytes;
    assert_true(are_lines(bytes, (size_t)n, 'O', *at));
    *at += (uint64_t)n;
    assert_int_equal(piece.cursor, *at);
}

/* Readers are never given the zeros of a hole, also when what they know of the log is old: nothing
 * tells them that time has passed. */
static inline void
check_stale_reader(rein_job *job, uint64_t lines_per_round, int reads_per_round, uint64_t rounds)
{
    uint64_t at = 0;

    for (uint64_t round = 1; round <= rounds; round++) {
        write_unheard(job, 1, round * lines_per_round * LINE_SIZE);
        for (int i = 0; i < reads_per_round; i++)
            read_piece(job, 10000, &at);
    }
}

static const struct role log_roles[] = {
    {"lines", play_lines}, {"two", play_two}, {"ask", play_ask}};

#endif
