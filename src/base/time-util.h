/*
 * Clocks. Everything that measures or limits uses the monotonic clock; the wall clock only names a
 * moment for people. Times are nanoseconds in int64_t, which reach 292 years.
 */
#ifndef REIN_BASE_TIME_UTIL_H
#define REIN_BASE_TIME_UTIL_H

#include <stdint.h>

#include "macro.h"

int64_t time_mono_ns(void);
int64_t time_wall_ns(void);

/* Milliseconds until a monotonic moment, rounded up, 0 when it has passed; fits poll(). */
int time_left_ms(int64_t until_ns);

/* now + duration, INT64_MAX instead of an overflow. */
int64_t time_add_ns(int64_t now_ns, int64_t duration_ns);

#define TIME_ISO_SIZE sizeof("2026-11-30T06:36:18.777Z")

/* Writes a wall clock time as ISO 8601, UTC, milliseconds. */
void time_format_iso(int64_t wall_ns, char buf[static TIME_ISO_SIZE]);

#endif
