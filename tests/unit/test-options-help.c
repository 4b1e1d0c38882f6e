/* What is made from the option table, or has to agree with it: help, completion, manual pages. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macro.h"
#include "cli/verbs.h"

#define TEXT_MAX 65536

/* ---- what is printed ---------------------------------------------------------------------- */

static char printed[TEXT_MAX];

/* Runs a verb with standard output in a file, and gives what it wrote. */
static const char *run_verb(int (*run)(struct call *call, struct rein_error **reterr),
                            const char *arg)
{
    const char *operands[] = {arg};
    struct call call = {.line = {.operands = operands, .n_operands = arg ? 1 : 0}};
    int saved = dup(STDOUT_FILENO);
    int file = memfd_create("stdout", MFD_CLOEXEC);
    ssize_t n;
    int r;

    assert_true(saved >= 0 && file >= 0);
    (void)fflush(stdout);
    assert_true(dup2(file, STDOUT_FILENO) >= 0);
    r = run(&call, NULL);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    n = pread(file, printed, sizeof(printed) - 1, 0);
    assert_true(n >= 0);
    printed[n] = '\0';
    (void)close(saved);
    (void)close(file);
    assert_int_equal(r, 0);
    return printed;
}

static bool is_offered(const struct option *o, unsigned verb)
{
    return (o->verbs & verb) && o->kind != KIND_LATER;
}

static const char *spelling(const struct option *o)
{
    static char buf[OPTION_SPELLING_SIZE];

    return option_spell(o, buf);
}

/* Does text have the option as a word, and not as the beginning of a longer one? */
static bool mentions(const char *text, const char *option)
{
    size_t len = strlen(option);

    for (const char *p = text; (p = strstr(p, option)); p += len)
        if (p[len] != '-' && !isalnum((unsigned char)p[len]))
            return true;
    return false;
}

/* Several options may have one name; a verb has one of them at most. */
static bool is_offered_by_name(const struct option *o, unsigned verb)
{
    const struct option *same = o->name ? option_find(o->name, strlen(o->name), verb) : o;

    return same && is_offered(same, verb);
}

static void test_help_of_verbs(void **state)
{
    static const struct {
        const char *name;
        unsigned verb;
    } verbs[] = {{"run", VERB_RUN},     {"code", VERB_CODE}, {"config", VERB_CONFIG},
                 {"start", VERB_START}, {"ps", VERB_PS},     {"output", VERB_OUTPUT},
                 {"wait", VERB_WAIT},   {"stop", VERB_STOP}, {"send", VERB_SEND},
                 {"rm", VERB_RM},       {"gc", VERB_GC},     {"audit", VERB_AUDIT}};

    for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
        const char *text = run_verb(verb_help, verbs[v].name);

        assert_non_null(strstr(text, "Usage: rein "));
        for (size_t i = 0; i < OPTION_MAX; i++) {
            bool offered = is_offered_by_name(&option_table[i], verbs[v].verb);
            char row[64];

            (void)snprintf(row, sizeof(row), "%s%s", option_table[i].name ? " " : "\n  ",
                           spelling(&option_table[i]));
            if (mentions(text, row) != offered)
                fail_msg("%s in the help of %s", spelling(&option_table[i]), verbs[v].name);
        }
    }
}

static void test_help_is_not_wide(void **state)
{
    static const char *const names[] = {"run",    "code",       "config", "start", "ps",
                                        "output", "wait",       "stop",   "send",  "rm",
                                        "gc",     "completion", "help",   "audit", NULL};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char *text = (char *)(uintptr_t)run_verb(verb_help, names[i]);

        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            assert_in_range(strlen(line), 1, 80);
    }
}

static void test_help_of_the_program(void **state)
{
    const char *text = run_verb(verb_help, NULL);
    size_t n;
    const struct verb *verbs = verb_table(&n);

    for (size_t i = 0; i < n; i++) {
        char line[64];

        (void)snprintf(line, sizeof(line), "  rein %s ", verbs[i].name);
        assert_int_equal(strstr(text, line) != NULL, verbs[i].run != NULL);
    }
}

static void test_verbs_are_complete(void **state)
{
    size_t n;
    const struct verb *verbs = verb_table(&n);

    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(verb_find(verbs[i].name), &verbs[i]);
        assert_true(verbs[i].usage_exit == 2 || verbs[i].usage_exit == 125);
        assert_int_equal(verbs[i].run != NULL, verbs[i].summary != NULL);
        assert_int_equal(verbs[i].run != NULL, verbs[i].usage != NULL);
    }
    assert_null(verb_find("nonsense"));
}

