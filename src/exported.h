/*
 * Put in front of every file of the library by the build: all symbols are hidden but those that the
 * public header declares. The header itself stays free of compilers' extensions. rein.sym lists the
 * same names for the linker.
 */
#ifndef REIN_EXPORTED_H
#define REIN_EXPORTED_H

#pragma GCC visibility push(default)
#include "rein.h"
#pragma GCC visibility pop

#endif
