/* Numbers, durations and sizes: every form that is taken, every kind that is refused, the edges. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/parse-util.h"

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aLL

static void check_reason(int r, const char *s, const char *reason)
{
    if (r == 0) {
        assert_null(reason);
        return;
    }
    if (!reason)
        fail_msg("'%s': no reason given", s);
    assert_true(strncmp(reason, "is ", 3) == 0);
}

static const struct {
    const char *s;
    int64_t ns;
} durations[] = {
    {"0", 0},
    {"0s", 0},
    {"0.000", 0},
    {"0ms", 0},
    {"10", 10 * NSEC_PER_SEC},
    {"007", 7 * NSEC_PER_SEC},
    {"1.5s", 1500 * NSEC_PER_MSEC},
    {"1.5", 1500 * NSEC_PER_MSEC},
    {".5", 500 * NSEC_PER_MSEC},
    {".5ms", 500000},
    {"500ms", 500 * NSEC_PER_MSEC},
    {"1.25ms", 1250000},
    {"5m", 300 * NSEC_PER_SEC},
    {"1h", 3600 * NSEC_PER_SEC},
    {"2d", 172800 * NSEC_PER_SEC},
    {"0.1s", 100 * NSEC_PER_MSEC},
    {"0.3s", 300 * NSEC_PER_MSEC}, /* no binary fraction is exact here */
    {"0.123456789", 123456789},
    {"1.000000001", 1000000001},
    {"0.1h", 360 * NSEC_PER_SEC},
    {"0.7m", 42 * NSEC_PER_SEC},
    {"0.1d", 8640 * NSEC_PER_SEC},
    {"0.0000000001", 1},                           /* never becomes 0, which means none */
    {"0.0000000000000000000000000000000001ms", 1}, /* whatever the number of digits */
    {"0.0000000010000000000000000000000001", 2},
    {"0.00000000100000000000000000000000000", 1},
    {"0.99999999999999999999999", NSEC_PER_SEC},
    {"00000000000000000000000000000000000001", NSEC_PER_SEC},
    {"9223372036.854775807", INT64_MAX},
    {"9223372036s", 9223372036LL * NSEC_PER_SEC},
    {"9223372036854.775807ms", INT64_MAX},
    {"2562047h", 2562047LL * 3600 * NSEC_PER_SEC},
    {"106751d", 106751LL * 86400 * NSEC_PER_SEC},
};

static const struct {
    const char *s;
    int r;
} bad_durations[] = {
    {"", -EINVAL},
    {" ", -EINVAL},
    {" 1", -EINVAL},
    {"1 ", -EINVAL},
    {"1 s", -EINVAL},
    {"1s ", -EINVAL},
    {"1\n", -EINVAL},
    {"-1", -EINVAL},
    {"-0", -EINVAL},
    {"+1", -EINVAL},
    {".", -EINVAL},
    {"5.", -EINVAL},
    {"5.s", -EINVAL},
    {".s", -EINVAL},
    {"1.5.5", -EINVAL},
    {"1..5", -EINVAL},
    {"1,5", -EINVAL},
    {"1.-5", -EINVAL},
    {"s", -EINVAL},
    {"ms", -EINVAL},
    {"5x", -EINVAL},
    {"5sec", -EINVAL},
    {"5min", -EINVAL},
    {"5S", -EINVAL},
    {"5M", -EINVAL},
    {"5mS", -EINVAL},
    {"5us", -EINVAL},
    {"5ns", -EINVAL},
    {"5w", -EINVAL},
    {"5ss", -EINVAL},
    {"1m30s", -EINVAL},
    {"1:30", -EINVAL},
    {"0x10", -EINVAL},
    {"1e3", -EINVAL},
    {"1E3", -EINVAL},
    {"nan", -EINVAL},
    {"NaN", -EINVAL},
    {"inf", -EINVAL},
    {"infinity", -EINVAL},
    {"\xd9\xa1", -EINVAL}, /* a digit, but not an ASCII one */
    {"\xff", -EINVAL},
    {"1\xff", -EINVAL},
    {"9223372036.854775808", -ERANGE},
    {"9223372036.8547758070000001", -ERANGE},
    {"9223372037", -ERANGE},
    {"18446744073", -ERANGE},
    {"18446744074", -ERANGE},
    {"2562048h", -ERANGE},
    {"106752d", -ERANGE},
    {"18446744073709551615", -ERANGE},
    {"18446744073709551616", -ERANGE},
    {"99999999999999999999999999999999999999ms", -ERANGE},
    {"999999999999999999999999.5", -ERANGE},
};

