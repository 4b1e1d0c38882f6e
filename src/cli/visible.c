/* Control characters, and the width of what is left. */
#include "visible.h"

#include <string.h>

#include "text/utf8.h"
#include "text/width.h"

static int is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

static void add_escaped(struct buf *b, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_add_format(b, "\\x%02x", (unsigned char)bytes[i]);
}

static void add_valid(struct buf *b, const char *utf8, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t n = utf8_get(utf8 + i, &code);

        if (is_control(code))
            add_escaped(b, utf8 + i, n);
        else
            buf_add(b, utf8 + i, n);
        i += n;
    }
}

void visible_add(struct buf *b, const char *bytes)
{
    size_t left = strlen(bytes);

    while (left > 0) {
        size_t n = utf8_valid_prefix(bytes, left);
        int cut_off;

        add_valid(b, bytes, n);
        bytes += n;
        left -= n;
        if (left == 0)
            return;
        n = utf8_broken_prefix(bytes, left, &cut_off);
        add_escaped(b, bytes, n);
        bytes += n;
        left -= n;
    }
}

size_t visible_width(const char *utf8)
{
    size_t width = 0;
    uint32_t code;

    for (; *utf8; utf8 += utf8_get(utf8, &code)) {
        (void)utf8_get(utf8, &code);
        width += (size_t)width_of(code);
    }
    return width;
}

size_t visible_cut(const char *utf8, size_t columns)
{
    const char *p = utf8;
    uint32_t code;

    while (*p) {
        size_t n = utf8_get(p, &code);

        if ((size_t)width_of(code) > columns)
            break;
        columns -= (size_t)width_of(code);
        p += n;
    }
    return (size_t)(p - utf8);
}
