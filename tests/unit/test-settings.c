/* Where values come from: the order of the sources, variables, configuration files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/config-path.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "cli/settings.h"
#include "temp-dir.h"

/* One load: any of the sources, the result, the error's message. */
struct load {
    struct settings settings;
    struct command_line line;
    struct rein_error *error;
};

static void load_done(struct load *l)
{
    settings_done(&l->settings);
    command_line_done(&l->line);
    l->error = rein_error_free(l->error);
}

static int load(struct load *l,
                const char *system_file,
                const char *user_file,
                const char *const *variables,
                const char *const *argv)
{
    static const char *const nothing[] = {NULL};
    struct settings_sources from = {.system_file = system_file,
                                    .user_file = user_file,
                                    .variables = variables ? variables : nothing,
                                    .line = &l->line};

    *l = (struct load){0};
    assert_int_equal(options_scan(VERB_RUN, 0, argv ? argv : nothing, &l->line, NULL), 0);
    return settings_load(&from, VERB_RUN, &l->settings, &l->error);
}

static void test_nothing(void **state)
{
    struct load l;

    assert_int_equal(load(&l, NULL, NULL, NULL, NULL), 0);
    for (int i = 0; i < OPTION_MAX; i++)
        assert_false(settings_given(&l.settings, (enum option_id)i));
    load_done(&l);
    assert_int_equal(load(&l, in_temp_dir("no"), in_temp_dir("no/such"), NULL, NULL), 0);
    load_done(&l);
}

/* Each source alone, then each with all that are weaker. */
static void test_order(void **state)
{
    const char *system_file = write_temp_file("system.ini", 0600, "timeout = 1\n");
    const char *user_file = write_temp_file("user.ini", 0600, "\n# mine\ntimeout = 2\n");
    const char *const variables[] = {"REIN_TIMEOUT=3", NULL};
    const char *const argv[] = {"-t4", NULL};
    const struct {
        const char *system_file, *user_file;
        const char *const *variables, *const *argv;
        int seconds;
        enum setting_source source;
    } cases[] = {
        {system_file, NULL, NULL, NULL, 1, SOURCE_FILE},
        {system_file, user_file, NULL, NULL, 2, SOURCE_FILE},
        {system_file, user_file, variables, NULL, 3, SOURCE_VARIABLE},
        {system_file, user_file, variables, argv, 4, SOURCE_FLAG},
        {NULL, user_file, NULL, argv, 4, SOURCE_FLAG},
        {system_file, NULL, variables, NULL, 3, SOURCE_VARIABLE},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct load l;

        assert_int_equal(
            load(&l, cases[i].system_file, cases[i].user_file, cases[i].variables, cases[i].argv),
            0);
        assert_int_equal(l.settings.timeout_ns, cases[i].seconds * NSEC_PER_SEC);
        assert_int_equal(l.settings.origins[OPT_TIMEOUT].source, cases[i].source);
        load_done(&l);
    }
}

static void test_origin_of_a_file(void **state)
{
    const char *file = write_temp_file("user.ini", 0600, "; one\n\ntimeout = 2\n");
    struct load l;

    assert_int_equal(load(&l, NULL, file, NULL, NULL), 0);
    assert_string_equal(l.settings.origins[OPT_TIMEOUT].name, file);
    assert_int_equal(l.settings.origins[OPT_TIMEOUT].line, 3);
    assert_string_equal(l.settings.texts[OPT_TIMEOUT], "2");
    load_done(&l);
}

/* ---- variables ---------------------------------------------------------------------------- */