static void test_durations(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
        int64_t ns = UNTOUCHED;
        const char *reason = NULL;
        int r = parse_duration(durations[i].s, &ns, &reason);

        if (r != 0 || ns != durations[i].ns)
            fail_msg("'%s': %d, %" PRId64, durations[i].s, r, ns);
        check_reason(r, durations[i].s, reason);
    }
}

static void test_bad_durations(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(bad_durations); i++) {
        int64_t ns = UNTOUCHED;
        const char *reason = NULL;
        int r = parse_duration(bad_durations[i].s, &ns, &reason);

        if (r != bad_durations[i].r || ns != UNTOUCHED)
            fail_msg("'%s': %d, %" PRId64, bad_durations[i].s, r, ns);
        check_reason(r, bad_durations[i].s, reason);
    }
}

static const struct {
    const char *s;
    uint64_t bytes;
} sizes[] = {
    {"0", 0},
    {"0G", 0},
    {"1", 1},
    {"4096", 4096},
    {"4096B", 4096},
    {"4096b", 4096},
    {"0010", 10},
    {"64K", 64 * KIB},
    {"64k", 64 * KIB},
    {"64KB", 64 * KIB},
    {"64kb", 64 * KIB},
    {"64KiB", 64 * KIB},
    {"64kib", 64 * KIB},
    {"1M", MIB},
    {"1m", MIB},
    {"1MiB", MIB},
    {"2G", 2 * GIB},
    {"2g", 2 * GIB},
    {"3T", 3 * 1024 * GIB},
    {"3t", 3 * 1024 * GIB},
    {"18446744073709551615", UINT64_MAX},
    {"18014398509481983K", UINT64_MAX - 1023},
    {"17179869183G", UINT64_MAX - GIB + 1},
    {"16777215T", UINT64_MAX - 1024 * GIB + 1},
};

static const struct {
    const char *s;
    int r;
} bad_sizes[] = {
    {"", -EINVAL},
    {" 1", -EINVAL},
    {"1 ", -EINVAL},
    {"1 K", -EINVAL},
    {"-1", -EINVAL},
    {"+1", -EINVAL},
    {"K", -EINVAL},
    {"B", -EINVAL},
    {"1.5M", -EINVAL},
    {"1.0", -EINVAL},
    {".5K", -EINVAL},
    {"1,5", -EINVAL},
    {"1P", -EINVAL},
    {"1E", -EINVAL},
    {"1e3", -EINVAL},
    {"1Ki", -EINVAL},
    {"1iB", -EINVAL},
    {"1BB", -EINVAL},
    {"1KBB", -EINVAL},
    {"1KK", -EINVAL},
    {"1KiBi", -EINVAL},
    {"1MK", -EINVAL},
    {"1K1", -EINVAL},
    {"0x10", -EINVAL},
    {"inf", -EINVAL},
    {"1\xc4\xb0", -EINVAL},
    {"1\xff", -EINVAL},
    {"18446744073709551616", -ERANGE},
    {"18014398509481984K", -ERANGE},
    {"17179869184G", -ERANGE},
    {"16777216T", -ERANGE},
    {"99999999999999999999999999999999T", -ERANGE},
};

static void test_sizes(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        uint64_t bytes = UNTOUCHED;
        const char *reason = NULL;
        int r = parse_size(sizes[i].s, &bytes, &reason);

        if (r != 0 || bytes != sizes[i].bytes)
            fail_msg("'%s': %d, %" PRIu64, sizes[i].s, r, bytes);
        check_reason(r, sizes[i].s, reason);
    }
}

static void test_bad_sizes(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(bad_sizes); i++) {
        uint64_t bytes = UNTOUCHED;
        const char *reason = NULL;
        int r = parse_size(bad_sizes[i].s, &bytes, &reason);

        if (r != bad_sizes[i].r || bytes != UNTOUCHED)
            fail_msg("'%s': %d, %" PRIu64, bad_sizes[i].s, r, bytes);
        check_reason(r, bad_sizes[i].s, reason);
    }
}

