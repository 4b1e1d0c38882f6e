/* Rendering of arbitrary bytes, whole and in pieces: the same text, and clean text has no ESC. */
#include "fuzz-text.h"

static struct text_result
render(const uint8_t *data, size_t size, const struct text_options *o, size_t piece)
{
    text *t;

    require(text_new(o, 0, &t) == 0);
    feed_text(t, data, size, piece, SIZE_MAX, 0);
    return finish_text(t, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_options o = {.render = (int)take_number(data, &size, 2) ? TEXT_PLAIN : TEXT_CLEAN};
    size_t piece = 1 + take_number(data, &size, 300);
    struct text_result whole = render(data, size, &o, 0);
    struct text_result pieces = render(data, size, &o, piece);

    require_same(&whole, &pieces);
    require(memchr(whole.text, '\033', whole.len) == NULL);
    require(whole.omitted_bytes == 0 && whole.cursor == size);
    text_result_done(&whole);
    text_result_done(&pieces);
    return 0;
}
