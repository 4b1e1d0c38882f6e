/*
 * The two streams of a split job are told apart on both sides of what was dropped, each with its
 * own bytes in order; and the marks that do it are bounded, too.
 */
#include "log-test.h"

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_marks_are_right_across_the_gap),
        job_test(test_one_stream_alone_keeps_its_mark),
        job_test(test_marks_are_bounded),
    };

    if (argc > 1)
        return play_role(log_roles, ARRAY_SIZE(log_roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
