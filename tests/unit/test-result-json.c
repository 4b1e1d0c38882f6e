/* The result object: every key in its place, whatever the job's strings hold, and the output read
 * from a source that the test makes up: pieces, gaps, two streams, failures. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macro.h"
#include "fake-log.h"
#include "tools/result-json.h"

static struct rein_result new_result(void)
{
    return (struct rein_result){.size = sizeof(struct rein_result),
                                .reason = REIN_REASON_EXIT,
                                .success = 1,
                                .has_exit_code = 1};
}

static int read_log(struct fake_log *log,
                    const struct result_view *view,
                    struct rein_result *result,
                    struct result_text *ret)
{
    struct result_source source = {.read_at = fake_read_at, .keep = fake_keep, .userdata = log};

    if (log->step == 0)
        log->step = SIZE_MAX;
    return result_text_read(&source, view, result, ret, NULL);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void test_plain_output(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "one\ntwo\n")};
    struct result_view view = {.render = TEXT_CLEAN, .limit = 100};

    for (size_t step = 1; step < 9; step++) {
        struct fake_log log = {.parts = parts, .n_parts = 1, .step = step};
        struct rein_result result = new_result();
        struct result_text shown;

        assert_int_equal(read_log(&log, &view, &result, &shown), 0);
        assert_int_equal(shown.n_streams, 1);
        assert_string_equal(shown.streams[0].text, "one\ntwo\n");
        assert_int_equal(shown.omitted_bytes, 0);
        assert_int_equal(shown.cursor, 8);
        assert_string_equal(shown.encoding, "utf-8");
        assert_int_equal(log.keeps, 0);
        result_text_done(&shown);
        rein_result_done(&result);
    }
}

static void test_no_output(void **state)
{
    struct fake_log log = {0};
    struct result_view view = {.limit = 100};
    struct rein_result result = new_result();
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_string_equal(shown.streams[0].text, "");
    assert_int_equal(shown.cursor, 0);
    assert_string_equal(shown.encoding, "utf-8");
    result_text_done(&shown);
}

static char *new_lines(size_t n)
{
    char *lines = malloc(n * 8 + 1);

    assert_non_null(lines);
    for (size_t i = 0; i < n; i++)
        (void)snprintf(lines + i * 8, 9, "%07u\n", (unsigned)(i % 10000000));
    return lines;
}

static void test_cut_output_is_kept(void **state)
{
    char *lines = new_lines(1000);
    struct part part = {.bytes = lines, .size = 8000};
    struct fake_log log = {.parts = &part, .n_parts = 1};
    struct result_view view = {.limit = 800};
    struct rein_result result = new_result();
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_int_equal(log.keeps, 1);
    assert_string_equal(result.log_file, "/log");
    assert_in_range(shown.streams[0].len, 700, 800);
    assert_non_null(strstr(shown.streams[0].text, "full output: /log"));
    assert_in_range(shown.omitted_bytes, 7200, 7999);
    assert_in_range(shown.omitted_at, 1, 800);
    assert_int_equal(shown.cursor, 8000);
    assert_null(shown.warnings);
    result_text_done(&shown);
    rein_result_done(&result);
    free(lines);
}

static void test_kept_only_once(void **state)
{
    char *lines = new_lines(1000);
    struct part part = {.bytes = lines, .size = 8000};
    struct fake_log log = {.parts = &part, .n_parts = 1};
    struct result_view view = {.limit = 800};
    struct rein_result result = new_result();
    struct result_text shown;

    result.log_file = strdup("/there");
    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_int_equal(log.keeps, 0);
    assert_non_null(strstr(shown.streams[0].text, "full output: /there"));
    result_text_done(&shown);
    rein_result_done(&result);
    free(lines);
}

static void test_output_that_cannot_be_kept(void **state)
{
    char *lines = new_lines(1000);
    struct part part = {.bytes = lines, .size = 8000};
    struct fake_log log = {.parts = &part, .n_parts = 1, .keep_error = -ENOSPC};
    struct result_view view = {.limit = 800};
    struct rein_result result = new_result();
    struct result_text shown;
    json_t *object;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_null(result.log_file);
    assert_true(shown.omitted_bytes > 0);
    assert_string_equal(shown.warnings[0], "output that is not shown is lost: no room");
    object = result_json(&result, &shown);
    assert_int_equal(json_array_size(json_object_get(object, "warnings")), 1);
    assert_true(json_is_null(json_object_get(object, "log_file")));
    json_decref(object);
    result_text_done(&shown);
    free(lines);
}

/* The log's own gap is no reason to keep what is all there is, but it is a gap. */
static void test_gap_of_the_log(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "head\n"), LOST(1000),
                                        PART(REIN_STREAM_OUTPUT, "tail\n")};
    struct fake_log log = {.parts = parts, .n_parts = ARRAY_SIZE(parts)};
    struct result_view view = {.limit = 800};
    struct rein_result result = new_result();
    struct result_text shown;

    result.log_file = strdup("/there");
    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_int_equal(shown.omitted_bytes, 1000);
    assert_int_equal(shown.omitted_at, 5);
    assert_int_equal(shown.cursor, 1010);
    assert_non_null(strstr(shown.streams[0].text, "head\n[… 1,000 bytes omitted; kept output: "));
    result_text_done(&shown);
    rein_result_done(&result);
}

