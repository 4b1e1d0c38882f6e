/*
 * What of a command would need a shell: redirections, pipes, chains, substitutions. It looks at one
 * place of a text; which places are quoted is the splitter's to know.
 */
#ifndef REIN_POLICY_SHELL_SYNTAX_H
#define REIN_POLICY_SHELL_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

#include "rein.h"

/* The length of the token that begins at text, 0 when there is none. in_double_quotes: only the
 * substitutions that a shell makes there. */
size_t shell_token_length(const char *text, bool in_double_quotes);

/* "shell_syntax", with the token and its place in the command. */
int shell_syntax_refuse(const char *command, size_t at, size_t len, struct rein_error **reterr);

#endif
