/*
 * A span is a piece of decoded text (valid UTF-8, whole characters) that knows which bytes of the
 * input it was made from. Decoder, renderer and limiter hand spans on; nothing of them is kept
 * after the call.
 *
 * Where a span came from is `src`, the offset of its first byte, and two steps: each text_step
 * bytes of text stand for src_step bytes of input. UTF-8 that was taken over is 1 and 1; a run of
 * GBK ideographs is 3 and 2; one U+FFFD for two broken bytes is 3 and 2; text that was made from
 * nothing has a src_step of 0. Offsets count the bytes given to the decoder, from 0.
 */
#ifndef REIN_TEXT_SPAN_H
#define REIN_TEXT_SPAN_H

#include <stddef.h>
#include <stdint.h>

struct span {
    const char *text;
    size_t len;
    uint64_t src;
    uint64_t src_step;
    size_t text_step;
};

struct span_sink {
    void (*add)(void *ctx, const struct span *s);
    void *ctx;
};

static inline void span_sink_add(const struct span_sink *sink, const struct span *s)
{
    if (s->len > 0)
        sink->add(sink->ctx, s);
}

/* Is each byte of text one byte of input? */
static inline int span_is_verbatim(const struct span *s)
{
    return s->text_step == 1 && s->src_step == 1;
}

/* The offset of the character that begins at text[i], or after the last one for i == len. */
static inline uint64_t span_src_at(const struct span *s, size_t i)
{
    return s->src + (s->text_step == 1 ? i : i / s->text_step) * s->src_step;
}

/* The part of s from one character boundary to another. */
static inline struct span span_part(const struct span *s, size_t from, size_t to)
{
    return (struct span){.text = s->text + from,
                         .len = to - from,
                         .src = span_src_at(s, from),
                         .src_step = s->src_step,
                         .text_step = s->text_step};
}

#define SPAN_BATCH_SIZE 1024

/* Collects characters that were made one by one, so that they leave as few spans. */
struct span_batch {
    char text[SPAN_BATCH_SIZE];
    struct span span; /* what was collected; its text is the array above */
    struct span_sink out;
};

void span_batch_init(struct span_batch *b, struct span_sink out);

/* Adds one character of 1 to 4 bytes that stands for src_len bytes from src on. */
void span_batch_add(
    struct span_batch *b, const char *text, size_t len, uint64_t src, uint64_t src_len);

/* Hands on what was collected. To be called before anything else goes to the same sink. */
void span_batch_flush(struct span_batch *b);

#endif
