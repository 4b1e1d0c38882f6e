/*
 * A piece of code that runs before the code, outside of its file: line 1 stays line 1. It lies
 * beside the private script, in a folder whose name the interpreter finds in the variable that
 * lists what can be imported.
 *
 * Knows nothing about jobs.
 */
#ifndef REIN_CODE_PRELUDE_H
#define REIN_CODE_PRELUDE_H

#include "script.h"

#define PRELUDE_SIZE_MAX (1 * MIB)

/* How a language takes one. Sizes are known when the program is linked. */
struct prelude {
    const char *name; /* of the file that the interpreter runs by itself */
    const unsigned char *builtin;
    const size_t *builtin_size;
    const unsigned char *runner; /* of a file of the user's */
    const size_t *runner_size;
    const char *runs; /* the name under which the runner looks for that */
};

extern const struct prelude prelude_python;

/* Writes it beside the script: the built-in one, or a copy of file. *ret_dir, the folder's absolute
 * path, is the caller's. "bad_request" for a file that cannot be read. */
int prelude_write(struct script *script,
                  const struct prelude *prelude,
                  const char *file,
                  char **ret_dir,
                  struct rein_error **reterr);

#endif
