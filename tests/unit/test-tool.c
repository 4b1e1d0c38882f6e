/* The C entry of the tools: what only a host that calls it from inside can see. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "temp-dir.h"
#include "tools/tool.h"

static struct tool_context context;

static int setup(void **state)
{
    struct rein_options options = {.size = sizeof(options)};

    if (temp_dir_setup(state) < 0)
        return -1;
    options.state_dir = in_temp_dir("state");
    context = (struct tool_context){.stop_fd = -EBADF, .rein = rein_open(&options, NULL)};
    return context.rein ? 0 : -1;
}

static int teardown(void **state)
{
    context.rein = rein_free(context.rein);
    return temp_dir_teardown(state);
}

static json_t *
call_with(const struct tool_sink *sink, const char *name, const char *arguments, int expected)
{
    json_t *answer = NULL;

    assert_int_equal(tool_call_text(&context, name, arguments, strlen(arguments), sink, &answer),
                     expected);
    assert_non_null(answer);
    return answer;
}

static json_t *call(const char *name, const char *arguments)
{
    return call_with(NULL, name, arguments, 0);
}

static const char *text_of(const json_t *answer, const char *key)
{
    const char *text = json_string_value(json_object_get(answer, key));

    return text ? text : "";
}

static void check_refused(const char *name, const char *arguments, const char *code)
{
    json_t *answer = call_with(NULL, name, arguments, 1);

    assert_string_equal(text_of(answer, "error_code"), code);
    json_decref(answer);
}

/* A descriptor that is readable from the start. */
static int open_ready(int ends[static 2])
{
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    return ends[0];
}

static void close_both(const int ends[static 2])
{
    context.stop_fd = -EBADF;
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static char *start_sleep(void)
{
    json_t *answer =
        call("execute_command", "{\"command\": \"sleep 300\", \"run_in_background\": true}");
    char *id = strdup(text_of(answer, "process_id"));

    json_decref(answer);
    return id;
}

static void add_id(struct buf *b, const char *id)
{
    buf_add_format(b, "{\"process_id\": \"%s\"}", id);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_rows_are_whole(void **state)
{
    size_t n;
    const struct tool *tools = tool_table(&n);

    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        json_t *row = tool_describe(&tools[i]);

        assert_non_null(row);
        assert_true(json_is_object(json_object_get(row, "inputSchema")));
        assert_true(json_is_object(json_object_get(row, "outputSchema")));
        assert_ptr_equal(tool_find(tools[i].name), &tools[i]);
        json_decref(row);
    }
}

static void test_no_arguments(void **state)
{
    json_t *answer = NULL;

    assert_int_equal(tool_call(&context, "list_commands", NULL, NULL, &answer), 0);
    json_decref(answer);
    assert_int_equal(tool_call(&context, "none", NULL, NULL, &answer), 1);
    json_decref(answer);
}

static void test_ceiling_of_the_operator(void **state)
{
    context.code_timeout_max_ns = 2 * NSEC_PER_SEC;
    check_refused("code_run", "{\"code\": \"1\", \"timeout\": 2.5}", "limit_exceeded");
    check_refused("code_run", "{\"code\": \"1\"}", "limit_exceeded");
    json_decref(call("code_run", "{\"code\": \"1\", \"timeout\": 2}"));
}

static void test_stop_of_a_run(void **state)
{
    int ends[2];
    json_t *answer;

    context.stop_fd = open_ready(ends);
    answer = call("code_run", "{\"type\": \"sh\", \"code\": \"sleep 300\"}");
    assert_string_equal(text_of(answer, "reason"), "stopped");
    assert_string_equal(text_of(answer, "stdout"), "[Stopped] 用户强制终止");
    json_decref(answer);
    close_both(ends);
}

static void test_waits_are_broken_off(void **state)
{
    auto_free char *id = start_sleep();
    auto_buf struct buf b = {0}, news = {0};
    int ends[2];

    add_id(&b, id);
    buf_add_format(&news, "{\"process_id\": \"%s\", \"wait\": 300}", id);
    context.stop_fd = open_ready(ends);
    check_refused("wait_command", b.data, "timeout");
    json_decref(call("get_command_output", news.data));
    close_both(ends);
    json_decref(call("stop_command", b.data));
}

/* A job of the background outlives the handle of its start, and this process is its owner. */
static void test_owner(void **state)
{
    auto_free char *id = start_sleep();
    auto_buf struct buf b = {0};
    json_t *answer;

    add_id(&b, id);
    answer = call("get_command_output", b.data);
    assert_string_equal(text_of(answer, "status"), "running");
    json_decref(answer);
    answer = call("stop_command", b.data);
    assert_true(json_is_true(json_object_get(answer, "success")));
    json_decref(answer);
}

static void test_sessions_do_not_meet(void **state)
{
    auto_buf struct buf b = {0};
    auto_free char *id = NULL;
    json_t *answer;

    context.session = "one";
    id = start_sleep();
    add_id(&b, id);
    context.session = "two";
    check_refused("get_command_output", b.data, "no_such_job");
    check_refused("stop_command", b.data, "no_such_job");
    check_refused("wait_command", b.data, "no_such_job");
    answer = call("list_commands", "{\"status\": \"all\"}");
    assert_int_equal(json_array_size(json_object_get(answer, "commands")), 0);
    json_decref(answer);
    context.session = "one";
    answer = call("list_commands", "{}");
    assert_int_equal(json_array_size(json_object_get(answer, "commands")), 1);
    json_decref(answer);
    json_decref(call("stop_command", b.data));
}

struct seen {
    struct buf text;
    int starts, ends, fail_after;
};

static int see_start(void *userdata, const rein_job *job)
{
    struct seen *s = userdata;

    s->starts++;
    return 0;
}

static int see_output(void *userdata, const void *data, size_t size, const struct rein_piece *piece)
{
    struct seen *s = userdata;

    s->ends += size == 0;
    buf_add(&s->text, data, size);
    return s->fail_after && s->text.len >= (size_t)s->fail_after ? -EPIPE : 0;
}

static void test_sink_hears_everything(void **state)
{
    struct seen seen = {0};
    struct tool_sink sink = {.started = see_start, .output = see_output, .userdata = &seen};

    json_decref(
        call_with(&sink, "execute_command", "{\"command\": \"head -c 3000000 /dev/zero\"}", 0));
    assert_int_equal(seen.starts, 1);
    assert_int_equal(seen.ends, 2);
    assert_int_equal(seen.text.len, 3000000);
    buf_done(&seen.text);
}

static void test_sink_that_fails_ends_the_job(void **state)
{
    struct seen seen = {.fail_after = 10};
    struct tool_sink sink = {.started = see_start, .output = see_output, .userdata = &seen};
    json_t *answer =
        call_with(&sink, "execute_command", "{\"command\": \"yes\", \"timeout\": 0}", 0);

    assert_string_equal(text_of(answer, "reason"), "stopped");
    json_decref(answer);
    buf_done(&seen.text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_are_whole),
        TEST(test_no_arguments),
        TEST(test_ceiling_of_the_operator),
        TEST(test_stop_of_a_run),
        TEST(test_waits_are_broken_off),
        TEST(test_owner),
        TEST(test_sessions_do_not_meet),
        TEST(test_sink_hears_everything),
        TEST(test_sink_that_fails_ends_the_job),
    };

    return cmocka_run_group_tests_name("tool", tests, NULL, NULL);
}
