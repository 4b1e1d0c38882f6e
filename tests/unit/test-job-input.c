/*
 * Standard input: none, the caller's, a descriptor, a file, or a pipe that is fed; a job that does
 * not read holds nobody up.
 */
#include "job-test.h"

#include <sys/stat.h>

#include "job/job.h"
#include "lines.h"

static void check_input(struct rein_spec spec, const char *expected)
{
    rein_job *job = start(&spec);

    check_output(job, expected);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    end_job(job);
}

static void test_nothing_to_read_by_default(void **state)
{
    check_input((struct rein_spec)COMMAND("cat"), "");
    check_input((struct rein_spec)SCRIPT("readlink /proc/self/fd/0"), "/dev/null\n");
}

/* Runs a function with descriptor 0 replaced. */
static void with_stdin(int fd, void (*function)(void))
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);

    if (fd >= 0)
        assert_int_equal(dup2(fd, 0), 0);
    else
        (void)close(0);
    function();
    if (saved >= 0) {
        assert_int_equal(dup2(saved, 0), 0);
        (void)close(saved);
    } else {
        (void)close(0);
    }
}

static int pipe_with(const char *text)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(io_write_all(fds[1], text, strlen(text)), 0);
    (void)close(fds[1]);
    return fds[0];
}

static void read_inherited(void)
{
    struct rein_spec spec = COMMAND("cat");

    spec.stdin_kind = REIN_STDIN_INHERIT;
    check_input(spec, "from the caller");
}

static void test_inherited(void **state)
{
    auto_close int fd = pipe_with("from the caller");

    with_stdin(fd, read_inherited);
}

/* A caller without a descriptor 0 has nothing to give on; above all not one of ours. */
static void read_inherited_nothing(void)
{
    struct rein_spec spec = COMMAND("cat");

    spec.stdin_kind = REIN_STDIN_INHERIT;
    check_input(spec, "");
}

static void test_inherited_from_a_caller_without(void **state)
{
    with_stdin(-1, read_inherited_nothing);
}

static void test_descriptor(void **state)
{
    auto_close int fd = pipe_with("from a descriptor");
    struct rein_spec spec = COMMAND("cat");

    spec.stdin_kind = REIN_STDIN_FD;
    spec.stdin_fd = fd;
    check_input(spec, "from a descriptor");
    assert_true(fcntl(fd, F_GETFD) >= 0); /* borrowed only */
}

static void test_descriptor_that_is_not_open(void **state)
{
    struct rein_spec spec = COMMAND("cat");

    spec.stdin_kind = REIN_STDIN_FD;
    spec.stdin_fd = 1000;
    (void)rein_error_free(start_fails(&spec, -EBADF, "bad_request"));
    spec.stdin_fd = -1;
    (void)rein_error_free(start_fails(&spec, -EBADF, "bad_request"));
}

static void test_file(void **state)
{
    struct rein_spec spec = COMMAND("cat");

    spec.stdin_kind = REIN_STDIN_FILE;
    spec.stdin_path = write_temp_file("input", 0600, "from a file");
    check_input(spec, "from a file");
}

static void test_files_that_cannot_be_read(void **state)
{
    static const struct {
        const char *path;
        int err;
    } cases[] = {{"/nonexistent/file", -ENOENT}, {"/tmp", -EISDIR}, {"", -EINVAL}, {NULL, -EINVAL}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rein_spec spec = COMMAND("cat");

        spec.stdin_kind = REIN_STDIN_FILE;
        spec.stdin_path = cases[i].path;
        (void)rein_error_free(start_fails(&spec, cases[i].err, "bad_request"));
    }
}

/* A FIFO that nobody writes must not hold the start up: the deadline is not running yet. */
static void test_fifo_without_a_writer(void **state)
{
    struct rein_spec spec = COMMAND("cat");
    const char *path = in_temp_dir("fifo");

    assert_int_equal(mkfifo(path, 0600), 0);
    spec.stdin_kind = REIN_STDIN_FILE;
    spec.stdin_path = path;
    spec.timeout_ns = 10 * NSEC_PER_SEC;
    check_input(spec, "");
}

/* ---- fed ---------------------------------------------------------------------------------- */

static rein_job *start_fed(struct rein_spec spec)
{
    spec.stdin_kind = REIN_STDIN_PIPE;
    return start(&spec);
}

static void test_fed(void **state)
{
    rein_job *job = start_fed((struct rein_spec)SCRIPT("cat; exec sleep 60"));

    assert_int_equal(rein_send(job, "one ", 4), 4);
    assert_int_equal(rein_send(job, "two", 3), 3);
    assert_int_equal(rein_send(job, "", 0), 0);
    assert_int_equal(rein_send_eof(job), 0);
    assert_int_equal(rein_send_eof(job), -EPIPE);
    assert_int_equal(rein_send(job, "x", 1), -EPIPE);
    read_until(job, "one two");
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    assert_int_equal(rein_send(job, "x", 1), -ESRCH);
    assert_int_equal(rein_send_eof(job), -ESRCH);
}

