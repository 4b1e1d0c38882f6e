/*
 * Everything is bounded, and what is dropped is stated: the first quarter and the newest three
 * quarters of the output stay, each byte in its place. Every kept byte is looked at.
 */
#include "log-test.h"

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_exactly_the_limit_is_kept_whole),
        job_test(test_head_and_newest_tail_stay),
        job_test(test_smallest_limit),
        job_test(test_limit_below_the_least_is_refused),
        job_test(test_offsets_around_the_gap),
        job_test(test_slow_reader_of_a_running_job),
        job_test(test_reader_whose_knowledge_is_old),
        job_test(test_piece_that_reaches_into_a_new_gap),
        job_test(test_output_limit_that_kills),
        job_test(test_output_below_a_limit_that_kills),
        job_test(test_paced_job_waits_for_its_reader),
        job_test(test_paced_job_has_its_deadline),
    };

    if (argc > 1)
        return play_role(log_roles, ARRAY_SIZE(log_roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
