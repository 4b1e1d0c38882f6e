/* The decision itself: from the risk and the rules to a step. No side effect. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "gate.h"
#include "hide.h"

#define BLOCKED_SHOWN_MAX 100 /* bytes of the command in the message */

/* ---- settings ----------------------------------------------------------------------------- */

struct word {
    const char *name;
    int value;
};

static int parse_word(const struct word *words, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, words[i].name) == 0)
            return words[i].value;
    return -EINVAL;
}

int gate_mode_parse(const char *text, enum gate_mode *ret)
{
    static const struct word words[] = {
        {"ask", GATE_MODE_ASK}, {"auto", GATE_MODE_AUTO}, {"never", GATE_MODE_NEVER}};
    int value = parse_word(words, ARRAY_SIZE(words), text);

    if (value < 0)
        return value;
    *ret = (enum gate_mode)value;
    return 0;
}

int gate_audit_parse(const char *text, enum gate_audit *ret)
{
    static const struct word words[] = {
        {"on", GATE_AUDIT_ON}, {"required", GATE_AUDIT_REQUIRED}, {"off", GATE_AUDIT_OFF}};
    int value = parse_word(words, ARRAY_SIZE(words), text);

    if (value < 0)
        return value;
    *ret = (enum gate_audit)value;
    return 0;
}

struct gate_settings gate_settings_default(void)
{
    return (struct gate_settings){.ask_level = RISK_CRITICAL};
}

/* ---- judging ------------------------------------------------------------------------------ */

typedef bool finding_filter(const struct gate_settings *settings, const struct risk_finding *f);

static bool is_forbidden(const struct gate_settings *settings, const struct risk_finding *f)
{
    return f->forbidden;
}

static bool is_dangerous(const struct gate_settings *settings, const struct risk_finding *f)
{
    return f->dangerous;
}

static bool is_to_be_asked(const struct gate_settings *settings, const struct risk_finding *f)
{
    return f->level >= settings->ask_level;
}

static const struct risk_finding *
find(const struct gate_settings *settings, const struct risk_verdict *risk, finding_filter *fits)
{
    for (size_t i = 0; i < risk->n_findings; i++)
        if (fits(settings, &risk->findings[i]))
            return &risk->findings[i];
    return NULL;
}

static bool asks_by_level(const struct gate_settings *settings, const struct gate_call *call)
{
    return call->risk && (!call->is_code || settings->ask_level_given);
}

static enum gate_step decide(const struct gate_settings *settings,
                             const struct gate_call *call,
                             enum rule_verdict said,
                             struct gate_verdict *v)
{
    v->cause = find(settings, &v->risk, is_forbidden);
    if (v->cause)
        return GATE_FORBIDDEN;
    if (said == RULE_DENY)
        return GATE_DENY;
    if (said == RULE_ALLOW)
        return GATE_ALLOW;
    v->cause =
        call->is_code || call->allow_dangerous ? NULL : find(settings, &v->risk, is_dangerous);
    if (v->cause)
        return GATE_DANGEROUS;
    if (asks_by_level(settings, call)) {
        v->cause = find(settings, &v->risk, is_to_be_asked);
        if (v->cause || v->risk.level >= settings->ask_level)
            return GATE_ASK;
    }
    return said == RULE_ASK ? GATE_ASK : GATE_ALLOW;
}

int gate_judge(const struct gate_settings *settings,
               const struct rules *rules,
               const struct gate_call *call,
               struct gate_verdict *ret)
{
    const char *const *whole = call->risk && !call->risk->script ? call->risk->argv : NULL;
    enum rule_verdict said;
    int r = call->risk ? risk_judge(call->risk, &ret->risk) : 0;

    if (r < 0)
        return r;
    said =
        rules_judge(rules, call->tool, whole, ret->risk.commands, ret->risk.n_commands, &ret->rule);
    ret->step = decide(settings, call, said, ret);
    return 0;
}

void gate_verdict_done(struct gate_verdict *verdict)
{
    risk_verdict_done(&verdict->risk);
}

/* ---- words for it ------------------------------------------------------------------------- */

static void add_finding(struct buf *b, const struct risk_finding *f)
{
    buf_add_str(b, f->reason);
    if (f->words[0])
        buf_add_format(b, ": %s", f->words);
    if (f->through)
        buf_add_format(b, " (through %s)", f->through);
}

static json_t *reason_json(const struct risk_finding *f)
{
    auto_buf struct buf b = {0};

    add_finding(&b, f);
    return buf_error(&b) < 0 ? NULL : request_json_text(b.data);
}

