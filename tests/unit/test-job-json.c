/* The result object of a job that is held through the library. */
#include "job-test.h"

#include <jansson.h>

#include "base/error.h"

static struct rein_view view;
static json_t *object;

static int set_up(void **state)
{
    view = (struct rein_view){.size = sizeof(view)};
    return job_setup(state);
}

static int tear_down(void **state)
{
    json_decref(object);
    object = NULL;
    return job_teardown(state);
}

static void show(rein_job *job)
{
    char *text = NULL;

    assert_int_equal(rein_job_json(job, &view, &text, NULL), 0);
    json_decref(object);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    rein_text_free(text);
}

static const char *text_of(const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    assert_non_null(text);
    return text;
}

static rein_job *ended(const char *script)
{
    struct rein_spec spec = SCRIPT(script);
    rein_job *job = start(&spec);
    auto_result result = finish(job);

    assert_int_equal(result.running, 0);
    return job;
}

static void test_ended(void **state)
{
    rein_job *job = ended("printf 'a\\rb\\n\\033[1mbold\\033[m\\n'; exit 3");

    show(job);
    assert_string_equal(text_of("status"), "exited");
    assert_string_equal(text_of("output"), "b\nbold\n");
    assert_int_equal(json_integer_value(json_object_get(object, "exit_code")), 3);
    view.render = REIN_RENDER_PLAIN;
    show(job);
    assert_string_equal(text_of("output"), "a\rb\nbold\n");
    view.render = REIN_RENDER_RAW;
    show(job);
    assert_string_equal(text_of("output"), "a\rb\n\033[1mbold\033[m\n");
    end_job(job);
}

static void test_parts(void **state)
{
    rein_job *job = ended("printf 'one\\ntwo\\nthree\\n'");

    view.lines = 2;
    show(job);
    assert_string_equal(text_of("output"), "two\nthree\n");
    view.lines = 0;
    view.flags = REIN_VIEW_SINCE;
    view.since = 4;
    show(job);
    assert_string_equal(text_of("output"), "two\nthree\n");
    view.flags = 0;
    view.grep = "^t";
    show(job);
    assert_string_equal(text_of("output"), "two\nthree\n");
    end_job(job);
}

static void test_limits(void **state)
{
    rein_job *job = ended("head -c 200000 /dev/zero | tr '\\0' x");

    show(job);
    assert_in_range(strlen(text_of("output")), 1000, 65536);
    assert_non_null(strstr(text_of("output"), "bytes omitted; full output: "));
    assert_string_equal(text_of("log_file") + strlen(text_of("log_file")) - 10, "output.log");
    view.limit = REIN_LIMIT_NONE;
    show(job);
    assert_int_equal(strlen(text_of("output")), 200000);
    end_job(job);
}

static void test_characters(void **state)
{
    rein_job *job = ended("for i in 1 2 3 4 5 6 7 8 9 10; do printf '\\303\\244'; done");

    view.limit = 10;
    view.flags = REIN_VIEW_CHARS;
    show(job);
    assert_int_equal(strlen(text_of("output")), 20);
    view.flags = 0;
    show(job);
    assert_true(json_is_true(json_object_get(object, "truncated")));
    end_job(job);
}

static void test_running(void **state)
{
    struct rein_spec spec = SCRIPT("sleep 300");
    rein_job *job = start(&spec);

    show(job);
    assert_string_equal(text_of("status"), "running");
    assert_string_equal(text_of("output"), "");
    end_job(job);
}

static void check_refused(rein_job *job, const struct rein_view *v)
{
    struct rein_error *error = NULL;
    char *text = NULL;

    assert_int_equal(rein_job_json(job, v, &text, &error), -EINVAL);
    assert_string_equal(error->code, "bad_request");
    assert_null(text);
    rein_error_free(error);
}

static void test_wrong_views(void **state)
{
    const struct rein_view wrong[] = {
        {.size = sizeof(view) - 1},
        {.size = sizeof(view), .flags = 0x80},
        {.size = sizeof(view), .render = -1},
        {.size = sizeof(view), .render = 3},
        {.size = sizeof(view), .flags = REIN_VIEW_SINCE, .since = UINT64_MAX},
        {.size = sizeof(view), .grep = "("},
    };
    rein_job *job = ended("true");

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        check_refused(job, &wrong[i]);
    check_refused(NULL, &view);
    assert_int_equal(rein_job_json(job, &view, NULL, NULL), -EINVAL);
    end_job(job);
}

#define TEST_JSON(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_JSON(test_ended),      TEST_JSON(test_parts),   TEST_JSON(test_limits),
        TEST_JSON(test_characters), TEST_JSON(test_running), TEST_JSON(test_wrong_views),
    };

    return cmocka_run_group_tests_name("job-json", tests, NULL, NULL);
}
