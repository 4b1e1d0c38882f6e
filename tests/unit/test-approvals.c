/* The records of approvals: who may run what, how often, how long. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/approvals.h"
#include "policy/state-file.h"
#include "rein.h"
#include "temp-dir.h"

#define FILE_NAME "approvals.json"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NEAR "01234567ffffffff0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID "01234567"

static enum approval take_as(const char *digest, const char *session)
{
    enum approval said;
    char *reason = NULL;

    assert_int_equal(approvals_take(temp_dir, digest, session, &said, &reason, NULL), 0);
    free(reason);
    return said;
}

static enum approval take(void)
{
    return take_as(DIGEST, NULL);
}

static void post_as(const char *digest, const char *session)
{
    json_t *shown = json_pack("{s:s}", "tool", "t");
    char id[APPROVAL_ID_SIZE];

    assert_int_equal(approvals_post(temp_dir, digest, shown, session, id, NULL), 0);
    assert_string_equal(id, ID);
    json_decref(shown);
}

static void post(void)
{
    post_as(DIGEST, NULL);
}

static int answer(const char *id, enum approval what)
{
    return approvals_answer(temp_dir, id, what, NULL, NULL, NULL);
}

/* Makes a record as old as that. */
static void age(const char *digest, int seconds)
{
    json_t *all, *record;
    json_int_t since;

    assert_int_equal(state_file_read(temp_dir, FILE_NAME, &all), 0);
    record = json_object_get(all, digest);
    since = json_integer_value(json_object_get(record, "since")) - seconds * 1000LL;
    (void)json_object_set_new(record, "since", json_integer(since));
    assert_int_equal(state_file_write(temp_dir, FILE_NAME, all), 0);
    json_decref(all);
}

static void test_nothing_is_known(void **state)
{
    assert_int_equal(take(), APPROVAL_UNKNOWN);
    assert_int_equal(answer(ID, APPROVAL_ONCE), -ENOENT);
}

static void test_once_is_once(void **state)
{
    post();
    assert_int_equal(take(), APPROVAL_PENDING);
    post();
    assert_int_equal(answer(ID, APPROVAL_ONCE), 0);
    assert_int_equal(take_as(NEAR, NULL), APPROVAL_UNKNOWN);
    assert_int_equal(take(), APPROVAL_ONCE);
    assert_int_equal(take(), APPROVAL_UNKNOWN);
    assert_int_equal(answer(ID, APPROVAL_ONCE), -ENOENT);
}

static void test_a_denial_has_a_reason(void **state)
{
    enum approval said;
    char *reason = NULL;

    post();
    assert_int_equal(approvals_answer(temp_dir, ID, APPROVAL_DENIED, "too late", NULL, NULL), 0);
    assert_int_equal(approvals_take(temp_dir, DIGEST, NULL, &said, &reason, NULL), 0);
    assert_int_equal(said, APPROVAL_DENIED);
    assert_string_equal(reason, "too late");
    free(reason);
    assert_int_equal(take(), APPROVAL_DENIED);
    assert_int_equal(answer(ID, APPROVAL_ONCE), -EALREADY);
}

static void test_answers_come_in_time(void **state)
{
    post();
    age(DIGEST, APPROVAL_SECONDS);
    assert_int_equal(answer(ID, APPROVAL_ONCE), -ETIME);
    assert_int_equal(take(), APPROVAL_UNKNOWN);
    post();
    age(DIGEST, APPROVAL_SECONDS - 20);
    assert_int_equal(answer(ID, APPROVAL_ONCE), 0);
    age(DIGEST, APPROVAL_SECONDS); /* an approval does not lie around either */
    assert_int_equal(take(), APPROVAL_UNKNOWN);
}

/* A clock that was set back must not make one last. */
static void test_a_moment_in_the_future(void **state)
{
    post();
    assert_int_equal(answer(ID, APPROVAL_ONCE), 0);
    age(DIGEST, -3600);
    assert_int_equal(take(), APPROVAL_UNKNOWN);
}

