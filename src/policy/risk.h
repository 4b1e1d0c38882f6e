/*
 * How risky a command is, with reasons: a verdict from a table of rules (risk-rules.c) over every
 * simple command that the request starts, seen through wrappers and shells.
 *
 * Pure: nothing is run, no file is looked at. It is a help for those who mean well and a brake for
 * the careless, no boundary. Whether a verdict refuses or asks is decided elsewhere.
 */
#ifndef REIN_POLICY_RISK_H
#define REIN_POLICY_RISK_H

#include <stdbool.h>
#include <stddef.h>

#define RISK_DEPTH_MAX 16               /* commands within commands */
#define RISK_JUDGED_MAX 20000           /* commands that are judged for one request */
#define RISK_TEXT_MAX ((size_t)8 << 20) /* bytes of scripts that are read for one request */
#define RISK_FINDINGS_MAX 32
#define RISK_COMMANDS_MAX 1024                   /* that a verdict lists */
#define RISK_COMMAND_WORDS_MAX 256               /* of each */
#define RISK_COMMAND_BYTES_MAX ((size_t)1 << 20) /* of all */
#define RISK_SHOWN_MAX 400                       /* bytes of the words that a finding shows */

enum risk_level { RISK_LOW, RISK_MEDIUM, RISK_HIGH, RISK_CRITICAL };

const char *risk_level_name(enum risk_level level);           /* low, medium, high, critical */
int risk_level_parse(const char *text, enum risk_level *ret); /* 0 or -EINVAL */

struct risk_request {
    const char *const *argv; /* the final words; with a script what interprets it, or NULL */
    const char *script;      /* text for a shell, or NULL */
    const char *cwd, *home;  /* absolute, or NULL when unknown */
    const char *const *env;  /* the job's "NAME=VALUE", for what $NAME in a script stands for; NULL
                                when unknown */
};

struct risk_finding {
    const char *rule; /* static: which row */
    enum risk_level level;
    bool dangerous;     /* refused without leave that the caller may give */
    bool forbidden;     /* no leave lifts it */
    const char *reason; /* static: why, for a person */
    char *name;         /* of the program that it is about, without folder; "" when there is none */
    char *words;        /* what caused it, quoted for a shell; for a script that cannot be read what
                           is wrong and where */
    char *through;      /* "sudo, sh -c"; NULL: nothing */
};

struct risk_verdict {
    enum risk_level level;
    bool dangerous, forbidden;     /* any finding is */
    bool opaque;                   /* something was not looked into */
    struct risk_finding *findings; /* worst first */
    size_t n_findings;
    char ***commands; /* the words of every simple command, wrappers and what they wrap */
    size_t n_commands;
};

/* The verdict belongs to the caller, who ends it with risk_verdict_done(). 0 or -ENOMEM. */
int risk_judge(const struct risk_request *request, struct risk_verdict *ret);
void risk_verdict_done(struct risk_verdict *verdict);

#endif
