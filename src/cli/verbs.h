/*
 * The verbs of the program. Each has a file of its own with a function of this shape, and a row in
 * the table, from which the help text and the completion are made, too.
 */
#ifndef REIN_CLI_VERBS_H
#define REIN_CLI_VERBS_H

#include <stddef.h>

#include "options.h"

/* What a verb is called with. */
struct call {
    const struct verb *verb;
    struct command_line line;
    struct settings settings;
    char *user_file; /* of the settings; or NULL */
};

struct verb {
    const char *name;
    const char *usage;   /* what follows "rein NAME " */
    const char *summary; /* NULL: known, but not in this version */
    unsigned bit;        /* enum verb_bit: which options it has */
    unsigned scan_flags; /* of options_scan() */
    int usage_exit;      /* exit status of a mistake in the arguments */
    /* Gives the exit status, or a negative errno with *reterr. */
    int (*run)(struct call *call, struct rein_error **reterr);
};

const struct verb *verb_find(const char *name);
const struct verb *verb_table(size_t *ret_count);

int verb_run(struct call *call, struct rein_error **reterr);
int verb_code(struct call *call, struct rein_error **reterr);
int verb_start(struct call *call, struct rein_error **reterr);
int verb_ps(struct call *call, struct rein_error **reterr);
int verb_output(struct call *call, struct rein_error **reterr);
int verb_wait(struct call *call, struct rein_error **reterr);
int verb_stop(struct call *call, struct rein_error **reterr);
int verb_send(struct call *call, struct rein_error **reterr);
int verb_rm(struct call *call, struct rein_error **reterr);
int verb_gc(struct call *call, struct rein_error **reterr);
int verb_tool(struct call *call, struct rein_error **reterr);
int verb_audit(struct call *call, struct rein_error **reterr);
int verb_approvals(struct call *call, struct rein_error **reterr);
int verb_approve(struct call *call, struct rein_error **reterr);
int verb_deny(struct call *call, struct rein_error **reterr);
int verb_policy(struct call *call, struct rein_error **reterr);
int verb_config(struct call *call, struct rein_error **reterr);
int verb_completion(struct call *call, struct rein_error **reterr);
int verb_help(struct call *call, struct rein_error **reterr);

/* The help text of the program, or of a verb. */
int help_print(const struct verb *verb, struct rein_error **reterr);

#endif
