/* The gate's decision, for every kind of risk and rule; approvals and the trail around it. What a
 * command risks is given by the test. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "policy/gate.h"
#include "temp-dir.h"

/* ---- a risk as the test wants it ---------------------------------------------------------- */

static struct risk_finding given;
static char *given_command[] = {(char[]){"prog"}, (char[]){"arg"}, NULL};
static char **given_commands[] = {given_command};

int __wrap_risk_judge(const struct risk_request *request, struct risk_verdict *ret);
int __wrap_risk_judge(const struct risk_request *request, struct risk_verdict *ret)
{
    *ret = (struct risk_verdict){.level = given.level,
                                 .dangerous = given.dangerous,
                                 .forbidden = given.forbidden,
                                 .findings = &given,
                                 .n_findings = given.rule != NULL,
                                 .commands = given_commands,
                                 .n_commands = 1};
    return 0;
}

void __wrap_risk_verdict_done(struct risk_verdict *verdict);
void __wrap_risk_verdict_done(struct risk_verdict *verdict) {}

enum kind { LOW, HIGH, CRITICAL, DANGEROUS, FORBIDDEN };

static void give(enum kind kind)
{
    static char name[] = "prog", words[] = "prog arg";
    static const enum risk_level levels[] = {[LOW] = RISK_LOW,
                                             [HIGH] = RISK_HIGH,
                                             [CRITICAL] = RISK_CRITICAL,
                                             [DANGEROUS] = RISK_HIGH,
                                             [FORBIDDEN] = RISK_CRITICAL};

    given = (struct risk_finding){.rule = kind == LOW ? NULL : "a-rule",
                                  .level = levels[kind],
                                  .dangerous = kind == DANGEROUS || kind == FORBIDDEN,
                                  .forbidden = kind == FORBIDDEN,
                                  .reason = "a reason",
                                  .name = name,
                                  .words = words};
}

/* ---- the decision ------------------------------------------------------------------------- */

static const char *const argv[] = {"prog", "arg", NULL};
static const struct risk_request risk = {.argv = argv};

static enum gate_step
step(enum kind kind, enum rule_verdict rule, bool allow_dangerous, const struct gate_settings *s)
{
    struct gate_settings settings = s ? *s : gate_settings_default();
    struct gate_call call = {.tool = "t", .risk = &risk, .allow_dangerous = allow_dangerous};
    struct gate_verdict v = {0};
    struct rules rules = {0};

    give(kind);
    if (rule != RULE_NONE)
        assert_int_equal(rules_add(&rules, rule, "prog", "f", 1, NULL), 0);
    assert_int_equal(gate_judge(&settings, &rules, &call, &v), 0);
    gate_verdict_done(&v);
    rules_done(&rules);
    return v.step;
}