static void test_end_of_input_at_once(void **state)
{
    rein_job *job = start_fed((struct rein_spec)COMMAND("cat"));

    assert_int_equal(rein_send_eof(job), 0);
    check_output(job, "");
}

/* A megabyte there and back, in as large pieces as are taken. */
static void test_much_input(void **state)
{
    static char all[65536 * LINE_SIZE];
    rein_job *job = start_fed((struct rein_spec)COMMAND("cat"));
    auto_buf struct buf back = {0};
    char bytes[65536];
    size_t sent = 0;

    for (uint64_t i = 0; i < 65536; i++) {
        char line[LINE_SIZE + 1];

        format_line(line, 'I', i);
        memcpy(all + i * LINE_SIZE, line, LINE_SIZE);
    }
    while (back.len < sizeof(all)) {
        ssize_t n = sent < sizeof(all) ? rein_send(job, all + sent, sizeof(all) - sent) : 0;

        assert_true(n >= 0 || n == -EAGAIN);
        sent += (size_t)MAX(n, 0);
        n = rein_read(job, bytes, sizeof(bytes), sent < sizeof(all) ? 0 : PATIENCE_MS, NULL);
        assert_true(n > 0 || n == -EAGAIN);
        buf_add(&back, bytes, (size_t)MAX(n, 0));
    }
    assert_int_equal(back.len, sizeof(all));
    assert_memory_equal(back.data, all, sizeof(all));
}

static void test_end_waits_for_what_was_sent(void **state)
{
    struct rein_spec spec = SCRIPT("read go <\"$0\"; wc -c");
    const char *argv[] = {"/bin/sh", "-c", spec.argv[2], in_temp_dir("gate"), NULL};
    static char bytes[100000];
    size_t sent = 0;
    rein_job *job;
    int gate_fd;

    assert_int_equal(mkfifo(argv[3], 0600), 0);
    spec.argv = argv;
    job = start_fed(spec);
    while (sent < sizeof(bytes)) {
        ssize_t n = rein_send(job, bytes + sent, sizeof(bytes) - sent);

        assert_true(n > 0);
        sent += (size_t)n;
    }
    assert_int_equal(rein_send_eof(job), 0);
    gate_fd = open(argv[3], O_WRONLY | O_CLOEXEC);
    assert_true(gate_fd >= 0);
    (void)close(gate_fd);
    check_output(job, "100000\n");
}

static void test_job_that_does_not_read(void **state)
{
    rein_job *job = start_fed((struct rein_spec)COMMAND("sleep", "60"));
    static char bytes[65536];
    size_t sent = 0;
    ssize_t n;

    while ((n = rein_send(job, bytes, sizeof(bytes))) > 0) {
        sent += (size_t)n;
        assert_true(sent <= MIB); /* it is bounded */
    }
    assert_int_equal(n, -EAGAIN);
    assert_true(sent >= 65536);
    assert_int_equal(rein_send(job, bytes, 1), -EAGAIN);
    assert_int_equal(rein_send_eof(job), 0); /* has no bytes that need room */
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

static void test_job_that_has_closed_its_input(void **state)
{
    rein_job *job = start_fed((struct rein_spec)SCRIPT("exec <&-; echo closed; exec sleep 60"));
    ssize_t n;

    read_until(job, "closed\n");
    n = rein_send(job, "x", 1); /* whether this one is taken is up to the pipe */
    assert_true(n == 1 || n == -EPIPE);
    assert_int_equal(rein_send(job, "x", 1), -EPIPE);
    assert_int_equal(rein_send_eof(job), -EPIPE);
}

static void test_job_without_a_pipe(void **state)
{
    struct rein_spec spec = COMMAND("sleep", "60");
    rein_job *job = start(&spec);

    assert_int_equal(rein_send(job, "x", 1), -EINVAL);
    assert_int_equal(rein_send(job, "", 0), -EINVAL);
    assert_int_equal(rein_send_eof(job), -EINVAL);
}

/* The job's own pipe is not left open in the supervisor: its descendants see the end. */
static void test_input_of_descendants(void **state)
{
    rein_job *job =
        start_fed((struct rein_spec)SCRIPT("exec 4<&0; (cat <&4; echo end) & exec <&- 4<&-; wait"));

    assert_int_equal(rein_send(job, "text ", 5), 5);
    assert_int_equal(rein_send_eof(job), 0);
    check_output(job, "text end\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_nothing_to_read_by_default),
        job_test(test_inherited),
        job_test(test_inherited_from_a_caller_without),
        job_test(test_descriptor),
        job_test(test_descriptor_that_is_not_open),
        job_test(test_file),
        job_test(test_files_that_cannot_be_read),
        job_test(test_fifo_without_a_writer),
        job_test(test_fed),
        job_test(test_end_of_input_at_once),
        job_test(test_much_input),
        job_test(test_end_waits_for_what_was_sent),
        job_test(test_job_that_does_not_read),
        job_test(test_job_that_has_closed_its_input),
        job_test(test_job_without_a_pipe),
        job_test(test_input_of_descendants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
