/* The environment of a job: what each profile takes and adds, and that the spec's own words win. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "job/spec-env.h"

/* As the scenarios list it. */
static const char *const agent_additions[] = {
    "PYTHONUNBUFFERED=1",
    "PAGER=cat",
    "GIT_PAGER=cat",
    "MANPAGER=cat",
    "GH_PAGER=cat",
    "SYSTEMD_PAGER=",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_EDITOR=true",
    "GIT_SEQUENCE_EDITOR=true",
    "EDITOR=true",
    "VISUAL=true",
    "GIT_MERGE_AUTOEDIT=no",
    "DEBIAN_FRONTEND=noninteractive",
    "NO_COLOR=1",
    "TERM=dumb",
    "LANG=C.UTF-8",
};

static char **saved_environ;
static const char *const *keep; /* of the spec, for build() */

static int setup(void **state)
{
    saved_environ = environ;
    return 0;
}

static int teardown(void **state)
{
    environ = saved_environ;
    keep = NULL;
    return 0;
}

/* Makes this the environment of the caller. */
static void set_caller(const char *const *entries)
{
    environ = (char **)(uintptr_t)entries;
}

#define ENV(...)                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define CALLER(...) set_caller(ENV(__VA_ARGS__))

static char **build(int profile, const char *const *env)
{
    struct rein_spec spec = {
        .size = sizeof(spec), .env_profile = profile, .env = env, .env_keep = keep};
    char **result = NULL;

    assert_int_equal(spec_environment(&spec, &result, NULL), 0);
    assert_non_null(result);
    for (size_t i = 0; result[i]; i++)
        assert_non_null(strchr(result[i], '='));
    return result;
}

static int has(char **env, const char *entry)
{
    int n = 0;

    for (size_t i = 0; env[i]; i++)
        n += strcmp(env[i], entry) == 0;
    return n;
}

static const char *get(char **env, const char *name)
{
    return env_get((const char *const *)env, name);
}

static void test_inherit_changes_nothing(void **state)
{
    CALLER("B=2", "A=1", "EMPTY=", "LC_ALL=C", "A=again", "odd one=x=y");
    auto_strv char **env = build(REIN_ENV_INHERIT, NULL);

    for (size_t i = 0; environ[i]; i++)
        assert_string_equal(env[i], environ[i]);
    assert_int_equal(strv_length((const char *const *)env), 6);
}

static void test_inherit_from_nothing(void **state)
{
    static char *none[] = {NULL};

    environ = none;
    auto_strv char **env = build(REIN_ENV_INHERIT, NULL);
    assert_null(env[0]);
    environ = NULL;
    auto_strv char **again = build(REIN_ENV_INHERIT, NULL);
    assert_null(again[0]);
}

static void test_agent_adds_what_is_not_set(void **state)
{
    CALLER("MINE=1", "HOME=/h", "PATH=/p");
    auto_strv char **env = build(REIN_ENV_AGENT, NULL);

    for (size_t i = 0; i < ARRAY_SIZE(agent_additions); i++)
        assert_int_equal(has(env, agent_additions[i]), 1);
    assert_string_equal(get(env, "MINE"), "1");
    assert_string_equal(get(env, "HOME"), "/h");
    assert_string_equal(get(env, "PATH"), "/p");
    assert_int_equal(strv_length((const char *const *)env), ARRAY_SIZE(agent_additions) + 3);
}

/* What the caller has set stays, an empty value, too. */
static void test_agent_leaves_the_callers_values(void **state)
{
    CALLER("PAGER=less", "NO_COLOR=", "TERM=xterm", "PYTHONUNBUFFERED=", "LC_ALL=C", "EDITOR=vi");
    auto_strv char **env = build(REIN_ENV_AGENT, NULL);

    assert_string_equal(get(env, "PAGER"), "less");
    assert_string_equal(get(env, "NO_COLOR"), "");
    assert_string_equal(get(env, "TERM"), "xterm");
    assert_string_equal(get(env, "PYTHONUNBUFFERED"), "");
    assert_string_equal(get(env, "EDITOR"), "vi");
    assert_null(get(env, "LANG")); /* a locale was chosen */
    assert_string_equal(get(env, "GIT_PAGER"), "cat");
}

