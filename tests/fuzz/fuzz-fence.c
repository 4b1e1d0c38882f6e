/* Replies from arbitrary bytes: no crash, and a block is never longer than its reply. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/fence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf b = {0};
    bool found = fence_find_last((const char *)data, size, language_find("python"), &b);

    if (buf_error(&b) < 0 || (found ? b.len >= size : b.len > 0))
        abort();
    return 0;
}
