/* What the two ends count on: sizes that fit into each other, and marks that say what they were
 * made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/socket-util.h"
#include "job/plan.h"
#include "job/wire.h"

static void test_every_message_fits(void **state)
{
    assert_true(sizeof(struct wire_exit) + WIRE_LEFT_MAX * sizeof(struct wire_left) <=
                WIRE_MESSAGE_MAX);
    assert_true(sizeof(struct wire_input) + WIRE_INPUT_MAX <= WIRE_MESSAGE_MAX);
    assert_true(sizeof(struct wire_news) <= WIRE_MESSAGE_MAX);
}

static void test_descriptors_fit(void **state)
{
    assert_true(WIRE_FD_KINDS + WIRE_PASS_FDS_MAX + 1 <= WIRE_FDS_MAX); /* and the strings' own */
    assert_true(WIRE_FDS_MAX <= SOCKET_FDS_MAX);
    assert_true(WIRE_FD_KINDS <= 32);
}

static void test_texts_fit(void **state)
{
    struct wire_plan plan;

    assert_true(JOB_ID_LENGTH + 1 <= sizeof(plan.process_id));
    assert_int_equal(sizeof(uint64_t), WIRE_MARK_SIZE);
}

/* A whole message goes into an empty socket at once, whatever the system's default is. */
static void test_largest_messages_go_through_a_socket(void **state)
{
    static char bytes[sizeof(struct wire_plan) + WIRE_PLAN_INLINE_MAX];
    struct socket_message message = {.head = bytes, .head_size = sizeof(bytes)};
    int pair[2];
    size_t n_fds;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(socket_send(pair[0], &message, MSG_DONTWAIT), 0);
    assert_int_equal(socket_receive(pair[1], bytes, sizeof(bytes), NULL, 0, &n_fds, MSG_DONTWAIT),
                     sizeof(bytes));
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void test_marks(void **state)
{
    static const uint64_t offsets[] = {
        0, 1, 4096, UINT64_C(1) << 40, OUTPUT_LIMIT_MAX, UINT64_MAX >> 1};

    for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
        for (unsigned stream = 0; stream < 2; stream++) {
            uint64_t mark = WIRE_MARK(offsets[i], stream);

            assert_int_equal(WIRE_MARK_OFFSET(mark), offsets[i]);
            assert_int_equal(WIRE_MARK_STREAM(mark), stream);
        }
    }
}

/* Spec and plan say the same numbers. */
static void test_numbers_of_the_header(void **state)
{
    assert_int_equal(REIN_AFTER_KILL, WIRE_AFTER_KILL);
    assert_int_equal(REIN_AFTER_WAIT, WIRE_AFTER_WAIT);
    assert_int_equal(REIN_AFTER_KEEP, WIRE_AFTER_KEEP);
    assert_true(OUTPUT_LIMIT_MIN >= 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_message_fits),
        cmocka_unit_test(test_descriptors_fit),
        cmocka_unit_test(test_texts_fit),
        cmocka_unit_test(test_largest_messages_go_through_a_socket),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_numbers_of_the_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
