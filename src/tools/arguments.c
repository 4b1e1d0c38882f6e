/* Checks by the table, and the table as a schema. */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/suggest.h"
#include "text/utf8.h"

#define SHOWN_MAX 80                     /* bytes of a value in a message */
#define NUMBER_DIGITS 15                 /* without those that binary fractions add */
#define LARGEST_EXACT 9007199254740992.0 /* 2^53: a double beyond it has no fraction */

static const struct {
    unsigned type;
    const char *schema; /* its name in a schema */
    const char *words;
} types[] = {
    {ARGUMENT_STRING, "string", "a string"},
    {ARGUMENT_INTEGER, "integer", "a whole number"},
    {ARGUMENT_NUMBER, "number", "a number"},
    {ARGUMENT_BOOLEAN, "boolean", "true or false"},
    {ARGUMENT_STRINGS, "array", "an array of strings"},
    {ARGUMENT_OBJECT, "object", "an object"},
    {ARGUMENT_NULL, "null", "null"},
};

/* ---- words -------------------------------------------------------------------------------- */

static int show_piece(const char *data, size_t size, void *userdata)
{
    struct buf *b = userdata;

    buf_add(b, data, MIN(size, SHOWN_MAX + 1 - MIN(b->len, (size_t)SHOWN_MAX + 1)));
    return b->len > SHOWN_MAX ? -1 : 0;
}

char *argument_show(const json_t *value)
{
    struct buf b = {0};

    (void)json_dump_callback(value, show_piece, &b,
                             JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(NUMBER_DIGITS));
    if (b.len > SHOWN_MAX) {
        b.len = utf8_valid_prefix(b.data, SHOWN_MAX);
        buf_add_str(&b, "…");
    }
    return buf_take(&b);
}

static void add_number(struct buf *b, double number)
{
    buf_add_format(b, "%.15g", number);
}

static bool has_bounds(const struct argument *row)
{
    return row->min < row->max;
}

static void add_choices(struct buf *b, const struct argument *row)
{
    for (const char *const *choice = row->choices; choice && *choice; choice++)
        buf_add_format(b, "%s\"%s\"", choice == row->choices ? "" : ", ", *choice);
}

static void add_type(struct buf *b, const struct argument *row, size_t i)
{
    if (types[i].type == ARGUMENT_STRING && row->choices)
        add_choices(b, row);
    else
        buf_add_str(b, types[i].words);
    if (!(types[i].type & (ARGUMENT_INTEGER | ARGUMENT_NUMBER)) || !has_bounds(row))
        return;
    buf_add_str(b, " from ");
    add_number(b, row->min);
    buf_add_str(b, " to ");
    add_number(b, row->max);
}

static void add_allowed(struct buf *b, const struct argument *row)
{
    bool first = true;

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (!(row->types & types[i].type))
            continue;
        buf_add_str(b, first ? "" : ", or ");
        add_type(b, row, i);
        first = false;
    }
}

static int refuse(const struct argument *row,
                  const json_t *value,
                  const char *code,
                  struct rein_error **reterr)
{
    auto_free char *given = argument_show(value);
    auto_buf struct buf allowed = {0};

    add_allowed(&allowed, row);
    if (!given || buf_error(&allowed) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(reterr, -EINVAL, code, "arguments", row->help,
                          "%s: %s was given; allowed is %s", row->name, given, allowed.data);
}

/* ---- the text ----------------------------------------------------------------------------- */

/* A whole number that is too large for a whole number becomes a real one, so that it can be judged
 * with the name of its argument. */
static json_t *load(const char *text, size_t len, json_error_t *error)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    json_t *value = json_loadb(text, len, flags, error);

    return value ? value : json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, error);
}

