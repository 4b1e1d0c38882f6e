/*
 * Small JSON files in the state directory: each appears by rename, whole, readable for its owner
 * only. Who changes several at once, or one after having read it, holds the lock.
 */
#ifndef REIN_POLICY_STATE_FILE_H
#define REIN_POLICY_STATE_FILE_H

#include <jansson.h>

#include "rein.h"

#define STATE_FILE_MAX (4u << 20) /* bytes */
#define STATE_LOCK_WAIT_MS 5000   /* for another process */

/* Reads a regular file whole; *ret is terminated. 0, -EFBIG over STATE_FILE_MAX, or another
 * negative errno. */
int state_read_text(const char *path, char **ret, size_t *ret_size);

/* *ret: an object, a new reference. 0, -ENOENT, -EFBIG, -EBADMSG for what is none, or another
 * negative errno. dir: absolute. */
int state_file_read(const char *dir, const char *name, json_t **ret);

/* Says why state_file_read() failed, and what to do where the file itself is the fault: errnum. */
int state_file_fail(const char *dir, const char *name, int errnum, struct rein_error **reterr);

/* 0 or a negative errno; after a failure the file is what it was. */
int state_file_write(const char *dir, const char *name, const json_t *object);

/* Takes the lock of a directory, which is made where it is missing. Gives the descriptor that holds
 * it. */
int state_lock(const char *dir, struct rein_error **reterr);

#endif
