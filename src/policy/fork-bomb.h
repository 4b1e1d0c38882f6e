/* Functions of a script that start themselves without end, under whatever name. */
#ifndef REIN_POLICY_FORK_BOMB_H
#define REIN_POLICY_FORK_BOMB_H

#include "script-model.h"

/* The index of a command that is part of one, SIZE_MAX when there is none. */
size_t script_fork_bomb(const struct script *script);

#endif