int arguments_parse(const char *text, size_t len, json_t **ret, struct rein_error **reterr)
{
    json_error_t error;
    json_t *value = load(text, len, &error);

    if (!value)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "arguments",
                              "give one JSON object in UTF-8",
                              "the arguments are not valid JSON: %s (line %d, column %d)",
                              error.text, error.line, error.column);
    if (!json_is_object(value)) {
        auto_free char *given = argument_show(value);

        json_decref(value);
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "the arguments are %s; allowed is a JSON object", given ? given : "none");
    }
    *ret = value;
    return 0;
}

/* ---- checking ----------------------------------------------------------------------------- */

static bool has_name(const struct argument *row, const char *name)
{
    if (strcmp(row->name, name) == 0)
        return true;
    for (const char *const *alias = row->aliases; *alias; alias++)
        if (strcmp(*alias, name) == 0)
            return true;
    return false;
}

static const struct argument *find_row(const struct argument *table, const char *name)
{
    for (; table->name; table++)
        if (has_name(table, name))
            return table;
    return NULL;
}

static int
refuse_unknown(const struct argument *table, const char *name, struct rein_error **reterr)
{
    struct suggestion near = {.typed = name, .typed_len = strlen(name)};
    auto_buf struct buf hint = {0};

    for (const struct argument *row = table; row->name; row++) {
        if (row->flags & ARGUMENT_HIDDEN)
            continue;
        suggest_consider(&near, row->name);
        for (const char *const *alias = row->aliases; *alias; alias++)
            suggest_consider(&near, *alias);
    }
    if (near.best)
        buf_add_format(&hint, "did you mean %s? ", near.best);
    buf_add_str(&hint, "The arguments are");
    for (const struct argument *row = table; row->name; row++)
        if (!(row->flags & ARGUMENT_HIDDEN))
            buf_add_format(&hint, "%s %s", row == table ? "" : ",", row->name);
    if (buf_error(&hint) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "arguments", hint.data,
                          "%.80s: there is no such argument", name);
}

static bool is_whole(double number)
{
    bool has_no_fraction = number <= -LARGEST_EXACT || number >= LARGEST_EXACT;

    return has_no_fraction || (double)(int64_t)number == number;
}

static bool are_strings(const json_t *array)
{
    size_t i;
    json_t *one;

    json_array_foreach((json_t *)(uintptr_t)array, i, one) if (!json_is_string(one)) return false;
    return true;
}

static bool has_type(const struct argument *row, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return row->types & ARGUMENT_STRING;
    case JSON_INTEGER:
        return row->types & (ARGUMENT_INTEGER | ARGUMENT_NUMBER);
    case JSON_REAL:
        return (row->types & ARGUMENT_NUMBER) ||
               ((row->types & ARGUMENT_INTEGER) && is_whole(json_real_value(value)));
    case JSON_TRUE:
    case JSON_FALSE:
        return row->types & ARGUMENT_BOOLEAN;
    case JSON_ARRAY:
        return (row->types & ARGUMENT_STRINGS) && are_strings(value);
    case JSON_OBJECT:
        return row->types & ARGUMENT_OBJECT;
    case JSON_NULL:
    default:
        return row->types & ARGUMENT_NULL;
    }
}

static bool is_choice(const struct argument *row, const char *given)
{
    for (const char *const *choice = row->choices; choice && *choice; choice++)
        if (strcmp(*choice, given) == 0)
            return true;
    return !row->choices;
}

static bool has_nul(const json_t *string)
{
    return strlen(json_string_value(string)) != json_string_length(string);
}

static int refuse_nul(const struct argument *row, struct rein_error **reterr)
{
    return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                     "%s: the text given has a NUL character; allowed is text without one",
                     row->name);
}

static int
check_strings(const struct argument *row, const json_t *array, struct rein_error **reterr)
{
    size_t i;
    json_t *one;

    json_array_foreach((json_t *)(uintptr_t)array, i, one)
    {
        if (has_nul(one) && !(row->flags & ARGUMENT_TAKES_NUL))
            return refuse_nul(row, reterr);
    }
    return 0;
}

