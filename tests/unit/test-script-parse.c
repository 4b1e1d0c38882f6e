/* Texts for a shell to simple commands. Each case is written as "[word][word]…", with ? for what is
 * not known, * for names that a glob stands for, and what is redirected behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "policy/script-parse.h"

static const char *const env[] = {"HOME=/home/u", "A=x y", "E=", NULL};
static const struct script_setting setting = {.env = env, .cwd = "/w", .home = "/home/u"};

static void show_word(struct buf *b, const struct word *word)
{
    buf_add_format(b, "[%s%s%s]", word->unknown ? "?" : "", word->glob ? "*" : "", word->text);
}

static void show(struct buf *b, const struct script *script)
{
    for (size_t i = 0; i < script->n; i++) {
        const struct script_command *command = &script->commands[i];

        if (i > 0)
            buf_add_char(b, ' ');
        for (size_t k = 0; k < command->words.n; k++)
            show_word(b, &command->words.v[k]);
        for (size_t k = 0; k < command->n_redirects; k++) {
            const struct redirect *redirect = &command->redirects[k];

            buf_add_str(b, redirect->kind == REDIRECT_WRITE  ? ">"
                           : redirect->kind == REDIRECT_READ ? "<"
                                                             : "<<");
            show_word(b, redirect->kind == REDIRECT_TEXT ? &script->texts.v[redirect->text]
                                                         : &redirect->target);
        }
        if (command->background)
            buf_add_char(b, '&');
    }
    if (script->failed)
        buf_add_format(b, "%s! %s at %zu", b->len ? " " : "", script->failed, script->failed_at);
}

static void check(const char *text, const char *expected)
{
    auto_(script_freep) struct script *script = NULL;
    auto_buf struct buf b = {0};

    assert_int_equal(script_parse(text, &setting, &script), 0);
    show(&b, script);
    if (strcmp(b.data ? b.data : "", expected) != 0)
        fail_msg("%s\n is %s\nnot %s", text, b.data, expected);
}

static void test_lists(void **state)
{
    check("", "");
    check(" \n\t# only a comment\n", "");
    check("a; b && c || d | e & f\ng", "[a] [b]& [c]& [d]& [e]& [f] [g]");
    check("a # b; c\nd", "[a] [d]");
    check("a#b", "[a#b]");
    check("! a; time -p b; ! ! c", "[a] [b] [c]");
    check("a \\\n b", "[a][b]");
    check("a |& b", "[a] [b]");
}

static void test_quotes(void **state)
{
    check("a 'b c' \"d e\" f\\ g ''", "[a][b c][d e][f g][]");
    check("'a'\"b\"c\\d", "[abcd]");
    check("echo \"\\$A \\\"\\`\\x\"", "[echo][$A \"`\\x]");
    check("echo $'a\\n\\x41\\101\\u00e4\\'' $\"b\"", "[echo][a\nAA\xc3\xa4'][b]");
    check("echo 'a\nb'", "[echo][a\nb]");
}

static void test_variables(void **state)
{
    check("echo $A \"$A\" '$A' ${A}z", "[echo][x][y][x y][$A][x][yz]");
    check("echo [$E] $E \"$E\" $NONE \"$NONE\"", "[echo][[]][][]");
    check("a=1; echo $a; a+=2; echo $a", " [echo][1]  [echo][12]");
    check("a=(x 'y z' w); echo \"${a[@]}\" ${a[*]}", " [echo][x][y z][w][x][y][z][w]");
    check("echo ${A:-z} ${NONE:-z w} ${NONE-q} ${A:+s} ${NONE:+t}", "[echo][x][y][z][w][q][s]");
    check("echo ${A#x} ${A/x/y} ${#A} ${!A}", "[echo][?${A#x}][?${A/x/y}][?${#A}][?${!A}]");
    check("read v; echo $v \"$v\"x", "[read][v] [echo][?$v][?$vx]");
    check("echo $1 \"$@\" $RANDOM", "[echo][?$1][?$@][?$RANDOM]");
    check("set -- p q; echo $1 \"$@\" $2", "[set][--][p][q] [echo][p][p][q][q]");
    check("for v in a b; do c $v; done", "[c][a][b]");
    check("export v=1; echo $v", "[export] [echo][1]");
    check("source f; echo $NONE", "[source][f] [echo][?$NONE]");
    check("unset A; echo $A.", "[unset][A] [echo][.]");
}

static void test_tildes_and_braces(void **state)
{
    check("echo ~ ~/x ~root \"~\" a~", "[echo][/home/u][/home/u/x][/root][~][a~]");
    check("x=~/y; echo $x", " [echo][/home/u/y]");
    check("echo {a,b}c {d} {} '{e,f}' x{1..3}y", "[echo][ac][bc][{d}][{}][{e,f}][x1y][x3y]");
    check("{rm,-rf,/}", "[rm][-rf][/]");
    check("echo a{b{c,d},e}", "[echo][abc][abd][ae]");
}

static void test_globs(void **state)
{
    check("rm * ?.c [ab] '*' \\* \"?\" [ ]", "[rm][**][*?.c][*[ab]][*][*][?][[][]]");
    check("rm !(a|b) +(c)", "[rm][**][**]");
}

static void test_substitutions(void **state)
{
    check("echo $(a b) `c`", "[a][b] [c] [echo][?$(a b)][?`c`]");
    check("echo \"$(a \"$(b)\")\"", "[b] [a][?$(b)] [echo][?$(a \"$(b)\")]");
    check("echo $(echo x y) \"$(pwd)\"", "[echo][x][y] [pwd] [echo][x][y][/w]");
    check("echo $((1 + $(a))) $[2]", "[a] [echo][?$((1 + $(a)))][?$[2]]");
    check("d <(a) >(b)", "[a] [b] [d][?<(a)][?>(b)]");
    check("echo `a \\`b\\``", "[b] [a][?`b`] [echo][?`a \\`b\\``]");
    check("echo ${A:-$(a)}", "[a] [echo][x][y]");
}

static void test_compounds(void **state)
{
    check("if a; then b; elif c; then d; else e; fi", "[a] [b] [c] [d] [e]");
    check("while a; do b; done; until c; do d; done", "[a] [b] [c] [d]");
    check("for x in 1; do a; done", "[a]");
    check("for ((i=0; i<3; i++)); do a; done", "[a]");
    check("case $A in x|y) a;; (z) b;& *) c;; esac; d", "[a] [b] [c] [d]");
    check("{ a; b; }; (c; d)", "[a] [b] [c] [d]");
    check("((1+1)); ((a); b)", "[a] [b]");
    check("[[ -n $A && ( a < b || c =~ (d|e) ) ]] && f",
          "[[[][-n][x y][&&][(][a][<][b][||][c][=~][(d|e)][)] [f]");
    check("f() { a; }; function g { b; }; h() ( c )", "[a] [b] [c]");
    check("{ a; } > f", "[a] >[f]");
    check("coproc n { a; }; coproc b", "[a] [b]");
    check("echo if then done", "[echo][if][then][done]");
}

static void test_redirections(void **state)
{
    check("a > b >> c 2> d < e", "[a]>[b]>[c]>[d]<[e]");
    check("a >| b &> c &>> d <> e", "[a]>[b]>[c]>[d]>[e]");
    check("a 2>&1 >&- >&f", "[a]>[f]");
    check("> a b", "[b]>[a]");
    check("a {fd}> b 10>c", "[a]>[b]>[c]");
    check("a 1 >b", "[a][1]>[b]");
}

static void test_here_documents(void **state)
{
    check("a <<E\nx $A $(b)\nE\nc", "[a]<<[?x x y $(b)\n] [b] [c]");
    check("a <<'E'\n$A `b`\nE\nc", "[a]<<[$A `b`\n] [c]");
    check("a <<-END\n\tx\n\tEND\nc", "[a]<<[x\n] [c]");
    check("a <<E <<F\n1\nE\n2\nF\nc", "[a]<<[1\n]<<[2\n] [c]");
    check("a <<< \"$A\"; b", "[a]<<[x y] [b]");
    check("a <<E | b\nx\nE\n", "[a]<<[x\n] [b]");
    check("a <<E\nx", "[a]<<[x\n]");
}

static void test_folders(void **state)
{
    auto_buf struct buf b = {0};
    auto_(script_freep) struct script *script = NULL;

    assert_int_equal(
        script_parse("x; cd a; y; (cd b; z); y; cd; y; cd $1; y; cd /; y", &setting, &script), 0);
    for (size_t i = 0; i < script->n; i++)
        if (strcmp(script->commands[i].words.v[0].text, "cd") != 0)
            buf_add_format(&b, "%s ",
                           script->commands[i].folder ? script->commands[i].folder : "?");
    assert_string_equal(b.data, "/w /w/a /w/a/b /w/a /home/u ? / ");
}

static void test_pipes(void **state)
{
    auto_(script_freep) struct script *script = NULL;
    struct command_range feeds;

    assert_int_equal(script_parse("a; b | { c; d; } | e", &setting, &script), 0);
    assert_int_equal(script->n, 5);
    assert_int_equal(script->commands[0].reads_pipe, PIPE_NONE);
    feeds = script->pipes[script->commands[3].reads_pipe];
    assert_int_equal(feeds.from, 1);
    assert_int_equal(feeds.to, 2);
    feeds = script->pipes[script->commands[4].reads_pipe];
    assert_int_equal(feeds.from, 2);
    assert_int_equal(feeds.to, 4);
}

static void test_what_cannot_be_read(void **state)
{
    check("a; b 'c", "[a] ! a single quote that is not closed at 5");
    check("a \"b", "! a double quote that is not closed at 4");
    check("a `b", "! a backtick that is not closed at 4");
    check("a $(b", "[b] ! a parenthesis that is not closed at 5");
    check("a ${b", "! a ${ that is not closed at 5");
    check("a )", "[a] ! something that closes nothing at 2");
    check("if a; then b", "[a] [b] ! an if that is not closed at 12");
    check("while a; b; done", "[a] [b] ! a loop without do at 12");
    check("case x in a b", "! a pattern of a case that is not closed at 12");
    check("a=(b", "! an array that is not closed at 4");
    check("[[ a", "! a [[ that is not closed at 4");
    check("a >", "! a redirection without a file at 3");
    check("a; ; b", "[a] ! something where a command should be at 3");
    check("a && ", "[a] ! something where a command should be at 5");
    check("{ a; ", "[a] ! a { that is not closed at 5");
    check("a () b", "[b]");
    check("done", "! something that closes nothing at 0");
}

/* ---- bounds ------------------------------------------------------------------------------- */

