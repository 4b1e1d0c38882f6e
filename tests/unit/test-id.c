/* Handles: what they look like, and that no two are alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "job/id.h"

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void test_new_handles(void **state)
{
    static char ids[2000][JOB_ID_LENGTH + 1];
    int seen[16] = {0};

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        assert_int_equal(job_id_new(ids[i]), 0);
        assert_true(job_id_is_valid(ids[i]));
        for (const char *p = ids[i]; *p; p++)
            seen[*p <= '9' ? *p - '0' : *p - 'a' + 10] = 1;
    }
    for (int i = 0; i < 16; i++)
        assert_true(seen[i]);
    qsort(ids, ARRAY_SIZE(ids), sizeof(ids[0]), compare);
    for (size_t i = 1; i < ARRAY_SIZE(ids); i++)
        assert_string_not_equal(ids[i], ids[i - 1]);
}

static void test_valid_handles(void **state)
{
    static const char *const good[] = {"00000000", "0123abcd", "ffffffff"};
    static const char *const bad[] = {"",         "0",        "0000000",  "000000000", "0000000g",
                                      "ABCDEF01", "../../..", "0000 000", "00000000 ", "0000\n000"};

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_true(job_id_is_valid(good[i]));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(job_id_is_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_handles),
        cmocka_unit_test(test_valid_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
