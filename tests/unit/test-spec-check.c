/* Each field of a spec that means nothing is refused, by name where there is one; what is at the
 * edge of meaning is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/mask.h"
#include "job/plan.h"
#include "job/spec-check.h"

static const char *const command[] = {"true", NULL};
static char longest_name[NAME_BYTES_MAX + 2];

static struct rein_spec plain(void)
{
    return (struct rein_spec){.size = sizeof(struct rein_spec), .argv = command};
}

static void check_refused(struct rein_spec spec, const char *text)
{
    struct rein_error *error = NULL;

    assert_int_equal(spec_check(&spec, &error), -EINVAL);
    assert_string_equal(error->code, "bad_request");
    assert_string_equal(error->step, "spec");
    if (!strstr(error->message, text))
        print_error("'%s' does not say '%s'\n", error->message, text);
    assert_non_null(strstr(error->message, text));
    error = rein_error_free(error);
    assert_int_equal(spec_check(&spec, NULL), -EINVAL);
}

static void check_taken(struct rein_spec spec)
{
    struct rein_error *error = NULL;
    int r = spec_check(&spec, &error);

    if (r < 0)
        print_error("%s\n", error->message);
    assert_int_equal(r, 0);
}

static void test_size(void **state)
{
    struct rein_spec spec = plain();

    spec.size = 0;
    check_refused(spec, "size");
    spec.size = sizeof(spec) - 1;
    check_refused(spec, "size");
    spec.size = sizeof(spec) + 8; /* of a later version */
    check_taken(spec);
}

static void test_command(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const empty[] = {"", "x", NULL};
    static const char *const script[] = {"", NULL};
    static const char *const two[] = {"true", "x", NULL};
    struct rein_spec spec = plain();

    spec.argv = NULL;
    check_refused(spec, "no command");
    spec.argv = none;
    check_refused(spec, "no command");
    spec.argv = empty;
    check_refused(spec, "empty");
    spec.flags = REIN_SPEC_SHELL;
    check_refused(spec, "exactly one string");
    spec.argv = two;
    check_refused(spec, "exactly one string");
    spec.argv = script; /* an empty script does nothing, and does it well */
    check_taken(spec);
}

static void test_choices(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
        int last;
    } choices[] = {
        {"env_profile", offsetof(struct rein_spec, env_profile), REIN_ENV_CLEAN},
        {"stdin_kind", offsetof(struct rein_spec, stdin_kind), REIN_STDIN_PIPE},
        {"after", offsetof(struct rein_spec, after), REIN_AFTER_KEEP},
        {"on_output_limit", offsetof(struct rein_spec, on_output_limit), REIN_OUTPUT_KILL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        struct rein_spec spec = plain();
        int *field = (int *)(void *)((char *)&spec + choices[i].offset);

        for (*field = 0; *field <= choices[i].last; (*field)++)
            check_taken(spec);
        check_refused(spec, choices[i].name);
        *field = -1;
        check_refused(spec, choices[i].name);
        *field = INT32_MAX;
        check_refused(spec, choices[i].name);
    }
}

static void test_flags(void **state)
{
    struct rein_spec spec = plain();

    spec.flags = REIN_SPEC_SPLIT | REIN_SPEC_SHELL | REIN_SPEC_PACED;
    check_taken(spec);
    spec.flags = REIN_SPEC_SPLIT | REIN_SPEC_SHELL | REIN_SPEC_BACKGROUND | REIN_SPEC_DETACHED;
    check_taken(spec);
    for (unsigned bit = 5; bit < 32; bit++) {
        spec.flags = 1u << bit;
        check_refused(spec, "flags");
    }
}

static void test_amounts(void **state)
{
    struct rein_spec spec = plain();

    spec.timeout_ns = spec.cpu_time_ns = spec.grace_ns = INT64_MAX;
    check_taken(spec);
    spec = plain();
    spec.timeout_ns = -1;
    check_refused(spec, "timeout");
    spec = plain();
    spec.cpu_time_ns = INT64_MIN;
    check_refused(spec, "processor time");
    spec = plain();
    spec.grace_ns = REIN_GRACE_NONE;
    check_taken(spec);
    spec.grace_ns = REIN_GRACE_NONE - 1;
    check_refused(spec, "grace");
}

static void test_output_limit(void **state)
{
    struct rein_spec spec = plain();

    spec.output_limit = OUTPUT_LIMIT_MIN;
    check_taken(spec);
    spec.output_limit = OUTPUT_LIMIT_MAX;
    check_taken(spec);
    spec.output_limit = OUTPUT_LIMIT_MIN - 1;
    check_refused(spec, "4096");
    spec.output_limit = OUTPUT_LIMIT_MAX + 1;
    check_refused(spec, "output limit");
}

