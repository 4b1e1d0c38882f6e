/*
 * Regular expressions of callers: PCRE2, UTF-8, with bounds on time and memory. It knows patterns
 * and texts, not where they come from.
 */
#ifndef REIN_TOOLS_REGEX_H
#define REIN_TOOLS_REGEX_H

#include <stddef.h>

#include "rein.h"

#define REGEX_PATTERN_MAX 4096 /* bytes */

struct regex;

/* "bad_request" with a message that says what is wrong where. */
int regex_new(const char *pattern, struct regex **ret, struct rein_error **reterr);
struct regex *regex_free(struct regex *re); /* NULL is fine; always returns NULL */

/* Is there a match in a line of valid UTF-8, given without its end? 1 or 0; "limit_exceeded" when
 * the expression needs too many steps for it. */
int regex_matches(const struct regex *re, const char *text, size_t len, struct rein_error **reterr);

#endif
