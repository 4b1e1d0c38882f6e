/* The table of options. A new option is a row here, an id, and a field of struct settings. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "text/text.h"

#define JOB_VERBS (VERB_RUN | VERB_CODE)
#define ALL_VERBS (JOB_VERBS | VERB_CONFIG | VERB_COMPLETION | VERB_HELP)
#define FIELD(name) offsetof(struct settings, name)

static const struct choice after_choices[] = {
    {"kill", REIN_AFTER_KILL}, {"wait", REIN_AFTER_WAIT}, {"keep", REIN_AFTER_KEEP}, {NULL, 0}};
static const struct choice env_profile_choices[] = {
    {"agent", REIN_ENV_AGENT}, {"inherit", REIN_ENV_INHERIT}, {"clean", REIN_ENV_CLEAN}, {NULL, 0}};
static const struct choice output_limit_choices[] = {
    {"drop", REIN_OUTPUT_DROP}, {"kill", REIN_OUTPUT_KILL}, {NULL, 0}};
static const struct choice render_choices[] = {
    {"clean", TEXT_CLEAN}, {"plain", TEXT_PLAIN}, {"raw", TEXT_RAW}, {NULL, 0}};
static const struct choice encoding_choices[] = {
    {"auto", TEXT_ENC_AUTO}, {"utf-8", TEXT_ENC_UTF8}, {"gbk", TEXT_ENC_GBK}, {NULL, 0}};

const struct option option_table[OPTION_MAX] = {
    /* ---- time and end */
    [OPT_TIMEOUT] = {.name = "timeout",
                     .short_name = 't',
                     .kind = KIND_DURATION,
                     .group = GROUP_TIME,
                     .verbs = JOB_VERBS,
                     .offset = FIELD(timeout_ns),
                     .arg = "DUR",
                     .unset = "none",
                     .help = "hard deadline for the whole process tree; 0 means none"},
    [OPT_GRACE] = {.name = "grace",
                   .kind = KIND_DURATION,
                   .group = GROUP_TIME,
                   .verbs = JOB_VERBS,
                   .offset = FIELD(grace_ns),
                   .arg = "DUR",
                   .unset = "5s for a stop, else 0",
                   .help = "time between SIGTERM and SIGKILL; 0 means SIGKILL at once"},
    [OPT_AFTER] = {.name = "after",
                   .kind = KIND_CHOICE,
                   .group = GROUP_TIME,
                   .verbs = JOB_VERBS,
                   .offset = FIELD(after),
                   .arg = "kill|wait|keep",
                   .unset = "kill",
                   .help = "descendants still alive when the main process has ended",
                   .choices = after_choices},

    /* ---- what runs */
    [OPT_SHELL] = {.name = "shell",
                   .kind = KIND_FLAG,
                   .group = GROUP_WHAT,
                   .verbs = VERB_RUN,
                   .offset = FIELD(shell),
                   .unset = "no",
                   .help = "COMMAND is one string, a script for `bash -c`"},
    [OPT_CODE] = {.short_name = 'c',
                  .kind = KIND_STRING,
                  .group = GROUP_WHAT,
                  .verbs = VERB_CODE,
                  .flags = OPTION_PER_CALL,
                  .offset = FIELD(code),
                  .arg = "CODE",
                  .unset = "FILE, else standard input",
                  .help = "the code to run"},
    [OPT_LIST] = {.name = "list",
                  .kind = KIND_FLAG,
                  .group = GROUP_WHAT,
                  .verbs = VERB_CODE,
                  .flags = OPTION_PER_CALL,
                  .offset = FIELD(list),
                  .unset = "no",
                  .help = "list the languages and end"},
    [OPT_CWD] = {.name = "cwd",
                 .short_name = 'C',
                 .kind = KIND_STRING,
                 .group = GROUP_WHAT,
                 .verbs = JOB_VERBS,
                 .offset = FIELD(cwd),
                 .arg = "DIR",
                 .unset = "the caller's",
                 .help = "working directory; a missing one is an error"},
    [OPT_NAME] = {.name = "name",
                  .kind = KIND_STRING,
                  .group = GROUP_WHAT,
                  .verbs = JOB_VERBS,
                  .offset = FIELD(name),
                  .arg = "TEXT",
                  .unset = "none",
                  .help = "a label for people"},

    /* ---- environment */
    [OPT_ENV] = {.name = "env",
                 .short_name = 'e',
                 .kind = KIND_VARIABLE,
                 .group = GROUP_ENVIRONMENT,
                 .verbs = JOB_VERBS,
                 .offset = FIELD(env),
                 .arg = "NAME=VALUE",
                 .unset = "none",
                 .help = "set a variable; NAME alone passes the caller's on; repeatable"},
    [OPT_ENV_KEEP] = {.name = "env-keep",
                      .kind = KIND_VARIABLE,
                      .group = GROUP_ENVIRONMENT,
                      .verbs = JOB_VERBS,
                      .offset = FIELD(env),
                      .arg = "NAME",
                      .unset = "none",
                      .help = "pass the caller's variable on, whatever the profile; repeatable"},
    [OPT_ENV_PROFILE] = {.name = "env-profile",
                         .kind = KIND_CHOICE,
                         .group = GROUP_ENVIRONMENT,
                         .verbs = JOB_VERBS,
                         .offset = FIELD(env_profile),
                         .arg = "agent|inherit|clean",
                         .unset = "agent",
                         .help = "the caller's environment without prompts, pagers, colours and "
                                 "buffering; unchanged; or a short allow-list",
                         .choices = env_profile_choices},

    /* ---- input */
    [OPT_STDIN] = {.name = "stdin",
                   .kind = KIND_STRING,
                   .group = GROUP_INPUT,
                   .verbs = JOB_VERBS,
                   .offset = FIELD(stdin_from),
                   .arg = "null|inherit|FILE",
                   .unset = "null",
                   .help = "standard input: nothing, the caller's, or a file"},
    [OPT_PASS_FD] = {.name = "pass-fd",
                     .kind = KIND_FD,
                     .group = GROUP_INPUT,
                     .verbs = JOB_VERBS,
                     .offset = FIELD(pass_fds),
                     .arg = "N",
                     .unset = "only 0, 1 and 2",
                     .help = "let descriptor N through; repeatable"},

    /* ---- output */
    [OPT_SPLIT] = {.name = "split",
                   .kind = KIND_FLAG,
                   .group = GROUP_OUTPUT,
                   .verbs = JOB_VERBS,
                   .offset = FIELD(split),
                   .unset = "no",
                   .help = "keep standard output and standard error apart"},
    [OPT_OUTPUT_LIMIT] = {.name = "output-limit",
                          .kind = KIND_SIZE,
                          .group = GROUP_OUTPUT,
                          .verbs = JOB_VERBS,
                          .offset = FIELD(output_limit),
                          .min = 4096,
                          .arg = "SIZE",
                          .unset = "64M",
                          .help = "bytes of output kept: first quarter and last three quarters"},
    [OPT_ON_OUTPUT_LIMIT] = {.name = "on-output-limit",
                             .kind = KIND_CHOICE,
                             .group = GROUP_OUTPUT,
                             .verbs = JOB_VERBS,
                             .offset = FIELD(on_output_limit),
                             .arg = "drop|kill",
                             .unset = "drop",
                             .help = "beyond it: drop the middle, or end the job",
                             .choices = output_limit_choices},
    [OPT_SHOW] = {.name = "show",
                  .kind = KIND_SIZE,
                  .group = GROUP_OUTPUT,
                  .verbs = JOB_VERBS,
                  .offset = FIELD(show),
                  .min = 1,
                  .arg = "SIZE",
                  .unset = "64K in JSON, else everything",
                  .help = "bytes shown, head and tail"},
    [OPT_RENDER] = {.name = "render",
                    .kind = KIND_CHOICE,
                    .group = GROUP_OUTPUT,
                    .verbs = JOB_VERBS,
                    .offset = FIELD(render),
                    .arg = "clean|plain|raw",
                    .unset = "clean in JSON, else the bytes as they are",
                    .help = "as a terminal would show it; without escape sequences; everything",
                    .choices = render_choices},
    [OPT_ENCODING] = {.name = "encoding",
                      .kind = KIND_CHOICE,
                      .group = GROUP_OUTPUT,
                      .verbs = JOB_VERBS,
                      .offset = FIELD(encoding),
                      .arg = "auto|utf-8|gbk",
                      .unset = "auto",
                      .help = "how the bytes are to be read",
                      .choices = encoding_choices},
    [OPT_JSON] = {.name = "json",
                  .kind = KIND_FORMAT,
                  .group = GROUP_OUTPUT,
                  .verbs = JOB_VERBS | VERB_CONFIG,
                  .format = FORMAT_JSON,
                  .offset = FIELD(format),
                  .unset = "no",
                  .help = "print one JSON object and nothing else"},
    [OPT_JSONL] = {.name = "jsonl",
                   .kind = KIND_FORMAT,
                   .group = GROUP_OUTPUT,
                   .verbs = JOB_VERBS,
                   .format = FORMAT_JSONL,
                   .offset = FIELD(format),
                   .unset = "no",
                   .help = "print one JSON event a line: started, output, exit"},

    /* ---- limits */
    [OPT_MEMORY] = {.name = "memory",
                    .kind = KIND_SIZE,
                    .group = GROUP_LIMITS,
                    .verbs = JOB_VERBS,
                    .offset = FIELD(memory),
                    .arg = "SIZE",
                    .unset = "none",
                    .help = "memory"},
    [OPT_CPU_TIME] = {.name = "cpu-time",
                      .kind = KIND_DURATION,
                      .group = GROUP_LIMITS,
                      .verbs = JOB_VERBS,
                      .offset = FIELD(cpu_time_ns),
                      .arg = "DUR",
                      .unset = "none",
                      .help = "processor time, in whole seconds"},
    [OPT_PROCS] = {.name = "procs",
                   .kind = KIND_COUNT,
                   .group = GROUP_LIMITS,
                   .verbs = JOB_VERBS,
                   .offset = FIELD(procs),
                   .arg = "N",
                   .unset = "none",
                   .help = "processes and threads"},
    [OPT_FILE_SIZE] = {.name = "file-size",
                       .kind = KIND_SIZE,
                       .group = GROUP_LIMITS,
                       .verbs = JOB_VERBS,
                       .offset = FIELD(file_size),
                       .arg = "SIZE",
                       .unset = "none",
                       .help = "the largest file that may be written"},

    /* ---- other */
    [OPT_HELP] = {.name = "help",
                  .short_name = 'h',
                  .kind = KIND_FLAG,
                  .group = GROUP_OTHER,
                  .verbs = ALL_VERBS,
                  .flags = OPTION_PER_CALL,
                  .offset = FIELD(help),
                  .unset = "no",
                  .help = "this text"},

    /* ---- not in this version: refused by name instead of ignored */
    [OPT_SESSION] = {.name = "session",
                     .kind = KIND_LATER,
                     .group = GROUP_LATER,
                     .verbs = JOB_VERBS,
                     .arg = "NAME"},
    [OPT_PRELUDE] = {.name = "prelude",
                     .kind = KIND_LATER,
                     .group = GROUP_LATER,
                     .verbs = JOB_VERBS,
                     .arg = "FILE|none",
                     .same_as_now = "none"},
    [OPT_DISK] = {.name = "disk",
                  .kind = KIND_LATER,
                  .group = GROUP_LATER,
                  .verbs = JOB_VERBS,
                  .arg = "SIZE"},
    [OPT_SANDBOX] = {.name = "sandbox",
                     .kind = KIND_LATER,
                     .group = GROUP_LATER,
                     .verbs = JOB_VERBS,
                     .arg = "off|workspace|strict",
                     .same_as_now = "off"},
    [OPT_BEST_EFFORT] = {.name = "best-effort",
                         .kind = KIND_LATER,
                         .group = GROUP_LATER,
                         .verbs = JOB_VERBS},
    [OPT_NET] = {.name = "net",
                 .kind = KIND_LATER,
                 .group = GROUP_LATER,
                 .verbs = JOB_VERBS,
                 .arg = "none|session|host|DOMAIN"},
    [OPT_RO] =
        {.name = "ro", .kind = KIND_LATER, .group = GROUP_LATER, .verbs = JOB_VERBS, .arg = "PATH"},
    [OPT_RW] =
        {.name = "rw", .kind = KIND_LATER, .group = GROUP_LATER, .verbs = JOB_VERBS, .arg = "PATH"},
    [OPT_HIDE] = {.name = "hide",
                  .kind = KIND_LATER,
                  .group = GROUP_LATER,
                  .verbs = JOB_VERBS,
                  .arg = "PATH"},
    [OPT_DETACH] = {.name = "detach", .kind = KIND_LATER, .group = GROUP_LATER, .verbs = JOB_VERBS},
    [OPT_OWNER] = {.name = "owner",
                   .kind = KIND_LATER,
                   .group = GROUP_LATER,
                   .verbs = JOB_VERBS,
                   .arg = "PID"},
    [OPT_GATE] = {.name = "gate", .kind = KIND_LATER, .group = GROUP_LATER, .verbs = JOB_VERBS},
    [OPT_APPROVE] = {.name = "approve",
                     .kind = KIND_LATER,
                     .group = GROUP_LATER,
                     .verbs = JOB_VERBS,
                     .arg = "ask|auto|never"},
    [OPT_YES] = {.name = "yes", .kind = KIND_LATER, .group = GROUP_LATER, .verbs = JOB_VERBS},
    [OPT_ALLOW_DANGEROUS] = {.name = "allow-dangerous",
                             .kind = KIND_LATER,
                             .group = GROUP_LATER,
                             .verbs = JOB_VERBS},
};

