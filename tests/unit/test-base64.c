/* Base64, whole and broken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/macro.h"

static void check(const char *text, const char *expected, size_t len)
{
    auto_buf struct buf b = {0};

    assert_int_equal(base64_decode(text, strlen(text), &b), 0);
    assert_int_equal(b.len, len);
    if (len > 0)
        assert_memory_equal(b.data, expected, len);
}

static void test_whole(void **state)
{
    check("", "", 0);
    check("Zg==", "f", 1);
    check("YWI=", "ab", 2);
    check("Zm9v", "foo", 3);
    check("Zm9v\r\nYmFy\n", "foobar", 6);
    check("AP8=\n", "\0\xff", 2);
    check("+/+/", "\xfb\xff\xbf", 3);
}

static void test_broken(void **state)
{
    static const char *const broken[] = {
        "Z", "Zg", "Zg=", "=", "Z===", "Zg=v", "Zm9v*", "-_-_", "Zg==Zg==", "Zg== "};

    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        auto_buf struct buf b = {0};

        if (base64_decode(broken[i], strlen(broken[i]), &b) != -EINVAL)
            fail_msg("'%s' was taken", broken[i]);
    }
}

static void test_nul(void **state)
{
    auto_buf struct buf b = {0};

    assert_int_equal(base64_decode("Zg\0=", 4, &b), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_nul),
    };

    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
