/*
 * Numbers, durations and sizes from arbitrary bytes: no crash, no undefined behaviour, and what is
 * accepted has the properties that callers count on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse-util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_failure(int r, const char *reason)
{
    if (r == 0)
        require(reason == NULL);
    else
        require((r == -EINVAL || r == -ERANGE) && reason != NULL);
}

static int has_nonzero_digit(const char *s)
{
    return strpbrk(s, "123456789") != NULL;
}

static void check_duration(const char *s)
{
    const char *reason = NULL;
    int64_t ns = -1;
    int r = parse_duration(s, &ns, &reason);

    check_failure(r, reason);
    if (r == 0)
        require(ns >= 0 && (ns > 0) == has_nonzero_digit(s));
}

static void check_size(const char *s)
{
    const char *reason = NULL;
    uint64_t bytes = 0;
    int r = parse_size(s, &bytes, &reason);

    check_failure(r, reason);
    if (r == 0)
        require((bytes > 0) == has_nonzero_digit(s));
}

/* An accepted number, printed, is the same number again. */
static void check_numbers(const char *s)
{
    const char *reason = NULL;
    char text[32];
    int64_t value, again;
    uint64_t uvalue, uagain;
    int r = parse_int64(s, INT64_MIN, INT64_MAX, &value, &reason);

    check_failure(r, reason);
    if (r == 0) {
        (void)snprintf(text, sizeof(text), "%" PRId64, value);
        require(parse_int64(text, value, value, &again, NULL) == 0 && again == value);
    }
    reason = NULL;
    r = parse_uint64(s, 0, UINT64_MAX, &uvalue, &reason);
    check_failure(r, reason);
    if (r == 0) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, uvalue);
        require(parse_uint64(text, uvalue, uvalue, &uagain, NULL) == 0 && uagain == uvalue);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *s = malloc(size + 1);

    if (!s)
        return 0;
    if (size)
        memcpy(s, data, size);
    s[size] = '\0';
    check_duration(s);
    check_size(s);
    check_numbers(s);
    free(s);
    return 0;
}