static bool has_name(const struct option *o, const char *name, size_t len)
{
    return o->name && strlen(o->name) == len && memcmp(o->name, name, len) == 0;
}

const struct option *option_find(const char *name, size_t len, unsigned verb)
{
    for (size_t i = 0; i < OPTION_MAX; i++)
        if ((option_table[i].verbs & verb) && has_name(&option_table[i], name, len))
            return &option_table[i];
    return NULL;
}

const struct option *option_find_short(char short_name, unsigned verb)
{
    for (size_t i = 0; i < OPTION_MAX; i++)
        if ((option_table[i].verbs & verb) && option_table[i].short_name == short_name)
            return &option_table[i];
    return NULL;
}

bool option_takes_value(const struct option *o)
{
    return o->arg != NULL;
}

bool option_is_repeatable(const struct option *o)
{
    return o->kind == KIND_VARIABLE || o->kind == KIND_FD;
}

const char *option_spell(const struct option *o, char buf[static OPTION_SPELLING_SIZE])
{
    if (o->name)
        (void)snprintf(buf, OPTION_SPELLING_SIZE, "--%s", o->name);
    else
        (void)snprintf(buf, OPTION_SPELLING_SIZE, "-%c", o->short_name);
    return buf;
}

const char *option_variable(const struct option *o, char buf[static OPTION_SPELLING_SIZE])
{
    size_t n = (size_t)snprintf(buf, OPTION_SPELLING_SIZE, "REIN_%s", o->name);

    for (size_t i = 0; i < n && i < OPTION_SPELLING_SIZE; i++) {
        if (buf[i] == '-')
            buf[i] = '_';
        else if (buf[i] >= 'a' && buf[i] <= 'z')
            buf[i] = (char)(buf[i] - 'a' + 'A');
    }
    return buf;
}
