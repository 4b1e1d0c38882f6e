/*
 * The gate: whether a call may go ahead. What to do is decided from data alone, by gate_judge(),
 * in this order:
 *
 *   what is forbidden           is refused, whatever anybody says
 *   a rule that denies          refuses
 *   a rule that allows          lets go ahead
 *   what is dangerous           is refused, unless the call allows that
 *   a rule that asks,
 *   or a risk from a level on   needs an approval
 *
 * gate_pass() then acts: looks for an approval, asks, writes the audit trail. The gate is a help
 * for honest callers; it is no boundary.
 */
#ifndef REIN_POLICY_GATE_H
#define REIN_POLICY_GATE_H

#include <stdbool.h>

#include "approvals.h"
#include "request.h"
#include "risk.h"
#include "rules.h"

enum gate_mode { GATE_MODE_ASK, GATE_MODE_AUTO, GATE_MODE_NEVER };
enum gate_audit { GATE_AUDIT_ON, GATE_AUDIT_REQUIRED, GATE_AUDIT_OFF };

struct gate_settings {
    enum gate_mode mode;
    enum gate_audit audit;
    enum risk_level ask_level; /* from which on an approval is needed */
    bool ask_level_given;      /* not the default: it holds for code, too */
};

struct gate_settings gate_settings_default(void);
int gate_mode_parse(const char *text, enum gate_mode *ret); /* 0 or -EINVAL */
int gate_audit_parse(const char *text, enum gate_audit *ret);

/* ---- what is judged ----------------------------------------------------------------------- */

struct gate_call {
    const char *tool;    /* "execute_command", …; "run", "code" or "start" of a person */
    const char *session; /* or NULL */
    struct request request;
    const struct risk_request *risk; /* NULL: nothing is started, or code that no shell reads */
    bool is_code;                    /* never refused as dangerous; asks only if somebody says so */
    bool allow_dangerous;
};

enum gate_step { GATE_ALLOW, GATE_ASK, GATE_DANGEROUS, GATE_FORBIDDEN, GATE_DENY };

struct gate_verdict {
    enum gate_step step;
    struct risk_verdict risk;
    const struct rule *rule;          /* that decided or would have, or NULL */
    const struct risk_finding *cause; /* likewise, of the risk */
};

/* *ret is to be given to gate_verdict_done() in any case. 0 or -ENOMEM. */
int gate_judge(const struct gate_settings *settings,
               const struct rules *rules,
               const struct gate_call *call,
               struct gate_verdict *ret);
void gate_verdict_done(struct gate_verdict *verdict);

/* The verdict as people and programs read it: "risk", "reasons" (texts), "findings", "rule". A new
 * reference, or NULL when there is no memory. */
json_t *gate_verdict_json(const struct gate_verdict *verdict);

/* The error of a verdict that refuses; 0 for one that does not. */
int gate_refuse(const struct gate_call *call,
                const struct gate_verdict *verdict,
                struct rein_error **reterr);

/* ---- passing ------------------------------------------------------------------------------ */

enum gate_answer { GATE_ANSWER_NO, GATE_ANSWER_ONCE, GATE_ANSWER_ALWAYS };

/* Somebody who can be asked. request: JSON text, the request with "risk" and "reasons". An enum
 * gate_answer; -ETIMEDOUT when no answer came; another negative errno when there is nobody. */
struct gate_asker {
    int (*ask)(void *userdata, const char *request);
    void *userdata;
};

struct gate {
    const char *state_dir; /* absolute; made when something is written */
    struct gate_settings settings;
    const struct rules *rules;
    struct gate_asker asker; /* .ask may be NULL */
};

/* What a call that went through, or did not, is known by. */
struct gate_pass {
    char digest[DIGEST_TEXT_SIZE];
    char approval_id[APPROVAL_ID_SIZE]; /* of approval_required; else empty */
    char *warning;                      /* or NULL */
};

void gate_pass_done(struct gate_pass *pass);

/* Decides on a call, and writes that down. 0: it may go ahead. Else one of
 * forbidden_command, dangerous_command, approval_denied, approval_required. */
int gate_pass(const struct gate *gate,
              struct gate_call *call,
              struct gate_pass *ret,
              struct rein_error **reterr);

/* Writes down a refusal that came before a call could be judged (shell_syntax, bad_request, …). */
int gate_note_refusal(const struct gate *gate,
                      const struct gate_call *call,
                      const struct rein_error *why,
                      struct rein_error **reterr);

/* Writes down the end of a job that went through; fields of the line, taken over. What goes wrong
 * is pass->warning. */
void gate_note_end(const struct gate *gate, struct gate_pass *pass, json_t *take_fields);

#endif
