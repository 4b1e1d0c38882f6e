/*
 * UTF-8 as the Unicode standard defines it: no overlong forms, no surrogates, nothing above
 * U+10FFFF. Where bytes are broken the standard's recommended practice holds: each maximal subpart
 * of a character, or else each single byte, is one U+FFFD.
 */
#ifndef REIN_TEXT_UTF8_H
#define REIN_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_LEN_MAX 4 /* bytes of the longest character */
#define UTF8_REPLACEMENT 0xfffdu
#define UTF8_REPLACEMENT_TEXT "\xef\xbf\xbd"

/* How many bytes at the start of data are whole, valid characters. */
size_t utf8_valid_prefix(const void *data, size_t len);

/* For data that does not begin with a whole valid character (and len > 0): how many bytes one
 * U+FFFD stands for. *ret_cut_off tells whether it is the beginning of a character that only lacks
 * what would follow the end of data. */
size_t utf8_broken_prefix(const void *data, size_t len, int *ret_cut_off);

/* Reads the character at the start of valid text. Returns its length in bytes. */
size_t utf8_get(const char *text, uint32_t *ret_code);

/* Writes a code point that may be encoded. Returns how many bytes it took. */
size_t utf8_put(uint32_t code, char ret_text[static UTF8_LEN_MAX]);

static inline int utf8_is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

int utf8_is_ascii(const char *text, size_t len);

/* How many characters valid text has. */
size_t utf8_count(const char *text, size_t len);

/* The position after the first n characters of valid text, len when it has fewer. */
size_t utf8_skip(const char *text, size_t len, size_t n);

/* The position before the last n characters of valid text, 0 when it has fewer. */
size_t utf8_skip_back(const char *text, size_t len, size_t n);

/* The largest character boundary at or before pos, which is at most len. */
size_t utf8_boundary(const char *text, size_t len, size_t pos);

#endif
