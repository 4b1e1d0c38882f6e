/*
 * Decoding of arbitrary bytes, whole and in pieces: the spans are valid UTF-8 and in order, and the
 * pieces make no difference (but for an eager decoder, whose text still covers all input).
 */
#include "base/buf.h"
#include "fuzz-text.h"
#include "text/decode.h"

struct decoded {
    struct decoder decoder;
    struct buf text;
    uint64_t src;
};

static void collect(void *ctx, const struct span *s)
{
    struct decoded *d = ctx;

    require(s->len > 0 && s->text_step > 0 && s->len % s->text_step == 0);
    require(utf8_valid_prefix(s->text, s->len) == s->len);
    require(s->src >= d->src);
    d->src = span_src_at(s, s->len);
    buf_add(&d->text, s->text, s->len);
}

static struct decoded *
decode(const uint8_t *data, size_t size, enum text_encoding encoding, int eager, size_t piece)
{
    struct decoded *d = calloc(1, sizeof(*d));

    if (!d)
        abort();
    decoder_init(&d->decoder, encoding, eager, /* at_start= */ 1, (struct span_sink){collect, d});
    for (size_t i = 0, n; i < size; i += n) {
        n = piece ? MIN(piece, size - i) : size - i;
        decoder_feed(&d->decoder, data + i, n);
        require(decoder_offset(&d->decoder) <= i + n && d->src <= decoder_offset(&d->decoder));
    }
    decoder_end(&d->decoder, /* more= */ 0);
    require(decoder_offset(&d->decoder) == size);
    return d;
}

static void decoded_free(struct decoded *d)
{
    buf_done(&d->text);
    free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum text_encoding encoding = (enum text_encoding)take_number(data, &size, TEXT_ENC_MAX);
    size_t piece = 1 + take_number(data, &size, 200);
    struct decoded *whole = decode(data, size, encoding, 0, 0);
    struct decoded *pieces = decode(data, size, encoding, 0, piece);
    struct decoded *eager = decode(data, size, encoding, 1, piece);

    require(whole->text.len == pieces->text.len);
    require(whole->text.len == 0 ||
            memcmp(whole->text.data, pieces->text.data, whole->text.len) == 0);
    require(strcmp(decoder_encoding(&whole->decoder), decoder_encoding(&pieces->decoder)) == 0);
    require(encoding == TEXT_ENC_AUTO || eager->text.len == whole->text.len);
    decoded_free(whole);
    decoded_free(pieces);
    decoded_free(eager);
    return 0;
}