static void test_agent_and_the_locale(void **state)
{
    static const char *const chosen[] = {"LC_ALL=", "LC_CTYPE=de_DE.UTF-8", "LANG=C"};

    for (size_t i = 0; i < ARRAY_SIZE(chosen); i++) {
        CALLER(chosen[i]);
        auto_strv char **env = build(REIN_ENV_AGENT, NULL);

        assert_int_equal(has(env, "LANG=C.UTF-8"), 0);
        assert_int_equal(has(env, chosen[i]), 1);
    }
    CALLER("LC_MESSAGES=de_DE.UTF-8", "LANGUAGE=de"); /* these choose no encoding */
    auto_strv char **env = build(REIN_ENV_AGENT, NULL);
    assert_int_equal(has(env, "LANG=C.UTF-8"), 1);
}

static void test_agent_makes_up_home_and_path(void **state)
{
    CALLER("X=1");
    auto_strv char **env = build(REIN_ENV_AGENT, NULL);

    if (getuid() == 0)
        assert_string_equal(get(env, "HOME"), "/root");
    assert_string_equal(get(env, "PATH"), ENV_DEFAULT_PATH);
    assert_non_null(strstr(get(env, "PATH"), "/usr/local/bin"));
}

static void test_clean_is_a_short_list(void **state)
{
    CALLER("PATH=/p", "HOME=/h", "LANG=C", "LC_TIME=x", "TERM=t", "COLORTERM=c", "TZ=UTC", "USER=u",
           "LOGNAME=l", "SHELL=/s", "TMPDIR=/t", "AWS_SECRET_ACCESS_KEY=s", "PAGER=less",
           "LD_PRELOAD=x", "PATHS=1", "PAT=1", "HOMES=x", "LC=1", "PYTHONPATH=p");
    auto_strv char **env = build(REIN_ENV_CLEAN, NULL);
    static const char *const kept[] = {"PATH=/p",   "HOME=/h",     "LANG=C",   "LC_TIME=x",
                                       "TERM=t",    "COLORTERM=c", "TZ=UTC",   "USER=u",
                                       "LOGNAME=l", "SHELL=/s",    "TMPDIR=/t"};

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        assert_int_equal(has(env, kept[i]), 1);
    assert_string_equal(get(env, "PAGER"), "cat"); /* the additions are made here as well */
    assert_null(get(env, "AWS_SECRET_ACCESS_KEY"));
    assert_null(get(env, "LD_PRELOAD"));
    assert_null(get(env, "PATHS"));
    assert_null(get(env, "PAT"));
    assert_null(get(env, "HOMES"));
    assert_null(get(env, "LC"));
    assert_null(get(env, "PYTHONPATH"));
}

/* The list is of names; what is in some of them is a secret all the same. */
static void test_clean_has_no_secrets(void **state)
{
    CALLER("LC_TOKEN=abc", "LC_TIME=sk-0123456789abcdefghijkl", "LANG=C", "HOME=/h");
    struct rein_spec spec = {.size = sizeof(spec), .env_profile = REIN_ENV_CLEAN};
    auto_strv char **warnings = NULL;
    auto_strv char **env = NULL;
    auto_strv char **others = build(REIN_ENV_AGENT, NULL);

    assert_int_equal(spec_environment_warn(&spec, &env, &warnings, NULL), 0);
    assert_null(get(env, "LC_TOKEN"));
    assert_null(get(env, "LC_TIME"));
    assert_string_equal(get(env, "LANG"), "C");
    assert_string_equal(get(env, "HOME"), "/h");
    assert_int_equal(strv_length((const char *const *)warnings), 2);
    assert_string_equal(warnings[0],
                        "LC_TOKEN looks like a secret and was left out; --env-keep passes it on");
    assert_string_equal(get(others, "LC_TOKEN"), "abc"); /* the other profiles do not look */
}

static void test_what_is_kept(void **state)
{
    CALLER("A=1", "AB=2", "API_KEY=sk-test", "LC_TOKEN=abc", "TERM=t");
    keep = ENV("A", "API_KEY", "LC_TOKEN", "NOT_THERE", "TERM");
    auto_strv char **env = build(REIN_ENV_CLEAN, ENV("TERM=spec"));

    assert_string_equal(get(env, "A"), "1");
    assert_null(get(env, "AB"));
    assert_string_equal(get(env, "API_KEY"), "sk-test");
    assert_string_equal(get(env, "LC_TOKEN"), "abc");
    assert_null(get(env, "NOT_THERE"));
    assert_string_equal(get(env, "TERM"), "spec"); /* what the spec sets wins */
}

