/*
 * Limits on arbitrary bytes, with a gap or without: the text never exceeds the limit, the pieces
 * make no difference, and what is missing fits into the input. Where text is taken over as it is,
 * head, number and tail fit together to the byte.
 */
#include "fuzz-text.h"

#define PATH "/state/jobs/00000000/output.log"

struct setting {
    struct text_options options;
    size_t gap_at; /* SIZE_MAX: none */
    uint64_t gap;
    const char *path;
};

static struct text_result
limit(const uint8_t *data, size_t size, const struct setting *s, size_t piece)
{
    text *t;

    require(text_new(&s->options, 0, &t) == 0);
    feed_text(t, data, size, piece, s->gap_at, s->gap);
    return finish_text(t, s->path);
}

/* Of input that is valid UTF-8 and rendered raw, all that is shown is input, but for the line. */
static void check_verbatim(const struct text_result *r, const uint8_t *data, size_t size)
{
    size_t head = r->omitted_bytes ? (size_t)r->omitted_at : size;
    size_t tail = size - head - (size_t)r->omitted_bytes;

    require(r->len >= head + tail);
    require(memcmp(r->text, data, head) == 0);
    require(memcmp(r->text + r->len - tail, data + size - tail, tail) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct setting s = {.gap_at = SIZE_MAX};
    size_t piece = 1 + take_number(data, &size, 300);
    uint64_t total;
    struct text_result whole, pieces;

    s.options.render = (int)take_number(data, &size, TEXT_RENDER_MAX);
    s.options.limit = take_number(data, &size, 500);
    s.options.limit_in_chars = (int)take_number(data, &size, 2);
    s.path = take_number(data, &size, 2) ? PATH : NULL;
    if (take_number(data, &size, 2)) {
        s.gap_at = take_number(data, &size, 1000);
        s.gap = 1 + take_number(data, &size, 1000);
    }
    total = size + (s.gap_at < size ? s.gap : 0);
    whole = limit(data, size, &s, 0);
    pieces = limit(data, size, &s, piece);
    require_same(&whole, &pieces);
    if (s.options.limit > 0 && s.options.limit_in_chars)
        require(utf8_count(whole.text, whole.len) <= s.options.limit);
    else if (s.options.limit > 0)
        require(whole.len <= s.options.limit);
    require(whole.cursor == total);
    require(whole.omitted_bytes == 0 || (uint64_t)whole.omitted_at + whole.omitted_bytes <= total);
    if (s.options.render == TEXT_RAW && s.gap_at >= size && utf8_valid_prefix(data, size) == size)
        check_verbatim(&whole, data, size);
    text_result_done(&whole);
    text_result_done(&pieces);
    return 0;
}
