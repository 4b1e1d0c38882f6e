/* Edit distance over short names. */
#include "suggest.h"

#include <string.h>

#include "macro.h"

#define SUGGEST_NAME_MAX 32 /* longer words are no misspelling of a name of ours */

/* Least number of letters inserted, removed, replaced or swapped with the next one. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][SUGGEST_NAME_MAX + 1] = {{0}};
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *oldest = before;

        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);

            now[j] = MIN(MIN(last[j], now[j - 1]) + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = MIN(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_len];
}

void suggest_consider(struct suggestion *s, const char *candidate)
{
    size_t len = candidate ? strlen(candidate) : 0;
    size_t distance;

    if (len == 0 || len > SUGGEST_NAME_MAX || s->typed_len > SUGGEST_NAME_MAX)
        return;
    distance = edit_distance(s->typed, s->typed_len, candidate, len);
    /* one mistake in three letters, two in six: more would be guessing */
    if (distance > MIN((size_t)2, len / 3) || (s->best && distance >= s->distance))
        return;
    s->best = candidate;
    s->distance = distance;
}
