#include "digest.h"

#include <sha2.h>
#include <stdint.h>

void digest_text(const void *data, size_t size, char ret[static DIGEST_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, data, size);
    SHA256Final(digest, &context);
    for (size_t i = 0; i < sizeof(digest); i++) {
        ret[2 * i] = digits[digest[i] >> 4];
        ret[2 * i + 1] = digits[digest[i] & 0xf];
    }
    ret[2 * sizeof(digest)] = '\0';
}
