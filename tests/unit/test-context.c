/* A context: where its store is, and that nothing is made before it is needed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "job/context.h"
#include "temp-dir.h"

/* Variables that say where the store is; NULL: not set. */
static void set_variables(const char *state_dir, const char *xdg, const char *home)
{
    const struct {
        const char *name;
        const char *value;
    } variables[] = {{"REIN_STATE", state_dir}, {"XDG_STATE_HOME", xdg}, {"HOME", home}};

    for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
        if (variables[i].value)
            (void)setenv(variables[i].name, variables[i].value, 1);
        else
            (void)unsetenv(variables[i].name);
    }
}

static void check_state_dir(const char *option, const char *expected)
{
    struct rein_options options = {.size = sizeof(options), .state_dir = option};
    rein *r = rein_open(option ? &options : NULL, NULL);

    assert_non_null(r);
    assert_string_equal(context_state_dir(r), expected);
    assert_null(rein_free(r));
}

static void test_where_the_store_is(void **state)
{
    set_variables("/from/state", "/from/xdg", "/from/home");
    check_state_dir("/from/options", "/from/options");
    check_state_dir(NULL, "/from/state");
    set_variables(NULL, "/from/xdg", "/from/home");
    check_state_dir(NULL, "/from/xdg/rein");
    set_variables("", "relative", "/from/home"); /* neither counts */
    check_state_dir(NULL, "/from/home/.local/state/rein");
    set_variables(NULL, NULL, "/from/home");
    check_state_dir(NULL, "/from/home/.local/state/rein");
}

static void test_relative_places_are_made_absolute(void **state)
{
    auto_free char *here = getcwd(NULL, 0);
    auto_free char *expected = NULL;

    assert_true(asprintf(&expected, "%s/some/where", here) > 0);
    check_state_dir("some/where", expected);
    set_variables("some/where", NULL, NULL);
    check_state_dir(NULL, expected);
}

/* Without a usable HOME it is the user data base that says; in no case is there none. */
static void test_no_home(void **state)
{
    rein *r;

    set_variables(NULL, NULL, NULL);
    r = rein_open(NULL, NULL);
    assert_non_null(r);
    assert_int_equal(context_state_dir(r)[0], '/');
    assert_null(rein_free(r));
    set_variables(NULL, NULL, "relative");
    r = rein_open(NULL, NULL);
    assert_int_equal(context_state_dir(r)[0], '/');
    assert_null(rein_free(r));
}

static rein *open_with(const char *state_dir)
{
    struct rein_options options = {.size = sizeof(options), .state_dir = state_dir};

    return rein_open(&options, NULL);
}

static void test_nothing_is_made_by_opening(void **state)
{
    rein *r = open_with(in_temp_dir("state"));

    assert_int_equal(access(in_temp_dir("state"), F_OK), -1);
    assert_true(r->image_fd < 0);
    assert_true(r->null_fd < 0);
    assert_true(r->owner_pidfd < 0);
    assert_null(rein_free(r));
    assert_int_equal(access(in_temp_dir("state"), F_OK), -1);
}

static void test_directories_of_the_store(void **state)
{
    rein *r = open_with(in_temp_dir("a/b/state"));
    mode_t before = umask(0);
    auto_close int fd = -EBADF;
    auto_close int again = -EBADF;
    struct stat st;

    assert_int_equal(context_make_state_dir(r, "jobs", &fd, NULL), 0);
    assert_int_equal(context_make_state_dir(r, "jobs", &again, NULL), 0);
    (void)umask(before);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(in_temp_dir("a/b/state"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_null(rein_free(r));
}

static void test_directories_that_cannot_be_made(void **state)
{
    rein *r = open_with(in_temp_dir("file/state"));
    struct rein_error *error = NULL;
    int fd = -EBADF;

    (void)write_temp_file("file", 0600, "");
    assert_int_equal(context_make_state_dir(r, "jobs", &fd, &error), -ENOTDIR);
    assert_string_equal(error->code, "internal");
    assert_non_null(strstr(error->message, in_temp_dir("file/state/jobs")));
    error = rein_error_free(error);
    assert_null(rein_free(r));

    r = open_with(in_temp_dir("state")); /* a link is not followed */
    assert_int_equal(mkdir(in_temp_dir("state"), 0700), 0);
    assert_int_equal(symlink("/tmp", in_temp_dir("state/jobs")), 0);
    assert_true(context_make_state_dir(r, "jobs", &fd, NULL) < 0);
    assert_null(rein_free(r));
}

static void test_prepare_makes_everything_once(void **state)
{
    rein *r = open_with(in_temp_dir("state"));
    int image_fd;

    assert_int_equal(context_prepare(r, NULL), 0);
    assert_true(r->image_fd > 2 && r->null_fd > 2 && r->owner_pidfd > 2);
    assert_int_equal(fcntl(r->image_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(r->null_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(r->owner_pidfd, F_GETFD), FD_CLOEXEC);
    image_fd = r->image_fd;
    assert_int_equal(context_prepare(r, NULL), 0);
    assert_int_equal(r->image_fd, image_fd);
    assert_null(rein_free(r));
    assert_int_equal(fcntl(image_fd, F_GETFD), -1);
}

static int setup(void **state)
{
    set_variables(NULL, NULL, "/");
    return temp_dir_setup(state);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_where_the_store_is),
        test(test_relative_places_are_made_absolute),
        test(test_no_home),
        test(test_nothing_is_made_by_opening),
        test(test_directories_of_the_store),
        test(test_directories_that_cannot_be_made),
        test(test_prepare_makes_everything_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
