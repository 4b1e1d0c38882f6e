/* What people are not shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "policy/hide.h"

static void check(const char *text, const char *expected)
{
    static const char *const values[] = {"hunter2hunter2", "ab cd", NULL};
    auto_free char *copy = strdup(text);

    assert_int_equal(hide_secrets(values, NULL, copy), 0);
    assert_string_equal(copy, expected);
}

static void test_known_values(void **state)
{
    check("x hunter2hunter2 y", "x ************** y");
    check("xhunter2hunter2y", "x**************y");
    check("say ab cd", "say *****");
    check("hunter2", "hunter2");
}

static void test_names(void **state)
{
    check("--password=abc next", "--password=*** next");

    check("API_KEY=abc cmd", "API_KEY=*** cmd");
    check("--api-key=abc", "--api-key=***");
    check("COLOR=red --path=x a=b =c", "COLOR=red --path=x a=b =c");
}

static void test_shapes(void **state)
{
    check("Bearer sk-aaaaaaaaaaaaaaaaaaaaaaaa", "Bearer ***************************");
    check("'Authorization: sk-aaaaaaaaaaaaaaaaaaaaaaaa'",
          "'Authorization: ***************************'");
    check("x=sk-aaaaaaaaaaaaaaaaaaaaaaaa;", "x=***************************;");
    check("make sk-short task-aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "make sk-short task-aaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

static void test_environment(void **state)
{
    static const char *const env[] = {"PATH=/usr/local/bin",
                                      "API_KEY=abcdefgh",
                                      "SHORT_TOKEN=abc",
                                      "NAME_ONLY",
                                      "OTHER=ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                      NULL};
    static const char *const values[] = {"ghij", NULL}; /* overlaps one of them */
    char text[] = "/usr/local/bin abcdefghij NAME_ONLY abc "
                  "xghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    assert_int_equal(hide_secrets(values, env, text), 0);
    assert_string_equal(text, "/usr/local/bin ********** NAME_ONLY abc "
                              "x****************************************");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
