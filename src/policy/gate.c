/* Acting on a verdict: approvals, askers, the trail. */
#include "gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "base/cleanup.h"
#include "base/error.h"

/* A call on its way through. */
struct passing {
    const struct gate *gate;
    struct gate_call *call;
    struct gate_verdict verdict;
    struct gate_pass *pass;
    const char *by; /* who decided, one word */
    struct rein_error **reterr;
};

void gate_pass_done(struct gate_pass *pass)
{
    free(pass->warning);
    pass->warning = NULL;
}

/* ---- the trail ---------------------------------------------------------------------------- */

/* Where a line is needed and cannot be written, nothing goes ahead. */
static int handle_loss(const struct gate *gate,
                       struct gate_pass *pass,
                       struct rein_error *take_why,
                       struct rein_error **reterr)
{
    auto_error struct rein_error *why = take_why;

    if (gate->settings.audit == GATE_AUDIT_REQUIRED)
        return rein_fail_hint(reterr, -EIO, why ? why->code : "internal", "audit",
                              "audit = on goes on without it", "%s",
                              why ? why->message : "the audit trail cannot be written");
    if (pass && !pass->warning &&
        asprintf(&pass->warning, "not in the audit trail: %s", why ? why->message : "") < 0)
        pass->warning = NULL;
    return 0;
}

static int write_line(const struct gate *gate,
                      json_t *take_fields,
                      struct gate_pass *pass,
                      struct rein_error **reterr)
{
    struct rein_error *why = NULL;
    int r;

    if (!take_fields)
        return rein_oom(reterr);
    r = audit_append(gate->state_dir, take_fields, NULL, &why);
    json_decref(take_fields);
    return r < 0 ? handle_loss(gate, pass, why, reterr) : 0;
}

static json_t *decision_fields(const struct gate_call *call,
                               const char *decision,
                               const char *by,
                               const char *digest)
{
    json_t *fields =
        json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?}", "event", "decision", "decision", decision,
                  "by", by, "tool", call->tool, "session", call->session, "request", digest);

    if (fields && call->request.shown && json_object_update_missing(fields, call->request.shown)) {
        json_decref(fields);
        return NULL;
    }
    return fields;
}

/* The rules that a risk broke, not the words again: those are in the command. */
static int add_risk(json_t *fields, const struct gate_verdict *v)
{
    json_t *rules = json_array();

    for (size_t i = 0; i < v->risk.n_findings; i++)
        (void)json_array_append_new(rules, json_string(v->risk.findings[i].rule));
    return json_object_set_new(fields, "risk", json_string(risk_level_name(v->risk.level))) |
           json_object_set_new(fields, "findings", rules) |
           (v->rule ? json_object_set_new(fields, "rule", json_string(v->rule->text)) : 0);
}

static int note(struct passing *p, const char *decision)
{
    json_t *fields;

    if (p->gate->settings.audit == GATE_AUDIT_OFF)
        return 0;
    fields = decision_fields(p->call, decision, p->by, p->pass->digest);
    if (fields && p->call->risk && add_risk(fields, &p->verdict) != 0) {
        json_decref(fields);
        fields = NULL;
    }
    return write_line(p->gate, fields, p->pass, p->reterr);
}

int gate_note_refusal(const struct gate *gate,
                      const struct gate_call *call,
                      const struct rein_error *why,
                      struct rein_error **reterr)
{
    json_t *fields;

    if (gate->settings.audit == GATE_AUDIT_OFF)
        return 0;
    fields = decision_fields(call, "refuse", "check", NULL);
    if (fields && json_object_set_new(fields, "error_code", json_string(why->code)) < 0) {
        json_decref(fields);
        fields = NULL;
    }
    return write_line(gate, fields, NULL, reterr);
}

/* The job has run: a line that cannot be written is a warning, whatever is required. */
void gate_note_end(const struct gate *gate, struct gate_pass *pass, json_t *take_fields)
{
    struct gate lenient = *gate;

    lenient.settings.audit = GATE_AUDIT_ON;
    if (gate->settings.audit == GATE_AUDIT_OFF || !take_fields ||
        json_object_set_new(take_fields, "request", json_string(pass->digest)) < 0)
        json_decref(take_fields);
    else
        (void)write_line(&lenient, take_fields, pass, NULL);
}

/* ---- answers ------------------------------------------------------------------------------ */

static int go_ahead(struct passing *p, const char *by)
{
    p->by = by;
    return note(p, "allow");
}

static int deny(struct passing *p, const char *by, const char *reason)
{
    int r;

    p->by = by;
    r = note(p, "deny");
    if (r < 0)
        return r;
    return rein_fail(p->reterr, -EPERM, "approval_denied", "gate", "Execution of %s denied: %s",
                     p->call->tool, reason);
}

/* The first reason in words, for a message: a text of the request as it is shown. */
static const char *first_reason(const struct passing *p)
{
    const json_t *reasons = json_object_get(p->call->request.shown, "reasons");
    const char *reason = json_string_value(json_array_get(reasons, 0));

    return reason ? reason : p->verdict.rule ? p->verdict.rule->text : "";
}

