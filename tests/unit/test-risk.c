/* The verdicts: a corpus of commands, and that each row of the tables is reached by it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "policy/command-options.h"
#include "policy/risk-rules.h"
#include "policy/risk.h"
#include "policy/unwrap.h"
#include "policy/word-split.h"

#define ROWS_MAX 256

static const char *const env[] = {"HOME=/home/user", "USER=user", "PATH=/usr/bin:/bin",
                                  "TMPDIR=/tmp", NULL};

static const struct expectation {
    const char *name;
    enum risk_level level;
    bool dangerous, forbidden;
} expectations[] = {
    {"F", RISK_CRITICAL, true, true}, {"CD", RISK_CRITICAL, true, false},
    {"D", RISK_HIGH, true, false},    {"C", RISK_CRITICAL, false, false},
    {"H", RISK_HIGH, false, false},   {"M", RISK_MEDIUM, false, false},
    {"L", RISK_LOW, false, false},
};

struct counts {
    size_t lines, wrong, positives, found, claimed;
    bool rules[ROWS_MAX], wrappers[ROWS_MAX];
};

/* ---- one command -------------------------------------------------------------------------- */

/* What cannot stand in a line of the corpus as it is. */
static char *with_controls(const char *text)
{
    static const struct {
        const char *sign;
        char character;
    } controls[] = {{"␤", '\n'}, {"→", '\t'}};
    struct buf b = {0};

    while (*text) {
        char c = *text;
        size_t len = 1;

        for (size_t i = 0; i < ARRAY_SIZE(controls); i++)
            if (strncmp(text, controls[i].sign, strlen(controls[i].sign)) == 0) {
                c = controls[i].character;
                len = strlen(controls[i].sign);
            }
        buf_add_char(&b, c);
        text += len;
    }
    return buf_take(&b);
}

static void judge(const char *command, struct risk_verdict *ret)
{
    struct risk_request request = {.cwd = "/w/project", .home = "/home/user", .env = env};
    auto_free char *script = NULL;
    auto_strv char **argv = NULL;
    auto_error struct rein_error *error = NULL;

    if (strncmp(command, "sh: ", 4) == 0) {
        script = with_controls(command + 4);
        request.script = script;
    } else if (words_split(command, env, &argv, &error) < 0) {
        fail_msg("%s: %s", command, error->message);
    }
    request.argv = (const char *const *)argv;
    assert_int_equal(risk_judge(&request, ret), 0);
}

static bool has_rule(const struct risk_verdict *verdict, const char *rule)
{
    for (size_t i = 0; i < verdict->n_findings; i++)
        if (strcmp(verdict->findings[i].rule, rule) == 0)
            return true;
    return false;
}

/* ---- the corpus --------------------------------------------------------------------------- */

static struct expectation find_expectation(const char *name, size_t len)
{
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE(expectations) &&
           (strlen(expectations[i].name) != len || strncmp(expectations[i].name, name, len) != 0))
        i++;
    assert_int_equal(strncmp(expectations[i].name, name, len), 0);
    return expectations[i];
}

static bool is_positive(enum risk_level level, bool dangerous)
{
    return dangerous || level == RISK_CRITICAL;
}

static void note_rows(const struct risk_verdict *verdict, struct counts *counts)
{
    for (size_t row = 0; risk_rule_at(row); row++)
        counts->rules[row] |= has_rule(verdict, risk_rule_at(row)->id);
    for (size_t i = 0; i < verdict->n_commands; i++) {
        const char *name = strrchr(verdict->commands[i][0], '/');

        name = name ? name + 1 : verdict->commands[i][0];
        for (size_t row = 0; wrapper_names(row); row++)
            counts->wrappers[row] |=
                list_has(wrapper_names(row), name, strcspn(name, "0123456789.")) ||
                list_has(wrapper_names(row), name, strlen(name));
    }
}

static void check_line(const char *line, struct counts *counts)
{
    size_t len = strcspn(line, " ");
    const char *command = line + len + strspn(line + len, " ");
    bool opaque = line[len - 1] == 'o';
    struct expectation e = find_expectation(line, len - opaque);
    struct risk_verdict v;
    bool right;

    judge(command, &v);
    right = v.level == e.level && v.forbidden == e.forbidden && (!opaque || v.opaque) &&
            (e.forbidden || v.dangerous == e.dangerous);
    counts->lines++;
    counts->wrong += !right;
    counts->positives += is_positive(e.level, e.dangerous);
    counts->claimed += is_positive(v.level, v.dangerous);
    counts->found += is_positive(e.level, e.dangerous) && is_positive(v.level, v.dangerous);
    note_rows(&v, counts);
    if (!right)
        print_message("# %s\n#    is %s%s%s%s, %s\n", line, risk_level_name(v.level),
                      v.dangerous ? " dangerous" : "", v.forbidden ? " forbidden" : "",
                      v.opaque ? " opaque" : "", v.n_findings ? v.findings[0].rule : "nothing");
    risk_verdict_done(&v);
}

