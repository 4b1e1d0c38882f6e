/*
 * Runs code: makes an ordinary job of a language and a text or a file. The way in for programs is
 * rein_start_code() of the public header; this is for what lists languages.
 */
#ifndef REIN_CODE_CODE_H
#define REIN_CODE_CODE_H

#include "languages.h"
#include "rein.h"

/* A file that lies beside the script. */
struct code_file {
    const char *name; /* relative, without ".."; may have folders */
    const char *data;
    size_t size;
};

struct code_files {
    const struct code_file *list;
    size_t n;
};

/* rein_start_code() of a text with files beside it, which may be NULL; where there are some and the
 * spec has no directory, theirs is the job's. */
int code_start(rein *r,
               const struct rein_code *code,
               const struct code_files *files,
               const struct rein_spec *spec,
               rein_job **ret,
               struct rein_error **reterr);

/* The program that code of a language would be run by, with the spec that the job would have: an
 * absolute path, the real interpreter's where PATH leads to a version manager's shim. *ret is the
 * caller's. "command_not_found" with a hint. The first call may take as long as one start of the
 * shim. */
int code_interpreter(rein *r,
                     const struct language *language,
                     const struct rein_spec *spec,
                     char **ret,
                     struct rein_error **reterr);

#endif
