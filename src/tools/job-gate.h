/*
 * The gate in front of whatever starts a job: the tools, and a person's run, code and start that
 * asked for it. Makes what the gate judges out of a spec, and writes down how jobs ended.
 */
#ifndef REIN_TOOLS_JOB_GATE_H
#define REIN_TOOLS_JOB_GATE_H

#include "policy/gate.h"
#include "policy/policy-file.h"
#include "rein.h"

struct code_files;

struct job_gate {
    struct policy policy;
    struct gate gate;
    struct gate_pass pass;
    const char *tool;
    bool is_open;
    bool has_decided; /* and written that down */
};

/* Reads the configuration; its settings are replaced by others, where those are not NULL. *g must
 * be zeroed, and is to be given to job_gate_done() in any case. asker: or NULL. */
int job_gate_open(struct job_gate *g,
                  const rein *r,
                  const char *tool,
                  const struct gate_settings *settings,
                  const struct gate_asker *asker,
                  struct rein_error **reterr);
void job_gate_done(struct job_gate *g);

/* Is it the name of a tool, or of a person's verb that may pass the gate? */
bool job_gate_knows(const char *tool);

/* A job that is about to be started. All borrowed. */
struct job_intent {
    const struct rein_spec *spec;
    const struct rein_code *code;   /* instead of spec->argv; or NULL */
    const struct code_files *files; /* beside the code; or NULL */
    const char *input;              /* text for its standard input, or NULL */
    size_t input_size;
    bool allow_dangerous;
};

/* Judges a job. 0: it may be started. */
int job_gate_judge(struct job_gate *g, const struct job_intent *intent, struct rein_error **reterr);

/* What it would say, without a trace. *ret is to be given to gate_verdict_done() in any case, while
 * *g is open. */
int job_gate_look(const struct job_gate *g,
                  const struct job_intent *intent,
                  struct gate_verdict *ret,
                  struct rein_error **reterr);

/* Judges a call that starts nothing; of its arguments process_id is shown. */
int job_gate_judge_call(struct job_gate *g,
                        json_t *arguments,
                        const char *session,
                        struct rein_error **reterr);

/* Writes down that a call failed before it was judged. */
void job_gate_note_refusal(struct job_gate *g, const struct rein_error *why);

/* Sees to it that the end of a job of the background is written down; a failure is a warning. */
void job_gate_expect_end(struct job_gate *g, const char *process_id);

/* Writes down how a job ended; what goes wrong is left for the pass's warning. */
void job_gate_note_end(struct job_gate *g, const struct rein_result *result);

#endif