static void read_corpus(struct counts *counts)
{
    const char *source = getenv("REIN_SOURCE");
    auto_buf struct buf path = {0};
    char line[4096];
    FILE *f;

    buf_add_format(&path, "%s/tests/unit/risk-corpus.txt", source ? source : ".");
    f = fopen(path.data, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line && *line != '#' && *line != '[')
            check_line(line, counts);
    }
    (void)fclose(f);
}

static void test_corpus(void **state)
{
    struct counts counts = {0};

    read_corpus(&counts);
    print_message("# %zu commands, precision %.3f, recall %.3f\n", counts.lines,
                  (double)counts.found / (double)counts.claimed,
                  (double)counts.found / (double)counts.positives);
    assert_true(counts.lines >= 350);
    assert_int_equal(counts.wrong, 0);
}

static void test_every_row_is_reached(void **state)
{
    /* Those need more than a line of the corpus holds; tests below reach them. */
    static const char elsewhere[] = "too-much";
    struct counts counts = {0};
    size_t missing = 0;

    read_corpus(&counts);
    for (size_t row = 0; risk_rule_at(row); row++) {
        const char *id = risk_rule_at(row)->id;

        assert_true(row < ROWS_MAX);
        if (counts.rules[row] || list_has(elsewhere, id, strlen(id)))
            continue;
        print_message("# no command for the rule %s\n", id);
        missing++;
    }
    for (size_t row = 0; wrapper_names(row); row++)
        if (!counts.wrappers[row]) {
            print_message("# no command for the wrapper %s\n", wrapper_names(row));
            missing++;
        }
    assert_int_equal(missing, 0);
}

/* ---- what a verdict says ------------------------------------------------------------------- */

static void test_finding(void **state)
{
    struct risk_verdict v;

    judge("sh: sudo sh -c 'cd /tmp; /bin/rm -rf \"/etc\"'", &v);
    assert_true(v.n_findings >= 3);
    assert_string_equal(v.findings[0].rule, "recursive-delete-of-system");
    assert_int_equal(v.findings[0].level, RISK_CRITICAL);
    assert_true(v.findings[0].forbidden);
    assert_string_equal(v.findings[0].name, "rm");
    assert_string_equal(v.findings[0].words, "/bin/rm -rf /etc");
    assert_string_equal(v.findings[0].through, "sudo, sh -c");
    assert_true(v.dangerous && v.forbidden && !v.opaque);
    risk_verdict_done(&v);
    judge("curl 'http://x/a b' it\\'s", &v);
    assert_int_equal(v.n_findings, 1);
    assert_string_equal(v.findings[0].name, "curl");
    assert_string_equal(v.findings[0].words, "curl 'http://x/a b' 'it'\\''s'");
    assert_null(v.findings[0].through);
    risk_verdict_done(&v);
}

static void test_worst_first(void **state)
{
    struct risk_verdict v;

    judge("sh: python3 -c 1; npm ci; kill 1; rm -rf ../x; git push -f; reboot; visudo", &v);
    assert_true(v.n_findings > 5);
    for (size_t i = 1; i < v.n_findings; i++) {
        assert_true(v.findings[i - 1].level >= v.findings[i].level);
        assert_true(v.findings[i - 1].forbidden >= v.findings[i].forbidden);
    }
    risk_verdict_done(&v);
}

static void test_commands_are_listed(void **state)
{
    static const char expected[] = "env A=1 nice git status|nice git status|git status|"
                                   "sh -c echo $B; ls|echo|ls|";
    auto_buf struct buf b = {0};
    struct risk_verdict v;

    judge("sh: env A=1 nice git status; sh -c 'echo $B; ls'", &v);
    for (size_t i = 0; i < v.n_commands; i++) {
        for (char **word = v.commands[i]; *word; word++)
            buf_add_format(&b, "%s%s", word == v.commands[i] ? "" : " ", *word);
        buf_add_char(&b, '|');
    }
    assert_string_equal(b.data, expected);
    risk_verdict_done(&v);
}

static void test_what_cannot_be_read(void **state)
{
    struct risk_verdict v;

    judge("sh: echo ä; rm -rf / 'x", &v);
    assert_int_equal(v.n_findings, 1);
    assert_string_equal(v.findings[0].rule, "unreadable-script");
    assert_string_equal(v.findings[0].words, "a single quote that is not closed, at character 18");
    assert_true(v.opaque);
    assert_int_equal(v.level, RISK_HIGH);
    risk_verdict_done(&v);
}

