/* exit.json: what it says, and that it is there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "job/record.h"
#include "rein.h"
#include "temp-dir.h"

static json_t *write_and_read(const struct record *record)
{
    auto_close int dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    json_t *read;

    assert_int_equal(record_write(dir_fd, record), 0);
    read = json_load_file(in_temp_dir(RECORD_NAME), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(read);
    return read;
}

static json_int_t number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void test_all_fields(void **state)
{
    struct record record = {.reason = REIN_REASON_EXIT,
                            .has_status = 1,
                            .wait_status = 3 << 8,
                            .pid = 4711,
                            .duration_ns = 1234567890123,
                            .user_us = 22,
                            .system_us = 33,
                            .max_rss_bytes = 44,
                            .output_bytes = 55,
                            .gap_begin = 66,
                            .gap_end = 77};
    json_t *read = write_and_read(&record);
    struct stat st;

    assert_int_equal(number(read, "format"), RECORD_FORMAT);
    assert_string_equal(json_string_value(json_object_get(read, "reason")), "exit");
    assert_int_equal(number(read, "exit_code"), 3);
    assert_int_equal(number(read, "pid"), 4711);
    assert_int_equal(number(read, "duration_ns"), 1234567890123);
    assert_int_equal(number(read, "user_us"), 22);
    assert_int_equal(number(read, "system_us"), 33);
    assert_int_equal(number(read, "max_rss_bytes"), 44);
    assert_int_equal(number(read, "output_bytes"), 55);
    assert_int_equal(number(read, "gap_begin"), 66);
    assert_int_equal(number(read, "gap_end"), 77);
    assert_int_equal(json_object_size(read), 11);
    json_decref(read);
    assert_int_equal(stat(in_temp_dir(RECORD_NAME), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_ends(void **state)
{
    struct record record = {.reason = REIN_REASON_SIGNAL, .has_status = 1, .wait_status = SIGKILL};
    json_t *read = write_and_read(&record);

    assert_int_equal(number(read, "exit_code"), -SIGKILL);
    json_decref(read);
    record = (struct record){.reason = REIN_REASON_LOST};
    read = write_and_read(&record);
    assert_true(json_is_null(json_object_get(read, "exit_code")));
    assert_string_equal(json_string_value(json_object_get(read, "reason")), "lost");
    json_decref(read);
}

/* All of the largest numbers fit. */
static void test_largest_numbers(void **state)
{
    struct record record = {.reason = REIN_REASON_FILE_SIZE_LIMIT,
                            .has_status = 1,
                            .wait_status = 0x7f,
                            .pid = INT32_MIN,
                            .duration_ns = INT64_MIN,
                            .user_us = INT64_MIN,
                            .system_us = INT64_MIN,
                            .max_rss_bytes = INT64_MAX,
                            .output_bytes = INT64_MAX,
                            .gap_begin = INT64_MAX,
                            .gap_end = INT64_MAX};
    json_t *read = write_and_read(&record);

    assert_true(number(read, "duration_ns") == INT64_MIN);
    assert_true(number(read, "gap_end") == INT64_MAX);
    json_decref(read);
}

static void test_every_reason_has_a_name(void **state)
{
    for (int i = 0; i <= REIN_REASON_LOST; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(record_reason_name(i), record_reason_name(k));
    assert_string_equal(record_reason_name(-1), "lost");
    assert_string_equal(record_reason_name(REIN_REASON_LOST + 1), "lost");
}

/* A failure leaves the old record whole, and nothing half-written beside it. */
static void test_failures(void **state)
{
    struct record record = {.reason = REIN_REASON_EXIT};
    auto_close int dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(record_write(-1, &record), -EBADF);
    assert_int_equal(mkdir(in_temp_dir(RECORD_NAME), 0700), 0);
    assert_int_equal(record_write(dir_fd, &record), -EISDIR);
    assert_int_equal(access(in_temp_dir(RECORD_NAME ".new"), F_OK), -1);
}

/* What a crash left behind is in nobody's way; a link is not followed. */
static void test_what_is_left_of_an_earlier_try(void **state)
{
    struct record record = {.reason = REIN_REASON_EXIT};
    auto_close int dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)write_temp_file(RECORD_NAME ".new", 0600,
                          "{\"a much longer text than\": \"a record has\"}");
    json_decref(write_and_read(&record));
    (void)write_temp_file("target", 0600, "untouched");
    assert_int_equal(symlink("target", in_temp_dir(RECORD_NAME ".new")), 0);
    assert_int_equal(record_write(dir_fd, &record), -ELOOP);
}

#define test(function) cmocka_unit_test_setup_teardown(function, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_all_fields),      test(test_ends),
        test(test_largest_numbers), test(test_every_reason_has_a_name),
        test(test_failures),        test(test_what_is_left_of_an_earlier_try),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
