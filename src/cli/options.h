/*
 * The options of the command line: one table that the parser, the settings (variables and
 * configuration files), the help text, the completion and the check of the manual pages share.
 *
 * Parsing has two steps. options_scan() splits the arguments of a verb into options and operands by
 * the table's syntax alone; settings_load() (settings.h) then applies values, weakest source first,
 * through options_set(). So `--json` is known before the first value is judged, and a value is
 * judged in one place, wherever it comes from.
 *
 * Nothing here starts a job or prints.
 */
#ifndef REIN_CLI_OPTIONS_H
#define REIN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rein.h"

#define HELP_HINT "rein help lists what there is" /* to a name that is none */

/* ---- the table ---------------------------------------------------------------------------- */

enum verb_bit {
    VERB_RUN = 0x1,
    VERB_CODE = 0x2,
    VERB_CONFIG = 0x4,
    VERB_COMPLETION = 0x8,
    VERB_HELP = 0x10,
    VERB_START = 0x20,
    VERB_PS = 0x40,
    VERB_OUTPUT = 0x80,
    VERB_WAIT = 0x100,
    VERB_STOP = 0x200,
    VERB_SEND = 0x400,
    VERB_RM = 0x800,
    VERB_GC = 0x1000,
    VERB_TOOL = 0x2000,
    VERB_AUDIT = 0x4000,
    VERB_APPROVALS = 0x8000,
    VERB_APPROVE = 0x10000,
    VERB_DENY = 0x20000,
    VERB_POLICY = 0x40000,
};

enum option_id {
    OPT_TIMEOUT,
    OPT_GRACE,
    OPT_AFTER,
    OPT_CWD,
    OPT_ENV,
    OPT_ENV_KEEP,
    OPT_ENV_PROFILE,
    OPT_SECRET,
    OPT_SHELL,
    OPT_CODE,
    OPT_LIST,
    OPT_PRELUDE,
    OPT_STDIN,
    OPT_PASS_FD,
    OPT_NAME,
    OPT_SPLIT,
    OPT_OUTPUT_LIMIT,
    OPT_ON_OUTPUT_LIMIT,
    OPT_SHOW,
    OPT_RENDER,
    OPT_ENCODING,
    OPT_JSON,
    OPT_JSONL,
    OPT_MEMORY,
    OPT_CPU_TIME,
    OPT_PROCS,
    OPT_FILE_SIZE,
    OPT_DETACH,
    OPT_OWNER,
    OPT_SESSION,
    OPT_NOTIFY,
    OPT_GATE,
    OPT_APPROVE,
    OPT_YES,
    OPT_ASK_LEVEL,
    OPT_ALLOW_DANGEROUS,
    OPT_AUDIT,
    OPT_ALWAYS,
    OPT_FOR_SESSION,
    OPT_REASON,
    OPT_TOOL,
    /* of the verbs for jobs that are there: what to do, in this call */
    OPT_ALL,
    OPT_ONLY_SESSION,
    OPT_LINES,
    OPT_AUDIT_LINES,
    OPT_SINCE,
    OPT_FOLLOW,
    OPT_GREP,
    OPT_FOR,
    OPT_ANY,
    OPT_WAIT_TIMEOUT,
    OPT_STOP_GRACE,
    OPT_EOF,
    OPT_LINE,
    OPT_SIGNAL,
    OPT_HELP,
    /* known, but refused by this version */
    OPT_SESSION_LATER,
    OPT_DISK,
    OPT_SANDBOX,
    OPT_BEST_EFFORT,
    OPT_NET,
    OPT_RO,
    OPT_RW,
    OPT_HIDE,
    OPT_DETACH_LATER,
    OPT_OWNER_LATER,
    OPTION_MAX,
};

enum option_kind {
    KIND_FLAG,     /* bool; takes a value only in variables and files */
    KIND_FORMAT,   /* a flag that chooses an output format: .format */
    KIND_DURATION, /* int64_t, nanoseconds */
    KIND_SIZE,     /* uint64_t, bytes */
    KIND_COUNT,    /* uint64_t */
    KIND_CHOICE,   /* int, one of .choices */
    KIND_STRING,   /* const char * */
    KIND_VARIABLE, /* one more of a vector of names or variables at each use */
    KIND_FD,       /* one more of pass_fds at each use */
    KIND_LATER,    /* refused, unless the value is what this version does anyway */
};

enum option_group {
    GROUP_TIME,
    GROUP_WHAT,
    GROUP_BACKGROUND,
    GROUP_ENVIRONMENT,
    GROUP_INPUT,
    GROUP_OUTPUT,
    GROUP_LIMITS,
    GROUP_GATE,
    GROUP_OTHER,
    GROUP_LATER,
    GROUP_MAX,
};

struct choice {
    const char *name;
    int value;
};

#define OPTION_PER_CALL 0x1u /* says what to do, not how: no variable, no configuration key */

