/* The search of Knuth, Morris and Pratt, once for each secret: what it knows between two pieces is
 * one number, the bytes of the secret that the stream ends with. */
#include "mask.h"

#include <assert.h>
#include <string.h>

#include "macro.h"

/* How many bytes of the secret match once another byte has come, when n did before: fewer than all.
 */
static size_t advance(const struct mask_secret *s, size_t n, char byte)
{
    while (n > 0 && s->bytes[n] != byte)
        n = s->borders[n - 1];
    return s->bytes[n] == byte ? n + 1 : 0;
}

void mask_add(struct mask *m, const char *bytes, size_t size)
{
    struct mask_secret *s = &m->secrets[m->n];

    assert(m->n < MASK_SECRETS_MAX);
    assert(size >= MASK_SECRET_MIN && size <= MASK_SECRET_MAX);
    s->bytes = bytes;
    s->size = size;
    s->borders[0] = 0;
    for (size_t n = 1; n < size; n++)
        s->borders[n] = (uint16_t)advance(s, s->borders[n - 1], bytes[n]);
    m->n++;
}

/* Searches a piece for one secret, of which n bytes stand before it, and masks what it finds in
 * out, where the piece stands behind those. Returns how many bytes match at the end. */
static size_t
search(const struct mask_secret *s, size_t n, const char *data, size_t size, char *out)
{
    const char *end = data + size;
    char *masked_end = out - n; /* each byte is masked once, however often it is found */

    for (const char *p = data; p < end;) {
        char *at;

        if (n == 0) {
            p = memchr(p, s->bytes[0], (size_t)(end - p));
            if (!p)
                return 0;
        }
        n = advance(s, n, *p++);
        if (n < s->size)
            continue;
        at = out + (p - data);
        masked_end = MAX(masked_end, at - s->size);
        memset(masked_end, MASK_BYTE, (size_t)(at - masked_end));
        masked_end = at;
        n = s->borders[n - 1];
    }
    return n;
}

size_t mask_feed(const struct mask *m,
                 const struct mask_stream *before,
                 struct mask_stream *after,
                 const char *data,
                 size_t size,
                 char *out)
{
    size_t total = before->n_held + size;
    size_t n_held = 0;

    memcpy(out, before->held, before->n_held);
    memcpy(out + before->n_held, data, size);
    for (size_t i = 0; i < m->n; i++) {
        size_t n = search(&m->secrets[i], before->matched[i], data, size, out + before->n_held);

        after->matched[i] = (uint16_t)n;
        n_held = MAX(n_held, n);
    }
    memcpy(after->held, out + total - n_held, n_held);
    after->n_held = (uint16_t)n_held;
    return total - n_held;
}