static const struct {
    const char *s;
    int64_t min, max, value;
    int r;
} signed_numbers[] = {
    {"0", INT64_MIN, INT64_MAX, 0, 0},
    {"-0", 0, 10, 0, 0},
    {"-1", -1, 10, -1, 0},
    {"10", -1, 10, 10, 0},
    {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, 0},
    {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, 0},
    {"-9223372036854775807", INT64_MIN, INT64_MAX, -INT64_MAX, 0},
    {"9223372036854775808", INT64_MIN, INT64_MAX, 0, -ERANGE},
    {"-9223372036854775809", INT64_MIN, INT64_MAX, 0, -ERANGE},
    {"99999999999999999999", INT64_MIN, INT64_MAX, 0, -ERANGE},
    {"-2", -1, 10, 0, -ERANGE},
    {"11", -1, 10, 0, -ERANGE},
    {"", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"-", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"--1", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"+1", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"- 1", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {" 1", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"1 ", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"1.0", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"1e2", INT64_MIN, INT64_MAX, 0, -EINVAL},
    {"0x1", INT64_MIN, INT64_MAX, 0, -EINVAL},
};

static void test_signed_numbers(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(signed_numbers); i++) {
        int64_t value = UNTOUCHED;
        int64_t expected = signed_numbers[i].r ? UNTOUCHED : signed_numbers[i].value;
        const char *reason = NULL;
        int r = parse_int64(signed_numbers[i].s, signed_numbers[i].min, signed_numbers[i].max,
                            &value, &reason);

        if (r != signed_numbers[i].r || value != expected)
            fail_msg("'%s': %d, %" PRId64, signed_numbers[i].s, r, value);
        check_reason(r, signed_numbers[i].s, reason);
    }
}

static const struct {
    const char *s;
    uint64_t min, max, value;
    int r;
} unsigned_numbers[] = {
    {"0", 0, UINT64_MAX, 0, 0},
    {"3", 3, 3, 3, 0},
    {"1023", 3, 1023, 1023, 0},
    {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX, 0},
    {"18446744073709551616", 0, UINT64_MAX, 0, -ERANGE},
    {"18446744073709551620", 0, UINT64_MAX, 0, -ERANGE},
    {"184467440737095516150", 0, UINT64_MAX, 0, -ERANGE},
    {"2", 3, 1023, 0, -ERANGE},
    {"1024", 3, 1023, 0, -ERANGE},
    {"", 0, UINT64_MAX, 0, -EINVAL},
    {"-1", 0, UINT64_MAX, 0, -EINVAL},
    {"-0", 0, UINT64_MAX, 0, -EINVAL},
    {"+1", 0, UINT64_MAX, 0, -EINVAL},
    {"1a", 0, UINT64_MAX, 0, -EINVAL},
    {"a1", 0, UINT64_MAX, 0, -EINVAL},
};

static void test_unsigned_numbers(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(unsigned_numbers); i++) {
        uint64_t value = UNTOUCHED;
        uint64_t expected = unsigned_numbers[i].r ? UNTOUCHED : unsigned_numbers[i].value;
        const char *reason = NULL;
        int r = parse_uint64(unsigned_numbers[i].s, unsigned_numbers[i].min,
                             unsigned_numbers[i].max, &value, &reason);

        if (r != unsigned_numbers[i].r || value != expected)
            fail_msg("'%s': %d, %" PRIu64, unsigned_numbers[i].s, r, value);
        check_reason(r, unsigned_numbers[i].s, reason);
    }
}

static void test_reason_may_be_left_out(void **state)
{
    int64_t ns = UNTOUCHED;
    uint64_t bytes = UNTOUCHED;

    assert_int_equal(parse_duration("5x", &ns, NULL), -EINVAL);
    assert_int_equal(parse_size("5x", &bytes, NULL), -EINVAL);
    assert_int_equal(parse_int64("5x", 0, 9, &ns, NULL), -EINVAL);
    assert_int_equal(parse_uint64("50", 0, 9, &bytes, NULL), -ERANGE);
}

static void test_reasons_complete_the_sentence(void **state)
{
    int64_t ns;
    uint64_t bytes;
    const char *reason = NULL;

    assert_int_equal(parse_duration("5x", &ns, &reason), -EINVAL);
    assert_string_equal(reason, "is not a duration (use 10, 1.5s, 500ms, 5m, 1h)");
    assert_int_equal(parse_duration("293000d", &ns, &reason), -ERANGE);
    assert_string_equal(reason, "is too long a duration (at most 292 years)");
    assert_int_equal(parse_size("1.5M", &bytes, &reason), -EINVAL);
    assert_string_equal(reason, "is not a size (use 4096, 64K, 1M, 2G)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_bad_durations),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_signed_numbers),
        cmocka_unit_test(test_unsigned_numbers),
        cmocka_unit_test(test_reason_may_be_left_out),
        cmocka_unit_test(test_reasons_complete_the_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