static void test_decisions(void **state)
{
    static const struct {
        enum kind kind;
        enum rule_verdict rule;
        bool allow_dangerous;
        enum gate_step step;
    } rows[] = {
        {LOW, RULE_NONE, false, GATE_ALLOW},
        {LOW, RULE_ASK, false, GATE_ASK},
        {LOW, RULE_DENY, false, GATE_DENY},
        {HIGH, RULE_NONE, false, GATE_ALLOW},
        {CRITICAL, RULE_NONE, false, GATE_ASK},
        {CRITICAL, RULE_NONE, true, GATE_ASK}, /* the flag lifts one thing only */
        {CRITICAL, RULE_ALLOW, false, GATE_ALLOW},
        {CRITICAL, RULE_DENY, false, GATE_DENY},
        {DANGEROUS, RULE_NONE, false, GATE_DANGEROUS},
        {DANGEROUS, RULE_NONE, true, GATE_ALLOW},
        {DANGEROUS, RULE_ALLOW, false, GATE_ALLOW},
        {DANGEROUS, RULE_ASK, false, GATE_DANGEROUS},
        {DANGEROUS, RULE_ASK, true, GATE_ASK},
        {DANGEROUS, RULE_DENY, true, GATE_DENY},
        {FORBIDDEN, RULE_NONE, true, GATE_FORBIDDEN},
        {FORBIDDEN, RULE_ALLOW, true, GATE_FORBIDDEN},
        {FORBIDDEN, RULE_DENY, false, GATE_FORBIDDEN},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (step(rows[i].kind, rows[i].rule, rows[i].allow_dangerous, NULL) != rows[i].step)
            fail_msg("row %zu", i);
}

static void test_the_level_that_asks(void **state)
{
    struct gate_settings s = gate_settings_default();

    s.ask_level = RISK_HIGH;
    assert_int_equal(step(HIGH, RULE_NONE, false, &s), GATE_ASK);
    assert_int_equal(step(DANGEROUS, RULE_NONE, false, &s), GATE_DANGEROUS);
    assert_int_equal(step(DANGEROUS, RULE_NONE, true, &s), GATE_ASK);
    assert_int_equal(step(LOW, RULE_NONE, false, &s), GATE_ALLOW);
    s.ask_level = RISK_LOW;
    assert_int_equal(step(LOW, RULE_NONE, false, &s), GATE_ASK);
}

/* Code asks only where somebody says so, and is never refused as dangerous. */
static void test_code(void **state)
{
    struct gate_settings s = gate_settings_default();
    struct gate_call call = {.tool = "code_run", .risk = &risk, .is_code = true};
    struct rules rules = {0};
    struct gate_verdict v = {0};

    give(CRITICAL);
    assert_int_equal(gate_judge(&s, &rules, &call, &v), 0);
    assert_int_equal(v.step, GATE_ALLOW);
    s.ask_level_given = true;
    assert_int_equal(gate_judge(&s, &rules, &call, &v), 0);
    assert_int_equal(v.step, GATE_ASK);
    give(DANGEROUS);
    assert_int_equal(gate_judge(&s, &rules, &call, &v), 0);
    assert_int_equal(v.step, GATE_ALLOW);
    give(FORBIDDEN);
    assert_int_equal(gate_judge(&s, &rules, &call, &v), 0);
    assert_int_equal(v.step, GATE_FORBIDDEN);
}

/* ---- passing ------------------------------------------------------------------------------ */

static int asked, answers;

static int ask(void *userdata, const char *request)
{
    json_t *q = json_loads(request, 0, NULL);

    asked++;
    assert_string_equal(json_string_value(json_object_get(q, "risk")), "critical");
    assert_string_equal(json_string_value(json_array_get(json_object_get(q, "reasons"), 0)),
                        "a reason: prog arg");
    assert_string_equal(json_string_value(json_array_get(json_object_get(q, "command"), 1)), "arg");
    json_decref(q);
    return answers;
}

static int
pass_with(const struct gate_settings *settings, bool with_asker, const char *code, const char *word)
{
    struct rules rules = {0};
    struct gate gate = {.state_dir = temp_dir, .settings = *settings, .rules = &rules};
    struct gate_call call = {.tool = "t", .risk = &risk};
    struct gate_pass pass = {0};
    struct rein_error *error = NULL;
    int r;

    if (with_asker)
        gate.asker.ask = ask;
    request_add_words(&call.request, "command", argv);
    r = gate_pass(&gate, &call, &pass, &error);
    if (code) {
        assert_true(r < 0);
        assert_string_equal(error->code, code);
        if (!strstr(error->message, word))
            fail_msg("'%s' is not in '%s'", word, error->message);
    } else {
        assert_int_equal(r, 0);
    }
    rein_error_free(error);
    request_done(&call.request);
    gate_pass_done(&pass);
    return r;
}

static void pass(bool with_asker, const char *code, const char *word)
{
    struct gate_settings s = gate_settings_default();

    (void)pass_with(&s, with_asker, code, word);
}

/* How often a word stands in the trail. */
static int count_in_trail(const char *word)
{
    FILE *f = fopen(in_temp_dir("audit/audit.jsonl"), "re");
    char line[8192];
    int n = 0;

    while (f && fgets(line, sizeof(line), f))
        n += strstr(line, word) != NULL;
    if (f)
        (void)fclose(f);
    return n;
}

static void test_an_asker(void **state)
{
    give(CRITICAL);
    asked = 0;
    answers = GATE_ANSWER_NO;
    pass(true, "approval_denied", "Execution of t denied: User denied");
    answers = -ETIMEDOUT;
    pass(true, "approval_denied", "Approval timed out");
    answers = GATE_ANSWER_ONCE;
    pass(true, NULL, NULL);
    assert_int_equal(asked, 3);
    pass(true, NULL, NULL); /* once is once */
    assert_int_equal(asked, 4);
    answers = GATE_ANSWER_ALWAYS;
    pass(true, NULL, NULL);
    assert_int_equal(asked, 5);
    pass(true, NULL, NULL);
    pass(false, NULL, NULL);
    assert_int_equal(asked, 5);
    assert_int_equal(count_in_trail("\"decision\":\"deny\""), 2);
    assert_int_equal(count_in_trail("\"by\":\"person\""), 4);
    assert_int_equal(count_in_trail("\"by\":\"stored\""), 2);
}

static void test_nobody_to_ask(void **state)
{
    give(CRITICAL);
    asked = 0;
    answers = -ENOTTY;
    pass(true, "approval_required", "needs an approval");
    pass(false, "approval_required", "a reason: prog arg");
    assert_int_equal(asked, 1);
    assert_int_equal(count_in_trail("\"decision\":\"pending\""), 2);
}

static void test_modes(void **state)
{
    struct gate_settings s = gate_settings_default();

    give(CRITICAL);
    asked = 0;
    s.mode = GATE_MODE_NEVER;
    (void)pass_with(&s, true, "approval_denied", "nobody is to be asked");
    s.mode = GATE_MODE_AUTO;
    (void)pass_with(&s, true, NULL, NULL);
    assert_int_equal(asked, 0);
    assert_int_equal(count_in_trail("\"by\":\"auto\""), 1);
    give(FORBIDDEN);
    (void)pass_with(&s, true, "forbidden_command",
                    "Command blocked by self-preservation policy: prog arg");
    give(DANGEROUS);
    (void)pass_with(&s, true, "dangerous_command",
                    "Command 'prog' is in DANGEROUS_COMMANDS; pass allow_dangerous=True to "
                    "override.");
}

/* ---- a trail that cannot be written ------------------------------------------------------- */

static void test_no_trail(void **state)
{
    struct gate_settings s = gate_settings_default();

    give(LOW);
    write_temp_file("audit", 0600, "in the way");
    (void)pass_with(&s, false, NULL, NULL);
    s.audit = GATE_AUDIT_REQUIRED;
    assert_true(pass_with(&s, false, "internal", "audit") < 0);
    s.audit = GATE_AUDIT_OFF;
    (void)pass_with(&s, false, NULL, NULL);
}

static void test_off_is_off(void **state)
{
    struct gate_settings s = gate_settings_default();

    give(LOW);
    s.audit = GATE_AUDIT_OFF;
    (void)pass_with(&s, false, NULL, NULL);
    assert_int_equal(access(in_temp_dir("audit"), F_OK), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_the_level_that_asks),
        cmocka_unit_test(test_code),
        TEST(test_an_asker),
        TEST(test_nobody_to_ask),
        TEST(test_modes),
        TEST(test_no_trail),
        TEST(test_off_is_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
