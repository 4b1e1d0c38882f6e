/* From the pipes to the log: how much at a time, when reading pauses, and that the last look takes
 * what is there and never waits for more. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/mask.c"
#include "supervisor/output.c"

static struct supervisor s;
static struct wire_plan head;
static int write_fds[2];
static uint64_t appended[2];
static char texts[2][65536]; /* the beginning of it */
static int n_waits;
static void (*during_append)(void);

/* ---- what it calls ------------------------------------------------------------------------ */

void log_append(struct supervisor *sup, int stream, const char *data, size_t size)
{
    if (appended[stream] + size < sizeof(texts[0]))
        memcpy(texts[stream] + appended[stream], data, size);
    appended[stream] += size;
    sup->log.state.total += size;
    if (during_append)
        during_append();
}

void report_news(struct supervisor *sup) {}

/* The starter's reader has come all the way. */
void loop_wait_for_starter(struct supervisor *sup)
{
    n_waits++;
    sup->clients[0].cursor = sup->log.state.total;
}

/* ---- setting ------------------------------------------------------------------------------ */

static int setup(void **state)
{
    memset(&s, 0, sizeof(s));
    memset(&head, 0, sizeof(head));
    s.plan.head = &head;
    s.clients[0].fd = 0;
    s.n_clients = 1;
    s.log.limit = 8 * MIB;
    memset(appended, 0, sizeof(appended));
    memset(texts, 0, sizeof(texts));
    memset(&declared, 0, sizeof(declared));
    memset(streams, 0, sizeof(streams));
    n_waits = 0;
    during_append = NULL;
    for (int i = 0; i < 2; i++) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
            return -1;
        s.outputs[i] = (struct output){.fd = fds[0], .stream = i};
        write_fds[i] = fds[1];
    }
    s.n_outputs = 2;
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < 2; i++) {
        s.outputs[i].fd = close_fd(s.outputs[i].fd);
        write_fds[i] = close_fd(write_fds[i]);
    }
    return 0;
}

/* Fills a pipe; returns with how much. */
static uint64_t fill(int fd)
{
    static char bytes[4096];
    uint64_t n = 0;
    ssize_t r;

    while ((r = write(fd, bytes, sizeof(bytes))) > 0)
        n += (uint64_t)r;
    return n;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_takes_what_is_there(void **state)
{
    assert_int_equal(write(write_fds[0], "12345", 5), 5);
    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], 5);
    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], 5);
    assert_true(s.outputs[0].fd >= 0);
    assert_false(s.outputs[0].grown);
}

static void test_end_of_a_pipe(void **state)
{
    assert_int_equal(write(write_fds[1], "123", 3), 3);
    write_fds[1] = close_fd(write_fds[1]);
    output_drain(&s, &s.outputs[1]);
    output_drain(&s, &s.outputs[1]);
    assert_int_equal(appended[1], 3);
    assert_int_equal(s.outputs[1].fd, -EBADF);
    output_drain(&s, &s.outputs[1]); /* of a closed one */
}

static void test_full_pipe_is_made_larger(void **state)
{
    uint64_t small = fill(write_fds[0]);

    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], small);
    assert_true(s.outputs[0].grown);
    if (fcntl(s.outputs[0].fd, F_GETPIPE_SZ) == PIPE_SIZE)
        assert_true(fill(write_fds[0]) > small);
}

static void refill(void)
{
    (void)fill(write_fds[0]);
}

/* A pipe that is never empty does not keep the loop from everything else. */
static void test_one_turn_is_bounded(void **state)
{
    (void)fill(write_fds[0]);
    during_append = refill;
    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], DRAIN_MAX);
}

/* Those who came later are not waited for, and do not stand for the starter either. */
static void test_others_pause_nothing(void **state)
{
    head.flags = WIRE_PLAN_PACED;
    s.log.limit = 1000;
    s.n_clients = 2;
    s.clients[0].cursor = 0;
    s.clients[1].cursor = 500;
    s.log.state.total = 500;
    assert_true(output_paused(&s));
    s.clients[0].cursor = 500;
    s.clients[1].cursor = 0;
    assert_false(output_paused(&s));
}

static void test_pauses_for_a_reader(void **state)
{
    head.flags = WIRE_PLAN_PACED;
    s.log.limit = 1000;
    (void)fill(write_fds[0]);
    assert_false(output_paused(&s));
    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], 500); /* half of the limit */
    assert_true(output_paused(&s));
    s.clients[0].cursor = 100;
    assert_false(output_paused(&s));
    output_drain(&s, &s.outputs[0]);
    assert_int_equal(appended[0], 600);
    s.clients[0].fd = -EBADF; /* nobody is there to wait for */
    assert_false(output_paused(&s));
}

/* ---- the last look ------------------------------------------------------------------------ */

static void test_last_look_takes_all(void **state)
{
    uint64_t n = fill(write_fds[0]);

    assert_int_equal(write(write_fds[1], "123", 3), 3);
    output_drain_rest(&s);
    assert_int_equal(appended[0], n);
    assert_int_equal(appended[1], 3);
    assert_int_equal(s.outputs[0].fd, -EBADF);
    assert_int_equal(s.outputs[1].fd, -EBADF);
    assert_int_equal(n_waits, 0);
}

