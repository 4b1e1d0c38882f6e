/*
 * Turns a job's bytes, in pieces of any size, into spans of valid UTF-8. It owns which encoding a
 * byte is read in and what stands for bytes that are none; what characters mean is not its
 * business.
 *
 * TEXT_ENC_UTF8 and TEXT_ENC_GBK take each byte as that encoding; broken ones become U+FFFD.
 * TEXT_ENC_AUTO judges line by line (a line ends after LF):
 *   - valid UTF-8 is UTF-8;
 *   - else the whole line, if every byte of it is valid GBK, is GBK;
 *   - else it is UTF-8 with U+FFFD for what is broken.
 * A last line without LF that only lacks the end of its last character stays UTF-8 if it has other
 * characters beyond ASCII: it was cut off, and its bytes often make sense as GBK by accident.
 * FF FE or FE FF as the very first bytes make everything UTF-16; the mark itself is not text.
 *
 * A line cannot be judged before it is complete, and it may never be: after DECODE_LINE_MAX bytes
 * without LF those bytes (without an unfinished character at their end) are judged as they are, and
 * the rest of the line is judged as if it were a line of its own.
 *
 * An eager decoder does not wait for LF while what it has is valid UTF-8 so far: at the end of each
 * decoder_feed() it hands that on, except for an unfinished character. If the line then turns out
 * not to be UTF-8, only the part not yet handed on is judged again. So its result may depend on how
 * the bytes were cut into pieces; that of the ordinary decoder never does.
 */
#ifndef REIN_TEXT_DECODE_H
#define REIN_TEXT_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "encoding.h"
#include "span.h"

#define DECODE_LINE_MAX 65536

struct decoder;

/* Hands on what it can of len bytes at s, which stand at offset src. Returns how many it has dealt
 * with; the others are the beginning of a character. With `last` nothing follows: it deals with all
 * of them. */
typedef size_t (*decoder_convert)(
    struct decoder *d, const unsigned char *s, size_t len, uint64_t src, int last);

struct decoder {
    enum text_encoding encoding;
    int eager;
    int may_be_bom; /* nothing but the beginning of a byte order mark was seen so far */
    int after_gap;  /* the next bytes may be the end of a character whose beginning is lost */
    unsigned seen;  /* what occurred, for decoder_encoding() */
    decoder_convert convert;
    uint64_t offset;  /* of the next byte to be fed */
    size_t n_pending; /* bytes fed but not yet converted */
    unsigned char pending[DECODE_LINE_MAX];
    struct span_batch batch;
};

/* at_start: the first byte fed is the first one of the job's output, so a byte order mark counts.
 */
void decoder_init(
    struct decoder *d, enum text_encoding encoding, int eager, int at_start, struct span_sink out);

void decoder_feed(struct decoder *d, const void *data, size_t len);

/* That many bytes are not there. Characters that the gap cut in two are left out on both sides. */
void decoder_gap(struct decoder *d, uint64_t bytes);

/* Hands on what is still held: all of it, or with `more` (the job goes on writing) all but an
 * unfinished character at the end. Nothing may be fed afterwards. */
void decoder_end(struct decoder *d, int more);

/* The offset after the last byte that was handed on. */
uint64_t decoder_offset(const struct decoder *d);

/* "utf-8", "gbk", "utf-16le", "utf-16be", "mixed" or "binary", for what was handed on. */
const char *decoder_encoding(const struct decoder *d);

#endif
