/*
 * Nothing written is lost: every byte from before the end, however the end came, whoever read
 * when.
 */
#include "job-test.h"

#include <sys/stat.h>

#include "job/job.h"
#include "lines.h"

#define FAST_EXITS 50

/* lines N exit|stay|crash: writes, and then nothing more. */
static int play_lines(int argc, char **argv)
{
    write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
    if (strcmp(argv[2], "stay") == 0)
        wait_for_the_end();
    if (strcmp(argv[2], "crash") == 0)
        (void)raise(SIGKILL);
    _exit(0);
}

/* bytes: each byte once. */
static int play_bytes(int argc, char **argv)
{
    char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    (void)io_write_all(STDOUT_FILENO, all, sizeof(all));
    return 0;
}

/* orphan N: a grandchild that has left the session writes, and the main process waits until it has
 * ended. */
static int play_orphan(int argc, char **argv)
{
    int done[2];
    char byte;

    if (pipe2(done, O_CLOEXEC) < 0)
        return 1;
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0)
            write_lines(STDOUT_FILENO, 'O', 0, strtoull(argv[1], NULL, 10));
        _exit(0);
    }
    (void)close(done[1]);
    (void)io_read(done[0], &byte, 1);
    return 0;
}

static void check_lines(rein_job *job, uint64_t n)
{
    size_t size;
    auto_free char *text = read_all(job, &size);

    assert_int_equal(size, n * LINE_SIZE);
    assert_true(are_lines(text, size, 'O', 0));
}

static void test_fast_exits_lose_nothing(void **state)
{
    for (int i = 0; i < FAST_EXITS; i++) {
        struct rein_spec spec = SCRIPT("echo out; echo err >&2; exit 3");
        rein_job *job = start(&spec);
        auto_result result = finish(job);

        check_end(&result, REIN_REASON_EXIT, 3);
        assert_int_equal(result.output_bytes, 8);
        assert_int_equal(result.gap_end, 0);
        check_output(job, "out\nerr\n");
        end_job(job);
    }
}

static void test_no_output(void **state)
{
    struct rein_spec spec = COMMAND("/bin/true");
    rein_job *job = start(&spec);
    char byte;

    assert_int_equal(rein_read(job, &byte, 1, PATIENCE_MS, NULL), 0);
    assert_int_equal(rein_read(job, &byte, 1, -1, NULL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.output_bytes, 0);
    assert_null(result.log_file);
}

static void test_all_bytes_pass(void **state)
{
    struct rein_spec spec = ROLE("bytes");
    rein_job *job = start(&spec);
    size_t size;
    auto_free char *text = read_all(job, &size);

    assert_int_equal(size, 256);
    for (int i = 0; i < 256; i++)
        assert_int_equal((unsigned char)text[i], i);
}

/* Larger than any pipe, and in memory: read before the end, and after it. */
static void test_more_than_a_pipe_holds(void **state)
{
    for (int after_the_end = 0; after_the_end < 2; after_the_end++) {
        struct rein_spec spec = ROLE("lines", "60000", "exit");
        rein_job *job = start(&spec);

        if (after_the_end) {
            auto_result result = finish(job);
            assert_int_equal(result.output_bytes, 60000 * LINE_SIZE);
        }
        check_lines(job, 60000);
        end_job(job);
    }
}

static void test_everything_before_the_deadline_is_there(void **state)
{
    struct rein_spec spec = ROLE("lines", "5000", "stay");

    spec.timeout_ns = 1500 * NSEC_PER_MSEC;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_TIMEOUT, -SIGKILL);
    check_lines(job, 5000);
}

static void test_everything_before_a_stop_is_there(void **state)
{
    struct rein_spec spec = ROLE("lines", "20000", "stay");
    rein_job *job = start(&spec);
    struct rein_result so_far = {.size = sizeof(so_far)};

    do {
        rein_result_done(&so_far);
        so_far.size = sizeof(so_far);
        assert_int_equal(rein_wait(job, 1, &so_far), -EAGAIN);
    } while (so_far.output_bytes < 20000 * LINE_SIZE);
    rein_result_done(&so_far);
    assert_int_equal(rein_stop(job, 0), 0);
    check_lines(job, 20000);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

static void test_everything_before_a_crash_is_there(void **state)
{
    struct rein_spec spec = ROLE("lines", "30000", "crash");
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_SIGNAL, -SIGKILL);
    check_lines(job, 30000);
}

