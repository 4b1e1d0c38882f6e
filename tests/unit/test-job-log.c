/*
 * Everything is bounded, and what is dropped is stated: the first quarter and the newest three
 * quarters of the output stay, each byte in its place. Every kept byte is looked at.
 */
#include "job-test.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "base/syscall-linux.h"
#include "job/job.h"
#include "lines.h"

#define LIMIT (256 * KIB)

/* lines N [WAIT]: N lines; with WAIT it then waits for the end. */
static int play_lines(int argc, char **argv)
{
    write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
    if (argc > 2)
        wait_for_the_end();
    return 0;
}

/* two N A B: N times A lines to standard output and B lines to standard error. */
static int play_two(int argc, char **argv)
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
static int play_ask(int argc, char **argv)
{
    uint64_t n = strtoull(argv[1], NULL, 10);
    char byte;

    for (uint64_t i = 0; io_read(STDIN_FILENO, &byte, 1) == 1; i++)
        write_lines(STDOUT_FILENO, 'O', i * n, n);
    return 0;
}

/* Reads the whole output and checks it: the places of the pieces, their bytes, the gap. */
static void check_whole(rein_job *job, size_t piece_size, const struct rein_result *result)
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
static uint64_t used_bytes(const rein_job *job)
{
    struct stat st;

    assert_int_equal(fstat(job->log_fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

/* ---- the bound ---------------------------------------------------------------------------- */

static void test_exactly_the_limit_is_kept_whole(void **state)
{
    struct rein_spec spec = ROLE("lines", "16384");

    spec.output_limit = LIMIT;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_int_equal(result.output_bytes, LIMIT);
    assert_null(result.log_file);
    assert_int_equal(result.gap_end, 0);
    check_whole(job, 65536, &result);
}

static void test_head_and_newest_tail_stay(void **state)
{
    static const struct {
        uint64_t limit;
        const char *lines;
        size_t piece_size;
    } cases[] = {
        {LIMIT, "16385", 65536},     /* just beyond */
        {LIMIT, "100000", 65536},    /* several times */
        {LIMIT, "100001", 777},      /* in odd pieces */
        {LIMIT - 5000, "30000", 16}, /* a limit that is no multiple of anything */
        {LIMIT + 1, "300000", 65536},
        {3 * MIB, "400000", 65536}, /* more than memory, less than all */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rein_spec spec = ROLE("lines", cases[i].lines);
        uint64_t kept;

        spec.output_limit = cases[i].limit;
        rein_job *job = start(&spec);
        auto_result result = finish(job);
        check_end(&result, REIN_REASON_EXIT, 0);
        assert_int_equal(result.output_bytes, strtoull(cases[i].lines, NULL, 10) * LINE_SIZE);
        assert_int_equal(result.gap_begin, cases[i].limit / 4);
        kept = result.output_bytes - (result.gap_end - result.gap_begin);
        assert_true(kept <= cases[i].limit);
        assert_true(result.output_bytes - result.gap_end >= cases[i].limit * 5 / 8);
        check_whole(job, cases[i].piece_size, &result);
        assert_true(used_bytes(job) <= cases[i].limit + 16384);
        assert_non_null(result.log_file);
        end_job(job);
    }
}

/* The smallest limit is far below one read of a pipe. */
static void test_smallest_limit(void **state)
{
    struct rein_spec spec = ROLE("lines", "50000");

    spec.output_limit = 4096;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_int_equal(result.output_bytes, 50000 * LINE_SIZE);
    assert_int_equal(result.gap_begin, 1024);
    assert_true(result.output_bytes > result.gap_end);
    check_whole(job, 65536, &result);
}

static void test_limit_below_the_least_is_refused(void **state)
{
    struct rein_spec spec = COMMAND("true");

    spec.output_limit = 4095;
    (void)rein_error_free(start_fails(&spec, -EINVAL, "bad_request"));
}

/* A reader at any offset is told how much it missed and where to go on. */
static void test_offsets_around_the_gap(void **state)
{
    struct rein_spec spec = ROLE("lines", "100000");
    struct rein_piece piece;
    char bytes[32];

    spec.output_limit = LIMIT;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    uint64_t begin = result.gap_begin;
    uint64_t end = result.gap_end;

    assert_int_equal(rein_read_at(job, begin - 5, bytes, 32, &piece), 5); /* stops at the gap */
    assert_true(are_lines(bytes, 5, 'O', begin - 5));
    assert_int_equal(piece.cursor, begin);
    assert_int_equal(piece.skipped_bytes, 0);
    for (uint64_t offset = begin; offset < end; offset += (end - begin) / 7) {
        assert_int_equal(rein_read_at(job, offset, bytes, 32, &piece), 32);
        assert_true(are_lines(bytes, 32, 'O', end));
        assert_int_equal(piece.skipped_bytes, end - offset);
        assert_int_equal(piece.cursor, end + 32);
    }
    assert_int_equal(rein_read_at(job, end, bytes, 32, &piece), 32);
    assert_int_equal(piece.skipped_bytes, 0);
    assert_true(are_lines(bytes, 32, 'O', end));
    assert_int_equal(rein_read_at(job, result.output_bytes - 3, bytes, 32, &piece), 3);
}

/* ---- from memory to the disk -------------------------------------------------------------- */

static void test_small_output_stays_in_memory(void **state)
{
    struct rein_spec spec = ROLE("lines", "60000"); /* 960000 bytes */
    struct stat st;
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    assert_null(result.log_file);
    check_whole(job, 65536, &result);
    assert_int_equal(stat(in_temp_dir("state"), &st), -1);
}

static char *read_text(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    static char text[4096];
    ssize_t n;

    assert_true(fd >= 0);
    memset(text, 0, sizeof(text));
    n = io_read_full(fd, text, sizeof(text) - 1);
    assert_true(n > 0);
    return text;
}

static void test_large_output_moves_to_the_disk(void **state)
{
    struct rein_spec spec = ROLE("lines", "200000"); /* 3.2 MB */
    char path[128];
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    auto_close int fd = -EBADF;
    static char bytes[3200000];

    (void)snprintf(path, sizeof(path), "state/jobs/%s/output.log", rein_job_id(job));
    assert_string_equal(result.log_file, in_temp_dir(path));
    check_whole(job, 65536, &result);
    fd = open(result.log_file, O_RDONLY | O_CLOEXEC); /* anybody's own way to read it */
    assert_int_equal(io_read_full(fd, bytes, sizeof(bytes)), 3200000);
    assert_true(are_lines(bytes, sizeof(bytes), 'O', 0));
    *strrchr(path, '/') = '\0';
    assert_non_null(
        strstr(read_text(in_temp_dir(strcat(path, "/exit.json"))), "\"output_bytes\": 3200000"));
    *strrchr(path, '/') = '\0';
    assert_non_null(strstr(read_text(in_temp_dir(strcat(path, "/job.json"))), "\"lines\""));
}

/* The move happens under a reader that is in the middle. */
static void test_move_while_reading(void **state)
{
    struct rein_spec spec = ROLE("ask", "30000"); /* 480000 bytes at a time */
    static char bytes[65536];
    uint64_t at = 0;

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    for (uint64_t round = 1; round <= 5; round++) {
        assert_int_equal(rein_send(job, "+", 1), 1);
        while (at < round * 480000) {
            ssize_t n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL);

            assert_true(n > 0);
            assert_true(are_lines(bytes, (size_t)n, 'O', at));
            at += (uint64_t)n;
        }
        struct rein_result result = {.size = sizeof(result)};
        assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
        assert_int_equal(result.log_file != NULL, round > 2);
        rein_result_done(&result);
    }
}

/* Readers are never given the zeros of a hole: what was dropped meanwhile is told as skipped. */
static void check_slow_reader(rein_job *job, uint64_t per_round, int rounds)
{
    static char bytes[65536];
    struct rein_piece piece;
    uint64_t at = 0;

    for (int round = 0; round < rounds; round++) {
        struct rein_result result = {.size = sizeof(result)};

        assert_int_equal(rein_send(job, "+", 1), 1);
        do { /* until all of it is in the log; the reader is told nothing by that */
            rein_result_done(&result);
            result.size = sizeof(result);
            assert_int_equal(rein_wait(job, 1, &result), -EAGAIN);
        } while (result.output_bytes < (uint64_t)(round + 1) * per_round * LINE_SIZE);
        rein_result_done(&result);
        for (int i = 0; i < 3; i++) {
            ssize_t n = rein_read(job, bytes, 10000, PATIENCE_MS, &piece);

            assert_true(n > 0);
            at += piece.skipped_bytes;
            assert_true(are_lines(bytes, (size_t)n, 'O', at));
            at += (uint64_t)n;
            assert_int_equal(piece.cursor, at);
        }
    }
}

static void test_slow_reader_of_a_running_job(void **state)
{
    struct rein_spec spec = ROLE("ask", "6000"); /* 96000 bytes at a time */

    spec.output_limit = LIMIT;
    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    check_slow_reader(job, 6000, 20);
}

/* How many bytes are in the log really, as the file says and not the supervisor. */
static uint64_t written_bytes(const rein_job *job)
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
static void write_unheard(rein_job *job, size_t n, uint64_t total)
{
    assert_int_equal(rein_send(job, "++++", n), n);
    while (written_bytes(job) < total)
        (void)poll(NULL, 0, 1);
}

/* Reads a piece at *at, and moves that. */
static void read_piece(rein_job *job, size_t size, uint64_t *at)
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

/* As above, but nothing tells the reader that time has passed: what it knows of the log is old. */
static void
check_stale_reader(rein_job *job, uint64_t lines_per_round, int reads_per_round, uint64_t rounds)
{
    uint64_t at = 0;

    for (uint64_t round = 1; round <= rounds; round++) {
        write_unheard(job, 1, round * lines_per_round * LINE_SIZE);
        for (int i = 0; i < reads_per_round; i++)
            read_piece(job, 10000, &at);
    }
}

static void test_reader_whose_knowledge_is_old(void **state)
{
    struct rein_spec spec = ROLE("ask", "2000");

    spec.output_limit = LIMIT;
    spec.stdin_kind = REIN_STDIN_PIPE;
    for (unsigned split = 0; split < 2; split++) {
        spec.flags = split ? REIN_SPEC_SPLIT : 0;
        rein_job *job = start(&spec);
        check_stale_reader(job, 2000, 2, 30);
        end_job(job);
    }
}

/* A piece that begins in the head and ends in what has become the gap meanwhile. */
static void test_piece_that_reaches_into_a_new_gap(void **state)
{
    struct rein_spec spec = ROLE("ask", "100000"); /* 1.6 MB at a time */
    uint64_t at = 0;

    spec.output_limit = 4 * MIB;
    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    assert_int_equal(rein_send(job, "+", 1), 1);
    while (at < MIB - 10000)
        read_piece(job, MIN(65536, MIB - 5000 - at), &at);
    assert_int_equal(at, MIB - 5000);
    write_unheard(job, 4, UINT64_C(5) * 1600000);
    read_piece(job, 10000, &at);
    read_piece(job, 10000, &at);
    assert_true(at > 3 * MIB);
}

/* ---- marks -------------------------------------------------------------------------------- */

struct half {
    char letter;
    struct buf run; /* bytes since the last gap */
    uint64_t next;  /* offset in the stream that follows what was checked */
    int lost;       /* there was a gap: the place has to be found again */
};

static void check_run(struct half *half)
{
    uint64_t offset = half->next;

    if (half->run.len == 0)
        return;
    if (half->lost && !find_place(half->run.data, half->run.len, half->letter, &offset))
        return; /* not one whole line: nothing can be said */
    assert_true(offset >= half->next);
    assert_true(are_lines(half->run.data, half->run.len, half->letter, offset));
    half->next = offset + half->run.len;
    half->lost = 0;
    buf_clear(&half->run);
}

/* Reads a split log: each stream by itself has its own lines only, in order, and all bytes are
 * accounted for. */
static void check_split(const char *times, const char *out_lines, const char *err_lines)
{
    struct rein_spec spec = ROLE("two", times, out_lines, err_lines);
    struct half halves[2] = {{.letter = 'O'}, {.letter = 'E'}};
    uint64_t n_out = strtoull(times, NULL, 10) * strtoull(out_lines, NULL, 10) * LINE_SIZE;
    uint64_t n_err = strtoull(times, NULL, 10) * strtoull(err_lines, NULL, 10) * LINE_SIZE;
    static char bytes[8192];
    struct rein_piece piece;
    uint64_t all = 0;
    ssize_t n;

    spec.flags = REIN_SPEC_SPLIT;
    spec.output_limit = LIMIT;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_int_equal(result.output_bytes, n_out + n_err);
    assert_true(result.gap_end > result.gap_begin);
    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece)) > 0) {
        struct half *half = &halves[piece.stream == REIN_STREAM_STDERR];

        assert_int_not_equal(piece.stream, REIN_STREAM_OUTPUT);
        if (piece.skipped_bytes) {
            for (int i = 0; i < 2; i++) {
                check_run(&halves[i]);
                halves[i].lost = 1;
            }
        }
        buf_add(&half->run, bytes, (size_t)n);
        all += piece.skipped_bytes + (uint64_t)n;
    }
    assert_int_equal(n, 0);
    assert_int_equal(all, result.output_bytes);
    for (int i = 0; i < 2; i++) {
        check_run(&halves[i]);
        if (halves[i].next)
            assert_true(halves[i].next <= (i ? n_err : n_out));
        buf_done(&halves[i].run);
    }
    end_job(job);
}

