/* Checking, reading and writing UTF-8. Knows nothing of lines or other encodings. */
#include "utf8.h"

#include <string.h>

#include "base/macro.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* What may follow a lead byte: how many bytes, and the range of the first of them. The others are
 * 80…BF. These are the rows of the standard's table of well-formed sequences. */
struct lead {
    unsigned char first, last; /* lead bytes */
    unsigned char follow;      /* bytes after the lead byte; 0: no character begins so */
    unsigned char low, high;   /* range of the second byte */
};

static const struct lead leads[] = {
    {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf}, /* not overlong */
    {0xe1, 0xec, 2, 0x80, 0xbf}, {0xed, 0xed, 2, 0x80, 0x9f}, /* no surrogates */
    {0xee, 0xef, 2, 0x80, 0xbf}, {0xf0, 0xf0, 3, 0x90, 0xbf}, /* not overlong */
    {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f}, /* not above U+10FFFF */
};

static const struct lead *find_lead(unsigned char c)
{
    for (size_t i = 0; i < ARRAY_SIZE(leads); i++)
        if (c >= leads[i].first && c <= leads[i].last)
            return &leads[i];
    return NULL;
}

/* How many bytes at s belong to the beginning of the character that lead begins, at least 1. */
static size_t matching_bytes(const struct lead *lead, const unsigned char *s, size_t len)
{
    size_t n = 1;

    if (len < 2 || s[1] < lead->low || s[1] > lead->high)
        return n;
    for (n = 2; n < len && n <= lead->follow; n++)
        if ((s[n] & 0xc0) != 0x80)
            break;
    return n;
}

static size_t ascii_prefix(const unsigned char *s, size_t len)
{
    size_t i = 0;

    while (i + sizeof(uint64_t) <= len) {
        uint64_t word;

        memcpy(&word, s + i, sizeof(word));
        if (word & HIGH_BITS)
            break;
        i += sizeof(word);
    }
    while (i < len && s[i] < 0x80)
        i++;
    return i;
}

static inline int is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* The length of the whole valid character at s, which does not begin with ASCII; else 0. The two
 * common kinds come first, the table has the last word. */
static size_t valid_length(const unsigned char *s, size_t len)
{
    const struct lead *lead;

    if (len >= 3 && s[0] >= 0xe1 && s[0] <= 0xec)
        return is_continuation(s[1]) && is_continuation(s[2]) ? 3 : 0;
    if (len >= 2 && s[0] >= 0xc2 && s[0] <= 0xdf)
        return is_continuation(s[1]) ? 2 : 0;
    lead = find_lead(s[0]);
    if (!lead || matching_bytes(lead, s, len) != (size_t)lead->follow + 1)
        return 0;
    return (size_t)lead->follow + 1;
}

size_t utf8_valid_prefix(const void *data, size_t len)
{
    const unsigned char *s = data;
    size_t i = 0;

    while (i < len) {
        size_t n;

        if (s[i] < 0x80) {
            i += ascii_prefix(s + i, len - i);
            continue;
        }
        n = valid_length(s + i, len - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

size_t utf8_broken_prefix(const void *data, size_t len, int *ret_cut_off)
{
    const unsigned char *s = data;
    const struct lead *lead = find_lead(s[0]);
    size_t n;

    *ret_cut_off = 0;
    if (!lead)
        return 1;
    n = matching_bytes(lead, s, len);
    *ret_cut_off = n == len;
    return n;
}

size_t utf8_get(const char *text, uint32_t *ret_code)
{
    const unsigned char *s = (const unsigned char *)text;

    if (s[0] < 0x80) {
        *ret_code = s[0];
        return 1;
    }
    if (s[0] < 0xe0) {
        *ret_code = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
        return 2;
    }
    if (s[0] < 0xf0) {
        *ret_code = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
        return 3;
    }
    *ret_code = (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    return 4;
}

size_t utf8_put(uint32_t code, char ret_text[static UTF8_LEN_MAX])
{
    if (code < 0x80) {
        ret_text[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        ret_text[0] = (char)(0xc0 | code >> 6);
        ret_text[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        ret_text[0] = (char)(0xe0 | code >> 12);
        ret_text[1] = (char)(0x80 | (code >> 6 & 0x3f));
        ret_text[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    ret_text[0] = (char)(0xf0 | code >> 18);
    ret_text[1] = (char)(0x80 | (code >> 12 & 0x3f));
    ret_text[2] = (char)(0x80 | (code >> 6 & 0x3f));
    ret_text[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

int utf8_is_ascii(const char *text, size_t len)
{
    return ascii_prefix((const unsigned char *)text, len) == len;
}

size_t utf8_count(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += !utf8_is_continuation(text[i]);
    return n;
}

size_t utf8_skip(const char *text, size_t len, size_t n)
{
    size_t i = 0;

    while (n > 0 && i < len) {
        i++;
        while (i < len && utf8_is_continuation(text[i]))
            i++;
        n--;
    }
    return i;
}

size_t utf8_skip_back(const char *text, size_t len, size_t n)
{
    size_t i = len;

    while (n > 0 && i > 0) {
        i--;
        while (i > 0 && utf8_is_continuation(text[i]))
            i--;
        n--;
    }
    return i;
}

size_t utf8_boundary(const char *text, size_t len, size_t pos)
{
    while (pos > 0 && pos < len && utf8_is_continuation(text[pos]))
        pos--;
    return pos;
}
