/* Errors with detail: what is filled in, what is wrapped, and what happens without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static int no_memory; /* makes calloc() fail */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory ? NULL : __real_calloc(n, size);
}

static void test_fail_fills_everything(void **state)
{
    auto_error struct rein_error *error = NULL;

    assert_int_equal(rein_fail(&error, -ENOENT, "bad_cwd", "chdir", "no %s %d", "way", 7), -ENOENT);
    assert_string_equal(error->code, "bad_cwd");
    assert_string_equal(error->step, "chdir");
    assert_string_equal(error->message, "no way 7");
    assert_null(error->hint);
    assert_int_equal(error->errnum, ENOENT);
}

static void test_fail_hint_copies_the_hint(void **state)
{
    auto_error struct rein_error *error = NULL;
    char hint[] = "try this";

    assert_int_equal(rein_fail_hint(&error, -EINVAL, "bad_request", "plan", hint, "%s", "no"),
                     -EINVAL);
    hint[0] = 'X';
    assert_string_equal(error->hint, "try this");
    assert_string_equal(error->message, "no");
}

static void test_nobody_wants_the_detail(void **state)
{
    assert_int_equal(rein_fail(NULL, -EPERM, "internal", "x", "%d", 1), -EPERM);
    assert_int_equal(rein_fail_hint(NULL, -EPERM, "internal", "x", "hint", "%d", 1), -EPERM);
    assert_int_equal(rein_wrap(NULL, -EPERM, "%d", 1), -EPERM);
    assert_int_equal(rein_oom(NULL), -ENOMEM);
}

static void test_wrap_goes_in_front(void **state)
{
    auto_error struct rein_error *error = NULL;

    assert_int_equal(rein_wrap(&error, -EIO, "no error yet"), -EIO);
    assert_null(error);
    (void)rein_fail(&error, -EIO, "internal", "read", "inner");
    assert_int_equal(rein_wrap(&error, -EIO, "job %s", "ab12"), -EIO);
    assert_int_equal(rein_wrap(&error, -EIO, "outer"), -EIO);
    assert_string_equal(error->message, "outer: job ab12: inner");
    assert_string_equal(error->code, "internal");
    assert_int_equal(error->errnum, EIO);
}

/* A user's text must not be read as a format when an error is wrapped. */
static void test_percent_signs_are_text(void **state)
{
    auto_error struct rein_error *error = NULL;

    (void)rein_fail(&error, -EIO, "internal", "read", "'%s'", "100%s%n");
    (void)rein_wrap(&error, -EIO, "%s", "%d");
    assert_string_equal(error->message, "%d: '100%s%n'");
}

static void test_out_of_memory_is_one_error_for_all(void **state)
{
    struct rein_error *error = NULL;

    assert_int_equal(rein_oom(&error), -ENOMEM);
    assert_string_equal(error->code, "internal");
    assert_string_equal(error->message, "out of memory");
    assert_non_null(error->step);
    assert_int_equal(error->errnum, ENOMEM);
    assert_int_equal(rein_wrap(&error, -ENOMEM, "context"), -ENOMEM);
    assert_string_equal(error->message, "out of memory");
    error = rein_error_free(error);
    assert_null(error);
    assert_null(rein_error_free(NULL));
}

static void test_no_memory_for_an_error(void **state)
{
    struct rein_error *error = NULL;
    int r;

    no_memory = 1;
    r = rein_fail_hint(&error, -ENOENT, "bad_cwd", "chdir", "hint", "%s", "text");
    no_memory = 0;
    assert_int_equal(r, -ENOENT); /* the caller's error, not the one met on the way */
    assert_string_equal(error->message, "out of memory");
    assert_null(rein_error_free(error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_everything),
        cmocka_unit_test(test_fail_hint_copies_the_hint),
        cmocka_unit_test(test_nobody_wants_the_detail),
        cmocka_unit_test(test_wrap_goes_in_front),
        cmocka_unit_test(test_percent_signs_are_text),
        cmocka_unit_test(test_out_of_memory_is_one_error_for_all),
        cmocka_unit_test(test_no_memory_for_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