static void test_marks_are_right_across_the_gap(void **state)
{
    check_split("4000", "3", "2");   /* many marks */
    check_split("50", "500", "800"); /* long runs */
    check_split("20000", "1", "1");  /* as many as there can be */
}

/* One stream alone has one mark, in the head; behind the gap it still counts. */
static void test_one_stream_alone_keeps_its_mark(void **state)
{
    check_split("1", "50000", "0");
    check_split("1", "0", "50000");
    check_split("1", "10", "50000");
    check_split("1", "50000", "10");
    check_split("1", "40000", "40000");
}

/* Marks count as bytes of the log. */
static void test_marks_are_bounded(void **state)
{
    struct rein_spec spec = ROLE("two", "30000", "1", "1");
    struct stat log, marks;

    spec.flags = REIN_SPEC_SPLIT;
    spec.output_limit = LIMIT;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_int_equal(fstat(job->log_fd, &log), 0);
    assert_int_equal(fstat(job->marks_fd, &marks), 0);
    assert_true((uint64_t)(log.st_blocks + marks.st_blocks) * 512 <= LIMIT + 32768);
}

/* ---- the limit ends the job --------------------------------------------------------------- */

static void test_output_limit_that_kills(void **state)
{
    struct rein_spec spec = ROLE("lines", "10000000", "wait");
    static char bytes[65536];
    uint64_t at = 0;
    ssize_t n;

    spec.output_limit = LIMIT;
    spec.on_output_limit = REIN_OUTPUT_KILL;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_OUTPUT_LIMIT, -SIGKILL);
    assert_true(result.gap_begin <= LIMIT);
    assert_true(result.gap_begin > LIMIT - 64);
    assert_int_equal(result.gap_begin % LINE_SIZE, 0); /* whole lines */
    assert_int_equal(result.gap_end, result.output_bytes);
    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL)) > 0) {
        assert_true(are_lines(bytes, (size_t)n, 'O', at));
        at += (uint64_t)n;
    }
    assert_int_equal(n, 0);
    assert_int_equal(at, result.gap_begin);
}