static void test_every_option_has_a_variable(void **state)
{
    static const struct {
        enum option_id id;
        const char *value;
    } values[] = {
        {OPT_TIMEOUT, "1"},
        {OPT_GRACE, "1"},
        {OPT_AFTER, "wait"},
        {OPT_CWD, "/"},
        {OPT_ENV, "A=1"},
        {OPT_ENV_KEEP, "A"},
        {OPT_ENV_PROFILE, "clean"},
        {OPT_SECRET, "A"},
        {OPT_SHELL, "1"},
        {OPT_STDIN, "inherit"},
        {OPT_PASS_FD, "5"},
        {OPT_NAME, "x"},
        {OPT_SPLIT, "1"},
        {OPT_OUTPUT_LIMIT, "1M"},
        {OPT_ON_OUTPUT_LIMIT, "kill"},
        {OPT_SHOW, "1K"},
        {OPT_RENDER, "raw"},
        {OPT_ENCODING, "gbk"},
        {OPT_JSON, "1"},
        {OPT_JSONL, "1"},
        {OPT_MEMORY, "1G"},
        {OPT_CPU_TIME, "1"},
        {OPT_PROCS, "9"},
        {OPT_FILE_SIZE, "1M"},
        {OPT_GATE, "1"},
        {OPT_APPROVE, "never"},
        {OPT_YES, "1"},
        {OPT_ASK_LEVEL, "high"},
        {OPT_ALLOW_DANGEROUS, "1"},
        {OPT_AUDIT, "off"},
        {OPT_SANDBOX, "off"},
    };
    size_t n = 0;

    for (size_t i = 0; i < OPTION_MAX; i++)
        n += (option_table[i].verbs & VERB_RUN) && option_table[i].kind != KIND_LATER &&
             !(option_table[i].flags & OPTION_PER_CALL);
    assert_int_equal(n, ARRAY_SIZE(values) - 1); /* all but the one that is for later */

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        char name[OPTION_SPELLING_SIZE];
        char variable[128];
        struct load l;

        option_variable(&option_table[values[i].id], name);
        (void)snprintf(variable, sizeof(variable), "%s=%s", name, values[i].value);
        assert_int_equal(load(&l, NULL, NULL, (const char *const[]){variable, NULL}, NULL), 0);
        assert_int_equal(l.settings.origins[values[i].id].source, SOURCE_VARIABLE);
        assert_string_equal(l.settings.origins[values[i].id].name, name);
        load_done(&l);
    }
}

static void test_variables_that_are_none(void **state)
{
    const char *const variables[] = {"REIN_STATE=/x",
                                     "REIN_=1",
                                     "REIN_TIMEOUT",
                                     "REIN_TIMEOUT=",
                                     "REIN_timeout=x",
                                     "REIN_HELP=1",
                                     "REIN_CODE=1",
                                     "REIN_LIST=1",
                                     "XREIN_TIMEOUT=x",
                                     "REIN-TIMEOUT=x",
                                     "REIN_A_NAME_THAT_IS_LONGER_THAN_ANY_OPTION_OF_OURS=1",
                                     NULL};
    struct load l;

    assert_int_equal(load(&l, NULL, NULL, variables, NULL), 0);
    for (int i = 0; i < OPTION_MAX; i++)
        assert_false(settings_given(&l.settings, (enum option_id)i));
    load_done(&l);
}

static void test_lines_of_a_variable(void **state)
{
    const char *const variables[] = {"REIN_ENV=A=1\n\nB=two words\nC", "REIN_PASS_FD=3\n4", NULL};
    const char *const argv[] = {"-eD=1", NULL};
    struct load l;

    assert_int_equal(load(&l, NULL, NULL, variables, argv), 0);
    assert_int_equal(strv_length((const char *const *)l.settings.env), 4);
    assert_string_equal(l.settings.env[0], "A=1");
    assert_string_equal(l.settings.env[1], "B=two words");
    assert_string_equal(l.settings.env[2], "C");
    assert_string_equal(l.settings.env[3], "D=1");
    assert_int_equal(l.settings.n_pass_fds, 2);
    load_done(&l);
}

static void test_a_flag_can_be_switched_off(void **state)
{
    const char *file = write_temp_file("user.ini", 0600, "split = yes\njson = yes\n");
    const char *const variables[] = {"REIN_SPLIT=0", "REIN_JSON=no", NULL};
    struct load l;

    assert_int_equal(load(&l, NULL, file, variables, NULL), 0);
    assert_false(l.settings.split);
    assert_int_equal(l.settings.format, FORMAT_TEXT);
    load_done(&l);
}

