/* Regular expressions of callers: what they mean, how they are refused, and that none takes the
 * machine away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "tools/regex.h"

static int match(const char *pattern, const char *line)
{
    struct regex *re = NULL;
    int r;

    assert_int_equal(regex_new(pattern, &re, NULL), 0);
    r = regex_matches(re, line, strlen(line), NULL);
    assert_null(regex_free(re));
    return r;
}

static void test_meaning(void **state)
{
    assert_int_equal(match("^ready on \\d+$", "ready on 80"), 1);
    assert_int_equal(match("^ready on \\d+$", "not ready on 80"), 0);
    assert_int_equal(match("", ""), 1);
    assert_int_equal(match("^.$", "\xe4\xbd\xa0"), 1); /* a character, not three bytes */
    assert_int_equal(match("^\\w+$", "\xc3\xa4\xe4\xbd\xa0"), 1);
    assert_int_equal(match("(?i)ERROR", "an error"), 1);
    assert_int_equal(match("(a)(b)(c)\\3\\2\\1", "abccba"), 1); /* more groups than places */
    assert_int_equal(match("a(?!b)", "ab"), 0);
}

static void test_nul_bytes_count(void **state)
{
    struct regex *re = NULL;

    assert_int_equal(regex_new("b$", &re, NULL), 0);
    assert_int_equal(regex_matches(re, "a\0b", 3, NULL), 1);
    regex_free(re);
}

static void test_refused_ones(void **state)
{
    static const char *const patterns[] = {"(", "[a", "a{2,1}", "\\C", "*", "\xff"};
    char long_one[REGEX_PATTERN_MAX + 2];
    struct rein_error *error = NULL;
    struct regex *re = NULL;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        assert_true(regex_new(patterns[i], &re, &error) < 0);
        assert_string_equal(error->code, "bad_request");
        error = rein_error_free(error);
        assert_null(re);
    }
    memset(long_one, 'a', sizeof(long_one));
    long_one[sizeof(long_one) - 1] = '\0';
    assert_true(regex_new(long_one, &re, &error) < 0);
    assert_string_equal(error->code, "bad_request");
    rein_error_free(error);
    long_one[REGEX_PATTERN_MAX] = '\0';
    assert_int_equal(regex_new(long_one, &re, NULL), 0);
    regex_free(re);
}

static void test_too_many_steps(void **state)
{
    char line[20000];
    struct rein_error *error = NULL;
    struct regex *re = NULL;

    memset(line, 'a', sizeof(line));
    line[sizeof(line) - 1] = 'b';
    assert_int_equal(regex_new("^(a+)+$", &re, NULL), 0);
    assert_true(regex_matches(re, line, sizeof(line), &error) < 0);
    assert_string_equal(error->code, "limit_exceeded");
    rein_error_free(error);
    /* and can be used again */
    assert_int_equal(regex_matches(re, "aaa", 3, NULL), 1);
    regex_free(re);
}

static void test_nothing_is_freed(void **state)
{
    assert_null(regex_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning),          cmocka_unit_test(test_nul_bytes_count),
        cmocka_unit_test(test_refused_ones),     cmocka_unit_test(test_too_many_steps),
        cmocka_unit_test(test_nothing_is_freed),
    };

    return cmocka_run_group_tests_name("regex", tests, NULL, NULL);
}
