/* exit.json: what it says, and that it is there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "job/record.h"
#include "rein.h"
#include "temp-dir.h"

#define PID 4711

static int open_dir(void)
{
    return open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static json_t *read_record(void)
{
    json_t *read = json_load_file(in_temp_dir(RECORD_NAME), JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(read);
    return read;
}

static json_t *write_and_read(const struct wire_exit *end, const struct wire_left *left)
{
    auto_close int dir_fd = open_dir();

    assert_int_equal(record_write(dir_fd, end, left, PID), 0);
    return read_record();
}

/* The caller frees it. */
static char *read_text(const char *name)
{
    auto_close int fd = open(in_temp_dir(name), O_RDONLY | O_CLOEXEC);
    char *text = calloc(1, 4096);

    assert_true(text && read(fd, text, 4095) >= 0);
    return text;
}

static json_int_t number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void check_numbers(json_t *read, const char *const *keys, size_t n, json_int_t first)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(number(read, keys[i]), first + (json_int_t)i);
}

static void test_all_fields(void **state)
{
    static const char *const counted[] = {
        "user_us", "system_us",       "max_rss_bytes", "output_bytes", "gap_begin", "gap_end",
        "marks",   "marks_gap_begin", "marks_gap_end", "notes",        "log_errno", "n_left"};
    struct wire_exit end = {.type = WIRE_EXIT,
                            .reason = REIN_REASON_EXIT,
                            .has_status = 1,
                            .wait_status = 3 << 8,
                            .duration_ns = 1234567890123,
                            .user_us = 20,
                            .system_us = 21,
                            .max_rss_bytes = 22,
                            .log = {23, 24, 25, 26, 27, 28},
                            .notes = 29,
                            .log_errno = 30,
                            .n_left = 31};
    json_t *read = write_and_read(&end, NULL);
    struct stat st;

    assert_int_equal(number(read, "format"), RECORD_FORMAT);
    assert_string_equal(json_string_value(json_object_get(read, "reason")), "exit");
    assert_int_equal(number(read, "exit_code"), 3);
    assert_int_equal(number(read, "pid"), PID);
    assert_int_equal(number(read, "duration_ns"), 1234567890123);
    check_numbers(read, counted, ARRAY_SIZE(counted), 20);
    assert_true(json_is_array(json_object_get(read, "left")));
    assert_int_equal(json_array_size(json_object_get(read, "left")), 0);
    assert_int_equal(json_object_size(read), 18);
    json_decref(read);
    assert_int_equal(stat(in_temp_dir(RECORD_NAME), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_ends(void **state)
{
    struct wire_exit end = {.reason = REIN_REASON_SIGNAL, .has_status = 1, .wait_status = SIGKILL};
    json_t *read = write_and_read(&end, NULL);

    assert_int_equal(number(read, "exit_code"), -SIGKILL);
    json_decref(read);
    end = (struct wire_exit){.reason = REIN_REASON_LOST};
    read = write_and_read(&end, NULL);
    assert_true(json_is_null(json_object_get(read, "exit_code")));
    assert_string_equal(json_string_value(json_object_get(read, "reason")), "lost");
    json_decref(read);
}

/* All of the largest numbers fit. */
static void test_largest_numbers(void **state)
{
    struct wire_exit end = {
        .reason = REIN_REASON_FILE_SIZE_LIMIT,
        .has_status = 1,
        .wait_status = 0x7f,
        .duration_ns = INT64_MIN,
        .user_us = INT64_MIN,
        .system_us = INT64_MIN,
        .max_rss_bytes = INT64_MAX,
        .log = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
        .notes = UINT32_MAX,
        .log_errno = INT32_MAX,
        .n_left = UINT32_MAX};
    json_t *read = write_and_read(&end, NULL);

    assert_true(number(read, "duration_ns") == INT64_MIN);
    assert_true(number(read, "gap_end") == INT64_MAX);
    assert_true(number(read, "notes") == UINT32_MAX);
    assert_true(number(read, "n_left") == UINT32_MAX);
    json_decref(read);
}

/* ---- what was left ------------------------------------------------------------------------ */

/* A command without an end of its own, of the byte and those after it. */
static void fill_command(struct wire_left *left, int32_t pid, unsigned first)
{
    left->pid = pid;
    for (size_t i = 0; i < sizeof(left->command); i++)
        left->command[i] = (char)(1 + (first + i) % 255);
}

static void test_what_was_left(void **state)
{
    struct wire_left left[2] = {{.pid = 12, .command = "sleep 5"}, {.pid = INT32_MAX}};
    struct wire_exit end = {.reason = REIN_REASON_EXIT, .n_left = 7, .n_left_named = 2};
    json_t *read;
    json_t *array;

    memcpy(left[1].command, "a\"b\\c\n\x7f\xc3\xa9\xff", 11);
    read = write_and_read(&end, left);
    array = json_object_get(read, "left");
    assert_int_equal(number(read, "n_left"), 7);
    assert_int_equal(json_array_size(array), 2);
    assert_int_equal(number(json_array_get(array, 0), "pid"), 12);
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 0), "command")),
                        "sleep 5");
    assert_int_equal(number(json_array_get(array, 1), "pid"), INT32_MAX);
    /* each byte is the code point of its number */
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 1), "command")),
                        "a\"b\\c\n\x7f\xc3\x83\xc2\xa9\xc3\xbf");
    json_decref(read);
}

