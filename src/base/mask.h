/*
 * Replaces secrets in a stream of bytes by stars, one for each byte, so that offsets stay what they
 * are. Every byte of every occurrence is replaced, also where secrets overlap each other or
 * themselves, and wherever the stream is cut into pieces: bytes that may be the beginning of a
 * secret are held back until it is known whether they are one.
 *
 * Allocates nothing; time is linear in the bytes for each secret. Knows nothing of jobs.
 */
#ifndef REIN_BASE_MASK_H
#define REIN_BASE_MASK_H

#include <stddef.h>
#include <stdint.h>

#define MASK_SECRETS_MAX 64
#define MASK_SECRET_MIN 4 /* shorter ones are everywhere: the output would be all stars */
#define MASK_SECRET_MAX 4096
#define MASK_BYTE '*'

struct mask_secret {
    const char *bytes; /* borrowed */
    size_t size;
    /* [n - 1]: the longest beginning of the secret, but for itself, that its first n bytes end
     * with.
     */
    uint16_t borders[MASK_SECRET_MAX];
};

struct mask {
    size_t n;
    struct mask_secret secrets[MASK_SECRETS_MAX];
};

/* A stream between two pieces. Zeroed: at its beginning. */
struct mask_stream {
    uint16_t matched[MASK_SECRETS_MAX]; /* bytes of each secret that the stream ends with */
    uint16_t n_held;                    /* the most of those */
    char held[MASK_SECRET_MAX];
};

/* Adds a secret of MASK_SECRET_MIN to MASK_SECRET_MAX bytes; at most MASK_SECRETS_MAX of them. */
void mask_add(struct mask *m, const char *bytes, size_t size);

/* Takes the next piece of a stream that was as before says, and says in after how it is then. out
 * has room for MASK_SECRET_MAX bytes more than the piece; returns how many are decided in it. */
size_t mask_feed(const struct mask *m,
                 const struct mask_stream *before,
                 struct mask_stream *after,
                 const char *data,
                 size_t size,
                 char *out);

#endif