static int post(struct passing *p)
{
    const char *id = p->pass->approval_id;
    char hint[128];
    int r = approvals_post(p->gate->state_dir, p->pass->digest, p->call->request.shown,
                           p->call->session, p->pass->approval_id, p->reterr);

    p->by = "record";
    if (r == 0)
        r = note(p, "pending");
    if (r < 0)
        return r;
    (void)snprintf(hint, sizeof(hint),
                   "after `rein approve %s` within %d s the same call, made again, runs once", id,
                   APPROVAL_SECONDS);
    return rein_fail_hint(p->reterr, -EAGAIN, "approval_required", "gate", hint,
                          "Execution of %s needs an approval, %s (%s): %s", p->call->tool, id,
                          risk_level_name(p->verdict.risk.level), first_reason(p));
}

static int keep_always(struct passing *p)
{
    int r = approvals_keep(p->gate->state_dir, p->pass->digest, p->call->request.shown,
                           p->call->session, p->reterr);

    return r < 0 ? r : go_ahead(p, "person");
}

/* Asks whoever can be asked at once. 1: there is nobody. */
static int ask(struct passing *p)
{
    const struct gate_asker *asker = &p->gate->asker;
    auto_free char *text = NULL;
    int answer;

    if (!asker->ask)
        return 1;
    text = json_dumps(p->call->request.shown, JSON_COMPACT);
    if (!text)
        return rein_oom(p->reterr);
    answer = asker->ask(asker->userdata, text);
    switch (answer) {
    case GATE_ANSWER_ONCE:
        return go_ahead(p, "person");
    case GATE_ANSWER_ALWAYS:
        return keep_always(p);
    case GATE_ANSWER_NO:
        return deny(p, "person", "User denied");
    case -ETIMEDOUT:
        return deny(p, "time", "Approval timed out");
    default:
        return 1;
    }
}

/* What has been said before. 1: nothing. */
static int look(struct passing *p)
{
    auto_free char *reason = NULL;
    enum approval said;
    int r = approvals_take(p->gate->state_dir, p->pass->digest, p->call->session, &said, &reason,
                           p->reterr);

    if (r < 0)
        return r;
    switch (said) {
    case APPROVAL_ONCE:
        return go_ahead(p, "record");
    case APPROVAL_SESSION:
        return go_ahead(p, "session");
    case APPROVAL_ALWAYS:
        return go_ahead(p, "stored");
    case APPROVAL_DENIED:
        return deny(p, "record", reason ? reason : "User denied");
    case APPROVAL_UNKNOWN:
    case APPROVAL_PENDING:
        return 1;
    }
    return 1;
}

/* People are shown the risk beside the request. */
static int describe_risk(struct passing *p)
{
    json_t *described = gate_verdict_json(&p->verdict);

    if (!described)
        return rein_oom(p->reterr);
    request_note(&p->call->request, "risk", json_incref(json_object_get(described, "risk")));
    request_note_texts(&p->call->request, "reasons",
                       json_incref(json_object_get(described, "reasons")));
    json_decref(described);
    return p->call->request.failed ? rein_oom(p->reterr) : 0;
}

static int get_approval(struct passing *p)
{
    int r;

    if (p->gate->settings.mode == GATE_MODE_AUTO)
        return go_ahead(p, "auto");
    r = look(p);
    if (r != 1)
        return r;
    if (p->gate->settings.mode == GATE_MODE_NEVER)
        return deny(p, "never", "it needs an approval, and nobody is to be asked");
    r = describe_risk(p);
    if (r == 0)
        r = ask(p);
    return r == 1 ? post(p) : r;
}

static int refuse(struct passing *p)
{
    int r;

    p->by = p->verdict.step == GATE_DENY ? "rule" : "risk";
    r = note(p, p->verdict.step == GATE_DENY ? "deny" : "refuse");
    return r < 0 ? r : gate_refuse(p->call, &p->verdict, p->reterr);
}

static int act(struct passing *p)
{
    const struct gate_verdict *v = &p->verdict;

    switch (v->step) {
    case GATE_ALLOW:
        return go_ahead(p, v->rule                                  ? "rule"
                           : v->risk.dangerous && !p->call->is_code ? "allow_dangerous"
                                                                    : "default");
    case GATE_ASK:
        return get_approval(p);
    case GATE_DANGEROUS:
    case GATE_FORBIDDEN:
    case GATE_DENY:
        return refuse(p);
    }
    return -EINVAL;
}

int gate_pass(const struct gate *gate,
              struct gate_call *call,
              struct gate_pass *ret,
              struct rein_error **reterr)
{
    struct passing p = {.gate = gate, .call = call, .pass = ret, .reterr = reterr};
    int r = request_digest(&call->request, ret->digest);

    if (r == 0)
        r = gate_judge(&gate->settings, gate->rules, call, &p.verdict);
    r = r < 0 ? rein_oom(reterr) : act(&p);
    gate_verdict_done(&p.verdict);
    return r;
}