static void test_gap_at_the_end_of_the_log(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "head\n"), LOST(1000)};
    struct fake_log log = {.parts = parts, .n_parts = ARRAY_SIZE(parts)};
    struct result_view view = {.limit = 800};
    struct rein_result result = new_result();
    struct result_text shown;

    result.log_file = strdup("/there");
    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_int_equal(shown.omitted_bytes, 1000);
    assert_int_equal(shown.cursor, 1005);
    result_text_done(&shown);
    rein_result_done(&result);
}

static void test_two_streams(void **state)
{
    static const struct part parts[] = {
        PART(REIN_STREAM_STDOUT, "out1\n"), PART(REIN_STREAM_STDERR, "err1\n"),
        PART(REIN_STREAM_STDOUT, "out2\n"), PART(REIN_STREAM_STDERR, "\xc4\xe3\n")};
    struct fake_log log = {.parts = parts, .n_parts = ARRAY_SIZE(parts)};
    struct result_view view = {.limit = 800, .split = true};
    struct rein_result result = new_result();
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_int_equal(shown.n_streams, 2);
    assert_string_equal(shown.streams[0].text, "out1\nout2\n");
    assert_string_equal(shown.streams[1].text, "err1\n你\n");
    assert_int_equal(shown.cursor, 18);
    assert_string_equal(shown.encoding, "mixed");
    result_text_done(&shown);
}

/* A stream without text has no say in the encoding of both. */
static void test_encoding_of_two_streams(void **state)
{
    static const struct part gbk[] = {PART(REIN_STREAM_STDERR, "\xc4\xe3\n")};
    static const struct part binary[] = {PART(REIN_STREAM_STDERR, "\0\n"),
                                         PART(REIN_STREAM_STDOUT, "\xc4\xe3\n")};
    struct result_view view = {.limit = 800, .split = true};
    struct rein_result result = new_result();
    struct fake_log log = {.parts = gbk, .n_parts = 1};
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_string_equal(shown.encoding, "gbk");
    result_text_done(&shown);
    log = (struct fake_log){.parts = binary, .n_parts = 2};
    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_string_equal(shown.encoding, "binary");
    result_text_done(&shown);
}

