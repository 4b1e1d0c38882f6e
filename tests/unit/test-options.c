/* How a command line is split by the table, and how each kind of value is judged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "cli/options.h"
#include "text/text.h"

#define ARGS(...) ((const char *[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const struct origin from_flag = {.source = SOURCE_FLAG};

/* ---- the table ---------------------------------------------------------------------------- */

static void test_every_row_is_complete(void **state)
{
    for (size_t i = 0; i < OPTION_MAX; i++) {
        const struct option *o = &option_table[i];

        assert_true(o->name || o->short_name);
        assert_true(o->verbs != 0);
        assert_in_range(o->group, 0, GROUP_MAX - 1);
        assert_int_equal(o->kind == KIND_LATER, o->group == GROUP_LATER);
        assert_int_equal(o->kind == KIND_CHOICE, o->choices != NULL);
        if (o->kind == KIND_LATER)
            continue;
        assert_non_null(o->help);
        assert_non_null(o->unset);
        assert_true(option_takes_value(o) != (o->kind == KIND_FLAG || o->kind == KIND_FORMAT));
        if (!o->name)
            assert_true(o->flags & OPTION_PER_CALL);
    }
}

static void test_names_are_unique(void **state)
{
    for (size_t i = 0; i < OPTION_MAX; i++) {
        const struct option *o = &option_table[i];

        if (o->name)
            assert_ptr_equal(option_find(o->name, strlen(o->name), o->verbs), o);
        if (o->short_name)
            assert_ptr_equal(option_find_short(o->short_name, o->verbs), o);
    }
}

static void test_choices_are_what_the_help_says(void **state)
{
    for (size_t i = 0; i < OPTION_MAX; i++) {
        char joined[128] = "";

        for (const struct choice *c = option_table[i].choices; c && c->name; c++) {
            if (joined[0])
                (void)strcat(joined, "|");
            (void)strcat(joined, c->name);
        }
        if (option_table[i].choices)
            assert_string_equal(option_table[i].arg, joined);
    }
}

static void test_spellings(void **state)
{
    char buf[OPTION_SPELLING_SIZE];

    assert_string_equal(option_spell(&option_table[OPT_CPU_TIME], buf), "--cpu-time");
    assert_string_equal(option_spell(&option_table[OPT_CODE], buf), "-c");
    assert_string_equal(option_variable(&option_table[OPT_CPU_TIME], buf), "REIN_CPU_TIME");
    for (size_t i = 0; i < OPTION_MAX; i++) {
        if (option_table[i].name) {
            (void)option_variable(&option_table[i], buf);
            assert_int_equal(strlen(buf), strlen("REIN_") + strlen(option_table[i].name));
        }
    }
}

/* ---- splitting ---------------------------------------------------------------------------- */

static int
scan(unsigned verb, const char *const *argv, struct command_line *cl, struct rein_error **reterr)
{
    unsigned flags = verb == VERB_CODE ? OPERANDS_ANYWHERE : 0;

    *cl = (struct command_line){0};
    return options_scan(verb, flags, argv, cl, reterr);
}

static void
assert_use(const struct command_line *cl, size_t i, enum option_id id, const char *value)
{
    assert_in_range(i, 0, cl->n_uses - 1);
    assert_ptr_equal(cl->uses[i].option, &option_table[id]);
    if (value)
        assert_string_equal(cl->uses[i].value, value);
    else
        assert_null(cl->uses[i].value);
}

static void test_forms(void **state)
{
    static const char *const forms[][3] = {
        {"-t5", NULL}, {"-t", "5", NULL}, {"--timeout=5", NULL}, {"--timeout", "5", NULL}};

    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        struct command_line cl;

        assert_int_equal(scan(VERB_RUN, forms[i], &cl, NULL), 0);
        assert_int_equal(cl.n_uses, 1);
        assert_use(&cl, 0, OPT_TIMEOUT, "5");
        assert_null(cl.rest[0]);
        command_line_done(&cl);
    }
}

static void test_values_of_every_look(void **state)
{
    struct command_line cl;

    assert_int_equal(
        scan(VERB_RUN, ARGS("--cwd=", "--name", "--json", "-e", "-x", "-C-", "-t=5"), &cl, NULL),
        0);
    assert_int_equal(cl.n_uses, 5);
    assert_use(&cl, 0, OPT_CWD, "");
    assert_use(&cl, 1, OPT_NAME, "--json");
    assert_use(&cl, 2, OPT_ENV, "-x");
    assert_use(&cl, 3, OPT_CWD, "-");
    assert_use(&cl, 4, OPT_TIMEOUT, "=5");
    command_line_done(&cl);
}

