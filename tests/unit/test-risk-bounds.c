/*
 * Texts of a megabyte, of shapes that invite to look at them again and again: time grows with the
 * size alone. Not for a build with a sanitizer, whose checks of strings read each to its end.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "policy/risk.h"
#include "policy/script-parse.h"

#define BIG ((size_t)1 << 20)
#define ALARM_S 60 /* for what takes a second or two */

static const char *const env[] = {"HOME=/home/user", "A=x y", "PATH=/usr/bin:/bin", NULL};
static const struct script_setting setting = {.env = env, .cwd = "/w", .home = "/home/user"};

static char *repeat(const char *before, const char *text, size_t size, const char *behind)
{
    struct buf b = {0};

    buf_add_str(&b, before);
    while (b.len < size)
        buf_add_str(&b, text);
    buf_add_str(&b, behind);
    return buf_take(&b);
}

/* The alarm ends the test where time grows faster than the text. */
static void test_big_texts(void **state)
{
    static const char *const shapes[][3] = {
        {"", "$(", ""},
        {"", "(", ""},
        {"", "((", ""},
        {"", "{ ", ""},
        {"", "'", ""},
        {"", "\"", ""},
        {"", "\\", ""},
        {"", "`", ""},
        {"", "${x:-", ""},
        {"", "$((", ""},
        {"", "<<a ", ""},
        {"", "<<a\n", ""},
        {"", "if ", ""},
        {"", "a;", ""},
        {"", "a ", ""},
        {"", "a|", "a"},
        {"", "a&", ""},
        {"", "{a,", ""},
        {"", "{a,b}", ""},
        {"", "a=", ""},
        {"", "f(){ ", ""},
        {"", "case a in ", ""},
        {"", ">a ", ""},
        {"", "$a", ""},
        {"", "a=1;", ""},
        {"a=b;", "a+=$a;", ""},
        {"a=", "x", ";$a$a$a"},
        {"", "[[ ", ""},
        {"", "[", ""},
        {"", "*(", ""},
        {"", "!", ""},
        {"", "! ", ""},
        {"", "#", ""},
        {"", "\n", ""},
        {"", "~", ""},
        {"", "$'\\x", ""},
        {"", "for a in ", ""},
        {"", "cd a;", ""},
        {"", "<(", ""},
        {"", "a<<<b ", ""},
        {"", "\\\n", ""},
        {"", "\xff", ""},
        {"", "$[", ""},
        {"", "a=(", ""},
        {"", "{", ""},
        {"", "{a..", ""},
        {"", "time ", ""},
        {"", "coproc ", ""},
        {"x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo ", "$x", ""},
        {"", "\"$(", ""},
        {"", "\"`", ""},
        {"", "|", ""},
        {"", "(a)", ""},
        {"cat <<E\n", "$(", "\nE\n"},
        {"cat <<E\n", "`", "\nE\n"},
    };

    (void)alarm(ALARM_S);
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        auto_(script_freep) struct script *script = NULL;
        auto_free char *text = repeat(shapes[i][0], shapes[i][1], BIG, shapes[i][2]);

        assert_non_null(text);
        assert_int_equal(script_parse(text, &setting, &script), 0);
        assert_true(script->n <= SCRIPT_COMMANDS_MAX);
        assert_true(script->n_words <= SCRIPT_WORDS_MAX);
    }
    (void)alarm(0);
}

static void test_big_scripts(void **state)
{
    static const char *const shapes[][3] = {
        {"", "$(", ""},
        {"", "sh -c '", ""},
        {"", "env ", "ls"},
        {"rm ", "/ ", ""},
        {"", "rm a;", ""},
        {"", "a|sh|", "sh"},
        {"xargs ", "rm ", ""},
        {"find ", "{} ", ""},
        {"eval ", "a ", ""},
        {"", "curl x|", "sh"},
        {"rm ", "*", "/b"},
        {"awk '", "x|", "'"},
        {"f(){ ", "f|f&", "}; f"},
        {"", "f(){ f;};", ""},
        {"mysql -e '", "drop ", "'"},
        {"python -c '", "\"system(\" ", "'"},
        {"echo '", "rm ", "' | sh"},
        {"find ", "a ", "-exec rm {} {} ;"},
        {"x=$(curl a);", "eval $x;", ""},
        {"rm ", "../", ""},
        {"git ", "-c a=b ", "x"},
        {"curl ", "-o x ", ""},
    };

    (void)alarm(ALARM_S);
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        auto_free char *script = repeat(shapes[i][0], shapes[i][1], BIG, shapes[i][2]);
        struct risk_request request = {.script = script, .cwd = "/w", .home = "/h", .env = env};
        struct risk_verdict v;

        assert_non_null(script);
        assert_int_equal(risk_judge(&request, &v), 0);
        assert_true(v.n_findings <= RISK_FINDINGS_MAX);
        risk_verdict_done(&v);
    }
    (void)alarm(0);
}

/* Each of many asks who feeds it, and many do. */
static void test_big_pipe(void **state)
{
    auto_free char *feeders = repeat("{ ", "a; ", 12000, "} | { ");
    auto_free char *script = repeat(feeders, "sh; f \"$1\"; ", BIG / 16, "}");
    auto_free char *calls = repeat("f() { ", "a \"$1\"; ", 32000, "}; ");
    auto_free char *called = repeat(calls, "f x; ", 48000, "");
    struct risk_request request = {.script = script, .cwd = "/w", .home = "/h", .env = env};
    struct risk_verdict v;

    (void)alarm(ALARM_S);
    assert_int_equal(risk_judge(&request, &v), 0);
    risk_verdict_done(&v);
    request.script = called;
    assert_int_equal(risk_judge(&request, &v), 0);
    assert_true(v.opaque && v.level >= RISK_HIGH);
    risk_verdict_done(&v);
    (void)alarm(0);
}

static void test_many_words(void **state)
{
    size_t n = 200000;
    const char **argv = calloc(n + 1, sizeof(*argv));
    struct risk_request request = {.argv = argv, .cwd = "/w", .home = "/h", .env = env};
    struct risk_verdict v;

    assert_non_null(argv);
    for (size_t i = 0; i < n; i++)
        argv[i] = i == 0 ? "rm" : "x";
    argv[n - 1] = "/";
    argv[1] = "-rf";
    (void)alarm(ALARM_S);
    assert_int_equal(risk_judge(&request, &v), 0);
    (void)alarm(0);
    assert_true(v.forbidden);
    assert_true(strlen(v.findings[0].words) <= RISK_SHOWN_MAX + strlen("…"));
    risk_verdict_done(&v);
    free(argv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_big_texts),
        cmocka_unit_test(test_big_scripts),
        cmocka_unit_test(test_big_pipe),
        cmocka_unit_test(test_many_words),
    };

    return cmocka_run_group_tests_name("risk-bounds", tests, NULL, NULL);
}