/* Where a stream is cut is told as an offset in the log, in which the other one stands, too. */
static void test_offset_of_the_first_gap(void **state)
{
    char *lines = new_lines(1000);
    const struct part parts[] = {PART(REIN_STREAM_STDERR, "0123456789"),
                                 {.stream = REIN_STREAM_STDOUT, .bytes = lines, .size = 40},
                                 PART(REIN_STREAM_STDERR, "0123456789"),
                                 {.stream = REIN_STREAM_STDOUT, .bytes = lines, .size = 7000}};
    struct fake_log log = {.parts = parts, .n_parts = ARRAY_SIZE(parts), .step = 33};
    struct result_view view = {.limit = 800, .split = true};
    struct rein_result result = new_result();
    struct result_text shown;
    uint64_t head;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    head = (uint64_t)shown.streams[0].omitted_at; /* among the bytes of standard output */
    assert_true(head > 40);
    assert_int_equal(shown.omitted_at, head + 20);
    assert_int_equal(shown.omitted_bytes, shown.streams[0].omitted_bytes);
    result_text_done(&shown);
    rein_result_done(&result);
    free(lines);
}

/* Each stream shows the gap, the sum counts it once. */
static void test_gap_of_the_log_in_two_streams(void **state)
{
    static const struct part parts[] = {
        PART(REIN_STREAM_STDOUT, "out\n"), PART(REIN_STREAM_STDERR, "err\n"), LOST(1000),
        PART(REIN_STREAM_STDOUT, "out\n"), PART(REIN_STREAM_STDERR, "err\n")};
    struct fake_log log = {.parts = parts, .n_parts = ARRAY_SIZE(parts)};
    struct result_view view = {.limit = 1600, .split = true};
    struct rein_result result = new_result();
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(strstr(shown.streams[i].text, "1,000 bytes omitted"));
    assert_int_equal(shown.omitted_bytes, 1000);
    assert_int_equal(shown.omitted_at, 8);
    assert_int_equal(shown.cursor, 1016);
    result_text_done(&shown);
    rein_result_done(&result);
}

static void test_everything_of_a_split_job_without_a_limit(void **state)
{
    char *lines = new_lines(1000);
    struct part part = {.stream = REIN_STREAM_STDERR, .bytes = lines, .size = 8000};
    struct fake_log log = {.parts = &part, .n_parts = 1};
    struct result_view view = {.split = true};
    struct rein_result result = new_result();
    struct result_text shown;

    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_string_equal(shown.streams[1].text, lines);
    result_text_done(&shown);

    view.limit = 1; /* half of it must not mean everything */
    assert_int_equal(read_log(&log, &view, &result, &shown), 0);
    assert_in_range(shown.streams[1].len, 0, 100);
    assert_true(shown.omitted_bytes > 7900);
    result_text_done(&shown);
    rein_result_done(&result);
    free(lines);
}

static ssize_t broken_read_at(
    void *userdata, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece)
{
    return -EIO;
}

static void test_a_log_that_cannot_be_read(void **state)
{
    struct result_source source = {.read_at = broken_read_at, .keep = fake_keep};
    struct result_view view = {0};
    struct rein_result result = new_result();
    struct rein_error *error = NULL;
    struct result_text shown;

    assert_int_equal(result_text_read(&source, &view, &result, &shown, &error), -EIO);
    assert_string_equal(error->code, "internal");
    rein_error_free(error);
}

/* ---- the object --------------------------------------------------------------------------- */

static const char *const merged_keys[] = {
    "process_id", "pid",          "status",        "reason",     "success",    "exit_code",
    "signal",     "command",      "cwd",           "name",       "started_at", "duration_ms",
    "output",     "output_bytes", "omitted_bytes", "omitted_at", "truncated",  "cursor",
    "encoding",   "log_file",     "left_running",  "usage",      "sandbox",    "warnings"};
static const char *const split_keys[] = {
    "process_id",    "pid",          "status",    "reason",  "success",
    "exit_code",     "signal",       "command",   "cwd",     "name",
    "started_at",    "duration_ms",  "stdout",    "stderr",  "output_bytes",
    "omitted_bytes", "omitted_at",   "truncated", "cursor",  "encoding",
    "log_file",      "left_running", "usage",     "sandbox", "warnings"};

static json_t *object_of(const struct rein_result *result, bool split)
{
    struct fake_log log = {0};
    struct result_view view = {.split = split};
    struct rein_result copy = *result;
    struct result_text shown;
    json_t *object;

    assert_int_equal(read_log(&log, &view, &copy, &shown), 0);
    object = result_json(result, &shown);
    assert_non_null(object);
    result_text_done(&shown);
    return object;
}

