/* The table of a shell's tokens. */
#include "shell-syntax.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define HINT_SIZE 256

/* Of two that begin alike the longer one stands first. */
static const char *const tokens[] = {"$(", "`", "||", "|",  "&&", "&>", "&", ";", "<<",
                                     "<(", "<", ">>", ">|", ">(", ">",  "(", ")", "\n"};
enum { SUBSTITUTIONS = 2 }; /* the first ones */

size_t shell_token_length(const char *text, bool in_double_quotes)
{
    size_t n = in_double_quotes ? SUBSTITUTIONS : sizeof(tokens) / sizeof(tokens[0]);

    for (size_t i = 0; i < n; i++)
        if (strncmp(text, tokens[i], strlen(tokens[i])) == 0)
            return strlen(tokens[i]);
    return 0;
}

/* Characters of UTF-8 before a place. */
static size_t count_characters(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

int shell_syntax_refuse(const char *command, size_t at, size_t len, struct rein_error **reterr)
{
    char hint[HINT_SIZE], token[4];

    if (command[at] == '\n')
        (void)snprintf(token, sizeof(token), "\\n");
    else
        (void)snprintf(token, sizeof(token), "%.*s", (int)len, command + at);
    (void)snprintf(hint, sizeof(hint),
                   "'%s' is character %zu of the command; quote it if it is text, make a call for "
                   "each step, give the words as an array, set shell: true to let bash read the "
                   "command, or use code_run with type bash",
                   token, count_characters(command, at) + 1);
    return rein_fail_hint(
        reterr, -EINVAL, "shell_syntax", "command", hint,
        "Shell syntax '%s' is not supported by this executor, which runs commands directly "
        "(shell=False) so untrusted input cannot reach a shell.",
        token);
}