static void test_what_descendants_write_counts(void **state)
{
    struct rein_spec spec = ROLE("orphan", "30000");
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 0);
    check_lines(job, 30000);
}

/* ---- the two streams ---------------------------------------------------------------------- */

static void test_merged_streams_keep_their_order(void **state)
{
    struct rein_spec spec =
        SCRIPT("i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i + 1)); done");
    auto_buf struct buf expected = {0};
    struct rein_piece piece;
    char byte;
    rein_job *job = start(&spec);

    for (int i = 0; i < 200; i++)
        buf_add_format(&expected, "o%d\ne%d\n", i, i);
    assert_int_equal(rein_read(job, &byte, 1, PATIENCE_MS, &piece), 1);
    assert_int_equal(piece.stream, REIN_STREAM_OUTPUT);
    assert_int_equal(piece.cursor, 1);
    assert_int_equal(byte, 'o');
    check_output(job, expected.data + 1);
}

/* Reads pieces to the end, each stream into its own buffer. */
static void read_apart(rein_job *job, size_t piece_size, struct buf *out, struct buf *err)
{
    struct rein_piece piece;
    char bytes[4096];
    uint64_t cursor = 0;
    ssize_t n;

    while ((n = rein_read(job, bytes, piece_size, PATIENCE_MS, &piece)) > 0) {
        cursor += (uint64_t)n;
        assert_int_equal(piece.cursor, cursor);
        assert_int_equal(piece.skipped_bytes, 0);
        assert_int_not_equal(piece.stream, REIN_STREAM_OUTPUT);
        buf_add(piece.stream == REIN_STREAM_STDOUT ? out : err, bytes, (size_t)n);
    }
    assert_int_equal(n, 0);
}

static void test_split_streams_are_told_apart(void **state)
{
    static const size_t sizes[] = {1, 3, 4096};

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        auto_buf struct buf out = {0};
        auto_buf struct buf err = {0};
        struct rein_spec spec =
            SCRIPT("echo e1 >&2; for i in 1 2 3; do echo out$i; done; printf e2 "
                   ">&2; printf end; printf e3 >&2");

        spec.flags = REIN_SPEC_SPLIT;
        rein_job *job = start(&spec);
        auto_result result = finish(job);
        assert_int_equal(result.output_bytes, 25);
        read_apart(job, sizes[i], &out, &err);
        assert_string_equal(out.data, "out1\nout2\nout3\nend");
        assert_string_equal(err.data, "e1\ne2e3");
        end_job(job);
    }
}

/* Where each write is read before the next is made, the log has the order written. */
static void test_split_log_keeps_the_order(void **state)
{
    struct rein_spec spec = SCRIPT("echo 1; read x; echo 2 >&2; read x; echo 3");
    struct rein_piece piece;
    char bytes[64];

    spec.flags = REIN_SPEC_SPLIT;
    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece), 2);
        assert_int_equal(bytes[0], '0' + i);
        assert_int_equal(piece.stream, i == 2 ? REIN_STREAM_STDERR : REIN_STREAM_STDOUT);
        (void)rein_send(job, "\n", 1);
    }
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
}

/* ---- by offset ---------------------------------------------------------------------------- */

static void test_read_at_an_offset(void **state)
{
    struct rein_spec spec = ROLE("lines", "1000", "exit");
    rein_job *job = start(&spec);
    struct rein_piece piece;
    char bytes[100];
    char first;

    assert_int_equal(rein_read(job, &first, 1, PATIENCE_MS, NULL), 1);
    auto_result result = finish(job);
    for (uint64_t offset = 0; offset < 16000; offset += 777) {
        ssize_t n = rein_read_at(job, offset, bytes, sizeof(bytes), &piece);

        assert_int_equal(n, MIN((uint64_t)sizeof(bytes), 16000 - offset));
        assert_true(are_lines(bytes, (size_t)n, 'O', offset));
        assert_int_equal(piece.cursor, offset + (uint64_t)n);
        assert_int_equal(piece.skipped_bytes, 0);
    }
    assert_int_equal(rein_read_at(job, 16000, bytes, sizeof(bytes), &piece), 0);
    assert_int_equal(piece.cursor, 16000);
    assert_int_equal(rein_read_at(job, UINT64_MAX, bytes, sizeof(bytes), NULL), 0);
    assert_int_equal(rein_read(job, bytes, 1, 0, NULL), 1); /* its own position has not moved */
    assert_true(are_lines(bytes, 1, 'O', 1));
}