static void test_clusters(void **state)
{
    struct command_line cl;

    assert_int_equal(scan(VERB_RUN, ARGS("-ht5", "cmd"), &cl, NULL), 0);
    assert_int_equal(cl.n_uses, 2);
    assert_use(&cl, 0, OPT_HELP, NULL);
    assert_use(&cl, 1, OPT_TIMEOUT, "5");
    assert_string_equal(cl.rest[0], "cmd");
    command_line_done(&cl);
}

static void test_run_options_end_at_the_command(void **state)
{
    struct command_line cl;

    assert_int_equal(scan(VERB_RUN, ARGS("--json", "cmd", "-t", "--", "x"), &cl, NULL), 0);
    assert_int_equal(cl.n_uses, 1);
    assert_int_equal(strv_length(cl.rest), 4);
    assert_string_equal(cl.rest[0], "cmd");
    assert_string_equal(cl.rest[2], "--");
    command_line_done(&cl);

    assert_int_equal(scan(VERB_RUN, ARGS("--json", "--", "-t", "--"), &cl, NULL), 0);
    assert_int_equal(strv_length(cl.rest), 2);
    assert_string_equal(cl.rest[0], "-t");
    command_line_done(&cl);

    assert_int_equal(scan(VERB_RUN, ARGS("-", "-t"), &cl, NULL), 0);
    assert_string_equal(cl.rest[0], "-");
    assert_int_equal(cl.n_uses, 0);
    command_line_done(&cl);

    assert_int_equal(scan(VERB_RUN, ARGS(), &cl, NULL), 0);
    assert_null(cl.rest[0]);
    command_line_done(&cl);
}

static void test_code_options_stand_anywhere(void **state)
{
    struct command_line cl;

    assert_int_equal(
        scan(VERB_CODE, ARGS("python", "-t5", "-", "--json", "--", "--json", "a"), &cl, NULL), 0);
    assert_int_equal(cl.n_uses, 2);
    assert_int_equal(cl.n_operands, 2);
    assert_string_equal(cl.operands[0], "python");
    assert_string_equal(cl.operands[1], "-");
    assert_int_equal(strv_length(cl.rest), 2);
    assert_string_equal(cl.rest[0], "--json");
    command_line_done(&cl);
}

static void test_more_options_than_expected(void **state)
{
    const char *argv[301] = {NULL};
    struct command_line cl;

    for (size_t i = 0; i < 300; i++)
        argv[i] = i % 2 ? "--json" : "-eA=1";
    assert_int_equal(scan(VERB_RUN, argv, &cl, NULL), 0);
    assert_int_equal(cl.n_uses, 300);
    assert_use(&cl, 299, OPT_JSON, NULL);
    command_line_done(&cl);
}

static const struct {
    unsigned verb;
    const char *argv[4];
    const char *message;
    const char *hint; /* or NULL for any */
} scan_errors[] = {
    {VERB_RUN, {"--timeot", "5"}, "--timeot: no such option", "did you mean --timeout?"},
    {VERB_RUN, {"--tiemout=5"}, "--tiemout: no such option", "did you mean --timeout?"},
    {VERB_RUN, {"--jsno"}, "--jsno: no such option", "did you mean --json?"},
    {VERB_RUN, {"--out-limit=5"}, "--out-limit: no such option", "rein help lists what there is"},
    {VERB_RUN, {"--nonsense"}, "--nonsense: no such option", "rein help lists what there is"},
    {VERB_RUN, {"--time=5"}, "--time: no such option", NULL}, /* abbreviations would be a trap */
    {VERB_RUN, {"-Z"}, "-Z: no such option", NULL},
    {VERB_RUN, {"-hZ"}, "-Z: no such option", NULL},
    {VERB_RUN, {"-c", "x"}, "-c: no such option", NULL},
    {VERB_RUN, {"--list"}, "--list: no such option", NULL},
    {VERB_CODE, {"--shell", "bash"}, "--shell: no such option", NULL},
    {VERB_RUN, {"-t"}, "--timeout: DUR is missing", NULL},
    {VERB_RUN, {"--env-keep"}, "--env-keep: NAME is missing", NULL},
    {VERB_CODE, {"python", "-c"}, "-c: CODE is missing", NULL},
    {VERB_RUN, {"--json=yes"}, "--json: takes no value", NULL},
    {VERB_RUN, {"--gate=1"}, "--gate: takes no value", NULL},
};

