/* Fenced code blocks in a model's reply, as CommonMark has them. Pure. */
#ifndef REIN_TOOLS_FENCE_H
#define REIN_TOOLS_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "code/languages.h"

/* Appends the contents of the last block whose tag is a name of the language; a block that is not
 * closed goes to the end of the text. False when there is none. */
bool fence_find_last(const char *text,
                     size_t len,
                     const struct language *language,
                     struct buf *ret);

#endif