static void test_nothing_to_judge(void **state)
{
    struct risk_request request = {0};
    struct risk_verdict v;

    assert_int_equal(risk_judge(&request, &v), 0);
    assert_int_equal(v.level, RISK_LOW);
    assert_int_equal(v.n_findings + v.n_commands, 0);
    risk_verdict_done(&v);
    request.script = " \n# nothing\n";
    assert_int_equal(risk_judge(&request, &v), 0);
    assert_int_equal(v.level, RISK_LOW);
    risk_verdict_done(&v);
}

/* Without a folder, a home or an environment nothing is taken for harmless that may be not. */
static void test_unknown_surroundings(void **state)
{
    static const struct {
        const char *script;
        bool dangerous, forbidden;
    } cases[] = {
        {"rm -rf build", false, false}, {"rm -rf ../build", true, false},
        {"rm -rf $D", true, false},     {"rm -rf /", true, true},
        {"rm -rf ~", true, true},       {"rm -rf .", true, true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct risk_request request = {.script = cases[i].script};
        struct risk_verdict v;

        assert_int_equal(risk_judge(&request, &v), 0);
        if (v.dangerous != cases[i].dangerous || v.forbidden != cases[i].forbidden)
            fail_msg("%s", cases[i].script);
        risk_verdict_done(&v);
    }
}

/* Leave for what is dangerous must not lead to a question: what may be asked is a row of its own.
 */
static void test_levels_of_rows(void **state)
{
    for (size_t row = 0; risk_rule_at(row); row++) {
        const struct risk_rule *rule = risk_rule_at(row);

        assert_true(!rule->dangerous || (rule->level == RISK_HIGH && !rule->forbidden));
        assert_true(!rule->forbidden || rule->level == RISK_CRITICAL);
        assert_ptr_equal(risk_rule_find(rule->id), rule);
    }
}

static void test_level_names(void **state)
{
    enum risk_level level = RISK_LOW;

    for (int i = RISK_LOW; i <= RISK_CRITICAL; i++) {
        assert_int_equal(risk_level_parse(risk_level_name((enum risk_level)i), &level), 0);
        assert_int_equal(level, i);
    }
    assert_int_equal(risk_level_parse("High", &level), -EINVAL);
    assert_int_equal(level, RISK_CRITICAL);
}

/* The names that have to be given leave for, whatever stands behind them. */
static void test_all_names(void **state)
{
    static const char *const names[] = {
        "rm",    "rmdir", "del",     "format", "mkfs",     "dd",     "shred", "chmod",    "chown",
        "chgrp", "kill",  "killall", "pkill",  "shutdown", "reboot", "halt",  "poweroff", "sudo",
        "su",    "doas",  "curl",    "wget",   "ssh",      "scp",    "rsync", "mv",       "cp"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        auto_buf struct buf command = {0};
        struct risk_verdict v;

        buf_add_format(&command, "/Usr/Bin/%c%s -x ../a ../b", names[i][0] - 'a' + 'A',
                       names[i] + 1);
        judge(command.data, &v);
        if (!v.dangerous && !v.forbidden)
            fail_msg("%s", command.data);
        risk_verdict_done(&v);
    }
}

/* ---- bounds ------------------------------------------------------------------------------- */

static void check_too_much(const char *script)
{
    struct risk_request request = {.script = script, .cwd = "/w", .home = "/h", .env = env};
    struct risk_verdict v;

    assert_int_equal(risk_judge(&request, &v), 0);
    assert_true(v.opaque);
    assert_true(v.level >= RISK_HIGH);
    assert_true(has_rule(&v, "too-much") || has_rule(&v, "unreadable-script"));
    assert_true(v.n_findings <= RISK_FINDINGS_MAX);
    assert_true(v.n_commands <= RISK_COMMANDS_MAX);
    risk_verdict_done(&v);
}

static char *repeat(const char *before, const char *text, size_t size, const char *behind)
{
    struct buf b = {0};

    buf_add_str(&b, before);
    while (b.len < size)
        buf_add_str(&b, text);
    buf_add_str(&b, behind);
    return buf_take(&b);
}

static void test_too_much(void **state)
{
    auto_free char *wrapped = repeat("", "env ", 4 * (RISK_DEPTH_MAX + 2), "ls");
    auto_free char *many = repeat("", "a;", 2 * (RISK_COMMANDS_MAX + 1), "a");
    auto_free char *finds = repeat("find .", " -exec a ';'", 1024, "");

    check_too_much(wrapped);
    check_too_much(many);
    check_too_much(finds);
    check_too_much("x='eval $x; eval $x'; $x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_every_row_is_reached),
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_worst_first),
        cmocka_unit_test(test_commands_are_listed),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_nothing_to_judge),
        cmocka_unit_test(test_unknown_surroundings),
        cmocka_unit_test(test_levels_of_rows),
        cmocka_unit_test(test_level_names),
        cmocka_unit_test(test_all_names),
        cmocka_unit_test(test_too_much),
    };

    return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}
