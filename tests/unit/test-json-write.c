/* Strings of any bytes become valid JSON: read back by a JSON library they are what they were, with
 * U+FFFD for what is not UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/json-write.h"
#include "base/macro.h"

static const struct {
    const char *bytes;
    const char *json;
} cases[] = {
    {"", "\"\""},
    {"plain text", "\"plain text\""},
    {"\"quoted\\\"", "\"\\\"quoted\\\\\\\"\""},
    {"a/b", "\"a/b\""},
    {"\x01\x1f\x7f\n\t\r\b", "\"\\u0001\\u001f\\u007f\\u000a\\u0009\\u000d\\u0008\""},
    {"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80\""},
    {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},                                 /* the last one */
    {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* beyond */
    {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 /* overlong */
    {"\xe0\x9f\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    {"\xf0\x8f\xbf\xbf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
    {"\xe4\xb8", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* cut short */
    {"\xe4\xb8x", "\"\xef\xbf\xbd\xef\xbf\xbdx\""},
    {"\xff\x80 ok", "\"\xef\xbf\xbd\xef\xbf\xbd ok\""},
    {NULL, "null"},
};

static void test_strings(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        auto_buf struct buf b = {0};

        json_write_string(&b, cases[i].bytes);
        assert_string_equal(b.data, cases[i].json);
    }
}

/* Whatever the bytes are, a strict reader takes it. */
static void test_all_pairs_of_bytes_are_valid(void **state)
{
    for (int first = 1; first < 256; first++) {
        auto_buf struct buf b = {0};
        json_t *read;

        buf_add_char(&b, '[');
        for (int second = 0; second < 256; second++) {
            char bytes[] = {(char)first, (char)second, '\0'};

            if (second)
                buf_add_str(&b, ", ");
            json_write_string(&b, bytes);
        }
        buf_add_char(&b, ']');
        read = json_loads(b.data, 0, NULL);
        assert_non_null(read);
        assert_int_equal(json_array_size(read), 256);
        json_decref(read);
    }
}

static void test_all_characters_come_back(void **state)
{
    static const uint32_t samples[] = {1,      0x7f,   0x80,   0x7ff,   0x800,   0xd7ff,
                                       0xe000, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff};

    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        uint32_t c = samples[i];
        char bytes[5] = "";
        auto_buf struct buf b = {0};
        json_t *read;

        if (c < 0x80) {
            bytes[0] = (char)c;
        } else if (c < 0x800) {
            bytes[0] = (char)(0xc0 | c >> 6);
            bytes[1] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            bytes[0] = (char)(0xe0 | c >> 12);
            bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
            bytes[2] = (char)(0x80 | (c & 0x3f));
        } else {
            bytes[0] = (char)(0xf0 | c >> 18);
            bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
            bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
            bytes[3] = (char)(0x80 | (c & 0x3f));
        }
        json_write_string(&b, bytes);
        read = json_loads(b.data, JSON_DECODE_ANY, NULL);
        assert_non_null(read);
        assert_string_equal(json_string_value(read), bytes);
        json_decref(read);
    }
}

static void test_vectors(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const some[] = {"a", "", "c d", NULL};
    auto_buf struct buf b = {0};

    json_write_strings(&b, NULL);
    json_write_strings(&b, none);
    json_write_strings(&b, some);
    assert_string_equal(b.data, "[][][\"a\", \"\", \"c d\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_all_pairs_of_bytes_are_valid),
        cmocka_unit_test(test_all_characters_come_back),
        cmocka_unit_test(test_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
