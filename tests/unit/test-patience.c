/* Waiting no longer than the caller likes: the descriptor, the question, the signal. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/patience.h"

#define HANG_MS 60000

static int asked, refuse_at, ends[2];

static int look(void *userdata)
{
    assert_ptr_equal(userdata, &asked);
    return ++asked == refuse_at ? -1 : 0;
}

static int setup(void **state)
{
    asked = 0;
    refuse_at = 1;
    return pipe2(ends, O_CLOEXEC);
}

static int teardown(void **state)
{
    (void)close(ends[0]);
    (void)close(ends[1]);
    return 0;
}

static struct patience asking(int look_ms)
{
    return (struct patience){
        .stop_fd = -EBADF, .look = look, .look_ms = look_ms, .userdata = &asked};
}

static int poll_quiet(struct patience *p, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = ends[0], .events = POLLIN}};

    return patience_poll(p, fds, 1, timeout_ms);
}

static void test_descriptor(void **state)
{
    struct patience p = {.stop_fd = ends[0]};
    struct pollfd fds[1];

    assert_int_equal(patience_poll(&p, fds, 0, 0), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(patience_poll(&p, fds, 0, HANG_MS), 1);
}

static void test_endless(void **state)
{
    struct patience p = PATIENCE_ENDLESS;

    assert_int_equal(poll_quiet(&p, 1), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(poll_quiet(&p, HANG_MS), 0);
}

/* The first question comes at once, the others after their time, whatever else was waited for. */
static void test_question_by_time(void **state)
{
    struct patience p = asking(5);

    refuse_at = 3;
    while (poll_quiet(&p, HANG_MS) == 0)
        ;
    assert_int_equal(asked, 3);
}

static void test_question_beside_endless_news(void **state)
{
    struct patience p = asking(5);

    refuse_at = 3;
    assert_int_equal(write(ends[1], "x", 1), 1);
    while (poll_quiet(&p, HANG_MS) == 0)
        ;
    assert_int_equal(asked, 3);
}

static void ignore_it(int signo) {}

static void test_question_after_a_signal(void **state)
{
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    struct sigaction action = {.sa_handler = ignore_it};
    struct patience p = asking(0);

    assert_int_equal(poll_quiet(&p, 1), 0);
    assert_int_equal(asked, 0);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_int_equal(poll_quiet(&p, HANG_MS), 1);
    assert_int_equal(asked, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_descriptor),
        TEST(test_endless),
        TEST(test_question_by_time),
        TEST(test_question_beside_endless_news),
        TEST(test_question_after_a_signal),
    };

    return cmocka_run_group_tests_name("patience", tests, NULL, NULL);
}
