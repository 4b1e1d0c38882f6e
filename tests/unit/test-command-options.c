/* Options of any program: clusters, values, long names and their beginnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/strv.h"
#include "policy/command-options.h"
#include "policy/word-split.h"

static void check(const char *command, const struct option_style *style, const char *expected)
{
    auto_strv char **argv = NULL;
    auto_words struct words words = {0};
    auto_buf struct buf b = {0};
    struct option_scan scan;
    struct option option;

    assert_int_equal(words_split(command, NULL, &argv, NULL), 0);
    for (char **word = argv; *word; word++)
        assert_int_equal(words_add(&words, strdup(*word), false, false), 0);
    options_begin(&scan, words.v, words.n, style);
    while (options_next(&scan, &option)) {
        if (option.kind == OPTION_SHORT)
            buf_add_format(&b, "-%c", option.letter);
        else if (option.kind == OPTION_LONG)
            buf_add_format(&b, "--%.*s", (int)option.name_len, option.name);
        if (option.value)
            buf_add_format(&b, "(%s)", option.value);
        buf_add_char(&b, ' ');
    }
    buf_add_format(&b, "rest %zu", words.n - scan.at);
    assert_string_equal(b.data, expected);
}

static void test_clusters_and_values(void **state)
{
    static const struct option_style style = {"no", "force output= only", false, false};

    check("p -rf x -n 5 -n5 -rn6 -r", &style, "-r -f (x) -n(5) -n(5) -r -n(6) -r rest 0");
}

static void test_long_names(void **state)
{
    static const struct option_style style = {NULL, "force format output= only", false, false};

    check("p --force --forc --fo --out x --out=y --o z --unknown=1", &style,
          "--force --force --fo --output(x) --output(y) --o (z) --unknown(1) rest 0");
}

static void test_operands(void **state)
{
    static const struct option_style mixed = {NULL, NULL, false, false};
    static const struct option_style first = {"u", "user=", true, false};

    check("p a -b -- -c - d", &mixed, "(a) -b (-c) (-) (d) rest 0");
    check("p -u x --user y cmd -z", &first, "-u(x) --user(y) rest 2");
    check("p -z -- -cmd -y", &first, "-z rest 2");
    check("p", &first, "rest 0");
    check("p -u", &first, "-u rest 0");
}

static void test_single_dashes(void **state)
{
    static const struct option_style style = {NULL, "out= in=", false, true};

    check("p -out x -in=y -text", &style, "--out(x) --in(y) --text rest 0");
}

static void test_lists(void **state)
{
    assert_true(list_has("a bc= d", "bc", 2));
    assert_false(list_has("a bcd d", "bc", 2));
    assert_false(list_has("", "", 0));
    assert_false(list_has(NULL, "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clusters_and_values),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_single_dashes),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests_name("command-options", tests, NULL, NULL);
}
