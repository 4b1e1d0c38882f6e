/*
 * Where the output is: in memory while it is small, then on the disk, and in memory again where the
 * disk does not do; whatever the place, bounded, complete within the bound, and told.
 */
#include "log-test.h"

#include <sys/mount.h>

#include "base/syscall-linux.h"

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

/* ---- where the disk does not do ------------------------------------------------------------ */

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

/* Writes a line to a file below /proc. */
static int write_proc(const char *path, const char *line)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -1 : io_write_all(fd, line, strlen(line));
}

/* Makes the store a file system of that size, in a mount namespace of this process. False when the
 * machine does not let us. */
static int make_small_store(const char *size)
{
    char uid_map[64];
    char gid_map[64];
    int flags = CLONE_NEWNS | (getuid() ? CLONE_NEWUSER : 0);

    (void)snprintf(uid_map, sizeof(uid_map), "0 %d 1", (int)getuid());
    (void)snprintf(gid_map, sizeof(gid_map), "0 %d 1", (int)getgid());
    if (unshare(flags) < 0)
        return 0;
    if (flags & CLONE_NEWUSER && (write_proc("/proc/self/uid_map", uid_map) < 0 ||
                                  write_proc("/proc/self/setgroups", "deny") < 0 ||
                                  write_proc("/proc/self/gid_map", gid_map) < 0))
        return 0;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mkdir(in_temp_dir("state"), 0700) == 0 &&
           mount("none", in_temp_dir("state"), "tmpfs", 0, size) == 0;
}

/* Reads all that is there and compares it with what the result says. */
static int check_what_is_left(rein_job *job, const struct rein_result *result)
{
    char bytes[65536];
    struct rein_piece piece;
    uint64_t at = 0;
    uint64_t skipped = 0;
    ssize_t n;

    while ((n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece)) > 0) {
        at += piece.skipped_bytes;
        skipped += piece.skipped_bytes;
        if (!are_lines(bytes, (size_t)n, 'O', at))
            return 0;
        at += (uint64_t)n;
    }
    return n == 0 && at == result->output_bytes && skipped == result->gap_end - result->gap_begin &&
           at - skipped >= 32 * KIB && result->gap_end < at; /* the newest output, above all */
}

static int run_on_small_disk(const char *size, const char *warning, int in_memory)
{
    struct rein_spec spec = ROLE("lines", "600000"); /* 9.6 MB */
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;
    struct stat st;

    if (!make_small_store(size))
        return 77;
    context->owner_pid = getpid();
    if (rein_start(context, &spec, &job, NULL) < 0 || rein_wait(job, PATIENCE_MS, &result) < 0)
        return 1;
    if (result.reason != REIN_REASON_EXIT || result.output_bytes != 600000 * LINE_SIZE)
        return 2;
    if (!has_warning(&result, "No space left") || !has_warning(&result, warning))
        return 3;
    if (in_memory != (result.log_file == NULL))
        return 4;
    if (in_memory && (stat(in_temp_dir("state/jobs"), &st) < 0 || st.st_nlink != 2))
        return 5; /* what was begun there was taken back */
    if (!check_what_is_left(job, &result))
        return 6;
    rein_result_done(&result);
    (void)rein_job_free(job);
    return 0;
}

static void check_small_disk(const char *size, const char *warning, int in_memory)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(run_on_small_disk(size, warning, in_memory));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* needs a mount namespace */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_disk_that_fills_up(void **state)
{
    check_small_disk("size=2m", "output was lost", 0);
}

/* It has no room for what is in memory already. */
static void test_disk_that_is_full_from_the_start(void **state)
{
    check_small_disk("size=500k", "in memory", 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_small_output_stays_in_memory),
        job_test(test_large_output_moves_to_the_disk),
        job_test(test_move_while_reading),
        job_test(test_store_that_cannot_be_written),
        job_test(test_file_system_without_holes),
        job_test(test_slow_reader_of_a_log_in_memory),
        job_test(test_disk_that_fills_up),
        job_test(test_disk_that_is_full_from_the_start),
    };

    if (argc > 1)
        return play_role(log_roles, ARRAY_SIZE(log_roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
