/*
 * Where the values of options come from, strongest first: the command line, REIN_* variables, the
 * user's configuration file, the system's. Weaker sources are applied first, so that a stronger one
 * overwrites; options that may be given several times add up in that order.
 *
 * A source that is not there costs one system call or none. What values mean is not known here.
 */
#ifndef REIN_CLI_SETTINGS_H
#define REIN_CLI_SETTINGS_H

#include "options.h"

struct settings_sources {
    const char *system_file;      /* or NULL */
    const char *user_file;        /* or NULL */
    const char *const *variables; /* as environ */
    const struct command_line *line;
};

/* Fills *s, which must be zeroed, for a verb; settings_done() frees it. After a failure it holds
 * everything that was right. */
int settings_load(const struct settings_sources *from,
                  unsigned verb,
                  struct settings *s,
                  struct rein_error **reterr);

/* Applies one configuration file. A missing one is no error. */
int settings_apply_file(const char *path,
                        unsigned verb,
                        struct settings *s,
                        struct rein_error **reterr);

/* Keeps a copy of text as long as s. NULL when there is no memory. */
const char *settings_keep(struct settings *s, const char *text, size_t len);

#endif