static void assert_keys(json_t *object, const char *const *keys, size_t n)
{
    size_t i = 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        assert_in_range(i, 0, n - 1);
        assert_string_equal(key, keys[i++]);
    }
    assert_int_equal(i, n);
}

static void test_keys_and_their_order(void **state)
{
    struct rein_result result = new_result();
    json_t *object = object_of(&result, false);

    assert_keys(object, merged_keys, ARRAY_SIZE(merged_keys));
    json_decref(object);
    object = object_of(&result, true);
    assert_keys(object, split_keys, ARRAY_SIZE(split_keys));
    json_decref(object);
}

static void test_line_of_a_full_result(void **state)
{
    char *command[] = {(char[]){"sh"}, (char[]){"-c"}, NULL};
    char *warnings[] = {(char[]){"w"}, NULL};
    char *missing[] = {(char[]){"memory"}, NULL};
    struct rein_left_running left = {.pid = 9, .command = (char[]){"sleep 9"}};
    struct rein_result result = {.size = sizeof(result),
                                 .reason = REIN_REASON_TIMEOUT,
                                 .has_exit_code = 1,
                                 .exit_code = -9,
                                 .signal = 9,
                                 .started_at_ns = 1700000000123456789,
                                 .duration_ns = 1234567890,
                                 .output_bytes = 7,
                                 .user_us = 1500,
                                 .system_us = 100,
                                 .max_rss_bytes = 4096,
                                 .process_id = (char[]){"0123abcd"},
                                 .pid = 42,
                                 .command = command,
                                 .cwd = (char[]){"/w"},
                                 .name = (char[]){"n"},
                                 .log_file = (char[]){"/log"},
                                 .left_running = &left,
                                 .n_left_running = 1,
                                 .warnings = warnings,
                                 .missing = missing};
    size_t len;
    char *line = json_line_take(object_of(&result, false), &len);

    assert_string_equal(
        line, "{\"process_id\": \"0123abcd\", \"pid\": 42, \"status\": \"exited\", "
              "\"reason\": \"timeout\", \"success\": false, \"exit_code\": -9, "
              "\"signal\": \"SIGKILL\", \"command\": [\"sh\", \"-c\"], \"cwd\": \"/w\", "
              "\"name\": \"n\", \"started_at\": \"2023-11-14T22:13:20.123Z\", "
              "\"duration_ms\": 1234.567, \"output\": \"\", \"output_bytes\": 7, "
              "\"omitted_bytes\": 0, \"omitted_at\": null, \"truncated\": false, \"cursor\": 0, "
              "\"encoding\": \"utf-8\", \"log_file\": \"/log\", "
              "\"left_running\": [{\"pid\": 9, \"command\": \"sleep 9\"}], "
              "\"usage\": {\"user_ms\": 1.5, \"system_ms\": 0.1, \"max_rss_bytes\": 4096}, "
              "\"sandbox\": {\"level\": \"off\", \"enforced\": [], \"missing\": [\"memory\"]}, "
              "\"warnings\": [\"w\"]}\n");
    assert_int_equal(len, strlen(line));
    free(line);
}

static void assert_null_at(json_t *object, const char *key)
{
    assert_true(json_is_null(json_object_get(object, key)));
}

static void test_while_running(void **state)
{
    struct rein_result result = {.size = sizeof(result), .running = 1, .success = 1};
    json_t *object = object_of(&result, false);

    assert_string_equal(json_string_value(json_object_get(object, "status")), "running");
    assert_null_at(object, "reason");
    assert_null_at(object, "exit_code");
    assert_null_at(object, "signal");
    assert_true(json_is_true(json_object_get(object, "success")));
    json_decref(object);
}

static void test_lost(void **state)
{
    struct rein_result result = {.size = sizeof(result), .reason = REIN_REASON_LOST};
    json_t *object = object_of(&result, false);

    assert_string_equal(json_string_value(json_object_get(object, "reason")), "lost");
    assert_null_at(object, "exit_code");
    assert_null_at(object, "log_file");
    json_decref(object);
}

