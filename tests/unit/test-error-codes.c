/* The table of error codes: every code of the interface has a row, every row makes sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "tools/error-codes.h"

/* As the interface lists them, with the exit statuses it gives. */
static const struct {
    const char *name;
    int run_exit, verb_exit;
} codes[] = {
    {"bad_request", 125, 2},
    {"command_not_found", 127, 125},
    {"not_executable", 126, 125},
    {"bad_cwd", 125, 125},
    {"spawn_failed", 125, 125},
    {"shell_syntax", 125, 125},
    {"dangerous_command", 125, 125},
    {"forbidden_command", 125, 125},
    {"approval_denied", 125, 125},
    {"approval_required", 125, 125},
    {"no_such_job", 125, 1},
    {"job_ended", 125, 1},
    {"sandbox_unavailable", 125, 125},
    {"limit_exceeded", 125, 125},
    {"timeout", 125, 124},
    {"internal", 125, 125},
};

static void test_every_code(void **state)
{
    size_t n;

    (void)error_code_table(&n);
    assert_int_equal(n, ARRAY_SIZE(codes));
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        const struct error_code *row = error_code_find(codes[i].name);

        assert_string_equal(row->name, codes[i].name);
        assert_int_equal(row->run_exit, codes[i].run_exit);
        assert_int_equal(row->verb_exit, codes[i].verb_exit);
    }
}

static void test_every_row(void **state)
{
    size_t n;
    const struct error_code *table = error_code_table(&n);

    for (size_t i = 0; i < n; i++) {
        const struct error_code *row = &table[i];

        assert_ptr_equal(error_code_find(row->name), row); /* and no name twice */
        assert_in_range(row->run_exit, 125, 127);
        assert_true(row->verb_exit == 1 || row->verb_exit == 2 || row->verb_exit == 124 ||
                    row->verb_exit == 125);
        assert_in_range(row->http_status, 400, 599);
        /* the numbers below -32019 belong to the Model Context Protocol */
        assert_true(row->jsonrpc_code == -32602 || row->jsonrpc_code == -32603 ||
                    (row->jsonrpc_code <= -32000 && row->jsonrpc_code >= -32019));
    }
}

static void test_unknown_is_internal(void **state)
{
    assert_string_equal(error_code_find("nonsense")->name, "internal");
    assert_string_equal(error_code_find("")->name, "internal");
    assert_string_equal(error_code_find(NULL)->name, "internal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_unknown_is_internal),
    };

    return cmocka_run_group_tests_name("error-codes", tests, NULL, NULL);
}
