/*
 * What the answer of a version manager's shim depends on, as a text: the shim itself, the working
 * directory, the manager's variables, and the files that name a version, near and global ones. As
 * long as the text is the same, so is the answer.
 */
#ifndef REIN_CODE_SHIM_KEY_H
#define REIN_CODE_SHIM_KEY_H

#include "base/buf.h"
#include "interpreter.h"

/* Appends the key, whole lines. 0; -EINVAL when something in it holds a newline or is missing, so
 * that nothing can be remembered; or the buffer's error. */
int shim_key(const struct language *language,
             const char *shim,
             const struct interpreter_place *place,
             struct buf *key);

/* True when a manager that looks for version files from dir finds the same ones as from place->cwd.
 */
int shim_same_versions(const struct language *language,
                       const struct interpreter_place *place,
                       const char *dir);

/* True for a variable that belongs to a version manager. entry is "NAME=VALUE". */
int shim_is_manager_variable(const char *entry);

#endif
