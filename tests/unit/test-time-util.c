/* Clocks: rounding, the edges of what fits, and the printed form. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/time-util.h"

static void test_clocks_run(void **state)
{
    int64_t first = time_mono_ns();
    int64_t wall_s = time_wall_ns() / NSEC_PER_SEC;
    int64_t libc_s = (int64_t)time(NULL);

    assert_true(first > 0);
    assert_true(time_mono_ns() >= first);
    assert_true(wall_s >= libc_s - 1 && wall_s <= libc_s + 1);
}

static int64_t read_libc(clockid_t clock)
{
    struct timespec ts = {0};

    assert_int_equal(clock_gettime(clock, &ts), 0);
    return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Deadlines are on the clock that nobody sets. */
static void test_each_is_the_right_clock(void **state)
{
    int64_t mono = read_libc(CLOCK_MONOTONIC);
    int64_t wall = read_libc(CLOCK_REALTIME);

    assert_true(time_mono_ns() >= mono && time_mono_ns() <= read_libc(CLOCK_MONOTONIC));
    assert_true(time_wall_ns() >= wall && time_wall_ns() <= read_libc(CLOCK_REALTIME));
    assert_true(time_wall_ns() - time_mono_ns() > NSEC_PER_SEC); /* or nothing was told apart */
}

/* Rounded up: who polls for so long does not wake before the moment. */
static void test_left_is_rounded_up(void **state)
{
    int left = time_left_ms(time_mono_ns() + 10 * NSEC_PER_SEC + 1);

    assert_true(left <= 10001);
    assert_true(left > 5000); /* however slow the machine */
    assert_int_equal(time_left_ms(time_mono_ns() + 3600 * NSEC_PER_SEC) > 0, 1);
}

/* Waiting for what is left always reaches the moment, in one go. */
static void test_left_reaches_the_moment(void **state)
{
    for (int i = 0; i < 20; i++) {
        int64_t until_ns = time_mono_ns() + 100 * NSEC_PER_USEC + i;
        int left = time_left_ms(until_ns);
        struct timespec pause = {.tv_nsec = left * NSEC_PER_MSEC};

        (void)nanosleep(&pause, NULL);
        assert_true(time_mono_ns() >= until_ns);
        assert_int_equal(time_left_ms(until_ns), 0);
    }
}

static void test_left_is_bounded(void **state)
{
    assert_int_equal(time_left_ms(0), 0);
    assert_int_equal(time_left_ms(time_mono_ns()), 0);
    assert_int_equal(time_left_ms(INT64_MAX), INT_MAX);
}

static void test_add_saturates(void **state)
{
    assert_int_equal(time_add_ns(1, 2), 3);
    assert_true(time_add_ns(1, INT64_MAX) == INT64_MAX);
    assert_true(time_add_ns(INT64_MAX - 5, 5) == INT64_MAX);
    assert_true(time_add_ns(INT64_MAX - 5, 6) == INT64_MAX);
}

static const struct {
    int64_t wall_ns;
    const char *text;
} iso[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {999999, "1970-01-01T00:00:00.000Z"},
    {NSEC_PER_SEC - 1, "1970-01-01T00:00:00.999Z"},
    {1796020578777 * NSEC_PER_MSEC, "2026-11-30T06:36:18.777Z"},
    {951782400 * NSEC_PER_SEC, "2000-02-29T00:00:00.000Z"},
    {4102444799 * NSEC_PER_SEC + 5 * NSEC_PER_MSEC, "2099-12-31T23:59:59.005Z"},
};

static void test_iso_form(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(iso); i++) {
        char text[TIME_ISO_SIZE];

        time_format_iso(iso[i].wall_ns, text);
        assert_string_equal(text, iso[i].text);
    }
}

/* Each day that fits, compared with libc's calendar. */
static void test_iso_of_every_day(void **state)
{
    for (int64_t day = 0; day <= INT64_MAX / NSEC_PER_SEC / 86400; day++) {
        time_t seconds = (time_t)(day * 86400 + day % 86400);
        char text[TIME_ISO_SIZE], expected[64];
        struct tm tm;

        time_format_iso(seconds * NSEC_PER_SEC, text);
        assert_non_null(gmtime_r(&seconds, &tm));
        assert_int_equal(strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000Z", &tm),
                         TIME_ISO_SIZE - 1);
        assert_string_equal(text, expected);
    }
}

/* Times that no clock shows must still give a terminated string of the right length. */
static void test_iso_of_extremes(void **state)
{
    char text[TIME_ISO_SIZE];

    time_format_iso(INT64_MAX, text);
    assert_string_equal(text, "2262-04-11T23:47:16.854Z");
    time_format_iso(-1, text);
    assert_string_equal(text, iso[0].text);
    time_format_iso(INT64_MIN, text);
    assert_string_equal(text, iso[0].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_run),         cmocka_unit_test(test_each_is_the_right_clock),
        cmocka_unit_test(test_left_is_rounded_up), cmocka_unit_test(test_left_reaches_the_moment),
        cmocka_unit_test(test_left_is_bounded),    cmocka_unit_test(test_add_saturates),
        cmocka_unit_test(test_iso_form),           cmocka_unit_test(test_iso_of_every_day),
        cmocka_unit_test(test_iso_of_extremes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
