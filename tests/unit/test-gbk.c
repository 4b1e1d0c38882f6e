/* GBK: every pair against the system's iconv, and strictness. */
#include <iconv.h>

#include "test-text-common.h"
#include "text/gbk.h"

/* What iconv makes of the bytes; 0 when that is not one character. */
static uint32_t ask_iconv(iconv_t cd, const unsigned char *s, size_t len)
{
    char in[2];
    uint32_t out[2] = {0};
    char *in_at = in, *out_at = (char *)out;
    size_t in_left = len, out_left = sizeof(out);

    memcpy(in, s, len);
    (void)iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &in_at, &in_left, &out_at, &out_left) != 0 || in_left != 0 ||
        out_left != sizeof(out[0]))
        return 0;
    return out[0];
}

static void test_all_pairs_as_iconv(void **state)
{
    iconv_t cd = iconv_open("UCS-4LE", "GBK");
    unsigned known = 0;

    assert_true(cd != (iconv_t)-1);
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        unsigned char s[2] = {(unsigned char)(pair >> 8), (unsigned char)pair};
        uint32_t code = gbk_code(s[0], s[1]);

        if (code != (s[0] < 0x80 ? 0 : ask_iconv(cd, s, 2)))
            fail_msg("%02x %02x gives U+%04X", s[0], s[1], code);
        known += code != 0;
    }
    assert_true(known > 21000);
    assert_int_equal(iconv_close(cd), 0);
}

static void test_single_bytes_are_ascii_only(void **state)
{
    for (unsigned c = 0; c < 0x100; c++) {
        unsigned char s = (unsigned char)c;

        assert_int_equal(gbk_valid_prefix(&s, 1), c < 0x80);
    }
}

static void test_well_known(void **state)
{
    assert_int_equal(gbk_code(0xc4, 0xe3), 0x4f60); /* 你 */
    assert_int_equal(gbk_code(0xba, 0xc3), 0x597d); /* 好 */
    assert_int_equal(gbk_code(0xa1, 0xa1), 0x3000); /* ideographic space */
    assert_int_equal(gbk_code(0x81, 0x40), 0x4e02); /* the first of all, outside GB 2312 */
    assert_int_equal(gbk_code(0xc4, 0x7f), 0);
    assert_int_equal(gbk_code(0xff, 0xe3), 0);
    assert_int_equal(gbk_code(0x80, 0xe3), 0);
}

static void test_prefix(void **state)
{
    static const struct {
        const char *in;
        size_t valid;
    } cases[] = {
        {"plain\n", 6},          {"\xc4\xe3\xba\xc3\n", 5},
        {"a\xc4\xe3\xba", 3},    /* half a pair at the end */
        {"a\xc4\n", 1},          /* LF is no trail byte */
        {"\x81\x40\x81\x7e", 4}, /* trail bytes in ASCII */
        {"\xff\xc4\xe3", 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(gbk_valid_prefix(cases[i].in, strlen(cases[i].in)), cases[i].valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs_as_iconv),
        cmocka_unit_test(test_single_bytes_are_ascii_only),
        cmocka_unit_test(test_well_known),
        cmocka_unit_test(test_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
