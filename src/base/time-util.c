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

void time_format_iso(int64_t wall_ns, char buf[static TIME_ISO_SIZE])
{
    time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
    int ms = (int)(wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC);
    struct tm tm;
    char stamp[48];

    if (!gmtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof(tm));
    (void)snprintf(stamp, sizeof(stamp), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
                   tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ms < 0 ? 0 : ms);
    memcpy(buf, stamp, TIME_ISO_SIZE - 1);
    buf[TIME_ISO_SIZE - 1] = '\0';
}
