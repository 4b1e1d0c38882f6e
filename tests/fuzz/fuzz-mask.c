/*
 * Secrets in a stream, from arbitrary bytes, against the plain way to do it: look at every place
 * for every secret, in the whole. The first line has the secrets, separated by blanks; then each
 * piece of the stream has one byte that says how long it is in front.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/mask.h"

#define STREAM_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct mask mask;
static char stream[STREAM_MAX], expected[STREAM_MAX], got[STREAM_MAX];
static char out[MASK_SECRET_MAX + 256];

static void require(int condition)
{
    if (!condition)
        abort();
}

static void add_secrets(const char *line, size_t size)
{
    mask.n = 0;
    while (size > 0 && mask.n < MASK_SECRETS_MAX) {
        const char *blank = memchr(line, ' ', size);
        size_t n = blank ? (size_t)(blank - line) : size;

        if (n >= MASK_SECRET_MIN && n <= MASK_SECRET_MAX)
            mask_add(&mask, line, n);
        n = MIN(n + 1, size);
        line += n;
        size -= n;
    }
}

static void mask_plainly(size_t size)
{
    memcpy(expected, stream, size);
    for (size_t i = 0; i < mask.n; i++)
        for (size_t at = 0; at + mask.secrets[i].size <= size; at++)
            if (memcmp(stream + at, mask.secrets[i].bytes, mask.secrets[i].size) == 0)
                memset(expected + at, MASK_BYTE, mask.secrets[i].size);
}

/* Feeds the pieces; stream gets all of them in one. Returns their size. */
static size_t mask_in_pieces(const char *data, size_t size)
{
    struct mask_stream sides[2] = {{{0}, 0, {0}}};
    size_t total = 0;
    size_t n_got = 0;
    int side = 0;

    while (size > 0 && total + 256 < STREAM_MAX) {
        size_t n = MIN((size_t)(unsigned char)data[0], size - 1);
        size_t n_out = mask_feed(&mask, &sides[side], &sides[!side], data + 1, n, out);

        require(n_out <= sides[side].n_held + n);
        memcpy(got + n_got, out, n_out);
        n_got += n_out;
        memcpy(stream + total, data + 1, n);
        total += n;
        side = !side;
        require(n_got + sides[side].n_held == total);
        data += n + 1;
        size -= n + 1;
    }
    memcpy(got + n_got, sides[side].held, sides[side].n_held);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t total;

    if (!newline)
        return 0;
    add_secrets(text, (size_t)(newline - text));
    total = mask_in_pieces(newline + 1, size - (size_t)(newline - text) - 1);
    mask_plainly(total);
    require(memcmp(expected, got, total) == 0);
    return 0;
}