static void test_name(void **state)
{
    struct rein_spec spec = plain();

    memset(longest_name, 'n', NAME_BYTES_MAX);
    spec.name = longest_name;
    check_taken(spec);
    longest_name[NAME_BYTES_MAX] = 'n';
    check_refused(spec, "name");
    spec.name = "";
    check_taken(spec);
}

static void test_descriptors_to_pass(void **state)
{
    static const int wrong[] = {-1, 0, 1, 2, 1024, INT32_MAX, INT32_MIN};
    static int many[WIRE_PASS_FDS_MAX + 1];
    struct rein_spec spec = plain();

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        spec.pass_fds = &wrong[i];
        spec.n_pass_fds = 1;
        check_refused(spec, "descriptor");
    }
    spec.pass_fds = many;
    spec.n_pass_fds = ARRAY_SIZE(many);
    check_refused(spec, "more than 64");
    spec.n_pass_fds = SIZE_MAX;
    check_refused(spec, "more than 64");
    spec.pass_fds = NULL;
    spec.n_pass_fds = 1;
    check_refused(spec, "pass_fds");
    many[0] = 1000;
    spec.pass_fds = many;
    check_refused(spec, "not open");
    spec.n_pass_fds = 0;
    check_taken(spec);
}

/* ---- the background ------------------------------------------------------------------------- */

static const char *const tell[] = {"/bin/tell", NULL};

static void test_what_needs_the_background(void **state)
{
    struct rein_spec spec = plain();

    spec.flags = REIN_SPEC_DETACHED;
    check_refused(spec, "background");
    spec = plain();
    spec.owner_pid = getpid();
    check_refused(spec, "background");
    spec = plain();
    spec.session = "s";
    check_refused(spec, "background");
    spec = plain();
    spec.notify = tell;
    check_refused(spec, "background");
    spec.owner_pid = getpid();
    spec.session = "s";
    spec.flags = REIN_SPEC_BACKGROUND;
    check_taken(spec);
}

static void test_background(void **state)
{
    struct rein_spec spec = plain();

    spec.flags = REIN_SPEC_BACKGROUND | REIN_SPEC_PACED;
    check_refused(spec, "no reader");
    spec.flags = REIN_SPEC_BACKGROUND;
    spec.owner_pid = -1;
    check_refused(spec, "no process");
    spec.owner_pid = getpid();
    check_taken(spec);
    spec.flags |= REIN_SPEC_DETACHED;
    check_refused(spec, "no owner");
}

static void test_secrets(void **state)
{
    const char *names[MASK_SECRETS_MAX + 2] = {NULL};
    struct rein_spec spec = plain();

    spec.secrets = names;
    check_taken(spec);
    for (size_t i = 0; i < MASK_SECRETS_MAX; i++)
        names[i] = "NAME";
    check_taken(spec);
    names[1] = "";
    check_refused(spec, "''");
    names[1] = "A=b";
    check_refused(spec, "'A=b'");
    spec.secrets = NULL;
    spec.env_keep = names;
    check_refused(spec, "'A=b'");
    names[1] = "A";
    names[MASK_SECRETS_MAX] = "B";
    check_taken(spec); /* names of those to keep may be many */
    spec.secrets = names;
    check_refused(spec, "more than 64 secrets");
}

static void test_sessions(void **state)
{
    static const char *const wrong[] = {"", ".", "..", ".s", "/", "a/b", "s/"};
    static const char *const right[] = {"s", "a b", "s.", "\xff", "-"};
    char longest[SESSION_BYTES_MAX + 2] = "";
    struct rein_spec spec = plain();

    spec.flags = REIN_SPEC_BACKGROUND;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        spec.session = wrong[i];
        check_refused(spec, "session");
    }
    for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
        spec.session = right[i];
        check_taken(spec);
    }
    memset(longest, 's', SESSION_BYTES_MAX);
    spec.session = longest;
    check_taken(spec);
    longest[SESSION_BYTES_MAX] = 's';
    check_refused(spec, "session");
}

static void test_commands_for_the_end(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const name[] = {"tell", "/x", NULL};
    static const char *const relative[] = {"./tell", NULL};
    struct rein_spec spec = plain();

    spec.flags = REIN_SPEC_BACKGROUND;
    spec.notify = none;
    check_refused(spec, "no path");
    spec.notify = name;
    check_refused(spec, "no path");
    spec.notify = relative;
    check_taken(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_output_limit),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_descriptors_to_pass),
        cmocka_unit_test(test_what_needs_the_background),
        cmocka_unit_test(test_background),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_commands_for_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
