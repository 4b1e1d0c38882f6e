/* Base64 as RFC 4648 has it: the standard alphabet, with padding; line ends are passed over. */
#ifndef REIN_BASE_BASE64_H
#define REIN_BASE_BASE64_H

#include <stddef.h>

#include "buf.h"

/* Appends the bytes. 0, or -EINVAL for what is no base64; then something may have been appended. */
int base64_decode(const char *text, size_t len, struct buf *ret);

#endif
