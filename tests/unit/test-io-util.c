/* Reading and writing: short counts, interruption, full pipes, the end of a file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"

struct ends {
    int in, out;
};

static void close_ends(struct ends *p)
{
    p->in = close_fd(p->in);
    p->out = close_fd(p->out);
}
#define auto_ends auto_(close_ends)

static struct ends new_pipe(int flags)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC | flags), 0);
    return (struct ends){.in = fds[0], .out = fds[1]};
}

/* ---- a signal every few milliseconds, without SA_RESTART: every call is interrupted ---------- */

static volatile sig_atomic_t interruptions;

/* What the third interruption does: nothing, or write to, then close, a pipe's end. So that what a
 * call waits for comes surely after it was interrupted. */
static struct {
    volatile int fd;
    const char *volatile text;
} then = {.fd = -EBADF};

static void count_interruption(int signo)
{
    interruptions++;
    if (interruptions == 3 && then.fd >= 0) {
        if (write(then.fd, then.text, strlen(then.text)) < 0)
            _exit(1);
        then.fd = close_fd(then.fd);
    }
}

static void interrupt_every_ms(int ms)
{
    struct sigaction action = {.sa_handler = count_interruption};
    struct itimerval timer = {.it_interval = {.tv_usec = ms * 1000},
                              .it_value = {.tv_usec = ms * 1000}};

    interruptions = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static int stop_interruptions(void **state)
{
    struct itimerval off = {0};

    return setitimer(ITIMER_REAL, &off, NULL);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void test_errors_are_negative_errno(void **state)
{
    char c = 'x';

    assert_int_equal(io_read(-1, &c, 1), -EBADF);
    assert_int_equal(io_pread(-1, &c, 1, 0), -EBADF);
    assert_int_equal(io_write(-1, &c, 1), -EBADF);
    assert_int_equal(io_write_all(-1, &c, 1), -EBADF);
    assert_int_equal(io_pwrite_all(-1, &c, 1, 0), -EBADF);
    assert_int_equal(io_read_full(-1, &c, 1), -EBADF);
}

/* Half is there, half comes late, and the end of the file after it. */
static void test_read_full_joins_short_reads(void **state)
{
    auto_ends struct ends p = new_pipe(0);
    char got[8] = {0};

    assert_int_equal(io_write(p.out, "abc", 3), 3);
    then.fd = TAKE_FD(p.out);
    then.text = "def";
    interrupt_every_ms(5);
    assert_int_equal(io_read_full(p.in, got, sizeof(got)), 6);
    assert_string_equal(got, "abcdef");
    assert_int_equal(io_read_full(p.in, got, sizeof(got)), 0);
}

static void test_read_full_stops_when_full(void **state)
{
    auto_ends struct ends p = new_pipe(0);
    char got[3];

    assert_int_equal(io_write(p.out, "abcdef", 6), 6);
    assert_int_equal(io_read_full(p.in, got, 3), 3);
    assert_memory_equal(got, "abc", 3);
}

static void test_read_goes_on_after_a_signal(void **state)
{
    auto_ends struct ends p = new_pipe(0);
    char c = 0;

    then.fd = TAKE_FD(p.out);
    then.text = "x";
    interrupt_every_ms(5);
    assert_int_equal(io_read(p.in, &c, 1), 1);
    assert_int_equal(c, 'x');
}

/* Fills a non-blocking pipe several times over: write_all has to wait for room. */
static void test_write_all_waits_for_room(void **state)
{
    auto_ends struct ends p = new_pipe(O_NONBLOCK);
    size_t size = 1 << 20, read_bytes = 0;
    auto_free char *data = malloc(size);
    int status = -1;
    pid_t child;

    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i % 251); /* no power of two repeats it */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        p.in = close_fd(p.in);
        _exit(io_write_all(p.out, data, size) == 0 ? 0 : 1);
    }
    p.out = close_fd(p.out);
    while (read_bytes < size) {
        char chunk[5000];
        ssize_t n;

        assert_int_equal(io_poll(p.in, POLLIN, -1), 1);
        n = io_read(p.in, chunk, sizeof(chunk));
        assert_true(n > 0);
        assert_memory_equal(chunk, data + read_bytes, n);
        read_bytes += (size_t)n;
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_write_all_of_nothing(void **state)
{
    auto_ends struct ends p = new_pipe(0);

    assert_int_equal(io_write_all(p.out, "", 0), 0);
    assert_int_equal(io_poll(p.in, POLLIN, 0), 0);
}

static void test_write_all_to_nobody(void **state)
{
    auto_ends struct ends p = new_pipe(0);

    (void)signal(SIGPIPE, SIG_IGN);
    p.in = close_fd(p.in);
    assert_int_equal(io_write_all(p.out, "x", 1), -EPIPE);
}

static void test_positioned(void **state)
{
    auto_close int fd = memfd_create("test", MFD_CLOEXEC);
    const uint64_t far = UINT64_C(5) << 30; /* more than 32 bits hold */
    char got[4] = {0};

    assert_true(fd >= 0);
    assert_int_equal(io_pwrite_all(fd, "abc", 3, far), 0);
    assert_int_equal(io_pread(fd, got, 3, far), 3);
    assert_string_equal(got, "abc");
    assert_int_equal(io_pread(fd, got, 3, far + 1), 2);
    assert_int_equal(io_pread(fd, got, 3, far + 3), 0);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0); /* the file's own position has not moved */
}

static void test_poll_tells_ready_from_late(void **state)
{
    auto_ends struct ends p = new_pipe(0);
    int64_t start_ns = time_mono_ns();

    assert_int_equal(io_poll(p.in, POLLIN, 0), 0);
    assert_int_equal(io_poll(p.in, POLLIN, 30), 0);
    assert_true(time_mono_ns() - start_ns >= 30 * NSEC_PER_MSEC);
    assert_int_equal(io_write(p.out, "x", 1), 1);
    assert_int_equal(io_poll(p.in, POLLIN, 0), 1);
    assert_int_equal(io_poll(p.in, POLLIN, -1), 1);
    p.out = close_fd(p.out);
    assert_int_equal(io_poll(p.in, POLLIN, -1), 1); /* a hang-up ends the wait, too */
}

/* Signals must neither end the wait early nor let it start anew each time. */
static void test_poll_keeps_its_deadline_under_signals(void **state)
{
    auto_ends struct ends p = new_pipe(0);
    int64_t start_ns = time_mono_ns(), took_ns;

    interrupt_every_ms(7);
    assert_int_equal(io_poll(p.in, POLLIN, 100), 0);
    took_ns = time_mono_ns() - start_ns;
    assert_true(interruptions >= 2);
    assert_true(took_ns >= 100 * NSEC_PER_MSEC);
    assert_true(took_ns < 5 * NSEC_PER_SEC);
}

static void test_close_keeps_errno(void **state)
{
    int fd = dup(STDERR_FILENO);

    errno = EXDEV;
    assert_int_equal(close_fd(fd), -EBADF);
    assert_int_equal(close_fd(-EBADF), -EBADF);
    assert_int_equal(close_fd(INT_MAX), -EBADF);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_lock_has_an_end(void **state)
{
    FILE *file = tmpfile();
    char path[64];
    int other;

    assert_non_null(file);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
    other = open(path, O_RDWR | O_CLOEXEC);
    assert_true(other >= 0);
    assert_int_equal(io_lock(other, LOCK_EX, 0), 0);
    assert_int_equal(io_lock(fileno(file), LOCK_EX, 1), -ETIMEDOUT);
    assert_int_equal(io_lock(-1, LOCK_EX, 0), -EBADF);
    assert_int_equal(close(other), 0);
    assert_int_equal(io_lock(fileno(file), LOCK_SH, 0), 0);
    assert_int_equal(fclose(file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_are_negative_errno),
        cmocka_unit_test_teardown(test_read_full_joins_short_reads, stop_interruptions),
        cmocka_unit_test(test_read_full_stops_when_full),
        cmocka_unit_test_teardown(test_read_goes_on_after_a_signal, stop_interruptions),
        cmocka_unit_test(test_write_all_waits_for_room),
        cmocka_unit_test(test_write_all_of_nothing),
        cmocka_unit_test(test_write_all_to_nobody),
        cmocka_unit_test(test_positioned),
        cmocka_unit_test(test_poll_tells_ready_from_late),
        cmocka_unit_test_teardown(test_poll_keeps_its_deadline_under_signals, stop_interruptions),
        cmocka_unit_test(test_close_keeps_errno),
        cmocka_unit_test(test_lock_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