/* ---- news --------------------------------------------------------------------------------- */

/* The descriptor becomes readable when there is output, again and again, and at the end. */
static void test_descriptor_tells_of_news(void **state)
{
    struct rein_spec spec = SCRIPT("while read x; do echo $x; done");
    char bytes[64];

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    assert_true(rein_job_fd(job) >= 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), -EAGAIN);
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, 0), 0);
        assert_int_equal(rein_send(job, "news\n", 5), 5);
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, PATIENCE_MS), 1);
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), 5);
    }
    assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), -EAGAIN);
    assert_int_equal(rein_send_eof(job), 0);
    assert_int_equal(io_poll(rein_job_fd(job), POLLIN, PATIENCE_MS), 1);
    auto_result result = finish(job);
    assert_int_equal(io_poll(rein_job_fd(job), POLLIN, PATIENCE_MS), 1);
}

/* Neither a question for the state nor input takes the news away from a caller that polls. */
static void test_other_calls_leave_the_news(void **state)
{
    struct rein_spec spec = SCRIPT("while read x; do echo $x; done");
    struct rein_result result = {.size = sizeof(result)};
    char bytes[64];

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), -EAGAIN);
        assert_int_equal(rein_send(job, "news\n", 5), 5);
        do {
            rein_result_done(&result);
            result.size = sizeof(result);
            assert_int_equal(rein_wait(job, 1, &result), -EAGAIN);
        } while (result.output_bytes < 5 * ((uint64_t)i + 1));
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, 2000), 1);
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), 5);
    }
    rein_result_done(&result);
}

/* Input that is sent while news is on its way takes that in, too. */
static void test_sending_leaves_the_news(void **state)
{
    struct rein_spec spec = SCRIPT("while read x; do echo $x; done");
    char bytes[64];
    struct stat st = {0};

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    for (off_t i = 0; i < 10; i++) {
        assert_int_equal(rein_read(job, bytes, sizeof(bytes), 0, NULL), -EAGAIN);
        assert_int_equal(rein_send(job, "a\n", 2), 2);
        while (st.st_size < i * 4 + 2) { /* by now it has been told of, or will be at once */
            (void)poll(NULL, 0, 1);
            assert_int_equal(fstat(job->log_fd, &st), 0);
        }
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, PATIENCE_MS), 1);
        assert_int_equal(rein_send(job, "b\n", 2), 2);
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, 2000), 1);
        for (ssize_t got = 0; got < 4;) {
            ssize_t n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL);

            assert_true(n > 0);
            got += n;
        }
    }
}

/* Who only waits for the end is not woken by output again and again. */
static void test_output_wakes_a_caller_that_does_not_read_once(void **state)
{
    struct rein_spec spec = SCRIPT("echo a; read x; echo b; read x; echo c; read x");
    struct rein_result result = {.size = sizeof(result)};

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    assert_int_equal(io_poll(rein_job_fd(job), POLLIN, PATIENCE_MS), 1);
    assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
    rein_result_done(&result);
    assert_int_equal(io_poll(rein_job_fd(job), POLLIN, 50), 0);
}

/* One read for each time that it is readable is enough, whatever the read leaves. */
static void test_descriptor_tells_of_what_was_not_taken(void **state)
{
    struct rein_spec spec = SCRIPT("printf 123456789; read x");
    char bytes[4];

    spec.stdin_kind = REIN_STDIN_PIPE;
    rein_job *job = start(&spec);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(io_poll(rein_job_fd(job), POLLIN, 2000), 1);
        assert_int_equal(rein_read(job, bytes, 3, 0, NULL), 3);
    }
    assert_int_equal(rein_read(job, bytes, 3, 0, NULL), -EAGAIN);
}