static void test_scan_errors(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(scan_errors); i++) {
        struct rein_error *error = NULL;
        struct command_line cl;

        assert_true(scan(scan_errors[i].verb, scan_errors[i].argv, &cl, &error) < 0);
        assert_string_equal(error->code, "bad_request");
        assert_string_equal(error->message, scan_errors[i].message);
        if (scan_errors[i].hint)
            assert_string_equal(error->hint, scan_errors[i].hint);
        rein_error_free(error);
        command_line_done(&cl);
        assert_true(scan(scan_errors[i].verb, scan_errors[i].argv, &cl, NULL) < 0);
        command_line_done(&cl);
    }
}

/* The first mistake is told, and what follows it is still read. */
static void test_scan_goes_on(void **state)
{
    struct rein_error *error = NULL;
    struct command_line cl;

    assert_true(scan(VERB_RUN, ARGS("--first", "--second", "-Z", "--json"), &cl, &error) < 0);
    assert_string_equal(error->message, "--first: no such option");
    assert_int_equal(cl.n_uses, 1);
    assert_use(&cl, 0, OPT_JSON, NULL);
    rein_error_free(error);
    command_line_done(&cl);
}

/* ---- values ------------------------------------------------------------------------------- */

static int set(struct settings *s, enum option_id id, const char *value, struct rein_error **reterr)
{
    return options_set(s, &option_table[id], value, &from_flag, reterr);
}

static void set_ok(struct settings *s, enum option_id id, const char *value)
{
    struct rein_error *error = NULL;

    if (set(s, id, value, &error) < 0)
        fail_msg("%s", error->message);
    assert_true(settings_given(s, id));
}

static void test_each_value_lands_in_its_field(void **state)
{
    struct settings s = {0};

    set_ok(&s, OPT_TIMEOUT, "1.5s");
    assert_int_equal(s.timeout_ns, 1500 * NSEC_PER_MSEC);
    set_ok(&s, OPT_GRACE, "0");
    assert_int_equal(s.grace_ns, 0);
    set_ok(&s, OPT_CPU_TIME, "5m");
    assert_int_equal(s.cpu_time_ns, 300 * NSEC_PER_SEC);
    set_ok(&s, OPT_AFTER, "wait");
    assert_int_equal(s.after, REIN_AFTER_WAIT);
    set_ok(&s, OPT_ENV_PROFILE, "clean");
    assert_int_equal(s.env_profile, REIN_ENV_CLEAN);
    set_ok(&s, OPT_ON_OUTPUT_LIMIT, "kill");
    assert_int_equal(s.on_output_limit, REIN_OUTPUT_KILL);
    set_ok(&s, OPT_RENDER, "raw");
    assert_int_equal(s.render, TEXT_RAW);
    set_ok(&s, OPT_ENCODING, "gbk");
    assert_int_equal(s.encoding, TEXT_ENC_GBK);
    set_ok(&s, OPT_OUTPUT_LIMIT, "64K");
    assert_int_equal(s.output_limit, 64 * KIB);
    set_ok(&s, OPT_SHOW, "1M");
    assert_int_equal(s.show, MIB);
    set_ok(&s, OPT_MEMORY, "2G");
    assert_int_equal(s.memory, 2 * GIB);
    set_ok(&s, OPT_PROCS, "64");
    assert_int_equal(s.procs, 64);
    set_ok(&s, OPT_FILE_SIZE, "4096");
    assert_int_equal(s.file_size, 4096);
    set_ok(&s, OPT_CWD, "/d");
    assert_string_equal(s.cwd, "/d");
    set_ok(&s, OPT_NAME, "label");
    assert_string_equal(s.name, "label");
    set_ok(&s, OPT_STDIN, "inherit");
    assert_string_equal(s.stdin_from, "inherit");
    set_ok(&s, OPT_CODE, "x");
    assert_string_equal(s.code, "x");
    set_ok(&s, OPT_SPLIT, NULL);
    set_ok(&s, OPT_SHELL, NULL);
    set_ok(&s, OPT_LIST, NULL);
    set_ok(&s, OPT_HELP, NULL);
    assert_true(s.split && s.shell && s.list && s.help);
    settings_done(&s);
}

static void test_the_last_one_wins(void **state)
{
    struct settings s = {0};

    set_ok(&s, OPT_TIMEOUT, "1");
    set_ok(&s, OPT_TIMEOUT, "2");
    assert_int_equal(s.timeout_ns, 2 * NSEC_PER_SEC);
    assert_string_equal(s.texts[OPT_TIMEOUT], "2");
    settings_done(&s);
}

