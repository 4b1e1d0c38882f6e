/*
 * Finds the interpreter of a language: first in the PATH of the job, then behind a version
 * manager's shim, when what was found is one.
 */
#ifndef REIN_CODE_INTERPRETER_H
#define REIN_CODE_INTERPRETER_H

#include "languages.h"
#include "rein.h"

/* Where a job's interpreter is looked for. All borrowed. */
struct interpreter_place {
    const char *const *env; /* the job's whole environment */
    const char *cwd;        /* its working directory, absolute; NULL when it cannot be entered */
    const char *file_dir;   /* directory of the file to run when it has one of its own, or NULL */
};

/* Looks through path, a list as PATH has it (NULL: the system's default), for the first of the
 * language's interpreters that can be executed; entries that are not absolute are meant from cwd,
 * and passed over when that is NULL. *ret is an absolute path as found: links are not followed, for
 * a virtual environment is known by its link. -ENOENT when there is none. */
int interpreter_find(const struct language *language,
                     const char *path,
                     const char *cwd,
                     char **ret);

/* True when file may be a version manager's shim: a script, or something in a directory of shims.
 */
int interpreter_may_be_shim(const char *file);

/* True when file is in a directory that a version manager keeps for its shims. */
int interpreter_in_shim_dir(const char *file);

/* True when file is a regular file that this process may execute. */
int interpreter_is_executable(const char *file);

/* The whole way: the interpreter that a job with this spec would be run by, real one where there is
 * a shim. spec gives what a shim's answer may depend on. "command_not_found" with a hint. */
int interpreter_locate(rein *r,
                       const struct language *language,
                       const struct rein_spec *spec,
                       const struct interpreter_place *place,
                       char **ret,
                       struct rein_error **reterr);

#endif
