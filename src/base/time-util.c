/* Clocks. The two reading functions are the only ones that ask the system for the time. */
#include "time-util.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec ts = {0};

    (void)clock_gettime(clock, &ts); /* cannot fail for these two clocks */
    return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

int64_t time_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t time_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

int time_left_ms(int64_t until_ns)
{
    int64_t left = until_ns - time_mono_ns();

    if (left <= 0)
        return 0;
    left = (left - 1) / NSEC_PER_MSEC + 1;
    return left > INT_MAX ? INT_MAX : (int)left;
}

int64_t time_add_ns(int64_t now_ns, int64_t duration_ns)
{
    int64_t sum;

    return __builtin_add_overflow(now_ns, duration_ns, &sum) ? INT64_MAX : sum;
}

/* Date of a day since 1970-01-01. Counts in years that begin in March, so that the leap day is the
 * last of its year, and in eras of 400 years, which all have the same days. libc's way reads the
 * time zone, which UTC does not need. */
static void civil_date(int64_t day, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t shifted = day + 719468; /* from 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* from March */

    *ret_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year + era * 400 + (*ret_month <= 2));
}

void time_format_iso(int64_t wall_ns, char buf[static TIME_ISO_SIZE])
{
    int64_t ms = (wall_ns < 0 ? 0 : wall_ns) / NSEC_PER_MSEC;
    int64_t second = ms / 1000 % 86400;
    int year, month, day;
    char stamp[64];

    civil_date(ms / 1000 / 86400, &year, &month, &day);
    (void)snprintf(stamp, sizeof(stamp), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
                   (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
                   (int)(ms % 1000));
    memcpy(buf, stamp, TIME_ISO_SIZE - 1);
    buf[TIME_ISO_SIZE - 1] = '\0';
}