static void test_strings_that_are_not_utf_8(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"a\xff", "a\xef\xbf\xbd"},
        {"\xff\xfe z", "\xef\xbf\xbd\xef\xbf\xbd z"},
        {"\xe4\xbd", "\xef\xbf\xbd"},                             /* the beginning of a character */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {"\xc0\x80x", "\xef\xbf\xbd\xef\xbf\xbdx"},               /* an overlong NUL */
        {"你", "你"},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *string = json_text(cases[i].bytes);

        assert_string_equal(json_string_value(string), cases[i].text);
        json_decref(string);
    }
    assert_true(json_is_null(json_text(NULL)));
}

static void test_invalid_bytes_everywhere(void **state)
{
    char *broken[] = {(char[]){"\xff"}, NULL};
    struct rein_left_running left = {.command = broken[0]};
    struct rein_result result = new_result();
    size_t len;
    char *line;

    result.command = result.warnings = result.missing = broken;
    result.cwd = result.name = result.log_file = broken[0];
    result.left_running = &left;
    result.n_left_running = 1;
    line = json_line_take(object_of(&result, false), &len);
    assert_null(strchr(line, '\xff'));
    free(line);
}

static void test_error_object(void **state)
{
    struct rein_error *error = NULL;
    size_t len;
    char *line;

    (void)rein_fail_hint(&error, -EINVAL, "bad_request", "x", "try \"y\"", "a\xff\n");
    line = json_line_take(error_json(error), &len);
    assert_string_equal(line, "{\"success\": false, \"error\": \"a�\\n\", "
                              "\"error_code\": \"bad_request\", \"hint\": \"try \\\"y\\\"\"}\n");
    free(line);
    error = rein_error_free(error);

    (void)rein_fail(&error, -EINVAL, "internal", "x", "m");
    line = json_line_take(error_json(error), &len);
    assert_string_equal(line, "{\"success\": false, \"error\": \"m\", "
                              "\"error_code\": \"internal\", \"hint\": null}\n");
    free(line);
    rein_error_free(error);
}

static void test_no_object_no_line(void **state)
{
    size_t len;

    assert_null(json_line_take(NULL, &len));
}

static void test_names_of_signals(void **state)
{
    char buf[SIGNAL_NAME_SIZE];

    assert_string_equal(signal_name(SIGTERM, buf), "SIGTERM");
    assert_string_equal(signal_name(SIGIO, buf), "SIGIO");
    assert_string_equal(signal_name(SIGABRT, buf), "SIGABRT");
    assert_string_equal(signal_name(SIGRTMIN, buf), "SIGRTMIN+0");
    assert_string_equal(signal_name(SIGRTMAX, buf), "SIGRTMIN+30");
    assert_string_equal(signal_name(33, buf), "SIG33");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_output),
        cmocka_unit_test(test_no_output),
        cmocka_unit_test(test_cut_output_is_kept),
        cmocka_unit_test(test_kept_only_once),
        cmocka_unit_test(test_output_that_cannot_be_kept),
        cmocka_unit_test(test_gap_of_the_log),
        cmocka_unit_test(test_gap_at_the_end_of_the_log),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_encoding_of_two_streams),
        cmocka_unit_test(test_offset_of_the_first_gap),
        cmocka_unit_test(test_gap_of_the_log_in_two_streams),
        cmocka_unit_test(test_everything_of_a_split_job_without_a_limit),
        cmocka_unit_test(test_a_log_that_cannot_be_read),
        cmocka_unit_test(test_keys_and_their_order),
        cmocka_unit_test(test_line_of_a_full_result),
        cmocka_unit_test(test_while_running),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_strings_that_are_not_utf_8),
        cmocka_unit_test(test_invalid_bytes_everywhere),
        cmocka_unit_test(test_error_object),
        cmocka_unit_test(test_no_object_no_line),
        cmocka_unit_test(test_names_of_signals),
    };

    return cmocka_run_group_tests_name("result-json", tests, NULL, NULL);
}