static void test_what_the_spec_sets_may_be_a_secret(void **state)
{
    CALLER("API_KEY=sk-test");
    auto_strv char **env = build(REIN_ENV_CLEAN, ENV("A_TOKEN=abc", "API_KEY"));

    assert_string_equal(get(env, "A_TOKEN"), "abc");
    assert_string_equal(get(env, "API_KEY"), "sk-test");
}

static void test_entries_of_the_spec_win(void **state)
{
    CALLER("A=caller", "PAGER=less", "PATH=/p");
    auto_strv char **env =
        build(REIN_ENV_AGENT, ENV("A=spec", "NEW=1", "PATH=/q", "TERM=mine", "NEW=2", "EMPTY="));

    assert_string_equal(get(env, "A"), "spec");
    assert_string_equal(get(env, "NEW"), "2"); /* the last one counts */
    assert_string_equal(get(env, "PATH"), "/q");
    assert_string_equal(get(env, "TERM"), "mine");
    assert_string_equal(get(env, "EMPTY"), "");
    assert_string_equal(get(env, "PAGER"), "less");
    assert_int_equal(has(env, "A=caller"), 0);
    assert_int_equal(has(env, "NEW=1"), 0);
}

/* An empty one of the spec keeps the profile's away, too. */
static void test_empty_entry_wins_over_the_profile(void **state)
{
    CALLER("X=1");
    auto_strv char **env = build(REIN_ENV_AGENT, ENV("PYTHONUNBUFFERED=", "LANG=", "HOME="));

    assert_int_equal(has(env, "PYTHONUNBUFFERED=1"), 0);
    assert_string_equal(get(env, "PYTHONUNBUFFERED"), "");
    assert_string_equal(get(env, "LANG"), "");
    assert_string_equal(get(env, "HOME"), "");
}

static void test_name_alone_passes_the_callers_on(void **state)
{
    CALLER("SECRET=s3", "EMPTY=", "X=a=b");
    auto_strv char **env = build(REIN_ENV_CLEAN, ENV("SECRET", "EMPTY", "X", "NOT_SET"));

    assert_string_equal(get(env, "SECRET"), "s3");
    assert_string_equal(get(env, "EMPTY"), "");
    assert_string_equal(get(env, "X"), "a=b");
    assert_null(get(env, "NOT_SET"));
}

static void test_values_may_be_anything(void **state)
{
    CALLER("X=1");
    auto_strv char **env =
        build(REIN_ENV_INHERIT, ENV("V=a=b=c", "N=line\nline", "B=\xff\xfe", "1=x"));

    assert_string_equal(get(env, "V"), "a=b=c");
    assert_string_equal(get(env, "N"), "line\nline");
    assert_string_equal(get(env, "B"), "\xff\xfe");
    assert_string_equal(get(env, "1"), "x");
}

static void test_entries_without_a_name(void **state)
{
    static const char *const wrong[] = {"", "=", "=value"};

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct rein_spec spec = {.size = sizeof(spec), .env = ENV("A=1", wrong[i])};
        struct rein_error *error = NULL;
        char **env = NULL;

        assert_int_equal(spec_environment(&spec, &env, &error), -EINVAL);
        assert_null(env);
        assert_string_equal(error->code, "bad_request");
        error = rein_error_free(error);
    }
}

static void test_names_are_whole_names(void **state)
{
    const char *const env[] = {"PATHS=1", "PATH2=2", "PATH=3", NULL};

    assert_string_equal(env_get(env, "PATH"), "3");
    assert_null(env_get(env, "PAT"));
    assert_null(env_get(NULL, "PATH"));
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_inherit_changes_nothing),
        test(test_inherit_from_nothing),
        test(test_agent_adds_what_is_not_set),
        test(test_agent_leaves_the_callers_values),
        test(test_agent_and_the_locale),
        test(test_agent_makes_up_home_and_path),
        test(test_clean_is_a_short_list),
        test(test_clean_has_no_secrets),
        test(test_what_is_kept),
        test(test_what_the_spec_sets_may_be_a_secret),
        test(test_entries_of_the_spec_win),
        test(test_empty_entry_wins_over_the_profile),
        test(test_name_alone_passes_the_callers_on),
        test(test_values_may_be_anything),
        test(test_entries_without_a_name),
        test(test_names_are_whole_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