static void test_repeatable_ones_add_up(void **state)
{
    struct settings s = {0};

    set_ok(&s, OPT_ENV, "A=1");
    set_ok(&s, OPT_ENV_KEEP, "B");
    set_ok(&s, OPT_ENV, "A=2=3");
    set_ok(&s, OPT_ENV, "C");
    set_ok(&s, OPT_SECRET, "D");
    set_ok(&s, OPT_SECRET, "E");
    assert_int_equal(strv_length((const char *const *)s.env), 3);
    assert_string_equal(s.env[1], "A=2=3");
    assert_int_equal(strv_length((const char *const *)s.env_keep), 1);
    assert_string_equal(s.env_keep[0], "B");
    assert_int_equal(strv_length((const char *const *)s.secrets), 2);
    assert_string_equal(s.secrets[1], "E");
    set_ok(&s, OPT_PASS_FD, "3");
    set_ok(&s, OPT_PASS_FD, "1023");
    assert_int_equal(s.n_pass_fds, 2);
    assert_int_equal(s.pass_fds[1], 1023);
    settings_done(&s);
}

static void test_no_more_than_64_descriptors(void **state)
{
    struct settings s = {0};
    char number[8];

    for (int i = 0; i < PASS_FDS_MAX; i++) {
        (void)snprintf(number, sizeof(number), "%d", 3 + i);
        set_ok(&s, OPT_PASS_FD, number);
    }
    assert_true(set(&s, OPT_PASS_FD, "100", NULL) < 0);
    assert_int_equal(s.n_pass_fds, PASS_FDS_MAX);
    settings_done(&s);
}

static void test_formats_share_a_field(void **state)
{
    struct settings s = {0};

    set_ok(&s, OPT_JSON, NULL);
    assert_int_equal(s.format, FORMAT_JSON);
    set_ok(&s, OPT_JSONL, "0"); /* was not on */
    assert_int_equal(s.format, FORMAT_JSON);
    set_ok(&s, OPT_JSONL, "1");
    assert_int_equal(s.format, FORMAT_JSONL);
    set_ok(&s, OPT_JSONL, "no");
    assert_int_equal(s.format, FORMAT_TEXT);
    settings_done(&s);
}

static void test_words_for_flags(void **state)
{
    static const char *const on[] = {"1", "yes", "true", "on"};
    static const char *const off[] = {"0", "no", "false", "off"};

    for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
        struct settings s = {0};

        set_ok(&s, OPT_SPLIT, on[i]);
        assert_true(s.split);
        set_ok(&s, OPT_SPLIT, off[i]);
        assert_false(s.split);
        settings_done(&s);
    }
}

#define DURATION " is not a duration (use 10, 1.5s, 500ms, 5m, 1h)"
#define SIZE " is not a size (use 4096, 64K, 1M, 2G)"

static const struct {
    enum option_id id;
    const char *value;
    const char *message;
    const char *hint;
} value_errors[] = {
    {OPT_TIMEOUT, "5x", "--timeout: '5x'" DURATION, NULL},
    {OPT_TIMEOUT, "", "--timeout: ''" DURATION, NULL},
    {OPT_GRACE, "-1", "--grace: '-1'" DURATION, NULL},
    {OPT_CPU_TIME, "1 s", "--cpu-time: '1 s'" DURATION, NULL},
    {OPT_TIMEOUT, "9999999999999999999h", NULL, NULL},
    {OPT_SHOW, "1X", "--show: '1X'" SIZE, NULL},
    {OPT_MEMORY, "1.5M", "--memory: '1.5M'" SIZE, NULL},
    {OPT_FILE_SIZE, "-1", "--file-size: '-1'" SIZE, NULL},
    {OPT_OUTPUT_LIMIT, "99999999999999999999G", NULL, NULL},
    {OPT_OUTPUT_LIMIT, "4095", "--output-limit: '4095' is too small (at least 4096)", NULL},
    {OPT_OUTPUT_LIMIT, "0", "--output-limit: '0' is too small (at least 4096)", NULL},
    {OPT_SHOW, "0", "--show: '0' is too small (at least 1)", NULL},
    {OPT_PROCS, "x", "--procs: 'x' is not a whole number", NULL},
    {OPT_PROCS, "99999999999999999999", NULL, NULL},
    {OPT_AFTER, "stay", "--after: 'stay' is not one of its values", "use kill|wait|keep"},
    {OPT_AFTER, "", "--after: '' is not one of its values", "use kill|wait|keep"},
    {OPT_ON_OUTPUT_LIMIT, "KILL", "--on-output-limit: 'KILL' is not one of its values",
     "use drop|kill"},
    {OPT_RENDER, "cle", "--render: 'cle' is not one of its values", "use clean|plain|raw"},
    {OPT_ENCODING, "utf8", "--encoding: 'utf8' is not one of its values", "use auto|utf-8|gbk"},
    {OPT_ENV_PROFILE, "x", "--env-profile: 'x' is not one of its values",
     "use agent|inherit|clean"},
    {OPT_ENV, "=x", "--env: '=x' does not begin with a name", NULL},
    {OPT_ENV, "", "--env: '' does not begin with a name", NULL},
    {OPT_ENV_KEEP, "A=1", "--env-keep: 'A=1' is not a name", "--env NAME=VALUE sets a value"},
    {OPT_SECRET, "A=1", "--secret: 'A=1' is not a name", "--env NAME=VALUE sets a value"},
    {OPT_SECRET, "", "--secret: '' does not begin with a name", NULL},
    {OPT_PASS_FD, "2", "--pass-fd: '2' is not a descriptor from 3 to 1023", NULL},
    {OPT_PASS_FD, "1024", "--pass-fd: '1024' is not a descriptor from 3 to 1023", NULL},
    {OPT_PASS_FD, "x", "--pass-fd: 'x' is not a descriptor from 3 to 1023", NULL},
    {OPT_SPLIT, "maybe", "--split: 'maybe' is neither yes nor no",
     "use 1, yes, true, 0, no or false"},
    {OPT_JSON, "", "--json: '' is neither yes nor no", "use 1, yes, true, 0, no or false"},
};

