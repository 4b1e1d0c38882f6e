/* From a result to the exit status of rein: each reason with each kind of end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "cli/exit-status.h"

static const int other_reasons[] = {
    REIN_REASON_STOPPED,   REIN_REASON_OWNER_GONE,      REIN_REASON_MEMORY_LIMIT,
    REIN_REASON_CPU_LIMIT, REIN_REASON_FILE_SIZE_LIMIT, REIN_REASON_OUTPUT_LIMIT,
};

static int status(int reason, int exit_code)
{
    struct rein_result result = {
        .size = sizeof(result), .reason = reason, .has_exit_code = 1, .exit_code = exit_code};

    return exit_status_of(&result);
}

static void test_own_exit_code(void **state)
{
    for (int code = 0; code <= 255; code++)
        assert_int_equal(status(REIN_REASON_EXIT, code), code);
}

static void test_signals(void **state)
{
    for (int number = 1; number <= 64; number++)
        assert_int_equal(status(REIN_REASON_SIGNAL, -number), 128 + number);
}

static void test_deadline(void **state)
{
    assert_int_equal(status(REIN_REASON_TIMEOUT, -SIGKILL), 124);
    assert_int_equal(status(REIN_REASON_TIMEOUT, 0), 124);
    assert_int_equal(status(REIN_REASON_TIMEOUT, 3), 124);
}

static void test_other_reasons_never_give_0(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(other_reasons); i++) {
        assert_int_equal(status(other_reasons[i], 0), 137);
        assert_int_equal(status(other_reasons[i], 3), 3);
        assert_int_equal(status(other_reasons[i], -SIGTERM), 143);
        assert_int_equal(status(other_reasons[i], -SIGKILL), 137);
    }
}

static void test_lost(void **state)
{
    struct rein_result result = {.size = sizeof(result), .reason = REIN_REASON_LOST};

    assert_int_equal(exit_status_of(&result), 125);
    result.has_exit_code = 1;
    assert_int_equal(exit_status_of(&result), 125);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_exit_code), cmocka_unit_test(test_signals),
        cmocka_unit_test(test_deadline),      cmocka_unit_test(test_other_reasons_never_give_0),
        cmocka_unit_test(test_lost),
    };

    return cmocka_run_group_tests_name("exit-status", tests, NULL, NULL);
}
