/* Puts a result or an error into a JSON object. */
#include "result-json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "text/utf8.h"

/* Enough for every number of ours, and without the digits that binary fractions add. */
#define NUMBER_DIGITS 15

/* ---- texts -------------------------------------------------------------------------------- */

static void add_valid(struct buf *b, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t n = utf8_valid_prefix(bytes, len);
        int cut_off;

        buf_add(b, bytes, n);
        if (n == len)
            return;
        bytes += n;
        len -= n;
        n = utf8_broken_prefix(bytes, len, &cut_off);
        buf_add_str(b, UTF8_REPLACEMENT_TEXT);
        bytes += n;
        len -= n;
    }
}

json_t *json_text(const char *bytes)
{
    auto_buf struct buf valid = {0};
    json_t *string;

    if (!bytes)
        return json_null();
    string = json_string(bytes);
    if (string)
        return string;
    add_valid(&valid, bytes, strlen(bytes));
    return buf_error(&valid) ? NULL : json_string(valid.data);
}

static json_t *texts(char *const *v)
{
    json_t *array = json_array();

    for (; array && v && *v; v++) {
        if (json_array_append_new(array, json_text(*v)) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

const char *signal_name(int number, char buf[static SIGNAL_NAME_SIZE])
{
    /* the same number; the C library prefers a name that few know it by */
    const char *name = number == SIGIO ? "IO" : sigabbrev_np(number);

    if (name)
        (void)snprintf(buf, SIGNAL_NAME_SIZE, "SIG%s", name);
    else if (number >= SIGRTMIN && number <= SIGRTMAX)
        (void)snprintf(buf, SIGNAL_NAME_SIZE, "SIGRTMIN+%d", number - SIGRTMIN);
    else
        (void)snprintf(buf, SIGNAL_NAME_SIZE, "SIG%d", number);
    return buf;
}

/* ---- the object --------------------------------------------------------------------------- */

/* An object in the making. After a failure it stays empty, and the end gives NULL. */
struct object {
    json_t *json;
};

/* Takes over value, which is NULL when there was no memory for it. */
static void set(struct object *o, const char *key, json_t *value)
{
    if (!o->json) {
        json_decref(value);
    } else if (json_object_set_new(o->json, key, value) < 0) {
        json_decref(o->json);
        o->json = NULL;
    }
}

static void set_bytes(struct object *o, const char *key, uint64_t bytes)
{
    set(o, key, json_integer((json_int_t)bytes));
}

/* Milliseconds with three decimals. */
static json_t *milliseconds(int64_t us)
{
    return json_real((double)us / 1000.0);
}

static void set_status(struct object *o, const struct rein_result *result)
{
    char name[SIGNAL_NAME_SIZE];

    set(o, "status", json_string(result->running ? "running" : "exited"));
    set(o, "reason", result->running ? json_null() : json_string(rein_reason_name(result->reason)));
    set(o, "success", json_boolean(result->success));
    set(o, "exit_code", result->has_exit_code ? json_integer(result->exit_code) : json_null());
    set(o, "signal", result->signal ? json_string(signal_name(result->signal, name)) : json_null());
}

static void set_request(struct object *o, const struct rein_result *result)
{
    char started_at[TIME_ISO_SIZE];

    time_format_iso(result->started_at_ns, started_at);
    set(o, "command", texts(result->command));
    set(o, "cwd", json_text(result->cwd));
    set(o, "name", json_text(result->name));
    set(o, "started_at", json_string(started_at));
    set(o, "duration_ms", milliseconds(result->duration_ns / NSEC_PER_USEC));
}

static json_t *shown_text(const struct result_text *shown, size_t stream)
{
    return json_stringn(shown->streams[stream].text, shown->streams[stream].len);
}

static void set_output(struct object *o, const struct result_text *shown)
{
    if (shown->n_streams == 1) {
        set(o, "output", shown_text(shown, 0));
        return;
    }
    set(o, "stdout", shown_text(shown, 0));
    set(o, "stderr", shown_text(shown, 1));
}

static void
set_log(struct object *o, const struct rein_result *result, const struct result_text *shown)
{
    bool omitted = shown->omitted_bytes > 0;

    set_bytes(o, "output_bytes", result->output_bytes);
    set_bytes(o, "omitted_bytes", shown->omitted_bytes);
    set(o, "omitted_at", omitted ? json_integer((json_int_t)shown->omitted_at) : json_null());
    set(o, "truncated", json_boolean(omitted));
    set_bytes(o, "cursor", shown->cursor);
    set(o, "encoding", json_string(shown->encoding));
    set(o, "log_file", json_text(result->log_file));
}

static json_t *left_running(const struct rein_result *result)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < result->n_left_running; i++) {
        struct object one = {.json = json_object()};

        set(&one, "pid", json_integer(result->left_running[i].pid));
        set(&one, "command", json_text(result->left_running[i].command));
        if (json_array_append_new(array, one.json) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *usage(const struct rein_result *result)
{
    struct object o = {.json = json_object()};

    set(&o, "user_ms", milliseconds(result->user_us));
    set(&o, "system_ms", milliseconds(result->system_us));
    set_bytes(&o, "max_rss_bytes", result->max_rss_bytes);
    return o.json;
}

static json_t *sandbox(const struct rein_result *result)
{
    struct object o = {.json = json_object()};

    set(&o, "level", json_string("off"));
    set(&o, "enforced", json_array());
    set(&o, "missing", texts(result->missing));
    return o.json;
}

static json_t *warnings(const struct rein_result *result, const struct result_text *shown)
{
    json_t *array = texts(result->warnings);
    json_t *more = texts(shown->warnings);

    if (array && (!more || json_array_extend(array, more) < 0)) {
        json_decref(array);
        array = NULL;
    }
    json_decref(more);
    return array;
}

json_t *result_json(const struct rein_result *result, const struct result_text *shown)
{
    struct object o = {.json = json_object()};

    set(&o, "process_id", json_text(result->process_id));
    set(&o, "pid", json_integer(result->pid));
    set_status(&o, result);
    set_request(&o, result);
    set_output(&o, shown);
    set_log(&o, result, shown);
    set(&o, "left_running", left_running(result));
    set(&o, "usage", usage(result));
    set(&o, "sandbox", sandbox(result));
    set(&o, "warnings", warnings(result, shown));
    return o.json;
}

json_t *short_result_json(const struct rein_result *result)
{
    struct object o = {.json = json_object()};

    set(&o, "process_id", json_text(result->process_id));
    set(&o, "pid", json_integer(result->pid));
    set_status(&o, result);
    set_request(&o, result);
    set(&o, "session", json_text(result->session));
    set_bytes(&o, "output_bytes", result->output_bytes);
    set(&o, "usage", usage(result));
    return o.json;
}

/* Who ended a tree has left nothing of it; what ended by itself may have left something, which was
 * killed or was to be kept. */
bool result_is_stopped(const struct rein_result *result)
{
    bool by_itself = result->reason == REIN_REASON_EXIT || result->reason == REIN_REASON_SIGNAL;

    return !result->running && (by_itself || result->n_left_running == 0);
}

json_t *stop_json(const struct rein_result *result, const char *warning)
{
    struct object o = {.json = json_object()};
    struct result_text nothing = {0};
    json_t *all = warnings(result, &nothing);

    if (warning && all)
        (void)json_array_append_new(all, json_text(warning));
    set(&o, "process_id", json_text(result->process_id));
    set_status(&o, result);
    set(&o, "success", json_boolean(result_is_stopped(result)));
    set(&o, "left_running", left_running(result));
    set(&o, "warnings", all);
    return o.json;
}

json_t *error_json(const struct rein_error *error)
{
    struct object o = {.json = json_object()};

    set(&o, "success", json_false());
    set(&o, "error", json_text(error->message));
    set(&o, "error_code", json_string(error->code));
    set(&o, "hint", json_text(error->hint));
    return o.json;
}

static int dump_into(const char *data, size_t size, void *userdata)
{
    struct buf *b = userdata;

    buf_add(b, data, size);
    return buf_error(b);
}

char *json_line_take(json_t *take_object, size_t *ret_len)
{
    struct buf b = {0};

    if (!take_object ||
        json_dump_callback(take_object, dump_into, &b, JSON_REAL_PRECISION(NUMBER_DIGITS)) < 0)
        b.error = -ENOMEM;
    json_decref(take_object);
    buf_add_char(&b, '\n');
    *ret_len = b.len;
    return buf_take(&b);
}