static void test_value_errors(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(value_errors); i++) {
        struct rein_error *error = NULL;
        struct settings s = {0};

        assert_true(set(&s, value_errors[i].id, value_errors[i].value, &error) < 0);
        assert_string_equal(error->code, "bad_request");
        if (value_errors[i].message)
            assert_string_equal(error->message, value_errors[i].message);
        if (value_errors[i].hint)
            assert_string_equal(error->hint, value_errors[i].hint);
        assert_false(settings_given(&s, value_errors[i].id));
        rein_error_free(error);
        settings_done(&s);
    }
}

static void test_places_in_messages(void **state)
{
    const struct origin file = {.source = SOURCE_FILE, .name = "/etc/x.ini", .line = 7};
    const struct origin variable = {.source = SOURCE_VARIABLE, .name = "REIN_TIMEOUT"};
    struct rein_error *error = NULL;
    struct settings s = {0};

    assert_true(options_set(&s, &option_table[OPT_TIMEOUT], "x", &file, &error) < 0);
    assert_string_equal(error->message, "/etc/x.ini:7: timeout: 'x'" DURATION);
    error = rein_error_free(error);
    assert_true(options_set(&s, &option_table[OPT_TIMEOUT], "x", &variable, &error) < 0);
    assert_string_equal(error->message, "REIN_TIMEOUT: 'x'" DURATION);
    rein_error_free(error);
    settings_done(&s);
}

/* What this version has not got is refused, unless it asks for what is the case anyway. */
static void test_later_ones(void **state)
{
    size_t n = 0;

    for (size_t i = 0; i < OPTION_MAX; i++) {
        const struct option *o = &option_table[i];
        struct rein_error *error = NULL;
        struct settings s = {0};
        char expected[128];
        char spelling[OPTION_SPELLING_SIZE];

        if (o->kind != KIND_LATER)
            continue;
        n++;
        assert_true(set(&s, (enum option_id)i, option_takes_value(o) ? "x" : NULL, &error) < 0);
        (void)snprintf(expected, sizeof(expected), "%s: not supported by this version",
                       option_spell(o, spelling));
        assert_string_equal(error->message, expected);
        assert_string_equal(error->code, "bad_request");
        if (!option_takes_value(o))
            set_ok(&s, (enum option_id)i, "no");
        else if (o->same_as_now)
            set_ok(&s, (enum option_id)i, o->same_as_now);
        rein_error_free(error);
        settings_done(&s);
    }
    assert_int_equal(n, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_complete),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_choices_are_what_the_help_says),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_values_of_every_look),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_run_options_end_at_the_command),
        cmocka_unit_test(test_code_options_stand_anywhere),
        cmocka_unit_test(test_more_options_than_expected),
        cmocka_unit_test(test_scan_errors),
        cmocka_unit_test(test_scan_goes_on),
        cmocka_unit_test(test_each_value_lands_in_its_field),
        cmocka_unit_test(test_the_last_one_wins),
        cmocka_unit_test(test_repeatable_ones_add_up),
        cmocka_unit_test(test_no_more_than_64_descriptors),
        cmocka_unit_test(test_formats_share_a_field),
        cmocka_unit_test(test_words_for_flags),
        cmocka_unit_test(test_value_errors),
        cmocka_unit_test(test_places_in_messages),
        cmocka_unit_test(test_later_ones),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