/* ---- kept on request ---------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct buf text = {0};
    char bytes[4096];
    ssize_t n;

    assert_true(fd >= 0);
    while ((n = io_read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(&text, bytes, (size_t)n);
    return buf_take(&text);
}

static const char *job_file(const rein_job *job, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "state/jobs/%s/%s", rein_job_id(job), name);
    return in_temp_dir(path);
}

static void test_kept_output_is_in_the_store(void **state)
{
    struct rein_spec spec = SCRIPT("echo kept; exit 5");
    struct stat st;

    spec.name = "a \"name\"";
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_null(result.log_file);
    assert_int_equal(stat(in_temp_dir("state"), &st), -1); /* nothing on the disk before */
    assert_int_equal(rein_job_keep_output(job, NULL), 0);
    assert_int_equal(rein_job_keep_output(job, NULL), 0); /* once is enough */
    rein_result_done(&result);
    result = finish(job);
    assert_string_equal(result.log_file, job_file(job, "output.log"));
    check_output(job, "kept\n");

    auto_free char *log = read_file(result.log_file);
    auto_free char *record = read_file(job_file(job, "exit.json"));
    auto_free char *asked = read_file(job_file(job, "job.json"));
    assert_string_equal(log, "kept\n");
    assert_non_null(strstr(record, "\"reason\": \"exit\""));
    assert_non_null(strstr(record, "\"exit_code\": 5"));
    assert_non_null(strstr(record, "\"output_bytes\": 5"));
    assert_non_null(strstr(asked, "\"name\": \"a \\\"name\\\"\""));
    assert_non_null(strstr(asked, rein_job_id(job)));
    assert_int_equal(stat(in_temp_dir("state"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(result.log_file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_kept_output_stays_when_the_handle_is_freed(void **state)
{
    struct rein_spec spec = SCRIPT("echo kept");
    auto_free char *path = NULL;
    auto_free char *log = NULL;

    spec.flags = REIN_SPEC_SPLIT;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    assert_int_equal(rein_job_keep_output(job, NULL), 0);
    path = strdup(job_file(job, "output.log"));
    end_job(job);
    log = read_file(path);
    assert_string_equal(log, "kept\n");
}

static void test_keep_of_a_running_job_is_refused(void **state)
{
    struct rein_spec spec = COMMAND("sleep", "60");
    struct rein_error *error = NULL;
    rein_job *job = start(&spec);

    assert_int_equal(rein_job_keep_output(job, &error), -EINVAL);
    assert_string_equal(error->code, "bad_request");
    error = rein_error_free(error);
    assert_int_equal(rein_job_keep_output(NULL, NULL), -EINVAL);
}

static void test_keep_where_the_store_cannot_be_written(void **state)
{
    struct rein_spec spec = COMMAND("echo", "x");
    struct rein_error *error = NULL;
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    (void)write_temp_file("state", 0600, "not a directory");
    assert_int_equal(rein_job_keep_output(job, &error), -ENOTDIR);
    assert_string_equal(error->code, "internal");
    error = rein_error_free(error);
    check_output(job, "x\n");
    rein_result_done(&result);
    result = finish(job);
    assert_null(result.log_file);
}

static const struct role roles[] = {
    {"lines", play_lines}, {"bytes", play_bytes}, {"orphan", play_orphan}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_fast_exits_lose_nothing),
        job_test(test_no_output),
        job_test(test_all_bytes_pass),
        job_test(test_more_than_a_pipe_holds),
        job_test(test_everything_before_the_deadline_is_there),
        job_test(test_everything_before_a_stop_is_there),
        job_test(test_everything_before_a_crash_is_there),
        job_test(test_what_descendants_write_counts),
        job_test(test_merged_streams_keep_their_order),
        job_test(test_split_streams_are_told_apart),
        job_test(test_split_log_keeps_the_order),
        job_test(test_read_at_an_offset),
        job_test(test_descriptor_tells_of_news),
        job_test(test_other_calls_leave_the_news),
        job_test(test_sending_leaves_the_news),
        job_test(test_output_wakes_a_caller_that_does_not_read_once),
        job_test(test_descriptor_tells_of_what_was_not_taken),
        job_test(test_kept_output_is_in_the_store),
        job_test(test_kept_output_stays_when_the_handle_is_freed),
        job_test(test_keep_of_a_running_job_is_refused),
        job_test(test_keep_where_the_store_cannot_be_written),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
