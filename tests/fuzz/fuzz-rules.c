/*
 * Configuration files from arbitrary bytes, as the gate reads them: no crash, no undefined
 * behaviour; either an error or rules that can be asked, and a project's file sets nothing.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/policy-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_rules(const struct rules *rules)
{
    static const char *const argv[] = {"git", "push", "origin", NULL};

    for (size_t i = 0; i < rules->n; i++) {
        require(rules->list[i].verdict != RULE_NONE && rules->list[i].line > 0);
        require(!rules->list[i].words || rules->list[i].words[0]);
    }
    (void)rules_find(rules, "execute_command", argv);
    (void)rules_find(rules, "send_input", NULL);
}

static void read_as(const char *text, bool is_project)
{
    struct policy policy = {.settings = gate_settings_default()};
    auto_error struct rein_error *error = NULL;
    int r = policy_parse(text, "f", is_project, &policy, &error);

    require((r < 0) == (error != NULL));
    check_rules(&policy.rules);
    if (is_project)
        require(policy.settings.mode == GATE_MODE_ASK && !policy.settings.ask_level_given);
    policy_done(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = calloc(1, size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    read_as(text, false);
    read_as(text, true);
    return 0;
}
