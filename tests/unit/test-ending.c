/* The state machine of a job's end, event by event, over a tree that is only told of. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/time-util.h"

/* The clock is ours. */
static int64_t clock_ns;

static int64_t our_clock(void)
{
    return clock_ns;
}

#define time_mono_ns our_clock
#include "supervisor/ending.c"
#undef time_mono_ns

static struct supervisor s;
static struct wire_plan head;
static int n_term, n_kill, n_list, n_masked;
static size_t n_alive;
static size_t n_dying; /* of those: by each walk until there are no more */

/* ---- the tree ----------------------------------------------------------------------------- */

size_t tree_signal(int signo, int terminate, uint32_t fallbacks)
{
    assert_int_equal(terminate, signo == SIGTERM);
    n_term += signo == SIGTERM;
    n_kill += signo == SIGKILL;
    return n_alive;
}

void mask_command(char *text, size_t size)
{
    assert_int_equal(size, WIRE_LEFT_COMMAND_MAX);
    n_masked++;
}

size_t tree_list(struct wire_left *left, size_t max, size_t *ret_named, uint32_t fallbacks)
{
    n_list++;
    *ret_named = MIN(n_alive, max);
    for (size_t i = 0; i < *ret_named; i++)
        left[i].pid = (int32_t)(100 + i);
    return n_alive;
}

size_t reap_children(struct supervisor *sup)
{
    size_t n = MIN(n_dying, 2);

    n_dying -= n;
    return n;
}

/* ---- setting ------------------------------------------------------------------------------ */

#define MS NSEC_PER_MSEC
#define STATUS_EXIT(code) ((code) << 8)

static int setup(void **state)
{
    memset(&s, 0, sizeof(s));
    memset(&head, 0, sizeof(head));
    s.plan.head = &head;
    for (int i = 0; i < WIRE_FD_KINDS; i++)
        s.plan.fds[i] = -1;
    s.deadline_ns = s.grace_end_ns = s.retry_ns = INT64_MAX;
    clock_ns = 1000 * MS;
    n_term = n_kill = n_list = n_masked = 0;
    n_alive = 3;
    n_dying = 0;
    return 0;
}

static void main_ends(int wait_status)
{
    s.main_ended = 1;
    s.wait_status = wait_status;
    ending_dispatch(&s, EVENT_MAIN_ENDED);
}

static void tree_ends(void)
{
    s.tree_empty = 1;
    n_alive = 0;
    ending_dispatch(&s, EVENT_TREE_EMPTY);
}

static void time_passes(int64_t ns)
{
    clock_ns += ns;
    ending_tick(&s, clock_ns);
}

static void check(enum state state, int reason)
{
    assert_int_equal(s.state, state);
    assert_int_equal(s.reason, reason);
}

/* ---- the main process ends by itself ------------------------------------------------------- */

static void test_exit_of_the_last(void **state)
{
    s.tree_empty = 1;
    main_ends(STATUS_EXIT(3));
    check(STATE_RUNNING, REIN_REASON_EXIT);
    tree_ends();
    check(STATE_DONE, REIN_REASON_EXIT);
    assert_int_equal(n_term + n_kill + n_list, 0);
}

static void test_exit_with_leftovers(void **state)
{
    main_ends(STATUS_EXIT(0));
    check(STATE_KILLING, REIN_REASON_EXIT);
    assert_int_equal(n_term, 0);
    assert_int_equal(n_kill, 1);
    assert_int_equal(s.n_left, 3);
    assert_int_equal(s.n_left_named, 3);
    assert_int_equal(n_masked, 0);
    tree_ends();
    check(STATE_DONE, REIN_REASON_EXIT);
    assert_int_equal(s.notes & WIRE_NOTE_LEFT_ALIVE, 0);
}

static void test_leftovers_of_a_job_with_secrets(void **state)
{
    head.secretc = 1;
    main_ends(STATUS_EXIT(0));
    assert_int_equal(n_masked, 3);
}

static void test_exit_with_leftovers_and_a_grace(void **state)
{
    head.grace_ns = 50 * MS;
    main_ends(STATUS_EXIT(0));
    check(STATE_TERMINATING, REIN_REASON_EXIT);
    assert_int_equal(n_term, 1);
    assert_int_equal(n_kill, 0);
    assert_int_equal(ending_next_ns(&s), clock_ns + 50 * MS);
    time_passes(49 * MS);
    check(STATE_TERMINATING, REIN_REASON_EXIT);
    time_passes(1 * MS);
    check(STATE_KILLING, REIN_REASON_EXIT);
    assert_int_equal(n_kill, 1);
}

