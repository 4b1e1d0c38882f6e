/* What files and variables say of the gate, and which projects are believed. */
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
#include "base/macro.h"
#include "policy/policy-file.h"
#include "policy/trust.h"
#include "temp-dir.h"

static struct policy policy;

static int load(const char *const *variables, const char *cwd, struct rein_error **reterr)
{
    auto_free char *system_file = strdup(in_temp_dir("system.ini"));
    auto_free char *user_file = strdup(in_temp_dir("user.ini"));
    struct policy_sources from = {.system_file = system_file,
                                  .user_file = user_file,
                                  .variables = variables,
                                  .cwd = cwd,
                                  .state_dir = temp_dir};

    policy_done(&policy);
    return policy_load(&from, &policy, reterr);
}

static int teardown(void **state)
{
    policy_done(&policy);
    return temp_dir_teardown(state);
}

static void test_nothing(void **state)
{
    assert_int_equal(load(NULL, NULL, NULL), 0);
    assert_int_equal(policy.rules.n, 0);
    assert_int_equal(policy.settings.mode, GATE_MODE_ASK);
    assert_int_equal(policy.settings.ask_level, RISK_CRITICAL);
    assert_false(policy.settings.ask_level_given);
    assert_int_equal(policy.settings.audit, GATE_AUDIT_ON);
}

static void test_order_of_sources(void **state)
{
    static const char *const variables[] = {"REIN_AUDIT=required", "REIN_APPROVE=", NULL};

    write_temp_file("system.ini", 0644, "approve = never\naudit = off\n[rules]\ndeny = a\n");
    write_temp_file("user.ini", 0644,
                    "timeout = 5s\napprove = auto\nask-level = high\n[rules]\n# c\nallow = a\n"
                    "ask = b\n");
    assert_int_equal(load(variables, NULL, NULL), 0);
    assert_int_equal(policy.rules.n, 3);
    assert_string_equal(policy.rules.list[0].text, "deny = a");
    assert_string_equal(policy.rules.list[2].text, "ask = b");
    assert_int_equal(policy.rules.list[2].line, 7);
    assert_int_equal(policy.settings.mode, GATE_MODE_AUTO);
    assert_int_equal(policy.settings.audit, GATE_AUDIT_REQUIRED);
    assert_int_equal(policy.settings.ask_level, RISK_HIGH);
    assert_true(policy.settings.ask_level_given);
}

static void refuse(const char *user_text, const char *word)
{
    struct rein_error *error = NULL;

    write_temp_file("user.ini", 0644, user_text);
    assert_true(load(NULL, NULL, &error) < 0);
    if (!strstr(error->message, word))
        fail_msg("'%s' is not in '%s'", word, error->message);
    assert_string_equal(error->code, "bad_request");
    rein_error_free(error);
}

static void test_mistakes_are_told_with_their_line(void **state)
{
    auto_free char *longer = malloc(9000);
    auto_free char *nested = malloc(9000);

    refuse("[rules]\nallow = a\npermit = b\n", "user.ini:3: no such rule 'permit'");
    refuse("\n\n[rules]\ndeny = 'a\n", "user.ini:4: deny");
    refuse("approve = perhaps\n", "user.ini:1: approve: 'perhaps'");
    refuse("ask-level = 11\n", "ask-level");
    refuse("audit = maybe\n", "audit");
    refuse("[rules]\nnonsense\n", "user.ini:2");
    memset(longer, 'x', 8999);
    longer[8999] = '\0';
    (void)snprintf(nested, 9000, "[rules]\nallow = %.8000s\n", longer);
    refuse(nested, "user.ini:2");
}

static void test_a_variable_that_is_wrong(void **state)
{
    static const char *const variables[] = {"REIN_ASK_LEVEL=very", NULL};
    struct rein_error *error = NULL;

    assert_true(load(variables, NULL, &error) < 0);
    assert_non_null(strstr(error->message, "REIN_ASK_LEVEL: 'very'"));
    rein_error_free(error);
}

/* ---- projects ----------------------------------------------------------------------------- */

static const char *project(const char *text)
{
    static char dir[256];

    write_temp_file("p/" PROJECT_FILE, 0644, text);
    make_parents("p/sub/deeper/x");
    (void)snprintf(dir, sizeof(dir), "%s/p", temp_dir);
    return dir;
}

static void test_a_project_counts_when_it_is_trusted(void **state)
{
    const char *dir = project("[rules]\nallow = make\n");
    auto_free char *below = strdup(in_temp_dir("p/sub/deeper"));

    assert_int_equal(load(NULL, below, NULL), 0);
    assert_string_equal(policy.project_dir, dir);
    assert_false(policy.project_is_trusted);
    assert_int_equal(policy.rules.n, 0);

    assert_int_equal(trust_add(temp_dir, dir, NULL), 0);
    assert_int_equal(load(NULL, below, NULL), 0);
    assert_true(policy.project_is_trusted);
    assert_int_equal(policy.rules.n, 1);

    (void)project("[rules]\nallow = make\nallow = rm\n"); /* changed since */
    assert_int_equal(load(NULL, below, NULL), 0);
    assert_int_equal(policy.rules.n, 0);

    assert_int_equal(trust_add(temp_dir, dir, NULL), 0);
    assert_int_equal(trust_remove(temp_dir, dir, NULL), 0);
    assert_int_equal(trust_remove(temp_dir, dir, NULL), -ENOENT);
    assert_int_equal(load(NULL, below, NULL), 0);
    assert_int_equal(policy.rules.n, 0);
}

static void test_a_project_has_rules_only(void **state)
{
    static const char *const texts[] = {"approve = auto\n", "[other]\nx = y\n"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const char *dir = project(texts[i]);
        struct rein_error *error = NULL;

        assert_int_equal(trust_add(temp_dir, dir, NULL), 0);
        assert_true(load(NULL, dir, &error) < 0);
        assert_non_null(strstr(error->message, "[rules]"));
        rein_error_free(error);
    }
}

static void test_what_is_not_trusted_is_not_read(void **state)
{
    assert_int_equal(load(NULL, project("complete nonsense"), NULL), 0);
    assert_int_equal(policy.rules.n, 0);
}

static void test_no_project(void **state)
{
    auto_free char *dir = strdup(in_temp_dir("empty"));

    make_parents("empty/x");
    assert_null(trust_find_project(dir));
    assert_int_equal(trust_add(temp_dir, dir, NULL), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, temp_dir_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),
        TEST(test_order_of_sources),
        TEST(test_mistakes_are_told_with_their_line),
        TEST(test_a_variable_that_is_wrong),
        TEST(test_a_project_counts_when_it_is_trusted),
        TEST(test_a_project_has_rules_only),
        TEST(test_what_is_not_trusted_is_not_read),
        TEST(test_no_project),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
