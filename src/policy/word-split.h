/*
 * A command's text to words, as a shell makes them, without a shell: quotes and backslashes go,
 * `$NAME`, `${NAME}` and a leading `~` are replaced outside single quotes (what is not known stays
 * as it is), and one value is one word. What only a shell can do is refused.
 *
 * Pure: the variables come from the caller. It judges no command.
 */
#ifndef REIN_POLICY_WORD_SPLIT_H
#define REIN_POLICY_WORD_SPLIT_H

#include "rein.h"

/* env: NULL-terminated "NAME=VALUE". *ret is a vector of at least one word. "shell_syntax", or
 * "bad_request" for quotes that are not closed and for a text without a word. A text that is one
 * quoted word with a blank in it is a command that somebody quoted once too often: its inside is
 * split. */
int words_split(const char *command,
                const char *const *env,
                char ***ret,
                struct rein_error **reterr);

/* A path: `~` and variables as above, and nothing else is special. NULL when there is no memory. */
char *path_expand(const char *path, const char *const *env);

#endif