static void test_exit_with_leftovers_that_are_kept(void **state)
{
    head.after = WIRE_AFTER_KEEP;
    main_ends(STATUS_EXIT(1));
    check(STATE_DONE, REIN_REASON_EXIT);
    assert_int_equal(s.n_left, 3);
    assert_int_equal(n_term + n_kill, 0);
}

static void test_more_leftovers_than_are_named(void **state)
{
    n_alive = WIRE_LEFT_MAX + 10;
    main_ends(STATUS_EXIT(0));
    assert_int_equal(s.n_left, WIRE_LEFT_MAX + 10);
    assert_int_equal(s.n_left_named, WIRE_LEFT_MAX);
}

static void test_job_that_waits_for_its_leftovers(void **state)
{
    head.after = WIRE_AFTER_WAIT;
    s.deadline_ns = clock_ns + 100 * MS;
    main_ends(STATUS_EXIT(5));
    check(STATE_LINGERING, REIN_REASON_NONE);
    assert_int_equal(ending_next_ns(&s), clock_ns + 100 * MS);
    tree_ends();
    check(STATE_DONE, REIN_REASON_EXIT);
    assert_int_equal(n_term + n_kill + n_list, 0);
}

static void test_job_that_waits_has_its_deadline(void **state)
{
    head.after = WIRE_AFTER_WAIT;
    s.deadline_ns = clock_ns + 100 * MS;
    main_ends(STATUS_EXIT(5));
    time_passes(100 * MS);
    check(STATE_KILLING, REIN_REASON_TIMEOUT);
    tree_ends();
    check(STATE_DONE, REIN_REASON_TIMEOUT);
}

static void test_reasons_of_signals(void **state)
{
    static const struct {
        int status;
        int resource;
        int reason;
    } cases[] = {
        {SIGTERM, -1, REIN_REASON_SIGNAL},
        {SIGKILL, RLIMIT_FSIZE, REIN_REASON_SIGNAL},
        {SIGXCPU, RLIMIT_CPU, REIN_REASON_CPU_LIMIT},
        {SIGXCPU, RLIMIT_FSIZE, REIN_REASON_SIGNAL},
        {SIGXFSZ, RLIMIT_FSIZE, REIN_REASON_FILE_SIZE_LIMIT},
        {SIGXFSZ, RLIMIT_CPU, REIN_REASON_SIGNAL},
        {SIGXCPU, -1, REIN_REASON_SIGNAL},
        {STATUS_EXIT(0), RLIMIT_CPU, REIN_REASON_EXIT},
        {SIGSEGV | 0x80, -1, REIN_REASON_SIGNAL}, /* with a core */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        (void)setup(state);
        head.n_rlimits = cases[i].resource < 0 ? 0 : 2;
        head.rlimits[0].resource = RLIMIT_AS;
        head.rlimits[1].resource = cases[i].resource;
        main_ends(cases[i].status);
        assert_int_equal(s.reason, cases[i].reason);
    }
}

/* ---- it is ended --------------------------------------------------------------------------- */

static void test_deadline(void **state)
{
    s.deadline_ns = clock_ns + 100 * MS;
    time_passes(99 * MS);
    check(STATE_RUNNING, REIN_REASON_NONE);
    time_passes(1 * MS);
    check(STATE_KILLING, REIN_REASON_TIMEOUT);
    assert_int_equal(n_term, 0);
    assert_int_equal(n_kill, 1);
    main_ends(SIGKILL); /* changes nothing */
    check(STATE_KILLING, REIN_REASON_TIMEOUT);
    assert_int_equal(n_list, 0);
    tree_ends();
    check(STATE_DONE, REIN_REASON_TIMEOUT);
    assert_int_equal(ending_next_ns(&s), INT64_MAX);
}

static void test_stop_with_a_grace(void **state)
{
    ending_begin(&s, REIN_REASON_STOPPED, 50 * MS);
    check(STATE_TERMINATING, REIN_REASON_STOPPED);
    assert_int_equal(n_term, 1);
    main_ends(SIGTERM);
    check(STATE_TERMINATING, REIN_REASON_STOPPED); /* its children have their grace, too */
    tree_ends();
    check(STATE_DONE, REIN_REASON_STOPPED);
    assert_int_equal(n_kill, 0);
}

