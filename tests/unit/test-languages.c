/* The table of languages: every row is complete, no name means two languages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "code/languages.h"

static void require_text(const struct language *language, const char *what, const char *s)
{
    if (!s || s[0] == '\0')
        fail_msg("%s: no %s", language->name, what);
}

/* A full array has its NULL in the one element more; a row that is too long would not compile. */
static void require_ended(const struct language *language,
                          const char *what,
                          const char *const *array,
                          size_t size)
{
    int ended = 0;

    for (size_t i = 0; i < size; i++) {
        if (!array[i])
            ended = 1;
        else if (ended)
            fail_msg("%s: a hole in its %s", language->name, what);
    }
    if (!ended)
        fail_msg("%s: its %s have no end", language->name, what);
}

static void test_rows_are_complete(void **state)
{
    assert_true(language_count() >= 7);
    for (size_t i = 0; i < language_count(); i++) {
        const struct language *l = language_at(i);

        assert_non_null(l->name);
        require_text(l, "extension", l->extension);
        require_text(l, "interpreter", l->interpreters[0]);
        require_text(l, "hint", l->install_hint);
        assert_null(strpbrk(l->extension, "./"));
        require_ended(l, "aliases", l->aliases, ARRAY_SIZE(l->aliases));
        require_ended(l, "interpreters", l->interpreters, ARRAY_SIZE(l->interpreters));
        require_ended(l, "arguments", l->arguments, ARRAY_SIZE(l->arguments));
        require_ended(l, "startup variables", l->startup_variables,
                      ARRAY_SIZE(l->startup_variables));
        require_ended(l, "import directories", l->import_dirs, ARRAY_SIZE(l->import_dirs));
        require_ended(l, "probe", l->probe, ARRAY_SIZE(l->probe));
        require_ended(l, "version files", l->version_files, ARRAY_SIZE(l->version_files));
        assert_int_equal(l->import_variable != NULL, l->import_dirs[0] != NULL);
        assert_int_equal(l->companion_name != NULL, l->companion_text != NULL);
        for (const char *const *name = l->interpreters; *name; name++)
            assert_null(strchr(*name, '/'));
    }
}

static void require_only(const struct language *owner, const char *name)
{
    const struct language *found = language_find(name);

    if (found != owner)
        fail_msg("'%s' of %s means %s", name, owner->name, found ? found->name : "nothing");
}

/* language_find() takes the first row that has a name: a name given twice shows here. */
static void test_no_name_twice(void **state)
{
    for (size_t i = 0; i < language_count(); i++) {
        const struct language *l = language_at(i);

        require_only(l, l->name);
        for (const char *const *alias = l->aliases; *alias; alias++)
            require_only(l, *alias);
    }
}

static const struct {
    const char *name;
    const char *language;
} names[] = {
    {"python", "python"},   {"py", "python"},       {"python3", "python"},
    {"Python", "python"},   {"PY", "python"},       {"bash", "bash"},
    {"shell", "bash"},      {"sh", "sh"},           {"node", "node"},
    {"js", "node"},         {"javascript", "node"}, {"JavaScript", "node"},
    {"perl", "perl"},       {"ruby", "ruby"},       {"powershell", "powershell"},
    {"pwsh", "powershell"}, {"ps1", "powershell"},  {"", NULL},
    {"pytho", NULL},        {"pythonn", NULL},      {"python ", NULL},
    {" python", NULL},      {"cobol", NULL},        {"p\xd9thon", NULL},
};

static void test_find(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct language *found = language_find(names[i].name);
        const char *name = found ? found->name : "(none)";

        if (strcmp(name, names[i].language ? names[i].language : "(none)") != 0)
            fail_msg("'%s': %s", names[i].name, name);
    }
}

static void test_unknown(void **state)
{
    const struct language *language = NULL;
    auto_error struct rein_error *error = NULL;

    assert_int_equal(language_require("cobol", &language, &error), -EINVAL);
    assert_null(language);
    assert_string_equal(error->code, "bad_request");
    assert_string_equal(error->message, "unknown language 'cobol'");
    for (size_t i = 0; i < language_count(); i++)
        assert_non_null(strstr(error->hint, language_at(i)->name));
    assert_int_equal(language_require("cobol", &language, NULL), -EINVAL);
}

static void test_known(void **state)
{
    const struct language *language = NULL;
    auto_error struct rein_error *error = NULL;

    assert_int_equal(language_require("py", &language, &error), 0);
    assert_string_equal(language->name, "python");
    assert_null(error);
}

/* PowerShell is PowerShell: nothing else may run its code. */
static void test_powershell_has_no_substitute(void **state)
{
    const struct language *language = language_find("powershell");

    for (const char *const *name = language->interpreters; *name; name++)
        assert_true(strcmp(*name, "pwsh") == 0 || strcmp(*name, "powershell") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_no_name_twice),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_powershell_has_no_substitute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
