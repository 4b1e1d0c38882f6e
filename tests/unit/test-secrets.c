/* Secrets: what is masked in a whole text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "job/secrets.h"

static void test_texts(void **state)
{
    static const struct {
        const char *values[3];
        const char *text, *masked;
    } rows[] = {
        {{"secret"}, "a secret, secretsecret", "a ******, ************"},
        {{"abcd", "cdef"}, "abcdef cdefg", "****** ****g"},
        {{"aba"}, "ababa aba ab", "***** *** ab"},
        {{"", "x"}, "axa", "a*a"},
        {{NULL}, "text", "text"},
        {{"long value"}, "long", "long"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[64];

        (void)strcpy(text, rows[i].text);
        assert_int_equal(secrets_mask_text(rows[i].values, text), 0);
        assert_string_equal(text, rows[i].masked);
    }
}

static void test_no_values(void **state)
{
    char text[] = "text";

    assert_int_equal(secrets_mask_text(NULL, text), 0);
    assert_string_equal(text, "text");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_no_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