static void test_later_ones_are_refused_everywhere(void **state)
{
    const char *file = write_temp_file("user.ini", 0600, "sandbox = strict\n");
    const char *const variables[] = {"REIN_SANDBOX=strict", NULL};
    struct load l;

    assert_true(load(&l, NULL, file, NULL, NULL) < 0);
    assert_non_null(strstr(l.error->message, "user.ini:1: sandbox: not supported by this version"));
    load_done(&l);
    assert_true(load(&l, NULL, NULL, variables, NULL) < 0);
    assert_string_equal(l.error->message, "REIN_SANDBOX: not supported by this version");
    load_done(&l);
}

/* ---- files -------------------------------------------------------------------------------- */

static void test_what_a_file_may_look_like(void **state)
{
    static const char *const texts[] = {
        "timeout = 2\n",
        "timeout=2",
        "  timeout\t=  2  \n",
        "# comment\n; another\n\ntimeout = 2 ; the end\n",
        "timeout = 1\ntimeout = 2\n",
        "timeout = 2\r\n",
        "\xef\xbb\xbftimeout = 2\n",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct load l;
        int r = load(&l, NULL, write_temp_file("user.ini", 0600, texts[i]), NULL, NULL);

        if (r < 0)
            fail_msg("'%s': %s", texts[i], l.error->message);
        assert_int_equal(l.settings.timeout_ns, 2 * NSEC_PER_SEC);
        load_done(&l);
    }
}

static void test_repeated_keys_add_up(void **state)
{
    const char *system_file = write_temp_file("system.ini", 0600, "env = A=1\n");
    const char *user_file = write_temp_file("user.ini", 0600, "env = B=x=y\n  C=3\nenv = D\n");
    struct load l;

    assert_int_equal(load(&l, system_file, user_file, NULL, NULL), 0);
    assert_int_equal(strv_length((const char *const *)l.settings.env), 4);
    assert_string_equal(l.settings.env[0], "A=1");
    assert_string_equal(l.settings.env[1], "B=x=y");
    assert_string_equal(l.settings.env[2], "C=3");
    load_done(&l);
}

/* Keys of other verbs are known, and do not count. */
static void test_keys_of_other_verbs(void **state)
{
    const char *file = write_temp_file("user.ini", 0600, "shell = yes\ntimeout = 2\n");
    struct settings s = {0};

    assert_int_equal(settings_apply_file(file, VERB_CODE, &s, NULL), 0);
    assert_false(s.shell);
    assert_int_equal(s.timeout_ns, 2 * NSEC_PER_SEC);
    settings_done(&s);
}

static const struct {
    const char *text;
    const char *message; /* after the path */
    const char *hint;    /* or NULL */
} bad_files[] = {
    {"timeout = 5x\n", ":1: timeout: '5x' is not a duration (use 10, 1.5s, 500ms, 5m, 1h)", NULL},
    {"\n\nshow = many\n", ":3: show: 'many' is not a size (use 4096, 64K, 1M, 2G)", NULL},
    {"time-out = 1\n", ":1: no such key 'time-out'", "did you mean timeout?"},
    {"nonsense = 1\n", ":1: no such key 'nonsense'", NULL},
    {"help = 1\n", ":1: no such key 'help'", NULL},
    {"c = 1\n", ":1: no such key 'c'", NULL},
    {"\n[run]\ntimeout = 1\n", ":3: no such section [run]",
     "keys stand before the only section, [rules]"},
    {"timeout\n", ":1: not understood", "a line is key = value, or a comment after #"},
    {"show = 1K\ntimeout = x\nnonsense = 1\n",
     ":2: timeout: 'x' is not a duration (use 10, 1.5s, 500ms, 5m, 1h)", NULL},
};

