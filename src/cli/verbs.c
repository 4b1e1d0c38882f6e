/* The table of verbs. */
#include "verbs.h"

#include <string.h>

#include "base/macro.h"
#include "tools/error-codes.h"

static const struct verb verbs[] = {
    {.name = "run",
     .usage = "[OPTIONS] [--] COMMAND [ARG...]",
     .summary = "run a command, stream its output, wait",
     .bit = VERB_RUN,
     .usage_exit = EXIT_STATUS_FAILED,
     .run = verb_run},
    {.name = "code",
     .usage = "[OPTIONS] LANGUAGE [FILE | -] [-- ARG...]",
     .summary = "run a piece of code: -c CODE, else FILE, else standard input",
     .bit = VERB_CODE,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_FAILED,
     .run = verb_code},
    {.name = "config",
     .usage = "show [--json]",
     .summary = "show the settings and where each comes from",
     .bit = VERB_CONFIG,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_config},
    {.name = "completion",
     .usage = "bash | zsh | fish",
     .summary = "print a completion script for a shell",
     .bit = VERB_COMPLETION,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_completion},
    {.name = "help",
     .usage = "[VERB]",
     .summary = "explain the program, or a verb",
     .bit = VERB_HELP,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_help},

    /* not in this version: refused by name */
    {.name = "start", .usage_exit = EXIT_STATUS_FAILED},
    {.name = "ps", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "output", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "wait", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "stop", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "send", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "rm", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "gc", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "tool", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "mcp", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "doctor", .usage_exit = EXIT_STATUS_USAGE},
    {.name = "mcp-config", .usage_exit = EXIT_STATUS_USAGE},
};

const struct verb *verb_table(size_t *ret_count)
{
    *ret_count = ARRAY_SIZE(verbs);
    return verbs;
}

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}
