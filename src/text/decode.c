/* The decoder: one converter an encoding, and the judging of lines on top of them. */
#include "decode.h"

#include <string.h>

#include "base/macro.h"
#include "gbk.h"
#include "utf8.h"

/* Bits of decoder.seen. */
enum {
    SEEN_UTF8 = 1, /* beyond ASCII */
    SEEN_GBK = 2,  /* beyond ASCII */
    SEEN_BROKEN = 4,
    SEEN_NUL = 8,
};

/* More continuation bytes than these never are the end of one character. */
#define CONTINUATION_MAX (UTF8_LEN_MAX - 1)

static void add_char(struct decoder *d, uint32_t code, uint64_t src, size_t src_len)
{
    char text[UTF8_LEN_MAX];

    span_batch_add(&d->batch, text, utf8_put(code, text), src, src_len);
}

static void add_broken(struct decoder *d, uint64_t src, size_t src_len)
{
    d->seen |= SEEN_BROKEN;
    add_char(d, UTF8_REPLACEMENT, src, src_len);
}

/* Hands on valid UTF-8 as it is, without copying. */
static void add_verbatim(struct decoder *d, const unsigned char *s, size_t len, uint64_t src)
{
    struct span span = {
        .text = (const char *)s, .len = len, .src = src, .src_step = 1, .text_step = 1};

    if (!(d->seen & SEEN_NUL) && memchr(s, '\0', len))
        d->seen |= SEEN_NUL;
    if (!(d->seen & SEEN_UTF8) && !utf8_is_ascii(span.text, len))
        d->seen |= SEEN_UTF8;
    span_batch_flush(&d->batch);
    span_sink_add(&d->batch.out, &span);
}

/* ---- converters -------------------------------------------------------------------------- */

/* After a gap: how many bytes at s are the end of a UTF-8 character that began inside it. */
static size_t lost_character(const struct decoder *d, const unsigned char *s, size_t len)
{
    size_t n = 0;

    while (d->after_gap && n < len && n < CONTINUATION_MAX && utf8_is_continuation((char)s[n]))
        n++;
    return n;
}

static size_t
convert_utf8(struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last)
{
    size_t i = lost_character(d, s, len);

    if (i < len)
        d->after_gap = 0;
    while (i < len) {
        size_t n = utf8_valid_prefix(s + i, len - i);
        int cut_off;

        if (n > 0)
            add_verbatim(d, s + i, n, src + i);
        i += n;
        if (i == len)
            break;
        n = utf8_broken_prefix(s + i, len - i, &cut_off);
        if (cut_off && !last)
            break;
        add_broken(d, src + i, n);
        i += n;
    }
    return i;
}

static size_t
convert_gbk(struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last)
{
    size_t i = 0;

    while (i < len) {
        uint32_t code = i + 1 < len ? gbk_code(s[i], s[i + 1]) : 0;

        if (s[i] < 0x80) {
            d->seen |= s[i] ? 0 : SEEN_NUL;
            add_char(d, s[i], src + i, 1);
            i++;
        } else if (code) {
            d->seen |= SEEN_GBK;
            add_char(d, code, src + i, 2);
            i += 2;
        } else if (i + 1 == len && gbk_is_lead(s[i]) && !last) {
            break;
        } else { /* the byte after it may well be text: only this one is broken */
            add_broken(d, src + i, 1);
            i++;
        }
    }
    return i;
}

static unsigned utf16_unit(const unsigned char *s, int big_endian)
{
    return big_endian ? (unsigned)s[0] << 8 | s[1] : (unsigned)s[1] << 8 | s[0];
}