struct option {
    const char *name;  /* long name without dashes; NULL: only the short one */
    char short_name;   /* or 0 */
    uint8_t kind;      /* enum option_kind */
    uint8_t group;     /* enum option_group */
    uint32_t verbs;    /* enum verb_bit; a name may stand for several options of different verbs */
    uint8_t flags;     /* OPTION_* */
    int format;        /* KIND_FORMAT: enum output_format */
    uint64_t min;      /* KIND_SIZE, KIND_COUNT: the smallest value */
    size_t offset;     /* in struct settings */
    const char *arg;   /* name of the value in help texts; NULL: takes none */
    const char *unset; /* the default in words, for people */
    const char *help;
    const struct choice *choices; /* ends with a NULL name */
    const char *same_as_now;      /* KIND_LATER: the value that is accepted */
};

extern const struct option option_table[OPTION_MAX];

const struct option *option_find(const char *name, size_t len, unsigned verb);
const struct option *option_find_short(char short_name, unsigned verb);

/* Takes a value: "--name=VALUE" or the next argument. */
bool option_takes_value(const struct option *o);

/* May be given several times; the values add up. */
bool option_is_repeatable(const struct option *o);

#define OPTION_SPELLING_SIZE 32

/* Writes "--timeout", or "-c" for an option without a long name. Returns buf. */
const char *option_spell(const struct option *o, char buf[static OPTION_SPELLING_SIZE]);

/* Writes the variable of an option, "REIN_CPU_TIME". Returns buf. */
const char *option_variable(const struct option *o, char buf[static OPTION_SPELLING_SIZE]);

/* ---- values ------------------------------------------------------------------------------- */

enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL };

enum setting_source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_VARIABLE, SOURCE_FLAG };

struct origin {
    enum setting_source source;
    const char *name; /* SOURCE_FILE: its path; SOURCE_VARIABLE: its name */
    int line;         /* SOURCE_FILE */
};

/* One of the values of an option that may be given several times. */
struct repeated_value {
    enum option_id id;
    const char *text;
    struct origin origin;
};

#define PASS_FDS_MAX 64
#define PASS_FD_MIN 3
#define PASS_FD_MAX 1023

/* All options with their effective values. Strings are borrowed from argv and the environment, or
 * belong to .owned. */
struct settings {
    int64_t timeout_ns, grace_ns, cpu_time_ns;
    uint64_t output_limit, show, memory, procs, file_size, owner, lines, since;
    int after, env_profile, on_output_limit, render, encoding, format, approve, ask_level, audit;
    bool split, shell, list, help, detach, all, follow, any, eof, line, gate, yes, allow_dangerous,
        always, for_session;
    const char *cwd, *name, *stdin_from, *code, *session, *notify, *grep, *wait_for, *signal,
        *prelude, *reason, *tool;
    char **env; /* of -e, in the order given */
    char **env_keep;
    char **secrets;
    int pass_fds[PASS_FDS_MAX];
    size_t n_pass_fds;

    struct origin origins[OPTION_MAX]; /* of the strongest source that set it */
    const char *texts[OPTION_MAX];     /* its value as written; NULL when not set, or a bare flag */
    struct repeated_value *repeated;   /* all of them, in the order given */
    size_t n_repeated;
    char **owned;
};

void settings_done(struct settings *s);

static inline bool settings_given(const struct settings *s, enum option_id id)
{
    return s->origins[id].source != SOURCE_DEFAULT;
}

/* Applies one value; NULL is a flag without one. On failure "bad_request" with a text that begins
 * with the place the value comes from: "--timeout: '5x' is not a duration". */
int options_set(struct settings *s,
                const struct option *o,
                const char *value,
                const struct origin *origin,
                struct rein_error **reterr);

/* ---- command line ------------------------------------------------------------------------- */

struct option_use {
    const struct option *option;
    const char *value; /* NULL: a flag without one */
};

#define OPERANDS_ANYWHERE 0x1u /* options may stand after operands; without it they end there */

/* What a verb's arguments consist of. Everything points into argv. */
struct command_line {
    struct option_use *uses;
    size_t n_uses;
    const char **operands; /* OPERANDS_ANYWHERE: what is neither an option nor after "--" */
    size_t n_operands;
    const char *const *rest; /* NULL-terminated, never NULL: what follows "--", or without
                                OPERANDS_ANYWHERE from the first operand on */
};

void command_line_done(struct command_line *cl);

/* Splits argv (NULL-terminated, without program and verb). *cl must be zeroed, is filled as far as
 * possible on failure too, so that the caller finds a --json in it, and is the caller's in any
 * case. The error tells about the first mistake. */
int options_scan(unsigned verb,
                 unsigned flags,
                 const char *const *argv,
                 struct command_line *cl,
                 struct rein_error **reterr);

#endif
