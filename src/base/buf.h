/*
 * A growable buffer of bytes. Append functions never fail one by one: after the first failure the
 * buffer keeps what it has, remembers -ENOMEM (or -EFBIG over its bound), and buf_error() tells.
 * So a writer appends freely and checks once at the end.
 */
#ifndef REIN_BASE_BUF_H
#define REIN_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "macro.h"

#define BUF_SIZE_MAX (UINT64_C(1) << 31) /* no single text of rein is larger */

struct buf {
    char *data; /* always NUL-terminated once something was appended; NULL before */
    size_t len;
    size_t allocated;
    int error;
};

void buf_done(struct buf *b);
#define auto_buf __attribute__((cleanup(buf_done)))

/* Makes room for extra bytes more. 0 or the negative errno that the buffer then keeps. */
int buf_reserve(struct buf *b, size_t extra);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_add_str(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_add_format(struct buf *b, const char *format, ...) REIN_PRINTF(2, 3);
void buf_clear(struct buf *b); /* keeps the memory */

/* 0, or the negative errno of the first append that failed. */
int buf_error(const struct buf *b);

/* Gives the text away (never NULL; "" when empty) and resets the buffer. NULL after an error. */
char *buf_take(struct buf *b);

#endif