static int is_high_surrogate(unsigned unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static int is_low_surrogate(unsigned unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

static size_t convert_utf16(
    struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last, int big_endian)
{
    size_t i = 0;

    if (d->after_gap && len > 0 && src % 2 == 1) /* units stand at even offsets, as the mark did */
        i = 1;
    while (len - i >= 2) {
        unsigned unit = utf16_unit(s + i, big_endian);
        unsigned next = 0;

        if (is_high_surrogate(unit) && len - i < 4 && !last)
            return i;
        if (len - i >= 4)
            next = utf16_unit(s + i + 2, big_endian);
        if (is_high_surrogate(unit) && is_low_surrogate(next)) {
            add_char(d, 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00), src + i, 4);
            i += 4;
        } else {
            if (is_high_surrogate(unit) || (is_low_surrogate(unit) && !d->after_gap))
                add_broken(d, src + i, 2);
            else if (!is_low_surrogate(unit))
                add_char(d, unit, src + i, 2);
            i += 2;
        }
        d->after_gap = 0;
    }
    if (i < len && last)
        add_broken(d, src + i++, 1);
    return i;
}

static size_t
convert_utf16le(struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last)
{
    return convert_utf16(d, s, len, src, last, /* big_endian= */ 0);
}

static size_t
convert_utf16be(struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last)
{
    return convert_utf16(d, s, len, src, last, /* big_endian= */ 1);
}

/* ---- lines of unknown encoding ----------------------------------------------------------- */

/* Is this UTF-8 and nothing else? Then *ret_valid is where its whole characters end. */
static int is_utf8_line(const unsigned char *s, size_t len, int last, size_t *ret_valid)
{
    size_t valid = utf8_valid_prefix(s, len);
    int cut_off = 0;

    *ret_valid = valid;
    if (valid == len)
        return 1;
    (void)utf8_broken_prefix(s + valid, len - valid, &cut_off);
    return cut_off && (!last || !utf8_is_ascii((const char *)s, valid));
}

static int is_gbk_line(const unsigned char *s, size_t len, int last)
{
    size_t valid = gbk_valid_prefix(s, len);

    return valid == len || (valid + 1 == len && gbk_is_lead(s[valid]) && !last);
}

/* The converter of TEXT_ENC_AUTO, for a line or as much of one as there is. */
static size_t
convert_line(struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last)
{
    size_t lost = lost_character(d, s, len);
    size_t skip_max = d->after_gap && len > 0 ? 1 : 0; /* half a pair may be lost */
    size_t valid;

    if (is_utf8_line(s + lost, len - lost, last, &valid))
        return convert_utf8(d, s, len, src, last);
    for (size_t skip = 0; skip <= skip_max; skip++)
        if (is_gbk_line(s + skip, len - skip, last)) {
            d->after_gap = 0;
            return skip + convert_gbk(d, s + skip, len - skip, src + skip, last);
        }
    return convert_utf8(d, s, len, src, last);
}

/* Keeps for later what cannot be converted yet. */
static void hold(struct decoder *d, const unsigned char *s, size_t len)
{
    memcpy(d->pending + d->n_pending, s, len);
    d->n_pending += len;
}

static void convert_pending(struct decoder *d, int last)
{
    size_t n = d->convert(d, d->pending, d->n_pending, decoder_offset(d), last);

    d->n_pending -= n;
    memmove(d->pending, d->pending + n, d->n_pending);
}

/* How many bytes at s are whole lines of valid UTF-8. Looks at DECODE_LINE_MAX bytes at a time. */
static size_t valid_lines(const struct decoder *d, const unsigned char *s, size_t len)
{
    const unsigned char *lf;

    if (d->after_gap)
        return 0;
    lf = memrchr(s, '\n', utf8_valid_prefix(s, MIN(len, (size_t)DECODE_LINE_MAX)));
    return lf ? (size_t)(lf - s) + 1 : 0;
}

/* How many bytes at s are one line, or DECODE_LINE_MAX bytes of one. 0: more must come. */
static size_t one_line(const unsigned char *s, size_t len)
{
    size_t window = MIN(len, (size_t)DECODE_LINE_MAX);
    const unsigned char *lf = memchr(s, '\n', window);

    if (lf)
        return (size_t)(lf - s) + 1;
    return window == DECODE_LINE_MAX ? window : 0;
}

/* Completes the line that begins in `pending`. Returns how many bytes of s it took. */
static size_t complete_pending(struct decoder *d, const unsigned char *s, size_t len)
{
    size_t n = MIN(len, DECODE_LINE_MAX - d->n_pending);
    const unsigned char *lf = memchr(s, '\n', n);

    if (lf)
        n = (size_t)(lf - s) + 1;
    hold(d, s, n);
    d->offset += n;
    if (lf || d->n_pending == DECODE_LINE_MAX)
        convert_pending(d, /* last= */ lf != NULL);
    return n;
}

/* An eager decoder hands on what is valid so far. */
static void release_valid(struct decoder *d)
{
    size_t lost = lost_character(d, d->pending, d->n_pending);
    size_t valid;

    if (lost < d->n_pending &&
        is_utf8_line(d->pending + lost, d->n_pending - lost, /* last= */ 0, &valid))
        convert_pending(d, /* last= */ 0);
}

static void feed_lines(struct decoder *d, const unsigned char *s, size_t len)
{
    while (len > 0) {
        size_t n;

        if (d->n_pending > 0) {
            n = complete_pending(d, s, len);
        } else if ((n = valid_lines(d, s, len)) > 0) {
            add_verbatim(d, s, n, d->offset);
            d->offset += n;
        } else if ((n = one_line(s, len)) > 0) {
            n = d->convert(d, s, n, d->offset, /* last= */ s[n - 1] == '\n');
            d->offset += n;
        } else {
            break;
        }
        s += n;
        len -= n;
    }
    hold(d, s, len);
    d->offset += len;
    if (d->eager)
        release_valid(d);
}

/* ---- characters of known encoding -------------------------------------------------------- */

static void feed_characters(struct decoder *d, const unsigned char *s, size_t len)
{
    while (d->n_pending > 0 && len > 0) {
        hold(d, s, 1);
        d->offset++;
        s++;
        len--;
        convert_pending(d, /* last= */ 0);
    }
    if (len > 0) {
        size_t n = d->convert(d, s, len, d->offset, /* last= */ 0);

        hold(d, s + n, len - n);
        d->offset += len;
    }
}

/* ---- the decoder ------------------------------------------------------------------------- */

static const decoder_convert converters[TEXT_ENC_MAX] = {
    [TEXT_ENC_AUTO] = convert_line,
    [TEXT_ENC_UTF8] = convert_utf8,
    [TEXT_ENC_GBK] = convert_gbk,
};

void decoder_init(
    struct decoder *d, enum text_encoding encoding, int eager, int at_start, struct span_sink out)
{
    memset(d, 0, sizeof(*d));
    d->encoding = encoding;
    d->eager = eager;
    d->may_be_bom = at_start && encoding == TEXT_ENC_AUTO;
    d->convert = converters[encoding];
    span_batch_init(&d->batch, out);
}

/* Looks for a byte order mark in the first two bytes, which may arrive one by one. Returns how many
 * bytes of data it took. */
static size_t take_bom(struct decoder *d, const unsigned char *s, size_t len)
{
    size_t held = d->n_pending;
    unsigned char first = held ? d->pending[0] : s[0];
    unsigned char second;

    if (first != 0xff && first != 0xfe) {
        d->may_be_bom = 0;
        return 0;
    }
    if (held + len < 2) {
        hold(d, s, len);
        d->offset += len;
        return len;
    }
    d->may_be_bom = 0;
    second = s[1 - held];
    if (first + second != 0xff + 0xfe)
        return 0;
    d->convert = first == 0xff ? convert_utf16le : convert_utf16be;
    d->n_pending = 0;
    d->offset = 2;
    return 2 - held;
}

void decoder_feed(struct decoder *d, const void *data, size_t len)
{
    const unsigned char *s = data;

    if (d->may_be_bom && len > 0) {
        size_t n = take_bom(d, s, len);

        s += n;
        len -= n;
    }
    if (len == 0)
        return;
    if (d->convert == convert_line)
        feed_lines(d, s, len);
    else
        feed_characters(d, s, len);
    span_batch_flush(&d->batch);
}

void decoder_gap(struct decoder *d, uint64_t bytes)
{
    decoder_end(d, /* more= */ 1);
    d->n_pending = 0;
    d->offset += bytes;
    d->may_be_bom = 0;
    d->after_gap = 1;
}

void decoder_end(struct decoder *d, int more)
{
    convert_pending(d, !more);
    span_batch_flush(&d->batch);
}

uint64_t decoder_offset(const struct decoder *d)
{
    return d->offset - d->n_pending;
}

const char *decoder_encoding(const struct decoder *d)
{
    if (d->convert == convert_utf16le || d->convert == convert_utf16be) {
        if (d->seen & SEEN_BROKEN)
            return "mixed";
        return d->convert == convert_utf16le ? "utf-16le" : "utf-16be";
    }
    if (d->seen & SEEN_NUL)
        return "binary";
    if ((d->seen & SEEN_BROKEN) || (d->seen & SEEN_UTF8 && d->seen & SEEN_GBK))
        return "mixed";
    return d->seen & SEEN_GBK || d->encoding == TEXT_ENC_GBK ? "gbk" : "utf-8";
}
