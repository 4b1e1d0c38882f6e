/* Texts of others on a terminal: nothing in a name, a command or a message may give it orders. */
#ifndef REIN_CLI_VISIBLE_H
#define REIN_CLI_VISIBLE_H

#include <stddef.h>

#include "base/buf.h"

/* Appends a text; as \xNN: control characters (C0, DEL, C1), those that turn the direction of text
 * or are not seen, and bytes that are no UTF-8. */
void visible_add(struct buf *b, const char *bytes);

/* Columns that a text without control characters takes on a terminal. */
size_t visible_width(const char *utf8);

/* The position in such a text after at most so many columns. */
size_t visible_cut(const char *utf8, size_t columns);

#endif
