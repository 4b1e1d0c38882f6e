/* What a language changes in the environment: start-up files and the place to import from. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/strv.h"
#include "code/code-env.h"

/* Joins what code_env_make() gives with blanks. */
static void expect_with_prelude(const char *language,
                                const char *const *asked,
                                const char *const *job_env,
                                const char *cwd,
                                const char *prelude_dir,
                                const char *expected)
{
    auto_strv char **env = NULL;
    auto_buf struct buf joined = {0};

    assert_int_equal(code_env_make(language_find(language), asked, job_env, cwd, prelude_dir, &env),
                     0);
    for (char **entry = env; *entry; entry++)
        buf_add_format(&joined, "%s%s", joined.len > 0 ? " " : "", *entry);
    assert_string_equal(joined.data ? joined.data : "", expected);
}

static void expect(const char *language,
                   const char *const *asked,
                   const char *const *job_env,
                   const char *cwd,
                   const char *expected)
{
    expect_with_prelude(language, asked, job_env, cwd, NULL, expected);
}

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_ENV ((const char *const[]){NULL})

static void test_nothing_to_change(void **state)
{
    expect("bash", NULL, ENV("PATH=/bin"), "/w", "");
    expect("bash", ENV("A=1", "B"), ENV("A=1", "B=2"), "/w", "A=1 B");
    expect("python", NULL, ENV("PATH=/bin"), NULL, "");
    expect("python", ENV("PYTHONPATH=/x"), ENV("PYTHONPATH=/x"), NULL, "PYTHONPATH=/x");
    expect("powershell", NULL, ENV("BASH_ENV=/x"), "/w", "");
}

static void test_shells_read_no_startup_files(void **state)
{
    expect("bash", NULL, ENV("BASH_ENV=/h/rc"), "/w", "BASH_ENV=");
    expect("sh", NULL, ENV("ENV=/h/rc", "BASH_ENV=/h/rc"), "/w", "BASH_ENV= ENV=");
    expect("bash", ENV("A=1"), ENV("ENV=/h/rc", "A=1"), NULL, "A=1 ENV=");
    expect("bash", NULL, ENV("BASH_ENV="), "/w", "");
}

static void test_asked_startup_file_stays(void **state)
{
    expect("bash", ENV("BASH_ENV=/mine"), ENV("BASH_ENV=/mine"), "/w", "BASH_ENV=/mine");
    expect("bash", ENV("BASH_ENV"), ENV("BASH_ENV=/caller", "ENV=/x"), "/w", "BASH_ENV ENV=");
}

static void test_working_directory_importable(void **state)
{
    expect("python", NULL, NO_ENV, "/w", "PYTHONPATH=/w");
    expect("python", NULL, ENV("PYTHONPATH="), "/w", "PYTHONPATH=/w");
    expect("python", NULL, ENV("PYTHONPATH=/a:/b"), "/w", "PYTHONPATH=/w:/a:/b");
    expect("node", NULL, NO_ENV, "/w", "NODE_PATH=/w/node_modules:/w");
    expect("ruby", NULL, ENV("RUBYLIB=/l"), "/w", "RUBYLIB=/w:/l");
    expect("perl", NULL, NO_ENV, "/w", "PERL5LIB=/w");
}

/* Before all others, so that nothing in the working directory comes in its place. */
static void test_prelude_is_found_first(void **state)
{
    expect_with_prelude("python", NULL, NO_ENV, "/w", "/p", "PYTHONPATH=/p:/w");
    expect_with_prelude("python", NULL, NO_ENV, NULL, "/p", "PYTHONPATH=/p");
    expect_with_prelude("python", NULL, ENV("PYTHONPATH=/a"), "/w", "/p", "PYTHONPATH=/p:/w:/a");
    expect_with_prelude("python", ENV("PYTHONPATH=/a", "B=1"), ENV("PYTHONPATH=/a", "B=1"), NULL,
                        "/p", "B=1 PYTHONPATH=/p:/a");
}

/* The variable must not come twice: which one counts would be left to chance. */
static void test_asked_import_path_is_kept_once(void **state)
{
    expect("python", ENV("PYTHONPATH=/a", "B=1"), ENV("PYTHONPATH=/a", "B=1"), "/w",
           "B=1 PYTHONPATH=/w:/a");
    expect("python", ENV("PYTHONPATH", "PYTHONPATHS=1"), ENV("PYTHONPATH=/a"), "/w",
           "PYTHONPATHS=1 PYTHONPATH=/w:/a");
}

static void test_colon_in_working_directory(void **state)
{
    expect("python", NULL, ENV("PYTHONPATH=/a"), "/w:x", "PYTHONPATH=.:/a");
    expect("node", NULL, NO_ENV, "/w:x", "NODE_PATH=./node_modules:.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_change),
        cmocka_unit_test(test_shells_read_no_startup_files),
        cmocka_unit_test(test_asked_startup_file_stays),
        cmocka_unit_test(test_working_directory_importable),
        cmocka_unit_test(test_prelude_is_found_first),
        cmocka_unit_test(test_asked_import_path_is_kept_once),
        cmocka_unit_test(test_colon_in_working_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
