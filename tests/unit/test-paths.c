/* What a path means: places, by text alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "policy/paths.h"

static const struct path_place here = {
    .base = "/w/project", .cwd = "/w/project", .home = "/home/user"};

static void check(const struct path_place *place, const char *text, bool glob, unsigned expected)
{
    unsigned kind = path_judge(place, text, glob);

    if (kind != expected)
        fail_msg("%s is %#x, not %#x", text, kind, expected);
}

static void test_places(void **state)
{
    static const struct {
        const char *text;
        unsigned kind;
    } cases[] = {
        {"x", PATH_INSIDE},
        {"./x/./y", PATH_INSIDE},
        {"/w/project/x", PATH_INSIDE},
        {"-x", PATH_INSIDE},
        {"~", PATH_INSIDE}, /* a shell would have expanded it */
        {".", PATH_CWD},
        {"./", PATH_CWD},
        {"x/..", PATH_CWD},
        {"..", PATH_CWD},
        {"/w", PATH_CWD},
        {"x/../y", PATH_OUTSIDE},
        {"../project/x", PATH_OUTSIDE},
        {"../other", PATH_OUTSIDE},
        {"/w/projects", PATH_OUTSIDE},
        {"/", PATH_ROOT},
        {"//", PATH_ROOT},
        {"/../..", PATH_ROOT},
        {"/proc/self/root", PATH_ROOT},
        {"/proc/self/cwd/x", PATH_INSIDE},
        {"/proc/self/cwd", PATH_CWD},
        {"/home", PATH_HOME},
        {"/home/user/", PATH_HOME},
        {"/home/other", PATH_HOME},
        {"/root", PATH_HOME},
        {"/home/user/x", PATH_OUTSIDE},
        {"/etc", PATH_SYSTEM},
        {"/etc/../usr/./lib/", PATH_SYSTEM},
        {"/etc/hosts", PATH_IN_SYSTEM},
        {"/etc/passwd", PATH_IN_SYSTEM | PATH_ACCOUNTS},
        {"/etc/sudoers.d/x", PATH_IN_SYSTEM | PATH_ACCOUNTS},
        {"/home/user/.ssh/authorized_keys", PATH_OUTSIDE | PATH_KEYS},
        {"/home/user/.bashrc", PATH_OUTSIDE | PATH_STARTUP},
        {"/var/log/syslog", PATH_IN_SYSTEM | PATH_LOGS},
        {"/proc/sysrq-trigger", PATH_IN_SYSTEM | PATH_SYSRQ},
        {"/tmp", PATH_SYSTEM},
        {"/tmp/x", PATH_OUTSIDE},
        {"/srv/x", PATH_OUTSIDE},
        {"/dev/sda", PATH_DISK},
        {"/dev/nvme0n1p2", PATH_DISK},
        {"/dev/disk/by-id/x", PATH_DISK},
        {"/dev/null", PATH_NOWHERE},
        {"/dev/fd/3", PATH_NOWHERE},
        {"/dev/tcp/host/80", PATH_NOWHERE | PATH_NETWORK},
        {"*", PATH_INSIDE}, /* a name */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check(&here, cases[i].text, false, cases[i].kind);
}

static void test_globs(void **state)
{
    check(&here, "*", true, PATH_CWD_ALL);
    check(&here, "./.*", true, PATH_CWD_ALL);
    check(&here, "*/*", true, PATH_CWD_ALL);
    check(&here, "*.o", true, PATH_INSIDE);
    check(&here, "x/*", true, PATH_INSIDE);
    check(&here, "../*", true, PATH_CWD);
    check(&here, "../proj*", true, PATH_CWD);
    check(&here, "/*", true, PATH_ROOT);
    check(&here, "/*/*", true, PATH_ROOT);
    check(&here, "/???", true, PATH_SYSTEM);
    check(&here, "/[e]tc", true, PATH_SYSTEM);
    check(&here, "/etc/*", true, PATH_SYSTEM);
    check(&here, "/tmp/*", true, PATH_OUTSIDE);
    check(&here, "/home/user/*", true, PATH_HOME);
    check(&here, "/home/u*", true, PATH_HOME);
    check(&here, "/dev/sd*", true, PATH_DISK);
    check(&here, "/opt/x*", true, PATH_OUTSIDE);
}

static void test_unknown_places(void **state)
{
    struct path_place nowhere = {0}, lost = here, root = here, in_system = here;

    check(&nowhere, "x", false, PATH_INSIDE);
    check(&nowhere, ".", false, PATH_CWD);
    check(&nowhere, "../x", false, PATH_OUTSIDE);
    check(&nowhere, "/root", false, PATH_HOME);
    lost.cwd = NULL; /* after a cd to where nobody knows */
    check(&lost, "x", false, PATH_UNKNOWN);
    check(&lost, "/etc", false, PATH_SYSTEM);
    root.base = root.cwd = "/";
    check(&root, "etc", false, PATH_SYSTEM);
    check(&root, "x", false, PATH_INSIDE);
    in_system.base = in_system.cwd = "/usr/src/x";
    check(&in_system, "y", false, PATH_INSIDE);
    check(&in_system, "..", false, PATH_SYSTEM);
}

static void test_too_long(void **state)
{
    auto_free char *path = calloc(1, PATH_TEXT_MAX + 2);

    assert_non_null(path);
    memset(path, 'x', PATH_TEXT_MAX + 1);
    check(&here, path, false, PATH_UNKNOWN);
}

static void test_resolving(void **state)
{
    struct path path;

    assert_true(path_resolve(&path, "/a/b", "../c/./d//e/"));
    assert_string_equal(path.text, "/a/c/d/e");
    assert_true(path_resolve(&path, "/a", "../../.."));
    assert_string_equal(path.text, "/");
    assert_int_equal(path.len, 1);
    assert_true(path_resolve(&path, "/a", ""));
    assert_string_equal(path.text, "/a");
}

static bool fits(const char *pattern, const char *name)
{
    return glob_match(pattern, strlen(pattern), name, strlen(name));
}

static void test_patterns(void **state)
{
    assert_true(fits("*", ""));
    assert_true(fits("a*c", "abbc"));
    assert_true(fits("*a*b", "xaxab"));
    assert_true(fits("[a-c]?[!x]", "bzy"));
    assert_true(fits("[]]", "]"));
    assert_true(fits("[", "["));
    assert_true(fits("a[", "a["));
    assert_false(fits("[a-c]", "d"));
    assert_false(fits("a*c", "ab"));
    assert_false(fits("?", ""));
    /* Many stars take no more time than few. */
    assert_false(fits("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),         cmocka_unit_test(test_globs),
        cmocka_unit_test(test_unknown_places), cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_resolving),      cmocka_unit_test(test_patterns),
    };

    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