static void test_output_below_a_limit_that_kills(void **state)
{
    struct rein_spec spec = ROLE("lines", "16384");

    spec.output_limit = LIMIT;
    spec.on_output_limit = REIN_OUTPUT_KILL;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    check_whole(job, 65536, &result);
}

/* ---- paced -------------------------------------------------------------------------------- */

static void test_paced_job_waits_for_its_reader(void **state)
{
    struct rein_spec spec = ROLE("lines", "60000");
    struct rein_piece piece;
    char bytes[5000];
    uint64_t at = 0;
    ssize_t n;

    spec.output_limit = 16384;
    spec.flags = REIN_SPEC_PACED;
    rein_job *job = start(&spec);
    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece)) > 0) {
        assert_int_equal(piece.skipped_bytes, 0);
        assert_true(are_lines(bytes, (size_t)n, 'O', at));
        at += (uint64_t)n;
        assert_int_equal(piece.cursor, at);
    }
    assert_int_equal(n, 0);
    assert_int_equal(at, 60000 * LINE_SIZE);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(used_bytes(job) <= 16384 + 8192);
}

/* Nobody reads: the job is held, not its deadline. */
static void test_paced_job_has_its_deadline(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("lines", "1000000");

    spec.output_limit = 16384;
    spec.flags = REIN_SPEC_PACED;
    spec.timeout_ns = 100 * NSEC_PER_MSEC;
    rein_job *job = start_with_life(spec, &life);
    assert_true(life_is_over(&life, PATIENCE_MS));
    struct rein_piece piece;
    char bytes[5000];
    uint64_t at = 0;
    ssize_t n;

    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece)) > 0) {
        assert_true(are_lines(bytes, (size_t)n, 'O', at));
        at += (uint64_t)n;
    }
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_TIMEOUT, -SIGKILL);
    assert_int_equal(result.output_bytes, at);
}

