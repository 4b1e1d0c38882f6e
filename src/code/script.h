/*
 * The private file that code given as text runs from: script.ai.<extension>, alone in a directory
 * of its own below STATE/code, or below $TMPDIR or /tmp where the state directory cannot be
 * written. The directory is locked (flock) as long as its job lives: the lock, not an age or a pid,
 * tells a sweeper what a crash has left behind.
 *
 * Knows nothing about interpreters or jobs.
 */
#ifndef REIN_CODE_SCRIPT_H
#define REIN_CODE_SCRIPT_H

#include <errno.h>
#include <stddef.h>

#include "base/macro.h"
#include "languages.h"
#include "rein.h"

#define CODE_SIZE_MAX (64 * MIB)

struct script {
    char *dir;  /* absolute */
    char *file; /* absolute, in dir */
    int dir_fd; /* of dir, locked; lives on in the supervisor */
};

#define SCRIPT_UNSET                                                                               \
    {                                                                                              \
        .dir_fd = -EBADF                                                                           \
    }

/* Writes text to a new private file, and sweeps away what earlier crashes left. "limit_exceeded"
 * for text over CODE_SIZE_MAX, "spawn_failed" when there is no place to write to. */
int script_create(rein *r,
                  const struct language *language,
                  const char *text,
                  size_t size,
                  struct script *ret,
                  struct rein_error **reterr);

/* Writes a file beside the script, in folders that are made as needed. "bad_request" for a name
 * that is not relative, leads out, or is taken; "limit_exceeded" for a size over CODE_SIZE_MAX. */
int script_add_file(struct script *script,
                    const char *name,
                    const char *data,
                    size_t size,
                    struct rein_error **reterr);

/* Removes the directory with all that is in it, and frees the rest. An unset one is fine. */
void script_discard(struct script *script);

/* Frees what describes the file, which stays. An unset one is fine. */
void script_done(struct script *script);

/* Removes script directories below dir_fd that nobody has locked: a bounded number at a time. */
void script_sweep(int dir_fd);

#endif