/* As many as can be named, every byte escaped: more than the writer's buffer, many times. */
static void test_as_much_left_as_there_can_be(void **state)
{
    static struct wire_left left[WIRE_LEFT_MAX];
    struct wire_exit end = {
        .reason = REIN_REASON_EXIT, .n_left = WIRE_LEFT_MAX, .n_left_named = WIRE_LEFT_MAX};
    json_t *read;
    json_t *array;

    for (int i = 0; i < WIRE_LEFT_MAX; i++)
        fill_command(&left[i], i, (unsigned)i * 7);
    read = write_and_read(&end, left);
    array = json_object_get(read, "left");
    assert_int_equal(json_array_size(array), WIRE_LEFT_MAX);
    for (size_t i = 0; i < WIRE_LEFT_MAX; i++) {
        assert_int_equal(number(json_array_get(array, i), "pid"), i);
        assert_true(json_string_length(json_object_get(json_array_get(array, i), "command")) >
                    WIRE_LEFT_COMMAND_MAX);
    }
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

static void test_every_name_has_a_reason(void **state)
{
    for (int i = 0; i <= REIN_REASON_LOST; i++)
        assert_int_equal(record_reason_find(record_reason_name(i)), i);
    assert_int_equal(record_reason_find(""), -EINVAL);
    assert_int_equal(record_reason_find("exi"), -EINVAL);
    assert_int_equal(record_reason_find("exit "), -EINVAL);
    assert_int_equal(record_reason_find("EXIT"), -EINVAL);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* A failure leaves the old record whole, and nothing half-written beside it. */
static void test_failures(void **state)
{
    struct wire_exit end = {.reason = REIN_REASON_EXIT};
    auto_close int dir_fd = open_dir();

    assert_int_equal(record_write(-1, &end, NULL, PID), -EBADF);
    assert_int_equal(mkdir(in_temp_dir(RECORD_NAME), 0700), 0);
    assert_int_equal(record_write(dir_fd, &end, NULL, PID), -EISDIR);
    assert_int_equal(access(in_temp_dir(RECORD_NAME ".new"), F_OK), -1);
}

/* What a crash left behind is in nobody's way; a link is not followed. */
static void test_what_is_left_of_an_earlier_try(void **state)
{
    struct wire_exit end = {.reason = REIN_REASON_EXIT};
    auto_close int dir_fd = open_dir();
    auto_free char *longer = malloc(8192);
    auto_free char *text = NULL;

    memset(longer, 'x', 8191);
    longer[8191] = '\0';
    (void)write_temp_file(RECORD_NAME ".new", 0600, longer);
    json_decref(write_and_read(&end, NULL));
    (void)write_temp_file("target", 0600, "untouched");
    assert_int_equal(symlink("target", in_temp_dir(RECORD_NAME ".new")), 0);
    assert_int_equal(record_write(dir_fd, &end, NULL, PID), -ELOOP);
    text = read_text("target");
    assert_string_equal(text, "untouched");
}

/* Room that was reserved at the beginning is the record's at the end. */
static void test_reserve(void **state)
{
    struct wire_exit end = {.reason = REIN_REASON_EXIT};
    auto_close int dir_fd = open_dir();
    struct stat before, after;

    assert_int_equal(record_reserve(-1), -EBADF);
    assert_int_equal(record_reserve(dir_fd), 0);
    assert_int_equal(stat(in_temp_dir(RECORD_NAME ".new"), &before), 0);
    assert_int_equal(before.st_mode & 0777, 0600);
    assert_int_equal(before.st_size, 0);
    assert_int_equal(access(in_temp_dir(RECORD_NAME), F_OK), -1);
    assert_int_equal(record_reserve(dir_fd), -EEXIST); /* somebody else's directory */
    json_decref(write_and_read(&end, NULL));
    assert_int_equal(stat(in_temp_dir(RECORD_NAME), &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_true(before.st_blocks == 0 || before.st_blocks * 512 >= RECORD_RESERVED);
    assert_int_equal(access(in_temp_dir(RECORD_NAME ".new"), F_OK), -1);
}

/* ---- a full disk ----------------------------------------------------------------------------- */

/* A tiny file system over the test's directory, in a name space of our own. */
static int enter_tiny_disk(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("tiny", temp_dir, "tmpfs", 0, "size=16k,mode=700");
}

static void fill_disk(void)
{
    auto_close int fd = open(in_temp_dir("ballast"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static const char block[4096];

    while (write(fd, block, sizeof(block)) > 0)
        continue;
}

/* Played in a child, which gives 0 when all was right and the line of what was not. */
#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)
#define NO_TINY_DISK 255

static void play_full_disk(void)
{
    static struct wire_left left[WIRE_LEFT_MAX];
    struct wire_exit end = {
        .reason = REIN_REASON_EXIT, .n_left = WIRE_LEFT_MAX, .n_left_named = WIRE_LEFT_MAX};
    int dir_fd;
    json_t *read;

    if (enter_tiny_disk() < 0)
        _exit(NO_TINY_DISK);
    dir_fd = open_dir();
    expect(record_reserve(dir_fd) == 0);
    fill_disk();
    for (int i = 0; i < WIRE_LEFT_MAX; i++)
        fill_command(&left[i], i, 0);
    expect(record_write(dir_fd, &end, left, PID) == 0); /* the names do not fit, the rest does */
    read = json_load_file(in_temp_dir(RECORD_NAME), JSON_REJECT_DUPLICATES, NULL);
    expect(read);
    expect(json_integer_value(json_object_get(read, "n_left")) == WIRE_LEFT_MAX);
    expect(json_array_size(json_object_get(read, "left")) == 0);
    expect(unlink(in_temp_dir(RECORD_NAME)) == 0);
    fill_disk();
    expect(record_reserve(dir_fd) == -ENOSPC); /* a job cannot begin on such a disk */
    (void)unlink(in_temp_dir(RECORD_NAME ".new"));
    expect(record_write(dir_fd, &end, left, PID) == -ENOSPC); /* nothing was reserved */
    expect(access(in_temp_dir(RECORD_NAME ".new"), F_OK) < 0);
    expect(access(in_temp_dir(RECORD_NAME), F_OK) < 0);
    _exit(0);
}

static void test_full_disk(void **state)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        play_full_disk();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_TINY_DISK)
        skip(); /* we may mount nothing here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_all_fields),
        test(test_ends),
        test(test_largest_numbers),
        test(test_what_was_left),
        test(test_as_much_left_as_there_can_be),
        test(test_every_reason_has_a_name),
        test(test_every_name_has_a_reason),
        test(test_failures),
        test(test_what_is_left_of_an_earlier_try),
        test(test_reserve),
        test(test_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
