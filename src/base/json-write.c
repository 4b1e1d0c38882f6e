/* Writes JSON strings. */
#include "json-write.h"

#include <string.h>

/* Bytes of the valid UTF-8 character at s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) /* also stops at the NUL */
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    return n;
}

void json_write_string(struct buf *b, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;

    if (!s) {
        buf_add_str(b, "null");
        return;
    }
    buf_add_char(b, '"');
    while (*p) {
        size_t n = utf8_length(p);

        if (n == 0) {
            buf_add_str(b, "\xef\xbf\xbd");
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            buf_add_char(b, '\\');
            buf_add_char(b, (char)*p);
        } else if (*p < 0x20 || *p == 0x7f) {
            buf_add_format(b, "\\u%04x", *p);
        } else {
            buf_add(b, p, n);
        }
        p += n;
    }
    buf_add_char(b, '"');
}

void json_write_strings(struct buf *b, const char *const *v)
{
    buf_add_char(b, '[');
    for (size_t i = 0; v && v[i]; i++) {
        if (i > 0)
            buf_add_str(b, ", ");
        json_write_string(b, v[i]);
    }
    buf_add_char(b, ']');
}