static void test_completions_have_every_option(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    for (size_t s = 0; s < ARRAY_SIZE(shells); s++) {
        const char *text = run_verb(verb_completion, shells[s]);
        bool fish = strcmp(shells[s], "fish") == 0;

        for (size_t i = 0; i < OPTION_MAX; i++) {
            const struct option *o = &option_table[i];
            char name[64];

            if (!o->name || !is_offered(o, ~0u))
                continue;
            (void)snprintf(name, sizeof(name), fish ? " -l %s" : "--%s", o->name);
            if (!mentions(text, name))
                fail_msg("%s in the completion of %s", name, shells[s]);
        }
    }
}

/* ---- manual pages ------------------------------------------------------------------------- */

/* The suite says where the tree is; by hand it is the current directory. */
static char *read_page(const char *name)
{
    const char *root = getenv("REIN_SOURCE");
    char *text = calloc(1, TEXT_MAX);
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/man/%s", root ? root : ".", name);
    file = fopen(path, "re");
    if (!file)
        fail_msg("cannot open %s", path);
    assert_non_null(text);
    assert_in_range(fread(text, 1, TEXT_MAX - 1, file), 1, TEXT_MAX - 2);
    (void)fclose(file);
    return text;
}

/* Each option has a line of its own: "*-t*, *--timeout* _DUR_". */
static void make_heading(const struct option *o, char *buf, size_t size)
{
    int n = snprintf(buf, size, "\n");

    if (o->short_name)
        n += snprintf(buf + n, size - (size_t)n, "*-%c*%s", o->short_name, o->name ? ", " : "");
    if (o->name)
        n += snprintf(buf + n, size - (size_t)n, "*--%s*", o->name);
    if (o->arg)
        n += snprintf(buf + n, size - (size_t)n, " _%s_", o->arg);
    (void)snprintf(buf + n, size - (size_t)n, "\n");
}

static void check_page(const char *name, unsigned verb, unsigned without_verb)
{
    char *text = read_page(name);

    for (size_t i = 0; i < OPTION_MAX; i++) {
        const struct option *o = &option_table[i];
        bool expected = is_offered_by_name(o, verb) && !is_offered_by_name(o, without_verb);
        char heading[256];

        make_heading(o, heading, sizeof(heading));
        if ((strstr(text, heading) != NULL) != expected)
            fail_msg("%s in %s: %s", spelling(o), name, expected ? "missing" : "not its option");
    }
    free(text);
}

static void test_manual_pages(void **state)
{
    check_page("rein-run.1.scd", VERB_RUN, 0);
    check_page("rein-code.1.scd", VERB_CODE, VERB_RUN); /* the others are in rein-run(1) */
    check_page("rein-start.1.scd", VERB_START, VERB_RUN);
    check_page("rein-approvals.1.scd", VERB_APPROVALS, 0);
    check_page("rein-approve.1.scd", VERB_APPROVE, 0);
    check_page("rein-deny.1.scd", VERB_DENY, 0);
    check_page("rein-policy.1.scd", VERB_POLICY, 0);
    check_page("rein-ps.1.scd", VERB_PS, 0);
    check_page("rein-output.1.scd", VERB_OUTPUT, 0);
    check_page("rein-wait.1.scd", VERB_WAIT, 0);
    check_page("rein-stop.1.scd", VERB_STOP, 0);
    check_page("rein-send.1.scd", VERB_SEND, 0);
    check_page("rein-rm.1.scd", VERB_RM, 0);
    check_page("rein-gc.1.scd", VERB_GC, 0);
    check_page("rein-audit.1.scd", VERB_AUDIT, 0);
}

/* No page speaks of an option that is not there. */
static void test_manual_pages_mention_no_others(void **state)
{
    static const char *const pages[] = {
        "rein.1.scd",           "rein-run.1.scd",     "rein-code.1.scd", "rein-start.1.scd",
        "rein-ps.1.scd",        "rein-output.1.scd",  "rein-wait.1.scd", "rein-stop.1.scd",
        "rein-send.1.scd",      "rein-rm.1.scd",      "rein-gc.1.scd",   "rein-audit.1.scd",
        "rein-approvals.1.scd", "rein-approve.1.scd", "rein-deny.1.scd", "rein-policy.1.scd"};

    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        char *text = read_page(pages[i]);

        for (const char *p = text; (p = strstr(p, "*--")); p += 3) {
            size_t len = strspn(p + 3, "abcdefghijklmnopqrstuvwxyz-");

            if (len > 0 && !option_find(p + 3, len, ~0u) && strncmp(p + 3, "version", len) != 0)
                fail_msg("--%.*s in %s", (int)len, p + 3, pages[i]);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_of_verbs),
        cmocka_unit_test(test_help_is_not_wide),
        cmocka_unit_test(test_help_of_the_program),
        cmocka_unit_test(test_verbs_are_complete),
        cmocka_unit_test(test_completions_have_every_option),
        cmocka_unit_test(test_manual_pages),
        cmocka_unit_test(test_manual_pages_mention_no_others),
    };

    return cmocka_run_group_tests_name("options-help", tests, NULL, NULL);
}
