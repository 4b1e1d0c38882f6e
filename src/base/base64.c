/* Four digits make three bytes. */
#include "base64.h"

#include <errno.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_decode(const char *text, size_t len, struct buf *ret)
{
    uint32_t bits = 0;
    size_t n = 0, padding = 0;

    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (text[i] == '\n' || text[i] == '\r')
            continue;
        if (text[i] == '=' ? n % 4 < 2 : !digit || padding > 0)
            return -EINVAL;
        padding += text[i] == '=';
        bits = bits << 6 | (digit ? (uint32_t)(digit - digits) : 0);
        if (++n % 4 > 0)
            continue;
        for (size_t byte = 0; byte < 3 - padding; byte++)
            buf_add_char(ret, (char)(bits >> (16 - 8 * byte) & 0xff));
        if (padding > 0 && i + 1 < len && strspn(text + i + 1, "\r\n") < len - i - 1)
            return -EINVAL;
    }
    return n % 4 == 0 ? 0 : -EINVAL;
}
