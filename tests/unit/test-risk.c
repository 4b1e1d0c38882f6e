/* The verdicts: a corpus of commands, and that each row of the tables is reached by it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#define BIG ((size_t)1 << 20)
#define ALARM_S 60 /* for what takes a fraction of a second, under a sanitizer too */

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

static const struct expectation *find_expectation(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(expectations); i++)
        if (strlen(expectations[i].name) == len && strncmp(expectations[i].name, name, len) == 0)
            return &expectations[i];
    fail_msg("no such verdict: %.*s", (int)len, name);
    return NULL;
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
    const struct expectation *e = find_expectation(line, len - opaque);
    struct risk_verdict v;
    bool right;

    judge(command, &v);
    right = v.level == e->level && v.forbidden == e->forbidden && (!opaque || v.opaque) &&
            (e->forbidden || v.dangerous == e->dangerous);
    counts->lines++;
    counts->wrong += !right;
    counts->positives += is_positive(e->level, e->dangerous);
    counts->claimed += is_positive(v.level, v.dangerous);
    counts->found += is_positive(e->level, e->dangerous) && is_positive(v.level, v.dangerous);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_every_row_is_reached),
    };

    return cmocka_run_group_tests_name("risk", tests, NULL, NULL);
}
