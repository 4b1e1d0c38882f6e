/*
 * GBK, strictly: ASCII bytes, and pairs of a lead byte 81…FE with a trail byte 40…7E or 80…FE that
 * the table knows. The table is made at build time from the system's iconv; nothing of that is
 * needed at run time.
 */
#ifndef REIN_TEXT_GBK_H
#define REIN_TEXT_GBK_H

#include <stddef.h>
#include <stdint.h>

static inline int gbk_is_lead(unsigned char c)
{
    return c >= 0x81 && c <= 0xfe;
}

/* The code point of a pair, 0 when it is none. */
uint32_t gbk_code(unsigned char lead, unsigned char trail);

/* How many bytes at the start of data are whole, valid characters. */
size_t gbk_valid_prefix(const void *data, size_t len);

#endif
