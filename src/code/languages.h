/*
 * The languages that rein runs, one row each. A new language is a new row and nothing else: what is
 * special about one stands here as data, and no other file asks for a language by name.
 */
#ifndef REIN_CODE_LANGUAGES_H
#define REIN_CODE_LANGUAGES_H

#include <stddef.h>

#include "rein.h"

#define LANGUAGE_ALIASES_MAX 4
#define LANGUAGE_INTERPRETERS_MAX 2
#define LANGUAGE_ARGUMENTS_MAX 4
#define LANGUAGE_STARTUP_VARIABLES_MAX 2
#define LANGUAGE_IMPORT_DIRS_MAX 2
#define LANGUAGE_VERSION_FILES_MAX 3

/* Every array ends with a NULL, also a full one. */
struct language {
    const char *name;
    const char *aliases[LANGUAGE_ALIASES_MAX + 1];
    const char *extension; /* of the file that code is written to */

    const char *interpreters[LANGUAGE_INTERPRETERS_MAX + 1]; /* looked up in PATH, in this order */
    const char *arguments[LANGUAGE_ARGUMENTS_MAX + 1];       /* before the file */
    const char *install_hint;

    /* Variables that make the interpreter run a start-up file of the user's before the code. */
    const char *startup_variables[LANGUAGE_STARTUP_VARIABLES_MAX + 1];

    /* How code that runs from a private file can import from the working directory: a variable that
     * lists directories, and those below the working directory that belong on it ("" is itself).
     * NULL where the language has no such thing. */
    const char *import_variable;
    const char *import_dirs[LANGUAGE_IMPORT_DIRS_MAX + 1];

    /* A file that has to lie beside the private one, or NULL. */
    const char *companion_name;
    const char *companion_text;

    /* Arguments that make an interpreter print its own path, a NUL, and then its arguments and
     * environment as /proc has them: they tell what stands behind a version manager's shim, and
     * what the shim changes. Empty where there are no such managers. */
    const char *probe[LANGUAGE_ARGUMENTS_MAX + 1];

    /* What a version manager reads, beside the files common to all (see shim-key.c), up the tree
     * from the working directory. */
    const char *version_files[LANGUAGE_VERSION_FILES_MAX + 1];

    /* How it runs something before the code; or NULL. */
    const struct prelude *prelude;

    int takes_nul; /* code may hold NUL bytes */
};

size_t language_count(void);
const struct language *language_at(size_t i);

/* Finds a language by its name or an alias, whatever the case; NULL when there is none. */
const struct language *language_find(const char *name);

/* The same, with an error ("bad_request") that lists the names there are. */
int language_require(const char *name, const struct language **ret, struct rein_error **reterr);

#endif