/* While it is ending, another reason changes nothing; a shorter grace does, a longer one not. */
static void test_second_reason(void **state)
{
    s.deadline_ns = clock_ns + 10 * MS;
    ending_begin(&s, REIN_REASON_STOPPED, 50 * MS);
    time_passes(20 * MS);
    check(STATE_TERMINATING, REIN_REASON_STOPPED);
    ending_begin(&s, REIN_REASON_OWNER_GONE, 1000 * MS);
    assert_int_equal(ending_next_ns(&s), clock_ns + 30 * MS);
    ending_begin(&s, REIN_REASON_OWNER_GONE, 5 * MS);
    assert_int_equal(ending_next_ns(&s), clock_ns + 5 * MS);
    check(STATE_TERMINATING, REIN_REASON_STOPPED);
    time_passes(5 * MS);
    check(STATE_KILLING, REIN_REASON_STOPPED);
    ending_begin(&s, REIN_REASON_STOPPED, 1000 * MS);
    check(STATE_KILLING, REIN_REASON_STOPPED);
    assert_int_equal(n_term, 1);
}

static void test_stop_at_once_during_the_grace(void **state)
{
    ending_begin(&s, REIN_REASON_STOPPED, INT64_MAX);
    assert_int_equal(ending_next_ns(&s), INT64_MAX);
    ending_begin(&s, REIN_REASON_STOPPED, 0);
    time_passes(0);
    check(STATE_KILLING, REIN_REASON_STOPPED);
}

/* Those that were born between the walks are met by the next one, soon at first, then less often.
 */
static void test_killing_is_repeated(void **state)
{
    int64_t last_ns = 0;

    ending_begin(&s, REIN_REASON_STOPPED, 0);
    for (int i = 1; i <= 20; i++) {
        int64_t step_ns = ending_next_ns(&s) - clock_ns;

        assert_int_equal(n_kill, i);
        assert_true(step_ns >= last_ns);
        assert_true(step_ns > 0 && step_ns <= RETRY_MAX_NS);
        last_ns = step_ns;
        time_passes(step_ns - 1);
        assert_int_equal(n_kill, i);
        time_passes(1);
    }
    assert_int_equal(last_ns, RETRY_MAX_NS);
    tree_ends();
    check(STATE_DONE, REIN_REASON_STOPPED);
}

/* As long as somebody dies there is no waiting, but for a look at other events now and then. */
static void test_killing_goes_on_while_somebody_dies(void **state)
{
    n_dying = 9;
    ending_begin(&s, REIN_REASON_STOPPED, 0);
    assert_int_equal(n_dying, 0);
    assert_int_equal(n_kill, 6);
    n_dying = 1000000;
    time_passes(ending_next_ns(&s) - clock_ns);
    assert_true(n_dying > 0 && n_dying < 1000000);
    check(STATE_KILLING, REIN_REASON_STOPPED);
}

/* A process that cannot die does not hold the report for ever: it is named. */
static void test_patience_ends(void **state)
{
    int64_t began_ns = clock_ns;

    ending_begin(&s, REIN_REASON_STOPPED, 0);
    n_alive = 1;
    while (s.state == STATE_KILLING)
        time_passes(ending_next_ns(&s) - clock_ns);
    check(STATE_DONE, REIN_REASON_STOPPED);
    assert_true(clock_ns - began_ns >= PATIENCE_NS);
    assert_true(clock_ns - began_ns <= PATIENCE_NS + RETRY_MAX_NS);
    assert_int_equal(s.n_left, 1);
    assert_int_equal(s.n_left_named, 1);
    assert_true(s.notes & WIRE_NOTE_LEFT_ALIVE);
}

/* Events that come in a state where they mean nothing are nothing. */
static void test_other_events(void **state)
{
    static const enum state states[] = {STATE_RUNNING, STATE_LINGERING, STATE_TERMINATING,
                                        STATE_KILLING, STATE_DONE};

    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        for (int event = 0; event < EVENT_MAX; event++) {
            (void)setup(state);
            s.state = states[i];
            s.give_up_ns = INT64_MAX;
            s.tree_empty = event == EVENT_TREE_EMPTY;
            ending_dispatch(&s, (enum event)event);
            assert_true(s.state >= (int)states[i]); /* never back */
            if (states[i] == STATE_DONE)
                assert_int_equal(n_term + n_kill, 0);
        }
    }
}

#define test(function) cmocka_unit_test_setup(function, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_exit_of_the_last),
        test(test_exit_with_leftovers),
        test(test_leftovers_of_a_job_with_secrets),
        test(test_exit_with_leftovers_and_a_grace),
        test(test_exit_with_leftovers_that_are_kept),
        test(test_more_leftovers_than_are_named),
        test(test_job_that_waits_for_its_leftovers),
        test(test_job_that_waits_has_its_deadline),
        test(test_reasons_of_signals),
        test(test_deadline),
        test(test_stop_with_a_grace),
        test(test_second_reason),
        test(test_stop_at_once_during_the_grace),
        test(test_killing_is_repeated),
        test(test_killing_goes_on_while_somebody_dies),
        test(test_patience_ends),
        test(test_other_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