static int check_value(const struct argument *row, const json_t *value, struct rein_error **reterr)
{
    double number = json_number_value(value);

    if (!has_type(row, value))
        return refuse(row, value, "bad_request", reterr);
    if (json_is_array(value))
        return check_strings(row, value, reterr);
    if (json_is_string(value) && has_nul(value) && !(row->flags & ARGUMENT_TAKES_NUL))
        return refuse_nul(row, reterr);
    if (json_is_string(value) && !is_choice(row, json_string_value(value)))
        return refuse(row, value, "bad_request", reterr);
    if (json_is_number(value) && has_bounds(row) && number > row->max)
        return refuse(row, value, row->flags & ARGUMENT_LIMIT ? "limit_exceeded" : "bad_request",
                      reterr);
    if (json_is_number(value) && has_bounds(row) && number < row->min)
        return refuse(row, value, "bad_request", reterr);
    return 0;
}

static int
check_one(struct arguments *a, const char *name, json_t *value, struct rein_error **reterr)
{
    const struct argument *row = find_row(a->table, name);
    int r;

    if (!row)
        return refuse_unknown(a->table, name, reterr);
    if (row->refusal)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "arguments", row->refusal,
                              "%s: not supported", row->name);
    if (json_is_null(value) && !(row->types & ARGUMENT_NULL))
        return 0;
    r = check_value(row, value, reterr);
    if (r < 0)
        return r;
    if (json_object_get(a->given, row->name))
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "%s: given twice, under two of its names", row->name);
    if (json_object_set(a->given, row->name, value) < 0 ||
        json_object_set(a->values, row->name, value) < 0)
        return rein_oom(reterr);
    return 0;
}

static int add_defaults(struct arguments *a, struct rein_error **reterr)
{
    for (const struct argument *row = a->table; row->name; row++) {
        json_t *value;

        if (json_object_get(a->given, row->name))
            continue;
        if (row->flags & ARGUMENT_REQUIRED) {
            auto_buf struct buf allowed = {0};

            add_allowed(&allowed, row);
            return rein_fail_hint(reterr, -EINVAL, "bad_request", "arguments", row->help,
                                  "%s: nothing was given; needed is %s", row->name,
                                  buf_error(&allowed) ? "a value" : allowed.data);
        }
        value = row->fallback ? json_loads(row->fallback, JSON_DECODE_ANY, NULL) : NULL;
        if (row->fallback && json_object_set_new(a->values, row->name, value) < 0)
            return rein_oom(reterr);
    }
    return 0;
}

int arguments_check(const struct argument *table,
                    json_t *object,
                    struct arguments *ret,
                    struct rein_error **reterr)
{
    struct arguments a = {.table = table, .given = json_object(), .values = json_object()};
    const char *name;
    json_t *value;
    int r = a.given && a.values ? 0 : rein_oom(reterr);

    if (r == 0 && object) {
        json_object_foreach(object, name, value)
        {
            r = check_one(&a, name, value, reterr);
            if (r < 0)
                break;
        }
    }
    if (r == 0)
        r = add_defaults(&a, reterr);
    if (r < 0) {
        arguments_done(&a);
        return r;
    }
    *ret = a;
    return 0;
}

void arguments_done(struct arguments *a)
{
    json_decref(a->given);
    json_decref(a->values);
    *a = (struct arguments){0};
}

/* ---- values ------------------------------------------------------------------------------- */

const json_t *argument_get(const struct arguments *a, const char *name)
{
    const json_t *value = json_object_get(a->values, name);

    return json_is_null(value) ? NULL : value;
}

const char *argument_string(const struct arguments *a, const char *name)
{
    return json_string_value(argument_get(a, name));
}

bool argument_is_true(const struct arguments *a, const char *name)
{
    return json_is_true(argument_get(a, name));
}

bool argument_is_given(const struct arguments *a, const char *name)
{
    return json_object_get(a->given, name) != NULL;
}

