/* rein policy: what the gate says of a command and why, the rules, and the projects whose rules
 * count. */
#include "policy/policy-file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config-path.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "gate.h"
#include "job-spec.h"
#include "job/context.h"
#include "jobs.h"
#include "policy/trust.h"
#include "print.h"
#include "report.h"
#include "tools/result-json.h"
#include "visible.h"

#define POLICY_HINT                                                                                \
    "rein policy check [OPTIONS] -- COMMAND, rein policy rules, or rein policy trust|untrust "     \
    "[DIR]"
#define REFUSED 1 /* exit status of a check */

/* ---- check -------------------------------------------------------------------------------- */

static const char *const words_of_steps[] = {
    [GATE_ALLOW] = "runs",
    [GATE_ASK] = "needs an approval",
    [GATE_DANGEROUS] = "is refused as dangerous; allow_dangerous lifts that",
    [GATE_FORBIDDEN] = "is refused; nothing lifts that",
    [GATE_DENY] = "is denied by a rule",
};

static void add_finding(struct buf *b, const struct risk_finding *f)
{
    buf_add_format(b, "  %-9s %s: %s", risk_level_name(f->level), f->rule, f->reason);
    if (f->words[0]) {
        buf_add_str(b, ": ");
        visible_add(b, f->words);
    }
    if (f->through) {
        buf_add_str(b, " (through ");
        visible_add(b, f->through);
        buf_add_char(b, ')');
    }
    buf_add_char(b, '\n');
}

static int explain_text(const struct gate_verdict *v, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    buf_add_format(&b, "%s: %s\n", risk_level_name(v->risk.level), words_of_steps[v->step]);
    for (size_t i = 0; i < v->risk.n_findings; i++)
        add_finding(&b, &v->risk.findings[i]);
    if (v->rule) {
        buf_add_str(&b, "  rule      ");
        visible_add(&b, v->rule->text);
        buf_add_format(&b, " (%s:%d)\n", v->rule->file, v->rule->line);
    }
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

static int explain(const struct call *call, struct job_gate *g, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    struct rein_spec spec = job_spec_make(s, call->line.rest);
    struct job_intent intent = {.spec = &spec, .allow_dangerous = s->allow_dangerous};
    struct gate_verdict verdict = {0};
    int r = job_gate_look(g, &intent, &verdict, reterr);

    if (r == 0)
        r = s->format == FORMAT_TEXT ? explain_text(&verdict, reterr)
                                     : print_json_line(gate_verdict_json(&verdict), reterr);
    if (r == 0 && verdict.step != GATE_ALLOW)
        r = REFUSED;
    gate_verdict_done(&verdict);
    return r;
}

static int
open_gate(const struct call *call, const rein *r, struct job_gate *g, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    struct gate_settings settings;
    int result = gate_settings_of(s, &settings, reterr);

    if (result == 0 && s->tool && !job_gate_knows(s->tool))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "rein tool list has the tools", "--tool: there is no tool '%.80s'",
                              s->tool);
    if (result == 0)
        result =
            job_gate_open(g, r, s->tool ? s->tool : "execute_command", &settings, NULL, reterr);
    if (result == 0 && g->policy.project_dir && !g->policy.project_is_trusted)
        report_warning("the project's " PROJECT_FILE
                       " does not count; rein policy trust trusts it");
    return result;
}

static int check(struct call *call, const rein *r, struct rein_error **reterr)
{
    auto_(job_gate_done) struct job_gate g = {0};
    int result;

    if (operand_at(call, 1) && !call->line.rest[0])
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", POLICY_HINT,
                              "policy check: COMMAND goes after --");
    result = job_spec_check_command(call, reterr);
    if (result == 0)
        result = open_gate(call, r, &g, reterr);
    return result < 0 ? result : explain(call, &g, reterr);
}

/* ---- rules -------------------------------------------------------------------------------- */

static int list_rules(struct call *call, const rein *r, struct rein_error **reterr)
{
    auto_(job_gate_done) struct job_gate g = {0};
    auto_buf struct buf b = {0};
    json_t *list = json_array();
    int result = open_gate(call, r, &g, reterr);

    for (size_t i = 0; result == 0 && i < g.policy.rules.n; i++) {
        const struct rule *rule = &g.policy.rules.list[i];

        visible_add(&b, rule->text);
        buf_add_format(&b, "  (%s:%d)\n", rule->file, rule->line);
        if (json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:i}", "verdict",
                                                  rule_verdict_name(rule->verdict), "rule",
                                                  json_text(rule->text), "file",
                                                  json_text(rule->file), "line", rule->line)) < 0)
            result = rein_oom(reterr);
    }
    if (result == 0 && call->settings.format != FORMAT_TEXT)
        return print_json_line(list, reterr);
    json_decref(list);
    if (result < 0 || b.len == 0)
        return result;
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

/* ---- trust -------------------------------------------------------------------------------- */

static int
change_trust(struct call *call,
             const rein *r,
             int (*change)(const char *state_dir, const char *dir, struct rein_error **reterr),
             struct rein_error **reterr)
{
    const char *given = operand_at(call, 1) ? operand_at(call, 1) : ".";
    auto_free char *dir = realpath(given, NULL);
    auto_buf struct buf b = {0};
    int result;

    if (operand_at(call, 2))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", POLICY_HINT,
                              "policy: '%s' is one argument too many", operand_at(call, 2));
    if (!dir)
        return rein_fail(reterr, -errno, "bad_request", "trust", "cannot find '%s': %s", given,
                         strerror(errno));
    result = change(context_state_dir(r), dir, reterr);
    if (result < 0)
        return result;
    visible_add(&b, dir);
    buf_add_char(&b, '\n');
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

static int trust(struct call *call, const rein *r, struct rein_error **reterr)
{
    return change_trust(call, r, trust_add, reterr);
}

static int untrust(struct call *call, const rein *r, struct rein_error **reterr)
{
    return change_trust(call, r, trust_remove, reterr);
}

/* ---- verb --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(struct call *call, const rein *r, struct rein_error **reterr);
} actions[] = {{"check", check}, {"rules", list_rules}, {"trust", trust}, {"untrust", untrust}};

int verb_policy(struct call *call, struct rein_error **reterr)
{
    const char *name = call->line.n_operands > 0 ? call->line.operands[0] : NULL;
    int result = -EINVAL;

    for (size_t i = 0; name && i < ARRAY_SIZE(actions); i++) {
        rein *r;

        if (strcmp(name, actions[i].name) != 0)
            continue;
        r = rein_open(NULL, reterr);
        if (r)
            result = actions[i].run(call, r, reterr);
        r = rein_free(r);
        return result;
    }
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", POLICY_HINT, "policy: %s%s",
                          name ? name : "what to do is missing",
                          name ? ": there is no such thing" : "");
}
