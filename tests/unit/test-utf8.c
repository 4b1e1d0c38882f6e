/* UTF-8 against a second, slow reading of the standard, and its own examples. */
#include "test-text-common.h"

/* By the definition: take the bits apart, then look whether this is the one way to write them. */
static size_t reference_length(const unsigned char *s, size_t len)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

    if (n == 0 || n > len || s[0] >= 0xf8)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return n;
}

static size_t reference_prefix(const unsigned char *s, size_t len)
{
    size_t i = 0, n;

    while (i < len && (n = reference_length(s + i, len - i)) > 0)
        i += n;
    return i;
}

static void test_all_pairs(void **state)
{
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        unsigned char s[2] = {(unsigned char)(pair >> 8), (unsigned char)pair};

        assert_int_equal(utf8_valid_prefix(s, 2), reference_prefix(s, 2));
    }
}

/* All beginnings of three bytes that matter, with a fourth one that completes or spoils them. */
static void test_all_triples(void **state)
{
    static const unsigned char fourth[] = {'x', 0x7f, 0x80, 0xbf, 0xc0};

    for (unsigned n = 0xc00000; n < 0x1000000; n++) {
        unsigned char s[4] = {(unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n,
                              fourth[n % 5]};

        if (utf8_valid_prefix(s, 4) != reference_prefix(s, 4))
            fail_msg("%02x %02x %02x %02x", s[0], s[1], s[2], s[3]);
    }
}

static void test_all_code_points_there_and_back(void **state)
{
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char s[UTF8_LEN_MAX];
        size_t len;
        uint32_t again;

        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        len = utf8_put(code, s);
        if (utf8_valid_prefix(s, len) != len || utf8_get(s, &again) != len || again != code)
            fail_msg("U+%04X", code);
    }
}

/* Long texts take a faster way through ASCII: a broken byte must be found at any distance. */
static void test_broken_byte_at_any_place(void **state)
{
    char s[64];

    for (size_t at = 0; at < sizeof(s); at++)
        for (size_t begin = 0; begin <= at; begin++) {
            memset(s, 'a', sizeof(s));
            s[at] = '\xff';
            assert_int_equal(utf8_valid_prefix(s + begin, sizeof(s) - begin), at - begin);
            assert_int_equal(utf8_is_ascii(s + begin, sizeof(s) - begin), 0);
            assert_int_equal(utf8_is_ascii(s + begin, at - begin), 1);
        }
}

static void replace(const void *data, size_t len, struct buf *ret)
{
    const char *s = data;

    while (len > 0) {
        size_t n = utf8_valid_prefix(s, len);
        int cut_off;

        buf_add(ret, s, n);
        s += n;
        len -= n;
        if (len == 0)
            break;
        n = utf8_broken_prefix(s, len, &cut_off);
        buf_add_char(ret, '?');
        s += n;
        len -= n;
    }
}

/* The tables of the standard's chapter on U+FFFD substitution, and what follows from them. */
static void test_maximal_subparts(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", "????????A"},
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", "????????A"},
        {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", "?????A??B"},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "????A"},
        {"a\xe4\xbd", "a?"},
        {"\xf0\x9f\x98", "?"},
        {"\xf0\x9f\x98z", "?z"},
        {"\xf0\x9fz", "?z"},
        {"\xf8\x88\x80\x80\x80", "?????"},
        {"\xc3\xc3\xa9", "?\xc3\xa9"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        auto_buf struct buf out = {0};

        replace(cases[i].in, strlen(cases[i].in), &out);
        assert_string_equal(out.data, cases[i].out);
    }
}

static void test_cut_off_is_told_from_broken(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        int cut_off;
    } cases[] = {
        {"\xe4", 1, 1},         {"\xe4\xbd", 2, 1}, {"\xe4\xbdx", 2, 0}, {"\xf0\x9f\x98", 3, 1},
        {"\xf4\x8f\xbf", 3, 1}, {"\xe0\x9f", 1, 0}, {"\xed\xa0", 1, 0},  {"\xf4\x90", 1, 0},
        {"\xc1", 1, 0},         {"\xf5", 1, 0},     {"\x80", 1, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int cut_off = -1;

        assert_int_equal(utf8_broken_prefix(cases[i].in, strlen(cases[i].in), &cut_off),
                         cases[i].len);
        assert_int_equal(cut_off, cases[i].cut_off);
    }
}

static void test_positions(void **state)
{
    static const char s[] = "a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80z"; /* at 0, 1, 3, 6, 10 */
    static const size_t at[] = {0, 1, 3, 6, 10, 11};
    size_t len = strlen(s);

    assert_int_equal(utf8_count(s, len), 5);
    for (size_t n = 0; n <= 6; n++) {
        assert_int_equal(utf8_skip(s, len, n), at[MIN(n, (size_t)5)]);
        assert_int_equal(utf8_skip_back(s, len, n), at[5 - MIN(n, (size_t)5)]);
    }
    for (size_t pos = 0; pos <= len; pos++) {
        size_t boundary = utf8_boundary(s, len, pos);

        assert_true(boundary <= pos && pos - boundary < 4);
        assert_true(boundary == len || !utf8_is_continuation(s[boundary]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_all_triples),
        cmocka_unit_test(test_all_code_points_there_and_back),
        cmocka_unit_test(test_broken_byte_at_any_place),
        cmocka_unit_test(test_maximal_subparts),
        cmocka_unit_test(test_cut_off_is_told_from_broken),
        cmocka_unit_test(test_positions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
