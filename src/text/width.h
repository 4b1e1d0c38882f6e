/* How many columns of a terminal a character takes: 0, 1 or 2. Independent of any locale. */
#ifndef REIN_TEXT_WIDTH_H
#define REIN_TEXT_WIDTH_H

#include <stdint.h>

/* For a code point that is printed, which a control character is not. */
int width_of(uint32_t code);

#endif