static char *nest(const char *open, const char *inner, const char *close, size_t depth)
{
    struct buf b = {0};

    for (size_t i = 0; i < depth; i++)
        buf_add_str(&b, open);
    buf_add_str(&b, inner);
    for (size_t i = 0; i < depth; i++)
        buf_add_str(&b, close);
    return buf_take(&b);
}

static void test_depth(void **state)
{
    static const char why[] = "commands that are nested deeper than is looked at";
    static const char *const pairs[][2] = {{"$(", ")"}, {"( ", ")"}, {"{ ", "; }"}};

    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        auto_(script_freep) struct script *near = NULL;
        auto_(script_freep) struct script *far = NULL;
        auto_free char *shallow = nest(pairs[i][0], "a", pairs[i][1], SCRIPT_DEPTH_MAX / 4);
        auto_free char *deep = nest(pairs[i][0], "a", pairs[i][1], SCRIPT_DEPTH_MAX + 1);

        assert_int_equal(script_parse(shallow, &setting, &near), 0);
        assert_null(near->failed);
        assert_int_equal(script_parse(deep, &setting, &far), 0);
        assert_non_null(far->failed);
        assert_string_equal(far->failed, why);
    }
}

static void check_bound(const char *text, size_t times, const char *why)
{
    auto_(script_freep) struct script *script = NULL;
    auto_free char *many = nest(text, "a", "", times);

    assert_int_equal(script_parse(many, &setting, &script), 0);
    if (!why)
        assert_null(script->failed);
    else
        assert_string_equal(script->failed ? script->failed : "nothing", why);
}

static void test_numbers(void **state)
{
    check_bound("a;", SCRIPT_COMMANDS_MAX - 1, NULL);
    check_bound("a;", SCRIPT_COMMANDS_MAX, "more commands than are looked at");
    check_bound("a ", SCRIPT_WORDS_MAX - 1, NULL);
    check_bound("a ", SCRIPT_WORDS_MAX, "more words than are looked at");
    check_bound("f() { a; };", SCRIPT_FUNCTIONS_MAX, NULL);
    check_bound("f() { a; };", SCRIPT_FUNCTIONS_MAX + 1, "more functions than are looked at");
    check_bound("{a,b}", 7, NULL);
    check_bound("{a,b}", 9, "braces that make more words than are looked at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_variables),      cmocka_unit_test(test_tildes_and_braces),
        cmocka_unit_test(test_globs),          cmocka_unit_test(test_substitutions),
        cmocka_unit_test(test_compounds),      cmocka_unit_test(test_redirections),
        cmocka_unit_test(test_here_documents), cmocka_unit_test(test_folders),
        cmocka_unit_test(test_pipes),          cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests_name("script-parse", tests, NULL, NULL);
}
