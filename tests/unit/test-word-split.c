/* A command to words: quotes, variables, and what only a shell can do. */
#include <errno.h>
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
#include "base/macro.h"
#include "base/strv.h"
#include "policy/shell-syntax.h"
#include "policy/word-split.h"

static const char *const env[] = {"HOME=/home/u", "A=x y", "EMPTY=", "AB=ab", NULL};

static void check(const char *command, const char *expected)
{
    auto_strv char **words = NULL;
    auto_error struct rein_error *error = NULL;
    auto_buf struct buf b = {0};
    int r = words_split(command, env, &words, &error);

    for (char *const *word = words; word && *word; word++)
        buf_add_format(&b, "[%s]", *word);
    if (r < 0)
        buf_add_format(&b, "%s: %s", error->code, error->message);
    assert_string_equal(b.data, expected);
}

static void check_refused(const char *command, const char *code, const char *in_text)
{
    auto_strv char **words = NULL;
    auto_error struct rein_error *error = NULL;

    assert_int_equal(words_split(command, env, &words, &error), -EINVAL);
    assert_null(words);
    assert_string_equal(error->code, code);
    if (!strstr(error->message, in_text) && !(error->hint && strstr(error->hint, in_text)))
        fail_msg("%s: %s", command, error->message);
}

static void test_words(void **state)
{
    check("a b", "[a][b]");
    check("  a\t\tb  \n", "[a][b]");
    check("a '' \"\" b", "[a][][][b]");
    check("a\\ b c\\\\d", "[a b][c\\d]");
    check("x'y'\"z\"w", "[xyzw]");
    check("a\\\nb \\\nc", "[ab][c]");
    check("printf '%s' \"a  b\"", "[printf][%s][a  b]");
    check("\"a\\\"b\\$A\\`\\\\c\\d\"", "[a\"b$A`\\c\\d]");
    check("a\rb", "[a\rb]");
    check("* ? [x] {a,b} ! # %{http_code} a=b", "[*][?][[x]][{a,b}][!][#][%{http_code}][a=b]");
}

static void test_variables(void **state)
{
    check("$A ${A}z \"$A\" '$A' \\$A", "[x y][x yz][x y][$A][$A]");
    check("$AB $ABC ${ABC} $1 $$ $ a$", "[ab][$ABC][${ABC}][$1][$$][$][a$]");
    check("a${EMPTY}b $EMPTY", "[ab][]");
    check("${A ${A:-x}", "[${A][${A:-x}]");
    check("~ ~/f a~ \"~\" '~/f' ~other ~\\/", "[/home/u][/home/u/f][a~][~][~/f][~other][~/]");
}

static void test_tokens_are_named(void **state)
{
    static const char *const tokens[] = {"|",  "||", "&", "&&", ";",  "<",  ">", ">>", "<<",
                                         ">|", "&>", "(", ")",  "<(", ">(", "`", "$("};

    for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
        auto_buf struct buf command = {0}, expected = {0};

        buf_add_format(&command, "a %s b", tokens[i]);
        buf_add_format(&expected, "'%s' is not supported by this executor", tokens[i]);
        check_refused(command.data, "shell_syntax", expected.data);
    }
    check_refused("a\nb", "shell_syntax", "'\\n'");
    check_refused("a 2>&1", "shell_syntax", "'>'");
    check_refused("\xc3\xa4 > f", "shell_syntax", "character 3 ");
    check_refused("echo \"$(x)\"", "shell_syntax", "'$('");
    check_refused("echo \"`x`\"", "shell_syntax", "'`'");
}

static void test_quoted_tokens_are_text(void **state)
{
    check("git commit -m \"fix: a > b; c | d & (e)\n\"",
          "[git][commit][-m][fix: a > b; c | d & (e)\n]");
    check("echo '$(x) `y` > z' \\> \\; \"\\$(x)\"", "[echo][$(x) `y` > z][>][;][$(x)]");
}

static void test_quoted_as_a_whole(void **state)
{
    check("'git status'", "[git][status]");
    check("\"echo 'a b'\"", "[echo][a b]");
    check("'echo' 'hi'", "[echo][hi]");
    check("'a'", "[a]");
    check_refused("'a > b'", "shell_syntax", "'>'");
}

static void test_what_cannot_be_read(void **state)
{
    check_refused("echo 'a", "bad_request", "No closing quotation");
    check_refused("echo \"a", "bad_request", "No closing quotation");
    check_refused("echo \"a\\", "bad_request", "No closing");
    check_refused("a\\", "bad_request", "No closing");
    check_refused("", "bad_request", "Empty command");
    check_refused(" \n\t ", "bad_request", "Empty command");
}

static void test_paths(void **state)
{
    auto_free char *home = path_expand("~/$AB", env);
    auto_free char *plain = path_expand("a b'c>$NONE", env);

    assert_string_equal(home, "/home/u/ab");
    assert_string_equal(plain, "a b'c>$NONE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_tokens_are_named),
        cmocka_unit_test(test_quoted_tokens_are_text),
        cmocka_unit_test(test_quoted_as_a_whole),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests_name("word-split", tests, NULL, NULL);
}
