/* Arguments against their table, and the table as a schema. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "tools/arguments.h"

static const char *const colours[] = {"red", "blue", NULL};

static const struct argument table[] = {
    {.name = "text",
     .aliases = {"string", "words"},
     .types = ARGUMENT_STRING | ARGUMENT_STRINGS,
     .flags = ARGUMENT_REQUIRED,
     .help = "a text"},
    {.name = "bytes", .types = ARGUMENT_STRING, .flags = ARGUMENT_TAKES_NUL, .help = "bytes"},
    {.name = "timeout",
     .types = ARGUMENT_NUMBER | ARGUMENT_NULL,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = 100,
     .fallback = "30",
     .help = "seconds"},
    {.name = "count", .types = ARGUMENT_INTEGER, .min = 1, .max = 9, .help = "how many"},
    {.name = "colour",
     .types = ARGUMENT_STRING,
     .choices = colours,
     .fallback = "\"red\"",
     .help = "a colour"},
    {.name = "on", .types = ARGUMENT_BOOLEAN, .fallback = "false", .help = "a switch"},
    {.name = "members",
     .types = ARGUMENT_OBJECT,
     .schema = "{\"additionalProperties\": {\"type\": \"string\"}}",
     .help = "members"},
    {.name = "secret", .types = ARGUMENT_BOOLEAN, .flags = ARGUMENT_HIDDEN, .help = "hidden"},
    {.name = "gone",
     .types = ARGUMENT_BOOLEAN,
     .flags = ARGUMENT_HIDDEN,
     .refusal = "leave it out",
     .help = "gone"},
    {0},
};

static int take(const char *text, size_t len, struct arguments *ret, struct rein_error **reterr)
{
    json_t *object = NULL;
    int r = arguments_parse(text, len, &object, reterr);

    if (r == 0)
        r = arguments_check(table, object, ret, reterr);
    json_decref(object);
    return r;
}

static struct arguments accept(const char *text)
{
    struct arguments a = {0};
    auto_error struct rein_error *error = NULL;

    if (take(text, strlen(text), &a, &error) < 0)
        fail_msg("%s: %s", text, error->message);
    return a;
}

static void check_refused(const char *text, const char *code, const char *message)
{
    struct arguments a = {0};
    auto_error struct rein_error *error = NULL;

    if (take(text, strlen(text), &a, &error) == 0)
        fail_msg("%s was taken", text);
    assert_string_equal(error->code, code);
    if (!strstr(error->message, message) && !(error->hint && strstr(error->hint, message)))
        fail_msg("%s: '%s'", text, error->message);
}

static void test_names_and_defaults(void **state)
{
    struct arguments a =
        accept("{\"words\": [\"a\", \"b\"], \"colour\": \"blue\", \"secret\": true}");

    assert_int_equal(json_array_size(argument_get(&a, "text")), 2);
    assert_string_equal(argument_string(&a, "colour"), "blue");
    assert_int_equal(argument_duration(&a, "timeout"), 30000000000);
    assert_false(argument_is_given(&a, "timeout"));
    assert_false(argument_is_true(&a, "on"));
    assert_null(argument_get(&a, "count"));
    assert_int_equal(argument_count(&a, "count"), 0);
    arguments_done(&a);
}

static void test_null(void **state)
{
    struct arguments a = accept("{\"text\": \"\", \"timeout\": null, \"colour\": null}");

    assert_true(argument_is_given(&a, "timeout"));
    assert_null(argument_get(&a, "timeout"));
    assert_true(argument_duration(&a, "timeout") < 0);
    assert_string_equal(argument_string(&a, "colour"), "red");
    arguments_done(&a);
    check_refused("{\"text\": null}", "bad_request", "text: nothing was given");
}

static void test_numbers(void **state)
{
    struct arguments a = accept("{\"text\": \"\", \"timeout\": 0.1, \"count\": 3.0}");

    assert_int_equal(argument_duration(&a, "timeout"), 100000000);
    assert_int_equal(argument_count(&a, "count"), 3);
    arguments_done(&a);
    a = accept("{\"text\": \"\", \"timeout\": 1e-30}");
    assert_int_equal(argument_duration(&a, "timeout"), 1);
    arguments_done(&a);
}

static void test_refusals(void **state)
{
    check_refused("{}", "bad_request", "text: nothing was given; needed is a string");
    check_refused("{\"text\": 5}", "bad_request", "text: 5 was given; allowed is a string, or");
    check_refused("{\"text\": [\"a\", 1]}", "bad_request", "text: [\"a\",1] was given");
    check_refused("{\"text\": {\"a\": []}}", "bad_request", "text: {\"a\":[]} was given");
    check_refused("{\"text\": \"\", \"on\": \"yes\"}", "bad_request", "true or false");
    check_refused("{\"text\": \"\", \"count\": 2.5}", "bad_request", "a whole number from 1 to 9");
    check_refused("{\"text\": \"\", \"count\": 0}", "bad_request", "count: 0 was given");
    check_refused("{\"text\": \"\", \"count\": 10}", "bad_request", "count: 10 was given");
    check_refused("{\"text\": \"\", \"count\": 1e300}", "bad_request", "count: 1e300");
    check_refused("{\"text\": \"\", \"timeout\": -1}", "bad_request", "from 0 to 100, or null");
    check_refused("{\"text\": \"\", \"timeout\": 101}", "limit_exceeded", "timeout: 101 was given");
    check_refused("{\"text\": \"\", \"timeout\": 99999999999999999999}", "limit_exceeded",
                  "timeout");
    check_refused("{\"text\": \"\", \"colour\": \"rde\"}", "bad_request", "\"red\", \"blue\"");
    check_refused("{\"text\": \"\", \"string\": \"\"}", "bad_request", "text: given twice");
    check_refused("{\"text\": \"\", \"gone\": true}", "bad_request", "leave it out");
    check_refused("{\"text\": \"\", \"colur\": 1}", "bad_request", "did you mean colour?");
    check_refused("{\"text\": \"\", \"\": 1}", "bad_request", "The arguments are text, bytes");
    check_refused("{\"text\": \"a\\u0000b\"}", "bad_request", "text: the text given has a NUL");
    check_refused("{\"text\": [\"a\\u0000b\"]}", "bad_request", "text: the text given has a NUL");
}

static void test_nul_where_it_is_taken(void **state)
{
    struct arguments a = accept("{\"text\": \"\", \"bytes\": \"a\\u0000b\"}");

    assert_int_equal(json_string_length(argument_get(&a, "bytes")), 3);
    arguments_done(&a);
}

static void test_what_is_no_object(void **state)
{
    check_refused("", "bad_request", "not valid JSON");
    check_refused("{", "bad_request", "not valid JSON");
    check_refused("[]", "bad_request", "the arguments are []");
    check_refused("{\"text\": \"\\ud800\"}", "bad_request", "not valid JSON");
    check_refused("{\"text\": \"\xff\"}", "bad_request", "not valid JSON");
    check_refused("{\"text\": \"\", \"text\": \"\"}", "bad_request", "duplicate");
    check_refused("{\"text\": \"\"} x", "bad_request", "not valid JSON");
}

static void test_deep_and_long(void **state)
{
    auto_buf struct buf deep = {0}, half = {0}, wide = {0};

    buf_add_str(&deep, "{\"text\": ");
    for (int i = 0; i < 1000000; i++)
        buf_add_char(&deep, '[');
    check_refused(deep.data, "bad_request", "depth");
    buf_add_str(&half, "{\"text\": ");
    for (int i = 0; i < 1000; i++)
        buf_add_char(&half, '[');
    for (int i = 0; i < 1000; i++)
        buf_add_char(&half, ']');
    buf_add_str(&half, "}");
    check_refused(half.data, "bad_request", "text: [[[[[");
    buf_add_str(&wide, "{\"text\": \"\", \"on\": \"");
    for (int i = 0; i < 1000000; i++)
        buf_add_str(&wide, "\xc3\xa4");
    buf_add_str(&wide, "\"}");
    check_refused(wide.data, "bad_request", "\xc3\xa4\xe2\x80\xa6 was given; allowed");
}

static void test_schema(void **state)
{
    json_t *schema = arguments_schema(table);
    json_t *properties = json_object_get(schema, "properties");
    json_t *timeout = json_object_get(properties, "timeout");
    json_t *text = json_object_get(properties, "text");
    auto_free char *required = json_dumps(json_object_get(schema, "required"), JSON_COMPACT);
    auto_free char *types = json_dumps(json_object_get(timeout, "type"), JSON_COMPACT);
    auto_free char *choices =
        json_dumps(json_object_get(json_object_get(properties, "colour"), "enum"), JSON_COMPACT);

    assert_string_equal(required, "[\"text\"]");
    assert_string_equal(types, "[\"number\",\"null\"]");
    assert_string_equal(choices, "[\"red\",\"blue\"]");
    assert_int_equal(json_integer_value(json_object_get(timeout, "maximum")), 100);
    assert_int_equal(json_integer_value(json_object_get(timeout, "default")), 30);
    assert_string_equal(json_string_value(json_object_get(text, "description")),
                        "a text (also: string, words)");
    assert_non_null(
        json_object_get(json_object_get(properties, "members"), "additionalProperties"));
    assert_null(json_object_get(properties, "secret"));
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_defaults),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nul_where_it_is_taken),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_deep_and_long),
        cmocka_unit_test(test_schema),
    };

    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
