/* Numbers, durations and sizes that people write. */
#include "parse-util.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "macro.h"

#define NOT_A_NUMBER "is not a whole number"
#define NUMBER_OUT_OF_RANGE "is out of range"
#define NOT_A_DURATION "is not a duration (use 10, 1.5s, 500ms, 5m, 1h)"
#define DURATION_TOO_LONG "is too long a duration (at most 292 years)"
#define NOT_A_SIZE "is not a size (use 4096, 64K, 1M, 2G)"
#define SIZE_TOO_LARGE "is too large a size (at most 16777215T)"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit duration_units[] = {
    {.name = "", .factor = NSEC_PER_SEC},         {.name = "ms", .factor = NSEC_PER_MSEC},
    {.name = "s", .factor = NSEC_PER_SEC},        {.name = "m", .factor = 60 * NSEC_PER_SEC},
    {.name = "h", .factor = 3600 * NSEC_PER_SEC}, {.name = "d", .factor = 86400 * NSEC_PER_SEC},
};

static const struct unit size_units[] = {
    {.name = "", .factor = 1},    {.name = "K", .factor = KIB},        {.name = "M", .factor = MIB},
    {.name = "G", .factor = GIB}, {.name = "T", .factor = 1024 * GIB},
};

static int fail(const char **reterr_reason, int err, const char *reason)
{
    if (reterr_reason)
        *reterr_reason = reason;
    return err;
}

/* Unlike isdigit() the same in every locale, and without a trap for negative chars. */
static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(const char *s)
{
    size_t n = 0;

    while (is_digit(s[n]))
        n++;
    return n;
}

/* Reads n digits. False when the number does not fit. */
static int read_digits(const char *s, size_t n, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(s[i] - '0');

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return 0;
    }
    *ret = value;
    return 1;
}

int parse_uint64(
    const char *s, uint64_t min, uint64_t max, uint64_t *ret, const char **reterr_reason)
{
    size_t n;
    uint64_t value;

    assert(s);
    assert(ret);

    n = count_digits(s);
    if (n == 0 || s[n] != '\0')
        return fail(reterr_reason, -EINVAL, NOT_A_NUMBER);
    if (!read_digits(s, n, &value) || value < min || value > max)
        return fail(reterr_reason, -ERANGE, NUMBER_OUT_OF_RANGE);
    *ret = value;
    return 0;
}

int parse_int64(const char *s, int64_t min, int64_t max, int64_t *ret, const char **reterr_reason)
{
    int negative;
    uint64_t magnitude;
    int64_t value;
    int r;

    assert(s);
    assert(ret);

    negative = s[0] == '-';
    r = parse_uint64(s + negative, 0, (uint64_t)INT64_MAX + (uint64_t)negative, &magnitude,
                     reterr_reason);
    if (r < 0)
        return r;
    if (magnitude > (uint64_t)INT64_MAX)
        value = INT64_MIN; /* its magnitude has no positive counterpart to negate */
    else
        value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    if (value < min || value > max)
        return fail(reterr_reason, -ERANGE, NUMBER_OUT_OF_RANGE);
    *ret = value;
    return 0;
}

/* The part of a unit that n digits after the decimal point stand for, rounded up. It goes from the
 * last digit to the first, so nothing can overflow and no number of digits loses exactness: a
 * rounding up of a rounding up, divided by a whole number, is that of the exact value. */
static uint64_t fraction_of(const char *digits, size_t n, uint64_t unit)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = (value + (uint64_t)(digits[n] - '0') * unit + 9) / 10;
    return value;
}

static const struct unit *find_duration_unit(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(duration_units); i++)
        if (strcmp(name, duration_units[i].name) == 0)
            return &duration_units[i];
    return NULL;
}

int parse_duration(const char *s, int64_t *ret_ns, const char **reterr_reason)
{
    const struct unit *unit;
    const char *p, *fraction = "";
    size_t n_whole, n_fraction = 0;
    uint64_t value;

    assert(s);
    assert(ret_ns);

    n_whole = count_digits(s);
    p = s + n_whole;
    if (*p == '.') {
        fraction = p + 1;
        n_fraction = count_digits(fraction);
        if (n_fraction == 0)
            return fail(reterr_reason, -EINVAL, NOT_A_DURATION);
        p = fraction + n_fraction;
    }
    unit = find_duration_unit(p);
    if (!unit || n_whole + n_fraction == 0)
        return fail(reterr_reason, -EINVAL, NOT_A_DURATION);
    if (!read_digits(s, n_whole, &value) || __builtin_mul_overflow(value, unit->factor, &value) ||
        __builtin_add_overflow(value, fraction_of(fraction, n_fraction, unit->factor), &value) ||
        value > (uint64_t)INT64_MAX)
        return fail(reterr_reason, -ERANGE, DURATION_TOO_LONG);
    *ret_ns = (int64_t)value;
    return 0;
}

/* strcasecmp() obeys the locale; these few letters must not. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* True when s is the unit's letter, alone or with B or iB. Plain bytes may have B. */
static int is_size_unit(const char *s, const struct unit *unit)
{
    if (unit->name[0] != '\0') {
        if (lower(*s) != lower(unit->name[0]))
            return 0;
        s++;
        if (lower(s[0]) == 'i' && lower(s[1]) == 'b')
            s++;
    }
    if (lower(*s) == 'b')
        s++;
    return *s == '\0';
}

static const struct unit *find_size_unit(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(size_units); i++)
        if (is_size_unit(name, &size_units[i]))
            return &size_units[i];
    return NULL;
}

int parse_size(const char *s, uint64_t *ret_bytes, const char **reterr_reason)
{
    const struct unit *unit;
    size_t n;
    uint64_t value;

    assert(s);
    assert(ret_bytes);

    n = count_digits(s);
    unit = find_size_unit(s + n);
    if (n == 0 || !unit)
        return fail(reterr_reason, -EINVAL, NOT_A_SIZE);
    if (!read_digits(s, n, &value) || __builtin_mul_overflow(value, unit->factor, &value))
        return fail(reterr_reason, -ERANGE, SIZE_TOO_LARGE);
    *ret_bytes = value;
    return 0;
}
