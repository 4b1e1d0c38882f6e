/* Standard input that is sent: taken as far as there is room, written as far as it is read, in
 * order, and the end of it only after all of it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/input.c"

static struct supervisor s;
static int read_fd = -EBADF;
static uint32_t accepted;
static int room_error;
static int n_answers;
static struct client *answered;

void report_room(struct supervisor *sup, struct client *c, uint32_t n, int errnum)
{
    answered = c;
    accepted = n;
    room_error = errnum;
    n_answers++;
}

static int setup(void **state)
{
    int fds[2];

    memset(&s, 0, sizeof(s));
    n_answers = 0;
    (void)signal(SIGPIPE, SIG_IGN); /* as in the supervisor, where it is blocked */
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    read_fd = fds[0];
    s.input.fd = fds[1];
    return 0;
}

static int teardown(void **state)
{
    read_fd = close_fd(read_fd);
    s.input.fd = close_fd(s.input.fd);
    return 0;
}

/* Each byte tells its place in what was sent. */
static char byte_at(uint64_t i)
{
    return (char)(i * 2654435761u >> 16);
}

static uint64_t n_sent;

/* By one client or the other in turn: who sent is who is answered. */
static uint32_t send(uint32_t size, int eof)
{
    struct client *from = &s.clients[n_answers % 2];
    static struct {
        struct wire_input head;
        char bytes[WIRE_INPUT_MAX];
    } message;

    message.head = (struct wire_input){.type = WIRE_INPUT, .eof = (uint32_t)eof};
    for (uint32_t i = 0; i < size; i++)
        message.bytes[i] = byte_at(n_sent + i);
    input_take(&s, from, &message.head, sizeof(message.head) + size);
    assert_ptr_equal(answered, from);
    n_sent += room_error ? 0 : accepted;
    return accepted;
}

/* Reads what is there and checks it; returns how much. */
static uint64_t read_and_check(uint64_t from)
{
    static char got[65536];
    uint64_t n = 0;
    ssize_t r;

    while ((r = read(read_fd, got, sizeof(got))) > 0) {
        for (ssize_t i = 0; i < r; i++)
            assert_int_equal(got[i], byte_at(from + n + (uint64_t)i));
        n += (uint64_t)r;
    }
    return n;
}

static int at_end(void)
{
    char byte;

    return read(read_fd, &byte, 1) == 0;
}

static void test_goes_straight_through(void **state)
{
    n_sent = 0;
    assert_int_equal(send(1000, 0), 1000);
    assert_int_equal(n_answers, 1);
    assert_int_equal(read_and_check(0), 1000);
    assert_int_equal(s.input.begin, s.input.end);
    assert_false(at_end());
}

/* The pipe is full, then the buffer: what was taken is all that arrives. */
static void test_more_than_there_is_room_for(void **state)
{
    uint64_t read_back = 0;
    uint32_t n;

    n_sent = 0;
    while ((n = send(WIRE_INPUT_MAX, 0)) == WIRE_INPUT_MAX)
        assert_true(n_sent <= MIB);
    assert_int_equal(room_error, 0);
    assert_true(n_sent >= INPUT_BUFFER_MAX);
    assert_int_equal(send(WIRE_INPUT_MAX, 0), 0);
    assert_int_equal(s.input.end - s.input.begin, INPUT_BUFFER_MAX);
    while (read_back < n_sent) {
        uint64_t got = read_and_check(read_back);

        assert_true(got > 0);
        read_back += got;
        input_flush(&s);
    }
    assert_int_equal(read_back, n_sent);
    assert_int_equal(send(10, 0), 10); /* there is room again */
    assert_int_equal(read_and_check(read_back), 10);
}

/* Many odd pieces, read in between: the buffer is used over and over. */
static void test_odd_pieces(void **state)
{
    uint64_t read_back = 0;

    n_sent = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        (void)send(i * 7919 % WIRE_INPUT_MAX, 0);
        if (i % 3 == 0)
            read_back += read_and_check(read_back);
        input_flush(&s);
    }
    for (int i = 0; i < 100; i++) {
        input_flush(&s);
        read_back += read_and_check(read_back);
    }
    assert_int_equal(read_back, n_sent);
    assert_true(n_sent > 10 * MIB);
}

static void test_end_comes_after_everything(void **state)
{
    uint64_t read_back = 0;

    n_sent = 0;
    while (send(WIRE_INPUT_MAX, 0) == WIRE_INPUT_MAX)
        continue;
    (void)send(0, 1);
    assert_int_equal(room_error, 0); /* needs no room */
    assert_int_equal(send(1, 0), 0);
    assert_int_equal(room_error, EPIPE);
    (void)send(0, 1);
    assert_int_equal(room_error, EPIPE);
    while (s.input.fd >= 0) {
        read_back += read_and_check(read_back);
        input_flush(&s);
    }
    read_back += read_and_check(read_back);
    assert_int_equal(read_back, n_sent);
    assert_true(at_end());
}

/* An end that came with more bytes than were taken is not the end. */
static void test_end_with_bytes(void **state)
{
    n_sent = 0;
    assert_int_equal(send(5, 1), 5);
    assert_int_equal(read_and_check(0), 5);
    assert_true(at_end());
    (void)teardown(state);
    (void)setup(state);
    n_sent = 0;
    while (send(WIRE_INPUT_MAX, 0) == WIRE_INPUT_MAX)
        continue;
    assert_int_equal(send(100, 1), 0);
    assert_int_equal(room_error, 0);
    assert_false(s.input.eof_wanted);
}

static void test_nobody_reads_any_more(void **state)
{
    n_sent = 0;
    read_fd = close_fd(read_fd);
    (void)send(10, 0);
    assert_int_equal(s.input.fd, -EBADF);
    (void)send(10, 0);
    assert_int_equal(room_error, EPIPE);
    input_flush(&s);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_goes_straight_through),
        test(test_more_than_there_is_room_for),
        test(test_odd_pieces),
        test(test_end_comes_after_everything),
        test(test_end_with_bytes),
        test(test_nobody_reads_any_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
