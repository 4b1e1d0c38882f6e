/*
 * Numbers, durations and sizes that people write. Pure functions: no locale, no floating point,
 * nothing allocated. Digits are ASCII decimal; blanks, a plus sign, hexadecimal and exponents are
 * refused.
 *
 * Each returns 0 and writes *ret, or -EINVAL (not such a thing) or -ERANGE (too large or too small)
 * and writes *reterr_reason, a static text that completes a sentence about the value:
 *
 *   rein: --timeout: '5x' is not a duration (use 10, 1.5s, 500ms, 5m, 1h)
 *                         ^ the reason
 */
#ifndef REIN_BASE_PARSE_UTIL_H
#define REIN_BASE_PARSE_UTIL_H

#include <stdint.h>

/* A whole number from min to max. */
int parse_int64(const char *s, int64_t min, int64_t max, int64_t *ret, const char **reterr_reason);
int parse_uint64(
    const char *s, uint64_t min, uint64_t max, uint64_t *ret, const char **reterr_reason);

/* DUR: seconds, or a number with ms, s, m, h or d; fractions allowed. Gives nanoseconds, exact;
 * what is finer than one is rounded up, so that only a zero gives 0. At most INT64_MAX, 292 years.
 */
int parse_duration(const char *s, int64_t *ret_ns, const char **reterr_reason);

/* SIZE: bytes, or a whole number with K, M, G or T (powers of 1024), which B or iB may follow;
 * upper or lower case. */
int parse_size(const char *s, uint64_t *ret_bytes, const char **reterr_reason);

#endif
