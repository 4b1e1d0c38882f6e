/* For the targets about text: a text from bytes fed in pieces, and what always holds for it. */
#ifndef REIN_TESTS_FUZZ_TEXT_H
#define REIN_TESTS_FUZZ_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "text/text.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

/* A number below max, taken from the end of the data. */
static inline size_t take_number(const uint8_t *data, size_t *size, size_t max)
{
    size_t n = 0;

    for (int i = 0; i < 2 && *size > 0; i++)
        n = n << 8 | data[--*size];
    return n % max;
}

/* Feeds pieces of that size; 0: all at once. Where gap_at lies within the data, bytes are missing.
 */
static inline void
feed_text(text *t, const uint8_t *data, size_t size, size_t piece, size_t gap_at, uint64_t gap)
{
    for (size_t i = 0, n; i < size; i += n) {
        n = piece ? MIN(piece, size - i) : size - i;
        if (i < gap_at && gap_at - i < n)
            n = gap_at - i;
        if (i == gap_at)
            text_gap(t, gap);
        text_feed(t, data + i, n);
    }
}

static inline struct text_result finish_text(text *t, const char *path)
{
    struct text_result r;
    int would_omit = text_would_omit(t);

    require(text_finish(t, path, &r) == 0);
    require(utf8_valid_prefix(r.text, r.len) == r.len);
    require(r.text[r.len] == '\0');
    require(would_omit == (r.omitted_bytes > 0));
    require((r.omitted_at >= 0) == (r.omitted_bytes > 0));
    (void)text_free(t);
    return r;
}

static inline void require_same(const struct text_result *a, const struct text_result *b)
{
    require(a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
    require(a->omitted_bytes == b->omitted_bytes && a->omitted_at == b->omitted_at);
    require(a->cursor == b->cursor);
    require(strcmp(a->encoding, b->encoding) == 0);
}

#endif
