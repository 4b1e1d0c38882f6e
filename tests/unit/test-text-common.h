/* For the tests of src/text: bytes in, text out, whole or in random pieces. */
#ifndef REIN_TESTS_TEST_TEXT_COMMON_H
#define REIN_TESTS_TEST_TEXT_COMMON_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/macro.h"
#include "text/text.h"
#include "text/utf8.h"

/* The same numbers each time, so that a failure can be repeated. */
static inline uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Up to but without max, which is not 0. */
static inline size_t random_below(uint32_t *state, size_t max)
{
    return next_random(state) % max;
}

/* Feeds a copy of exactly len bytes, so that reading beyond them is noticed. */
static inline void feed_copy(text *t, const void *data, size_t len)
{
    void *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    if (len)
        memcpy(copy, data, len);
    text_feed(t, copy, len);
    free(copy);
}

/* Pieces of 1 to piece_max bytes; 0: all at once. */
static inline void
feed_pieces(text *t, const void *data, size_t len, size_t piece_max, uint32_t seed)
{
    const char *s = data;

    while (len > 0) {
        size_t n = piece_max ? 1 + random_below(&seed, piece_max) : len;

        n = MIN(n, len);
        feed_copy(t, s, n);
        s += n;
        len -= n;
    }
}

static inline text *new_text(const struct text_options *o)
{
    text *t = NULL;

    assert_int_equal(text_new(o, 0, &t), 0);
    return t;
}

static inline struct text_result finish_text(text *t, const char *path)
{
    struct text_result r;
    int would_omit = text_would_omit(t);

    assert_int_equal(text_finish(t, path, &r), 0);
    assert_int_equal(r.text[r.len], '\0');
    assert_int_equal(utf8_valid_prefix(r.text, r.len), r.len);
    assert_int_equal(would_omit, r.omitted_bytes > 0);
    assert_int_equal(r.omitted_at >= 0, r.omitted_bytes > 0);
    text_free(t);
    return r;
}

static inline struct text_result show_pieces(
    const struct text_options *o, const void *data, size_t len, size_t piece_max, uint32_t seed)
{
    text *t = new_text(o);

    feed_pieces(t, data, len, piece_max, seed);
    return finish_text(t, "/s/output.log");
}

static inline void assert_same_result(const struct text_result *a, const struct text_result *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->text, b->text, a->len);
    assert_int_equal(a->omitted_bytes, b->omitted_bytes);
    assert_int_equal(a->omitted_at, b->omitted_at);
    assert_int_equal(a->cursor, b->cursor);
    assert_string_equal(a->encoding, b->encoding);
}

/* All at once, byte by byte and in random pieces must be the same. */
static inline struct text_result show(const struct text_options *o, const void *data, size_t len)
{
    struct text_result whole = show_pieces(o, data, len, 0, 0);
    size_t piece_max[] = {1, 2, 7, 100, 5000};

    for (size_t i = 0; i < ARRAY_SIZE(piece_max); i++) {
        struct text_result r = show_pieces(o, data, len, piece_max[i], (uint32_t)(i + len + 1));

        assert_same_result(&r, &whole);
        text_result_done(&r);
    }
    return whole;
}

static inline void assert_text(const struct text_result *r, const void *expected, size_t len)
{
    if (r->len != len || memcmp(r->text, expected, len) != 0)
        fail_msg("got \"%.*s\", expected \"%.*s\"", (int)MIN(r->len, (size_t)2000), r->text,
                 (int)MIN(len, (size_t)2000), (const char *)expected);
}

/* Everything is shown, as that. */
static inline void assert_shown(int render, const void *in, size_t in_len, const char *expected)
{
    struct text_result r = show(&(struct text_options){.render = render}, in, in_len);

    assert_text(&r, expected, strlen(expected));
    assert_int_equal(r.omitted_bytes, 0);
    assert_int_equal(r.cursor, in_len);
    text_result_done(&r);
}

static inline void assert_clean(const char *in, const char *expected)
{
    assert_shown(TEXT_CLEAN, in, strlen(in), expected);
}

#endif