/* ---- where the disk does not do ------------------------------------------------------------ */

static int has_warning(const struct rein_result *result, const char *text)
{
    for (size_t i = 0; result->warnings[i]; i++)
        if (strstr(result->warnings[i], text))
            return 1;
    return 0;
}

/* The output stays in memory, within 8 MiB, and it is said. */
static void check_in_memory(void)
{
    struct rein_spec spec = ROLE("lines", "700000"); /* 11.2 MB */
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 0);
    assert_null(result.log_file);
    assert_true(has_warning(&result, "in memory"));
    assert_int_equal(result.output_bytes, 700000 * LINE_SIZE);
    assert_int_equal(result.gap_begin, 2 * MIB);
    assert_true(result.output_bytes - result.gap_end >= 5 * MIB);
    check_whole(job, 65536, &result);
    assert_true(used_bytes(job) <= 8 * MIB + 16384);
    end_job(job);
}

static void test_store_that_cannot_be_written(void **state)
{
    (void)write_temp_file("state", 0600, "not a directory");
    check_in_memory();
}

static void test_file_system_without_holes(void **state)
{
    struct stat st;

    context->test_fallbacks = WIRE_NO_PUNCH;
    check_in_memory();
    assert_int_equal(stat(in_temp_dir("state/jobs"), &st), 0); /* tried, and taken back */
    assert_int_equal(st.st_nlink, 2);
}

