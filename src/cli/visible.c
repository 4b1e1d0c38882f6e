/* What a terminal would obey or not show, and the width of what is left. */
#include "visible.h"

#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "text/utf8.h"
#include "text/width.h"

/* Beside the control characters what turns the direction of others around, breaks a line, or is not
 * seen at all: with these a text reads as another one. Joiners stay, as scripts and emoji need
 * them. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
    {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
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

        if (is_hidden(code))
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
