/* What a call of a script's function makes of the function's commands: its arguments in their
 * places. */
#ifndef REIN_POLICY_CALLS_H
#define REIN_POLICY_CALLS_H

#include "script-model.h"

/* The function that a command calls; NULL: none. */
const struct script_function *
called_function(const struct script *script, const struct word *words, size_t n);

/* Puts what the words of a call (the function's name first) stand for into a copy of a command's
 * words. 1 when that makes them others, 0 when it does not, -ENOMEM. */
int fill_arguments(const struct words *command,
                   const struct word *call,
                   size_t n,
                   struct words *ret);

#endif