/* The bound in memory is below the one that was asked for, and readers are not fooled by it. */
static void test_slow_reader_of_a_log_in_memory(void **state)
{
    struct rein_spec spec = ROLE("ask", "60000"); /* 960000 bytes at a time */

    context->test_fallbacks = WIRE_NO_PUNCH;
    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    check_stale_reader(job, 60000, 40, 16);
}

/* In a mount namespace of its own, with a file system of 2 MiB as the store. */
static int run_on_full_disk(void)
{
    struct rein_spec spec = ROLE("lines", "600000"); /* 9.6 MB */
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    char bytes[65536];
    struct rein_piece piece;
    uint64_t at = 0;
    uint64_t skipped = 0;
    ssize_t n;

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mkdir(in_temp_dir("state"), 0700) < 0 ||
        mount("none", in_temp_dir("state"), "tmpfs", 0, "size=2m") < 0)
        return 77;
    context->owner_pid = getpid();
    if (rein_start(context, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    if (result.reason != REIN_REASON_EXIT || result.output_bytes != 600000 * LINE_SIZE)
        return 2;
    if (!has_warning(&result, "No space left"))
        return 3;
    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece)) > 0) {
        at += piece.skipped_bytes;
        skipped += piece.skipped_bytes;
        if (!are_lines(bytes, (size_t)n, 'O', at))
            return 4;
        at += (uint64_t)n;
    }
    if (n < 0 || at != result.output_bytes || skipped != result.gap_end - result.gap_begin)
        return 5;
    if (result.output_bytes - skipped < 32 * KIB || result.gap_end == result.output_bytes)
        return 6; /* the newest output is kept, above all */
    rein_result_done(&result);
    (void)rein_job_free(job);
    return 0;
}

static void test_disk_that_is_full(void **state)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(run_on_full_disk());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* needs a mount namespace */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static const struct role roles[] = {{"lines", play_lines}, {"two", play_two}, {"ask", play_ask}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_exactly_the_limit_is_kept_whole),
        job_test(test_head_and_newest_tail_stay),
        job_test(test_smallest_limit),
        job_test(test_limit_below_the_least_is_refused),
        job_test(test_offsets_around_the_gap),
        job_test(test_small_output_stays_in_memory),
        job_test(test_large_output_moves_to_the_disk),
        job_test(test_move_while_reading),
        job_test(test_slow_reader_of_a_running_job),
        job_test(test_reader_whose_knowledge_is_old),
        job_test(test_piece_that_reaches_into_a_new_gap),
        job_test(test_marks_are_right_across_the_gap),
        job_test(test_one_stream_alone_keeps_its_mark),
        job_test(test_marks_are_bounded),
        job_test(test_output_limit_that_kills),
        job_test(test_output_below_a_limit_that_kills),
        job_test(test_paced_job_waits_for_its_reader),
        job_test(test_paced_job_has_its_deadline),
        job_test(test_store_that_cannot_be_written),
        job_test(test_file_system_without_holes),
        job_test(test_slow_reader_of_a_log_in_memory),
        job_test(test_disk_that_is_full),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
