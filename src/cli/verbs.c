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
    {.name = "start",
     .usage = "[OPTIONS] [--] COMMAND [ARG...]",
     .summary = "start a command in the background; prints the job's handle",
     .bit = VERB_START,
     .usage_exit = EXIT_STATUS_FAILED,
     .run = verb_start},
    {.name = "ps",
     .usage = "[--all] [--session NAME] [--json]",
     .summary = "list the jobs of the background",
     .bit = VERB_PS,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_ps},
    {.name = "output",
     .usage = "ID [OPTIONS]",
     .summary = "show what a job wrote",
     .bit = VERB_OUTPUT,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_output},
    {.name = "wait",
     .usage = "ID... [OPTIONS]",
     .summary = "wait for the end of jobs, a line of output, or a port",
     .bit = VERB_WAIT,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_wait},
    {.name = "stop",
     .usage = "ID... | --all [OPTIONS]",
     .summary = "end jobs with all their processes",
     .bit = VERB_STOP,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_stop},
    {.name = "send",
     .usage = "ID [TEXT | -] [OPTIONS]",
     .summary = "send a job input, the end of its input, or a signal",
     .bit = VERB_SEND,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_send},
    {.name = "rm",
     .usage = "ID...",
     .summary = "forget finished jobs and their output",
     .bit = VERB_RM,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_rm},
    {.name = "gc",
     .usage = "[--json]",
     .summary = "forget finished jobs that are old, many or large",
     .bit = VERB_GC,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_gc},
    {.name = "tool",
     .usage = "list [--json] | call NAME [JSON | -] [--jsonl]",
     .summary = "list the tools for models, or call one: JSON in, JSON out",
     .bit = VERB_TOOL,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_tool},
    {.name = "audit",
     .usage = "[verify] [-n LINES] [--json]",
     .summary = "show the audit trail, or look whether it is whole",
     .bit = VERB_AUDIT,
     .scan_flags = OPERANDS_ANYWHERE,
     .usage_exit = EXIT_STATUS_USAGE,
     .run = verb_audit},
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