/* Somebody outside of the tree holds the pipe, and goes on writing. */
static void test_last_look_does_not_wait_for_a_writer(void **state)
{
    uint64_t n = fill(write_fds[0]);

    during_append = refill;
    output_drain_rest(&s);
    assert_int_equal(appended[0], n);
}

static int stolen_fd;

static void steal(void)
{
    static char bytes[65536];

    while (read(stolen_fd, bytes, sizeof(bytes)) > 0)
        continue;
}

/* Or reads from it, so that less is there than there was. */
static void test_last_look_does_not_wait_for_what_is_gone(void **state)
{
    (void)fcntl(s.outputs[0].fd, F_SETPIPE_SZ, PIPE_SIZE);
    if (fill(write_fds[0]) <= CHUNK_SIZE)
        skip(); /* one read takes it all */
    stolen_fd = fcntl(s.outputs[0].fd, F_DUPFD_CLOEXEC, 3);
    during_append = steal;
    (void)alarm(20); /* ends a test that would not end */
    output_drain_rest(&s);
    (void)alarm(0);
    (void)close(stolen_fd);
    assert_int_equal(appended[0], CHUNK_SIZE);
    assert_int_equal(s.outputs[0].fd, -EBADF);
}

static void test_last_look_waits_for_a_reader(void **state)
{
    uint64_t n = fill(write_fds[0]);

    head.flags = WIRE_PLAN_PACED;
    s.log.limit = 2000;
    output_drain_rest(&s);
    assert_int_equal(appended[0], n);
    assert_true(n_waits >= 1);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* ---- secrets ------------------------------------------------------------------------------ */

static char *secrets[] = {(char *)(uintptr_t) "secret", (char *)(uintptr_t) "crypt"};

static void set_secrets(void)
{
    head.secretc = 2;
    s.plan.secrets = secrets;
    mask_prepare(&s);
}

static void drain_text(int i, const char *text)
{
    assert_int_equal(write(write_fds[i], text, strlen(text)), strlen(text));
    output_drain(&s, &s.outputs[i]);
}

static void test_secrets_are_masked(void **state)
{
    set_secrets();
    drain_text(0, "a sec");
    assert_string_equal(texts[0], "a ");
    drain_text(0, "ret, sec");
    assert_string_equal(texts[0], "a ******, ");
    drain_text(0, "ular");
    assert_string_equal(texts[0], "a ******, secular");
}

/* Each pipe has a text of its own. */
static void test_secrets_in_two_pipes(void **state)
{
    set_secrets();
    drain_text(0, "sec");
    drain_text(1, "ret cry");
    drain_text(0, "ret");
    drain_text(1, "pt");
    assert_string_equal(texts[0], "******");
    assert_string_equal(texts[1], "ret *****");
}

static void test_beginning_of_a_secret_at_the_end_of_a_pipe(void **state)
{
    set_secrets();
    drain_text(0, "the sec");
    write_fds[0] = close_fd(write_fds[0]);
    output_drain(&s, &s.outputs[0]);
    assert_string_equal(texts[0], "the sec");
    output_drain_rest(&s);
    assert_string_equal(texts[0], "the sec");
}

static void test_beginning_of_a_secret_at_the_last_look(void **state)
{
    set_secrets();
    drain_text(0, "the sec");
    assert_int_equal(write(write_fds[0], "re", 2), 2);
    drain_text(1, "cryp");
    output_drain_rest(&s);
    assert_string_equal(texts[0], "the secre");
    assert_string_equal(texts[1], "cryp");
}

/* Killed in the middle of a piece: what was held before is still there, or is where it belongs. */
static void test_state_before_and_after_a_piece(void **state)
{
    struct output before;

    set_secrets();
    drain_text(0, "sec");
    before = s.outputs[0];
    drain_text(0, "ular");
    assert_string_equal(texts[0], "secular");
    appended[0] = 0;
    memset(texts[0], 0, sizeof(texts[0]));
    s.outputs[0] = before;
    drain_text(0, "ret");
    output_drain_rest(&s);
    assert_string_equal(texts[0], "******");
}

static void test_command_lines(void **state)
{
    static const struct {
        const char *text, *masked;
    } rows[] = {{"tool --key=secret x", "tool --key=****** x"},
                {"tool secre", "tool secre"},
                {"1234567890123456 secre", "1234567890123456 *****"}, /* was cut */
                {"1234567890123 decrypts", "1234567890123 de******"},
                {"", ""}};

    set_secrets();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[23];

        (void)snprintf(text, sizeof(text), "%s", rows[i].text);
        mask_command(text, sizeof(text));
        assert_string_equal(text, rows[i].masked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_takes_what_is_there),
        test(test_end_of_a_pipe),
        test(test_full_pipe_is_made_larger),
        test(test_one_turn_is_bounded),
        test(test_pauses_for_a_reader),
        test(test_others_pause_nothing),
        test(test_last_look_takes_all),
        test(test_last_look_does_not_wait_for_a_writer),
        test(test_last_look_does_not_wait_for_what_is_gone),
        test(test_last_look_waits_for_a_reader),
        test(test_secrets_are_masked),
        test(test_secrets_in_two_pipes),
        test(test_beginning_of_a_secret_at_the_end_of_a_pipe),
        test(test_beginning_of_a_secret_at_the_last_look),
        test(test_state_before_and_after_a_piece),
        test(test_command_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
