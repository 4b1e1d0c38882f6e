/*
 * For a stored text: which input bytes each character was made from, as runs with constant steps
 * (see span.h). Ordinary text is a single run whatever its length. Errors are kept like those of
 * struct buf: the owner checks once.
 */
#ifndef REIN_TEXT_MAP_H
#define REIN_TEXT_MAP_H

#include "span.h"

struct map_run {
    size_t pos; /* where in the text it begins */
    size_t text_step;
    uint64_t src;
    uint64_t src_step;
};

struct map {
    struct map_run *runs;
    size_t n;
    size_t allocated;
    int error; /* -ENOMEM: the runs are incomplete */
};

void map_done(struct map *m);
void map_clear(struct map *m); /* keeps the memory */

/* Notes that the text of s stands at pos, which is the end of what was noted before. */
void map_add(struct map *m, size_t pos, const struct span *s);

/* Appends another map, whose text was appended at pos. */
void map_append(struct map *m, size_t pos, const struct map *other);

/* The input offset where the character at pos begins. The map must reach beyond pos. */
uint64_t map_begin(const struct map *m, size_t pos);

/* The input offset after the character that ends at pos, which is not 0 nor beyond the map. */
uint64_t map_end(const struct map *m, size_t pos);

/* Forgets the text before pos, a character boundary: pos becomes 0. */
void map_drop(struct map *m, size_t pos);

/* Run i of a text of len bytes as a span. */
struct span map_span(const struct map *m, size_t i, const char *text, size_t len);

#endif