static void test_mistakes_in_files(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(bad_files); i++) {
        const char *file = write_temp_file("user.ini", 0600, bad_files[i].text);
        char expected[4300];
        struct load l;

        assert_true(load(&l, NULL, file, NULL, NULL) < 0);
        (void)snprintf(expected, sizeof(expected), "%s%s", file, bad_files[i].message);
        assert_string_equal(l.error->message, expected);
        assert_string_equal(l.error->code, "bad_request");
        if (bad_files[i].hint)
            assert_string_equal(l.error->hint, bad_files[i].hint);
        load_done(&l);
    }
}

static void test_a_line_that_is_too_long(void **state)
{
    char content[600] = "show = 1K\nname = ";
    struct load l;

    memset(content + strlen(content), 'x', 500);
    assert_true(load(&l, NULL, write_temp_file("user.ini", 0600, content), NULL, NULL) < 0);
    assert_non_null(strstr(l.error->message, ":2: the line is too long"));
    load_done(&l);
}

static void test_a_directory_instead_of_a_file(void **state)
{
    struct load l;

    make_parents("dir.ini/x");
    assert_true(load(&l, NULL, in_temp_dir("dir.ini"), NULL, NULL) < 0);
    assert_non_null(strstr(l.error->message, "dir.ini"));
    load_done(&l);
}

/* ---- mistakes in several places ----------------------------------------------------------- */

/* The first mistake is told, everything that is right holds: so `json` says how to tell it. */
static void test_a_mistake_stops_nothing(void **state)
{
    const char *file = write_temp_file("user.ini", 0600, "nonsense = 1\nshow = 1K\n");
    const char *const variables[] = {"REIN_TIMEOUT=x", "REIN_JSON=1", NULL};
    const char *const argv[] = {"--split", "--after=x", "-C/", NULL};
    struct load l;

    assert_true(load(&l, NULL, file, variables, argv) < 0);
    assert_non_null(strstr(l.error->message, "no such key 'nonsense'"));
    assert_int_equal(l.settings.show, 1024);
    assert_int_equal(l.settings.format, FORMAT_JSON);
    assert_true(l.settings.split);
    assert_string_equal(l.settings.cwd, "/");
    load_done(&l);
}

/* ---- the user's file ---------------------------------------------------------------------- */

static void assert_user_file(const char *expected)
{
    char *path = config_user_file();

    assert_string_equal(path, expected);
    free(path);
}

static void test_user_file(void **state)
{
    char *path;

    assert_int_equal(setenv("HOME", "/home/x", 1), 0);
    assert_int_equal(setenv("XDG_CONFIG_HOME", "/conf", 1), 0);
    assert_user_file("/conf/rein/config.ini");
    assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0); /* counts as none */
    assert_user_file("/home/x/.config/rein/config.ini");
    assert_int_equal(setenv("XDG_CONFIG_HOME", "", 1), 0);
    assert_user_file("/home/x/.config/rein/config.ini");
    assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
    assert_user_file("/home/x/.config/rein/config.ini");
    assert_int_equal(unsetenv("HOME"), 0);
    path = config_user_file(); /* from the user data base, where there is an entry */
    if (path)
        assert_non_null(strstr(path, "/.config/rein/config.ini"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_origin_of_a_file),
        cmocka_unit_test(test_every_option_has_a_variable),
        cmocka_unit_test(test_variables_that_are_none),
        cmocka_unit_test(test_lines_of_a_variable),
        cmocka_unit_test(test_a_flag_can_be_switched_off),
        cmocka_unit_test(test_later_ones_are_refused_everywhere),
        cmocka_unit_test(test_what_a_file_may_look_like),
        cmocka_unit_test(test_repeated_keys_add_up),
        cmocka_unit_test(test_keys_of_other_verbs),
        cmocka_unit_test(test_mistakes_in_files),
        cmocka_unit_test(test_a_line_that_is_too_long),
        cmocka_unit_test(test_a_directory_instead_of_a_file),
        cmocka_unit_test(test_a_mistake_stops_nothing),
        cmocka_unit_test(test_user_file),
    };

    return cmocka_run_group_tests_name("settings", tests, temp_dir_setup, temp_dir_teardown);
}
