/* Collecting single characters into spans. */
#include "span.h"

#include <string.h>

void span_batch_init(struct span_batch *b, struct span_sink out)
{
    b->span = (struct span){.text = b->text};
    b->out = out;
}

void span_batch_flush(struct span_batch *b)
{
    b->span.text = b->text; /* the structure may have been moved */
    span_sink_add(&b->out, &b->span);
    b->span.len = 0;
}

void span_batch_add(
    struct span_batch *b, const char *text, size_t len, uint64_t src, uint64_t src_len)
{
    size_t text_step = len == src_len ? 1 : len;
    uint64_t src_step = len == src_len ? 1 : src_len;

    if (b->span.len + len > SPAN_BATCH_SIZE || b->span.text_step != text_step ||
        b->span.src_step != src_step || span_src_at(&b->span, b->span.len) != src)
        span_batch_flush(b);
    if (b->span.len == 0) {
        b->span.src = src;
        b->span.text_step = text_step;
        b->span.src_step = src_step;
    }
    memcpy(b->text + b->span.len, text, len);
    b->span.len += len;
}