static void test_always(void **state)
{
    post();
    assert_int_equal(answer(ID, APPROVAL_ALWAYS), 0);
    age(DIGEST, 10 * APPROVAL_SESSION_SECONDS);
    assert_int_equal(take(), APPROVAL_ALWAYS);
    assert_int_equal(take_as(DIGEST, "s"), APPROVAL_ALWAYS);
    assert_int_equal(take_as(NEAR, NULL), APPROVAL_UNKNOWN);
    assert_int_equal(answer(ID, APPROVAL_DENIED), 0); /* taken back */
    assert_int_equal(take(), APPROVAL_UNKNOWN);
}

static void test_always_in_a_session(void **state)
{
    post();
    assert_int_equal(answer(ID, APPROVAL_SESSION), -EINVAL); /* of a call without one */
    assert_int_equal(answer(ID, APPROVAL_DENIED), 0);
    age(DIGEST, APPROVAL_SECONDS);
    post_as(DIGEST, "s");
    assert_int_equal(answer(ID, APPROVAL_SESSION), 0);
    assert_int_equal(take_as(DIGEST, "s"), APPROVAL_SESSION);
    assert_int_equal(take_as(DIGEST, "t"), APPROVAL_UNKNOWN);
    assert_int_equal(take(), APPROVAL_UNKNOWN);
    age(DIGEST, APPROVAL_SESSION_SECONDS);
    assert_int_equal(take_as(DIGEST, "s"), APPROVAL_UNKNOWN);
}

static void test_ids(void **state)
{
    post_as(DIGEST, NULL);
    assert_int_equal(answer("0123456", APPROVAL_ONCE), -EINVAL); /* too short */
    assert_int_equal(answer("", APPROVAL_ONCE), -EINVAL);
    assert_int_equal(answer("76543210", APPROVAL_ONCE), -ENOENT);
    post_as(NEAR, NULL);
    assert_int_equal(answer(ID, APPROVAL_ONCE), -EINVAL); /* which one? */
    assert_int_equal(answer("01234567f", APPROVAL_ONCE), 0);
    assert_int_equal(take(), APPROVAL_PENDING);
    assert_int_equal(take_as(NEAR, NULL), APPROVAL_ONCE);
}

static void test_list(void **state)
{
    json_t *list;

    post();
    assert_int_equal(approvals_list(temp_dir, &list, NULL), 0);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "status")),
                        "pending");
    json_decref(list);
    age(DIGEST, APPROVAL_SECONDS);
    assert_int_equal(approvals_list(temp_dir, &list, NULL), 0);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
}

static void test_the_bound(void **state)
{
    json_t *shown = json_object();
    char digest[65], id[APPROVAL_ID_SIZE];

    for (int i = 0; i <= APPROVALS_MAX; i++) {
        (void)snprintf(digest, sizeof(digest), "%064d", i);
        assert_int_equal(approvals_post(temp_dir, digest, shown, NULL, id, NULL),
                         i < APPROVALS_MAX ? 0 : -E2BIG);
    }
    json_decref(shown);
}

static void test_a_broken_file(void **state)
{
    enum approval said;
    char *reason = NULL;

    write_temp_file(FILE_NAME, 0600, "[]");
    assert_int_equal(approvals_take(temp_dir, DIGEST, NULL, &said, &reason, NULL), -EBADMSG);
    write_temp_file(FILE_NAME, 0600, "{\"" DIGEST "\": 7}");
    assert_int_equal(take(), APPROVAL_UNKNOWN);
    write_temp_file(FILE_NAME, 0600, "{\"" DIGEST "\": {\"status\": \"always\"");
    assert_int_equal(approvals_take(temp_dir, DIGEST, NULL, &said, &reason, NULL), -EBADMSG);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_known),
        TEST(test_once_is_once),
        TEST(test_a_denial_has_a_reason),
        TEST(test_answers_come_in_time),
        TEST(test_a_moment_in_the_future),
        TEST(test_always),
        TEST(test_always_in_a_session),
        TEST(test_ids),
        TEST(test_list),
        TEST(test_the_bound),
        TEST(test_a_broken_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
