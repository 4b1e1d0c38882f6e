/* "Did you mean …?": the name among a few that a mistyped one is nearest to. */
#ifndef REIN_BASE_SUGGEST_H
#define REIN_BASE_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *typed;
    size_t typed_len;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
};

/* Compares one candidate; keeps the nearest so far in *s. NULL is passed over. */
void suggest_consider(struct suggestion *s, const char *candidate);

#endif