int64_t argument_duration(const struct arguments *a, const char *name)
{
    const json_t *value = argument_get(a, name);
    double exact = json_number_value(value) * (double)NSEC_PER_SEC;
    int64_t whole = (int64_t)exact;

    if (!value)
        return -1;
    if (json_is_integer(value))
        return json_integer_value(value) * NSEC_PER_SEC;
    return (double)whole < exact ? whole + 1 : whole;
}

uint64_t argument_count(const struct arguments *a, const char *name)
{
    const json_t *value = argument_get(a, name);

    if (json_is_integer(value))
        return (uint64_t)json_integer_value(value);
    return (uint64_t)json_number_value(value);
}

/* ---- the schema --------------------------------------------------------------------------- */

static json_t *schema_types(const struct argument *row)
{
    json_t *names = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (row->types & types[i].type)
            (void)json_array_append_new(names, json_string(types[i].schema));
    if (json_array_size(names) == 1) {
        json_t *only = json_incref(json_array_get(names, 0));

        json_decref(names);
        return only;
    }
    return names;
}

static json_t *schema_description(const struct argument *row)
{
    auto_buf struct buf b = {0};

    buf_add_str(&b, row->help);
    for (const char *const *alias = row->aliases; *alias; alias++)
        buf_add_format(&b, "%s%s", alias == row->aliases ? " (also: " : ", ", *alias);
    if (row->aliases[0])
        buf_add_char(&b, ')');
    return buf_error(&b) ? NULL : json_string(b.data);
}

static json_t *schema_number(double number)
{
    return is_whole(number) ? json_integer((json_int_t)number) : json_real(number);
}

static int add_bounds(json_t *schema, const struct argument *row)
{
    if (!has_bounds(row))
        return 0;
    return json_object_set_new(schema, "minimum", schema_number(row->min)) < 0 ||
                   json_object_set_new(schema, "maximum", schema_number(row->max)) < 0
               ? -ENOMEM
               : 0;
}

static int add_enum(json_t *schema, const struct argument *row)
{
    json_t *values = row->choices ? json_array() : NULL;

    for (const char *const *choice = row->choices; choice && *choice; choice++)
        (void)json_array_append_new(values, json_string(*choice));
    return values && json_object_set_new(schema, "enum", values) < 0 ? -ENOMEM : 0;
}

/* From a JSON text in a row. */
static int add_text(json_t *schema, const char *key, const char *text)
{
    json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    int r = 0;

    if (text && key)
        return json_object_set_new(schema, key, value) < 0 ? -ENOMEM : 0;
    if (text)
        r = json_object_update(schema, value) < 0 ? -ENOMEM : 0;
    json_decref(value);
    return r;
}

static json_t *schema_of(const struct argument *row)
{
    json_t *schema = json_object();
    int r = 0;

    if (json_object_set_new(schema, "type", schema_types(row)) < 0 ||
        json_object_set_new(schema, "description", schema_description(row)) < 0)
        r = -ENOMEM;
    if (r == 0 && (row->types & ARGUMENT_STRINGS))
        r = add_text(schema, "items", "{\"type\": \"string\"}");
    if (r == 0)
        r = add_enum(schema, row);
    if (r == 0)
        r = add_bounds(schema, row);
    if (r == 0)
        r = add_text(schema, "default", row->fallback);
    if (r == 0)
        r = add_text(schema, NULL, row->schema);
    if (r < 0) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

json_t *arguments_schema(const struct argument *table)
{
    json_t *properties = json_object(), *required = json_array();

    for (; table->name; table++) {
        if (table->flags & ARGUMENT_HIDDEN)
            continue;
        if (json_object_set_new(properties, table->name, schema_of(table)) < 0) {
            json_decref(properties);
            json_decref(required);
            return NULL;
        }
        if (table->flags & ARGUMENT_REQUIRED)
            (void)json_array_append_new(required, json_string(table->name));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required",
                     required);
}