static json_t *finding_json(const struct risk_finding *f)
{
    return json_pack("{s:s, s:s, s:b, s:b, s:s, s:o, s:o, s:o}", "rule", f->rule, "level",
                     risk_level_name(f->level), "dangerous", f->dangerous, "forbidden",
                     f->forbidden, "reason", f->reason, "name", request_json_text(f->name), "words",
                     request_json_text(f->words), "through", request_json_text(f->through));
}

static json_t *findings_json(const struct risk_verdict *risk,
                             json_t *(*make)(const struct risk_finding *f))
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < risk->n_findings; i++) {
        if (json_array_append_new(list, make(&risk->findings[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *rule_json(const struct rule *rule)
{
    if (!rule)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:i}", "verdict", rule_verdict_name(rule->verdict), "rule",
                     request_json_text(rule->text), "file", request_json_text(rule->file), "line",
                     rule->line);
}

json_t *gate_verdict_json(const struct gate_verdict *v)
{
    static const char *const steps[] = {[GATE_ALLOW] = "allow",
                                        [GATE_ASK] = "ask",
                                        [GATE_DANGEROUS] = "refuse",
                                        [GATE_FORBIDDEN] = "refuse",
                                        [GATE_DENY] = "deny"};

    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "decision", steps[v->step], "risk",
                     risk_level_name(v->risk.level), "opaque", v->risk.opaque, "reasons",
                     findings_json(&v->risk, reason_json), "findings",
                     findings_json(&v->risk, finding_json), "rule", rule_json(v->rule));
}

/* ---- refusing ----------------------------------------------------------------------------- */

/* The command, or the script, in one line. */
static void add_command(struct buf *b, const struct risk_request *risk)
{
    for (const char *c = risk->script; c && *c; c++)
        buf_add_char(b, (unsigned char)*c < ' ' ? ' ' : *c);
    for (size_t i = 0; !risk->script && risk->argv && risk->argv[i]; i++)
        buf_add_format(b, "%s%s", i ? " " : "", risk->argv[i]);
}

/* Whoever called has not seen what a variable stands for. */
static int hide_in(const struct gate_call *call, struct buf *b)
{
    if (buf_error(b) < 0)
        return -ENOMEM;
    return b->data ? hide_secrets(call->request.secrets, call->request.env, b->data) : 0;
}

static int refuse_forbidden(const struct gate_call *call,
                            const struct risk_finding *f,
                            struct rein_error **reterr)
{
    auto_buf struct buf command = {0}, hint = {0};
    size_t len;

    add_command(&command, call->risk);
    buf_add_str(&hint, "no option and no approval lifts this: ");
    add_finding(&hint, f);
    if (hide_in(call, &command) < 0 || hide_in(call, &hint) < 0)
        return rein_oom(reterr);
    len = MIN(command.len, (size_t)BLOCKED_SHOWN_MAX);
    while (len > 0 && len < command.len && ((unsigned char)command.data[len] & 0xc0) == 0x80)
        len--;
    return rein_fail_hint(reterr, -EPERM, "forbidden_command", "gate", hint.data,
                          "Command blocked by self-preservation policy: %.*s", (int)len,
                          command.data ? command.data : "");
}

static int refuse_dangerous(const struct gate_call *call,
                            const struct risk_finding *f,
                            struct rein_error **reterr)
{
    auto_buf struct buf hint = {0};

    buf_add_str(&hint, "allow_dangerous (--allow-dangerous) lifts this: ");
    add_finding(&hint, f);
    if (hide_in(call, &hint) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(
        reterr, -EPERM, "dangerous_command", "gate", hint.data,
        "Command '%s' is in DANGEROUS_COMMANDS; pass allow_dangerous=True to override.",
        f->name ? f->name : "");
}

int gate_refuse(const struct gate_call *call,
                const struct gate_verdict *v,
                struct rein_error **reterr)
{
    switch (v->step) {
    case GATE_FORBIDDEN:
        return refuse_forbidden(call, v->cause, reterr);
    case GATE_DANGEROUS:
        return refuse_dangerous(call, v->cause, reterr);
    case GATE_DENY:
        return rein_fail_hint(reterr, -EPERM, "approval_denied", "gate",
                              "a rule of the configuration says so",
                              "Execution of %s denied: rule '%s' (%s:%d)", call->tool,
                              v->rule->text, v->rule->file, v->rule->line);
    case GATE_ALLOW:
    case GATE_ASK:
        return 0;
    }
    return 0;
}
