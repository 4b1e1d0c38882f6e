/* Messages with descriptors: whole or not at all, nothing leaked, and the last words of a peer that
 * has gone. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/socket-util.h"

static int ours = -EBADF;
static int theirs = -EBADF;

static int setup(void **state)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    ours = pair[0];
    theirs = pair[1];
    return 0;
}

static int teardown(void **state)
{
    ours = close_fd(ours);
    theirs = close_fd(theirs);
    return 0;
}

/* The number that the next descriptor would get: the same as before when none was leaked. */
static int next_fd(void)
{
    int fd = fcntl(ours, F_DUPFD_CLOEXEC, 0);

    (void)close_fd(fd);
    return fd;
}

static int send_text(const char *head, const char *body, const int *fds, size_t n_fds, int flags)
{
    struct socket_message message = {.head = head,
                                     .head_size = strlen(head),
                                     .body = body,
                                     .body_size = body ? strlen(body) : 0,
                                     .fds = fds,
                                     .n_fds = n_fds};

    return socket_send(ours, &message, flags);
}

static ssize_t receive(char *text, size_t size, int *fds, size_t max_fds, size_t *ret_n_fds)
{
    memset(text, 0, size);
    return socket_receive(theirs, text, size - 1, fds, max_fds, ret_n_fds, MSG_DONTWAIT);
}

static void test_both_pieces_arrive_as_one(void **state)
{
    char text[64];
    size_t n_fds = 99;

    assert_int_equal(send_text("head ", "body", NULL, 0, 0), 0);
    assert_int_equal(send_text("alone", NULL, NULL, 0, 0), 0);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 9);
    assert_string_equal(text, "head body");
    assert_int_equal(n_fds, 0);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 5);
    assert_string_equal(text, "alone");
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), -EAGAIN);
}

static void test_descriptors_arrive_in_order(void **state)
{
    int sent[SOCKET_FDS_MAX];
    int got[SOCKET_FDS_MAX];
    size_t n_fds = 0;
    char text[8];
    int before = next_fd();

    for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
        sent[i] = i % 2 ? ours : theirs;
    assert_int_equal(send_text("x", NULL, sent, ARRAY_SIZE(sent), 0), 0);
    assert_int_equal(receive(text, sizeof(text), got, ARRAY_SIZE(got), &n_fds), 1);
    assert_int_equal(n_fds, ARRAY_SIZE(sent));
    for (size_t i = 0; i < n_fds; i++) {
        int type = 0;
        socklen_t size = sizeof(type);

        assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
        assert_int_equal(getsockopt(got[i], SOL_SOCKET, SO_TYPE, &type, &size), 0);
        assert_int_equal(type, SOCK_SEQPACKET);
        (void)close(got[i]);
    }
    assert_int_equal(next_fd(), before);
}

static void test_more_descriptors_than_there_is_room_for(void **state)
{
    int sent[3] = {ours, ours, ours};
    int got[2] = {-1, -1};
    size_t n_fds = 99;
    char text[8];
    int before = next_fd();

    assert_int_equal(send_text("x", NULL, sent, 3, 0), 0);
    assert_int_equal(receive(text, sizeof(text), got, 2, &n_fds), -EMSGSIZE);
    assert_int_equal(n_fds, 0);
    assert_int_equal(next_fd(), before);
    assert_int_equal(send_text("x", NULL, sent, 1, 0), 0);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), -EMSGSIZE);
    assert_int_equal(next_fd(), before);
}

static void test_message_that_does_not_fit(void **state)
{
    int sent = ours;
    int got;
    size_t n_fds = 99;
    char text[5];
    int before = next_fd();

    assert_int_equal(send_text("12345", NULL, &sent, 1, 0), 0);
    assert_int_equal(send_text("1234", NULL, NULL, 0, 0), 0);
    assert_int_equal(receive(text, sizeof(text), &got, 1, &n_fds), -EMSGSIZE);
    assert_int_equal(n_fds, 0);
    assert_int_equal(next_fd(), before);
    assert_int_equal(receive(text, sizeof(text), &got, 1, &n_fds), 4); /* the next is whole */
}

static void test_no_number_free_for_a_descriptor(void **state)
{
    int sent[2] = {ours, ours};
    int got[2];
    size_t n_fds = 99;
    char text[8];
    struct rlimit before;
    struct rlimit none;
    ssize_t n;
    int next = next_fd();

    assert_int_equal(send_text("x", NULL, sent, 2, 0), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)next + 1, before.rlim_max}; /* room for one of the two */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    n = receive(text, sizeof(text), got, 2, &n_fds);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(n, -EMFILE);
    assert_int_equal(n_fds, 0);
    assert_int_equal(next_fd(), next);
}

static void test_end_of_the_peer(void **state)
{
    char text[8];
    size_t n_fds;

    ours = close_fd(ours);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 0);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 0);
}

/* Neither a signal nor anything but an error. */
static void test_send_to_nobody(void **state)
{
    theirs = close_fd(theirs);
    assert_int_equal(send_text("x", NULL, NULL, 0, 0), -EPIPE);
}

/* A peer that has not read what we sent, and goes, has still said what it said. */
static void test_last_words_of_a_peer_that_did_not_listen(void **state)
{
    struct socket_message unread = {.head = "unread", .head_size = 6};
    char text[16];
    size_t n_fds;

    assert_int_equal(socket_send(theirs, &unread, 0), 0);
    assert_int_equal(send_text("first", NULL, NULL, 0, 0), 0);
    assert_int_equal(send_text("last", NULL, NULL, 0, 0), 0);
    ours = close_fd(ours);
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 5);
    assert_string_equal(text, "first");
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 4);
    assert_string_equal(text, "last");
    assert_int_equal(receive(text, sizeof(text), NULL, 0, &n_fds), 0);
}

static void test_full_socket(void **state)
{
    static char large[30000];
    struct socket_message message = {.head = large, .head_size = sizeof(large)};
    int r;
    int n = 0;

    while ((r = socket_send(ours, &message, MSG_DONTWAIT)) == 0 && n < 1000)
        n++;
    assert_int_equal(r, -EAGAIN);
    assert_true(n > 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_both_pieces_arrive_as_one),
        test(test_descriptors_arrive_in_order),
        test(test_more_descriptors_than_there_is_room_for),
        test(test_message_that_does_not_fit),
        test(test_no_number_free_for_a_descriptor),
        test(test_end_of_the_peer),
        test(test_send_to_nobody),
        test(test_last_words_of_a_peer_that_did_not_listen),
        test(test_full_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
