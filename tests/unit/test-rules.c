/* Rules: patterns, order, and calls of several commands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "policy/rules.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct rules rules;

static void add(enum rule_verdict verdict, const char *pattern)
{
    assert_int_equal(rules_add(&rules, verdict, pattern, "f.ini", (int)rules.n + 1, NULL), 0);
}

static int done(void **state)
{
    rules_done(&rules);
    return 0;
}

static enum rule_verdict say(const char *tool, const char *const *argv)
{
    const struct rule *rule = rules_find(&rules, tool, argv);

    return rule ? rule->verdict : RULE_NONE;
}

static void test_a_pattern_is_a_prefix(void **state)
{
    add(RULE_ASK, "git push");
    assert_int_equal(say("t", ARGV("git", "push")), RULE_ASK);
    assert_int_equal(say("t", ARGV("git", "push", "origin", "main")), RULE_ASK);
    assert_int_equal(say("t", ARGV("git")), RULE_NONE);
    assert_int_equal(say("t", ARGV("git", "pushed")), RULE_NONE);
    assert_int_equal(say("t", ARGV("git", "-C", "x", "push")), RULE_NONE);
    assert_int_equal(say("t", NULL), RULE_NONE);
}

static void test_stars_and_quotes(void **state)
{
    add(RULE_ALLOW, "git status *");
    add(RULE_ALLOW, "npm run 'test *'");
    add(RULE_DENY, "make install-*");
    assert_int_equal(say("t", ARGV("git", "status")), RULE_ALLOW);
    assert_int_equal(say("t", ARGV("git", "status", "-s")), RULE_ALLOW);
    assert_int_equal(say("t", ARGV("npm", "run", "test it")), RULE_ALLOW);
    assert_int_equal(say("t", ARGV("npm", "run", "test")), RULE_NONE);
    assert_int_equal(say("t", ARGV("make", "install-all")), RULE_DENY);
    assert_int_equal(say("t", ARGV("make", "install")), RULE_NONE);
}

static void test_the_first_that_fits_counts(void **state)
{
    add(RULE_ALLOW, "git push origin feature");
    add(RULE_DENY, "git push");
    assert_int_equal(say("t", ARGV("git", "push", "origin", "feature")), RULE_ALLOW);
    assert_int_equal(say("t", ARGV("git", "push", "origin", "main")), RULE_DENY);
}

/* Another program of the same name must not be let through; one that is denied must not slip by. */
static void test_paths_of_programs(void **state)
{
    add(RULE_ALLOW, "git");
    add(RULE_ALLOW, "mak*");
    add(RULE_DENY, "npm");
    assert_int_equal(say("t", ARGV("./git")), RULE_NONE);
    assert_int_equal(say("t", ARGV("mak/../../evil")), RULE_NONE);
    assert_int_equal(say("t", ARGV("/usr/bin/npm", "x")), RULE_DENY);
}

static void test_tools(void **state)
{
    add(RULE_DENY, "tool:send_input");
    add(RULE_ASK, "tool:code_run python");
    assert_int_equal(say("send_input", NULL), RULE_DENY);
    assert_int_equal(say("send_input", ARGV("x")), RULE_DENY);
    assert_int_equal(say("stop_command", NULL), RULE_NONE);
    assert_int_equal(say("code_run", ARGV("python", "-c")), RULE_ASK);
    assert_int_equal(say("code_run", ARGV("bash")), RULE_NONE);
    assert_int_equal(say("execute_command", ARGV("python")), RULE_NONE);
}

static void test_a_lone_star_is_everything(void **state)
{
    add(RULE_ASK, "*");
    assert_int_equal(say("t", ARGV("/bin/x", "y")), RULE_ASK);
    assert_int_equal(say("t", NULL), RULE_ASK);
}

static enum rule_verdict judge(const char *const *whole, const char *const *a, const char *const *b)
{
    char *copies[2][8] = {{NULL}};
    char **parts[2] = {copies[0], copies[1]};
    const struct rule *rule;
    const char *const *from[2] = {a, b};

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; from[i] && from[i][k]; k++)
            copies[i][k] = strdup(from[i][k]);
    enum rule_verdict v = rules_judge(&rules, "t", whole, parts, b ? 2 : a ? 1 : 0, &rule);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; copies[i][k]; k++)
            free(copies[i][k]);
    assert_int_equal(v, rule ? rule->verdict : RULE_NONE);
    return v;
}

static void test_the_strictest_of_several(void **state)
{
    add(RULE_ALLOW, "make");
    add(RULE_ALLOW, "sudo make");
    add(RULE_ASK, "git push");
    add(RULE_DENY, "npm publish");
    /* a script */
    assert_int_equal(judge(NULL, ARGV("make"), ARGV("npm", "publish")), RULE_DENY);
    assert_int_equal(judge(NULL, ARGV("git", "push"), ARGV("make")), RULE_ASK);
    assert_int_equal(judge(NULL, ARGV("make"), ARGV("make", "x")), RULE_ALLOW);
    assert_int_equal(judge(NULL, ARGV("make"), ARGV("other")), RULE_NONE);
    /* a command with what it starts */
    assert_int_equal(judge(ARGV("sudo", "make"), ARGV("sudo", "make"), ARGV("make")), RULE_ALLOW);
    assert_int_equal(judge(ARGV("sudo", "npm"), ARGV("sudo", "npm"), ARGV("npm", "publish")),
                     RULE_DENY);
    assert_int_equal(judge(ARGV("env", "make"), ARGV("env", "make"), ARGV("make")), RULE_NONE);
    assert_int_equal(judge(NULL, NULL, NULL), RULE_NONE);
}

static void refuse(const char *pattern, const char *word)
{
    struct rein_error *error = NULL;

    assert_true(rules_add(&rules, RULE_DENY, pattern, "f.ini", 7, &error) < 0);
    assert_non_null(strstr(error->message, "f.ini:7"));
    assert_non_null(strstr(error->message, word));
    rein_error_free(error);
}

static void test_bad_patterns(void **state)
{
    refuse("", "Empty");
    refuse("   ", "Empty");
    refuse("git 'push", "quotation");
    refuse("a | b", "Shell syntax");
    refuse("tool:", "empty");
    assert_int_equal(rules.n, 0);
}

static void test_the_bound(void **state)
{
    for (int i = 0; i < RULES_MAX; i++)
        add(RULE_ALLOW, "x");
    refuse("y", "more than");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_pattern_is_a_prefix, done),
        cmocka_unit_test_teardown(test_stars_and_quotes, done),
        cmocka_unit_test_teardown(test_the_first_that_fits_counts, done),
        cmocka_unit_test_teardown(test_paths_of_programs, done),
        cmocka_unit_test_teardown(test_tools, done),
        cmocka_unit_test_teardown(test_a_lone_star_is_everything, done),
        cmocka_unit_test_teardown(test_the_strictest_of_several, done),
        cmocka_unit_test_teardown(test_bad_patterns, done),
        cmocka_unit_test_teardown(test_the_bound, done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
