/* The tools through the public header: text in, text out, and a caller who has had enough. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "rein.h"
#include "temp-dir.h"

static rein *context;
static struct rein_tool_options options;
static char *answer;

static int setup(void **state)
{
    struct rein_options open = {.size = sizeof(open)};

    if (temp_dir_setup(state) < 0)
        return -1;
    open.state_dir = in_temp_dir("state");
    context = rein_open(&open, NULL);
    options = (struct rein_tool_options){.size = sizeof(options)};
    return context ? 0 : -1;
}

static int teardown(void **state)
{
    answer = rein_text_free(answer);
    context = rein_free(context);
    return temp_dir_teardown(state);
}

static int call(const char *name, const char *arguments)
{
    answer = rein_text_free(answer);
    return rein_tool_call(context, name, arguments, strlen(arguments), &options, &answer, NULL);
}

/* The text of a key of the last answer; lives until the next call. */
static const char *text_of(const char *key)
{
    static char text[4096];
    json_t *value = json_loads(answer, 0, NULL);
    const char *found = json_string_value(json_object_get(value, key));

    assert_non_null(value);
    (void)snprintf(text, sizeof(text), "%s", found ? found : "");
    json_decref(value);
    return text;
}

static void test_answers_are_one_line(void **state)
{
    assert_int_equal(call("code_run", "{\"code\": \"print('a\\\\nb')\"}"), 0);
    assert_null(strchr(answer, '\n'));
    assert_string_equal(text_of("stdout"), "a\nb\n");
}

static void test_errors_are_answers(void **state)
{
    assert_int_equal(call("no_tool", "{}"), 1);
    assert_string_equal(text_of("error_code"), "bad_request");
    assert_int_equal(call("code_run", "{"), 1);
    assert_string_equal(text_of("error_code"), "bad_request");
    assert_string_equal(text_of("status"), "error");
}

static void test_no_arguments_are_an_empty_object(void **state)
{
    assert_int_equal(rein_tool_call(context, "list_commands", NULL, 0, NULL, &answer, NULL), 0);
    assert_string_equal(answer, "{\"success\": true, \"commands\": []}");
}

static void check_wrong(int result, struct rein_error **error)
{
    assert_int_equal(result, -EINVAL);
    assert_string_equal((*error)->code, "bad_request");
    *error = rein_error_free(*error);
}

static void test_wrong_pointers_and_sizes(void **state)
{
    struct rein_error *error = NULL;

    check_wrong(rein_tool_call(NULL, "x", "{}", 2, NULL, &answer, &error), &error);
    check_wrong(rein_tool_call(context, NULL, "{}", 2, NULL, &answer, &error), &error);
    check_wrong(rein_tool_call(context, "x", NULL, 2, NULL, &answer, &error), &error);
    check_wrong(rein_tool_call(context, "x", "{}", 2, NULL, NULL, &error), &error);
    check_wrong(rein_tool_list(NULL, &error), &error);
    options.size--;
    check_wrong(rein_tool_call(context, "x", "{}", 2, &options, &answer, &error), &error);
    options.size++;
    options.flags = 0x80;
    check_wrong(rein_tool_call(context, "x", "{}", 2, &options, &answer, &error), &error);
    options.flags = 0;
    options.look_ms = -1;
    check_wrong(rein_tool_call(context, "x", "{}", 2, &options, &answer, &error), &error);
    options.look_ms = 0;
    options.code_timeout_max_ns = -1;
    check_wrong(rein_tool_call(context, "x", "{}", 2, &options, &answer, &error), &error);
    assert_null(answer);
}

static void test_list(void **state)
{
    json_t *all;

    assert_int_equal(rein_tool_list(&answer, NULL), 0);
    all = json_loads(answer, 0, NULL);
    assert_int_equal(json_array_size(all), 7);
    assert_string_equal(json_string_value(json_object_get(json_array_get(all, 0), "name")),
                        "code_run");
    json_decref(all);
}

static void test_options_reach_the_tool(void **state)
{
    options.code_timeout_max_ns = INT64_C(2000000000);
    assert_int_equal(call("code_run", "{\"code\": \"1\"}"), 1);
    assert_string_equal(text_of("error_code"), "limit_exceeded");
    options.prelude = "none";
    assert_int_equal(call("code_run", "{\"code\": \"print(os)\", \"timeout\": 2}"), 0);
    assert_string_equal(text_of("status"), "error");
}

static void test_stop_fd_counts_with_its_flag(void **state)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)close(ends[1]); /* its end is readable, too */
    options.stop_fd = ends[0];
    assert_int_equal(call("code_run", "{\"type\": \"sh\", \"code\": \"echo through\"}"), 0);
    assert_string_equal(text_of("status"), "success");
    options.flags = REIN_TOOL_STOP_FD;
    assert_int_equal(call("code_run", "{\"type\": \"sh\", \"code\": \"sleep 300\"}"), 0);
    assert_string_equal(text_of("reason"), "stopped");
    (void)close(ends[0]);
}

static int refuse_third(void *userdata)
{
    int *asked = userdata;

    return ++*asked >= 3 ? -1 : 0;
}

static void test_look_stops_a_run(void **state)
{
    int asked = 0;

    options.look = refuse_third;
    options.look_ms = 5;
    options.userdata = &asked;
    assert_int_equal(call("code_run", "{\"type\": \"sh\", \"code\": \"sleep 300\"}"), 0);
    assert_string_equal(text_of("stdout"), "[Stopped] 用户强制终止");
    assert_int_equal(asked, 3);
}

static void test_look_breaks_a_wait_off(void **state)
{
    int asked = 0;
    char wait[64];

    assert_int_equal(
        call("execute_command", "{\"command\": \"sleep 300\", \"run_in_background\": true}"), 0);
    (void)snprintf(wait, sizeof(wait), "{\"process_id\": \"%s\"}", text_of("process_id"));
    options.look = refuse_third;
    options.look_ms = 5;
    options.userdata = &asked;
    assert_int_equal(call("wait_command", wait), 1);
    assert_string_equal(text_of("error_code"), "timeout");
    options.look = NULL;
    assert_int_equal(call("stop_command", wait), 0);
}

static int count_start(void *userdata, const rein_job *job)
{
    assert_int_equal(strlen(rein_job_id(job)), 8);
    (*(int *)userdata)++;
    return 0;
}

static int
count_output(void *userdata, const void *data, size_t size, const struct rein_piece *piece)
{
    *(int *)userdata += (int)size;
    return 0;
}

static void test_each_listener_can_be_alone(void **state)
{
    int n = 0;

    options.userdata = &n;
    options.started = count_start;
    assert_int_equal(call("execute_command", "{\"command\": \"echo text\"}"), 0);
    assert_int_equal(n, 1);
    options.started = NULL;
    options.output = count_output;
    assert_int_equal(call("execute_command", "{\"command\": \"echo text\"}"), 0);
    assert_int_equal(n, 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers_are_one_line),
        TEST(test_errors_are_answers),
        TEST(test_no_arguments_are_an_empty_object),
        TEST(test_wrong_pointers_and_sizes),
        TEST(test_list),
        TEST(test_options_reach_the_tool),
        TEST(test_stop_fd_counts_with_its_flag),
        TEST(test_look_stops_a_run),
        TEST(test_look_breaks_a_wait_off),
        TEST(test_each_listener_can_be_alone),
    };

    return cmocka_run_group_tests_name("tool-api", tests, NULL, NULL);
}
