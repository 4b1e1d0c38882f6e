/* The growable buffer. */
#include "buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *b)
{
    free(b->data);
    memset(b, 0, sizeof(*b));
}

static int fail(struct buf *b, int err)
{
    if (!b->error)
        b->error = err;
    return b->error;
}

int buf_reserve(struct buf *b, size_t extra)
{
    size_t want;
    char *grown;

    if (b->error)
        return b->error;
    if (extra >= BUF_SIZE_MAX - b->len)
        return fail(b, -EFBIG);
    want = b->len + extra + 1;
    if (want <= b->allocated)
        return 0;
    want = MAX(want, MAX((size_t)64, b->allocated * 2));
    grown = realloc(b->data, want);
    if (!grown)
        return fail(b, -ENOMEM);
    b->data = grown;
    b->allocated = want;
    return 0;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
    if (buf_reserve(b, len) < 0)
        return;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_add_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_add_format(struct buf *b, const char *format, ...)
{
    va_list ap;
    int len;

    va_start(ap, format);
    len = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (len < 0) {
        (void)fail(b, -EINVAL);
        return;
    }
    if (buf_reserve(b, (size_t)len) < 0)
        return;
    va_start(ap, format);
    (void)vsnprintf(b->data + b->len, (size_t)len + 1, format, ap);
    va_end(ap);
    b->len += (size_t)len;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->error = 0;
    if (b->data)
        b->data[0] = '\0';
}

int buf_error(const struct buf *b)
{
    return b->error;
}

char *buf_take(struct buf *b)
{
    char *text = NULL;

    if (buf_reserve(b, 0) == 0) {
        b->data[b->len] = '\0';
        text = b->data;
        b->data = NULL;
    }
    buf_done(b);
    return text;
}
