/*
 * What configuration files and variables say of the gate: the rules in section [rules], and three
 * keys that are options of the command line, too: approve, ask-level, audit. All other keys are
 * somebody else's.
 *
 * The order of the rules is that of the files: the system's, the user's, the project's, the last
 * one only where it is trusted. So nobody's rules undo those of somebody stronger.
 */
#ifndef REIN_POLICY_POLICY_FILE_H
#define REIN_POLICY_POLICY_FILE_H

#include <stdbool.h>

#include "gate.h"
#include "rules.h"

#define RULES_SECTION "rules"

struct policy_sources {
    const char *system_file, *user_file; /* or NULL; missing files are no error */
    const char *const *variables;        /* as environ; or NULL */
    const char *cwd;                     /* the project's file is there or above; or NULL */
    const char *state_dir;               /* says which projects are trusted */
};

struct policy {
    struct rules rules;
    struct gate_settings settings;
    char *project_dir; /* the one with a project file, or NULL */
    bool project_is_trusted;
};

/* *ret must be zeroed, and is to be given to policy_done() in any case. "bad_request" with file and
 * line. */
int policy_load(const struct policy_sources *from, struct policy *ret, struct rein_error **reterr);
void policy_done(struct policy *policy);

/* A file's text, as policy_load() reads it; for it and for tests. is_project: rules only. */
int policy_parse(const char *text,
                 const char *path,
                 bool is_project,
                 struct policy *ret,
                 struct rein_error **reterr);

#endif
