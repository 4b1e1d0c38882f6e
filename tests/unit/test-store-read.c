/*
 * What stands in the store about a job, read back: all of what the supervisor writes, and nothing
 * else. Whatever may stand there instead is refused, and changes nothing about the job.
 */
#include "job-test.h"

#include <jansson.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/strv.h"
#include "base/syscall-linux.h"
#include "job/job.h"
#include "job/record.h"
#include "job/store.h"

/* As plan.c and the supervisor's store.c write it. */
static const char job_text[] =
    "{\"format\": 1, \"process_id\": \"01234567\", \"command\": [\"/bin/tool\", \"\", "
    "\"caf\xc3\xa9\"], "
    "\"cwd\": \"/w\", \"name\": \"a name\", \"session\": \"s\", "
    "\"started_at\": \"2026-11-30T06:36:18.777Z\", \"started_at_ns\": 1796020578777000000, "
    "\"started_ns\": 4711, \"background\": true, \"split\": true, \"stdin_pipe\": true, "
    "\"grace_ns\": -1, \"owner_pid\": 0, \"warnings\": [\"w1\", \"w2\"], \"missing\": [\"cpu\"], "
    "\"guard_pid\": 11, \"supervisor_pid\": 12, \"pid\": 34        }\n";

/* As record.c writes it. */
static const char end_text[] =
    "{\"format\": 1, \"reason\": \"stopped\", \"exit_code\": -15, \"pid\": 34, "
    "\"duration_ns\": 1, \"user_us\": 2, \"system_us\": 3, \"max_rss_bytes\": 4, "
    "\"output_bytes\": 70, \"gap_begin\": 50, \"gap_end\": 60, \"marks\": 9, "
    "\"marks_gap_begin\": 7, \"marks_gap_end\": 8, \"notes\": 128, \"log_errno\": 28, "
    "\"n_left\": 3, \"left\": [{\"pid\": 5, \"command\": \"sleep 5\"}]}\n";

static rein_job *job;

static int setup(void **state)
{
    return job_setup(state) < 0 || job_new(context, &job) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    if (job)
        job->let_go = 1; /* there is nothing to be ended */
    job = rein_job_free(job);
    return job_teardown(state);
}

static void fresh_job(void)
{
    job->let_go = 1;
    job = rein_job_free(job);
    assert_int_equal(job_new(context, &job), 0);
}

/* ---- how a text is taken ------------------------------------------------------------------ */

typedef int parse(rein_job *into, const char *text, size_t size);

/* In memory of exactly its size, so that reading past it is noticed. */
static int parse_exactly(parse *f, const char *text, size_t size)
{
    auto_free char *copy = malloc(MAX(size, (size_t)1));

    memcpy(copy, text, size);
    return f(job, copy, size);
}

/* The job must be as it was, when it was refused. */
static int parse_end(rein_job *into, const char *text, size_t size)
{
    static struct wire_left left_before[1] = {{.pid = 77, .command = "before"}};
    struct rein_job before;
    int r;

    free(into->left);
    into->left = malloc(sizeof(left_before));
    memcpy(into->left, left_before, sizeof(left_before));
    into->exit = (struct wire_exit){.n_left_named = 1, .n_left = 1, .notes = 3};
    into->ended = 0;
    before = *into;
    r = store_parse_end(into, text, size);
    if (r < 0) {
        assert_memory_equal(&before, into, sizeof(before));
        assert_memory_equal(into->left, left_before, sizeof(left_before));
    } else {
        assert_true(into->ended);
    }
    return r;
}

static int parse_job(rein_job *into, const char *text, size_t size)
{
    fresh_job();
    return store_parse_job(job, text, size);
}

static int parse_json(parse *f, const json_t *o)
{
    auto_free char *text = json_dumps(o, 0);

    return parse_exactly(f, text, strlen(text));
}

static json_t *load(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);

    assert_non_null(o);
    return o;
}

/* ---- valid texts -------------------------------------------------------------------------- */

static void check_strings(char **v, const char *const *expected)
{
    size_t n = 0;

    for (; expected[n]; n++)
        assert_string_equal(v[n], expected[n]);
    assert_int_equal(strv_length((const char *const *)v), n);
}

static void test_job(void **state)
{
    static const char *const command[] = {"/bin/tool", "", "caf\xc3\xa9", NULL};
    static const char *const warnings[] = {"w1", "w2", NULL};
    static const char *const missing[] = {"cpu", NULL};

    assert_int_equal(parse_exactly(parse_job, job_text, strlen(job_text)), 0);
    check_strings(job->argv, command);
    check_strings(job->warnings, warnings);
    check_strings(job->missing, missing);
    assert_string_equal(job->cwd, "/w");
    assert_string_equal(job->name, "a name");
    assert_string_equal(job->session, "s");
    assert_true(job->started_at_ns == 1796020578777000000);
    assert_int_equal(job->started_ns, 4711);
    assert_int_equal(job->grace_ns, REIN_GRACE_NONE);
    assert_int_equal(job->pid, 34);
    assert_int_equal(job->supervisor_pid, 12);
    assert_int_equal(job->guard_pid, 11);
    assert_true(job->split && job->stdin_pipe);
    assert_false(job->ended);
}

static void test_end(void **state)
{
    assert_int_equal(parse_exactly(parse_end, end_text, strlen(end_text)), 0);
    const struct wire_exit *e = &job->exit;
    assert_int_equal(e->type, WIRE_EXIT);
    assert_int_equal(e->reason, REIN_REASON_STOPPED);
    assert_int_equal(e->has_status, 1);
    assert_int_equal(e->wait_status, SIGTERM);
    assert_int_equal(e->duration_ns, 1);
    assert_int_equal(e->user_us, 2);
    assert_int_equal(e->system_us, 3);
    assert_int_equal(e->max_rss_bytes, 4);
    assert_memory_equal(&e->log, (&(struct wire_log_state){70, 50, 60, 9, 7, 8}), sizeof(e->log));
    assert_memory_equal(&e->log, &job->log, sizeof(e->log));
    assert_int_equal(e->notes, WIRE_NOTE_LOG_TRUNCATED);
    assert_int_equal(e->log_errno, ENOSPC);
    assert_int_equal(e->n_left, 3);
    assert_int_equal(e->n_left_named, 1);
    assert_int_equal(job->left[0].pid, 5);
    assert_string_equal(job->left[0].command, "sleep 5");
}

/* ---- each key ----------------------------------------------------------------------------- */

enum { NUL = 1, BOOL = 2, INTEGER = 4, STRING = 8, ARRAY = 16 };

struct key {
    const char *name;
    int types;
    json_int_t min, max; /* of integers */
};

#define INT32 INT32_MAX
#define LARGE INT64_MAX

static const struct key job_keys[] = {
    {"command", ARRAY},
    {"cwd", STRING},
    {"name", STRING | NUL},
    {"session", STRING | NUL},
    {"warnings", ARRAY},
    {"missing", ARRAY},
    {"started_at_ns", INTEGER, 0, LARGE},
    {"started_ns", INTEGER, 0, LARGE},
    {"grace_ns", INTEGER, -1, LARGE},
    {"pid", INTEGER, 0, INT32},
    {"guard_pid", INTEGER, 0, INT32},
    {"supervisor_pid", INTEGER, 0, INT32},
    {"split", BOOL},
    {"stdin_pipe", BOOL},
};

static const struct key end_keys[] = {
    {"reason", STRING},
    {"exit_code", INTEGER | NUL, -SYS_SIGNALS, 255},
    {"duration_ns", INTEGER, 0, LARGE},
    {"user_us", INTEGER, 0, LARGE},
    {"system_us", INTEGER, 0, LARGE},
    {"max_rss_bytes", INTEGER, 0, LARGE},
    {"output_bytes", INTEGER, 60, LARGE},
    {"gap_begin", INTEGER, 0, 60},
    {"gap_end", INTEGER, 50, 70},
    {"marks", INTEGER, 8, LARGE / WIRE_MARK_SIZE},
    {"marks_gap_begin", INTEGER, 0, 8},
    {"marks_gap_end", INTEGER, 7, 9},
    {"notes", INTEGER, 0, UINT32_MAX},
    {"log_errno", INTEGER, 0, INT32},
    {"n_left", INTEGER, 1, UINT32_MAX},
    {"left", ARRAY},
};

static int type_of(const json_t *value)
{
    return json_is_null(value)      ? NUL
           : json_is_boolean(value) ? BOOL
           : json_is_integer(value) ? INTEGER
           : json_is_string(value)  ? STRING
           : json_is_array(value)   ? ARRAY
                                    : 0;
}

static int parse_with(parse *f, const char *text, const char *key, json_t *value)
{
    json_t *o = load(text);
    int r;

    assert_int_equal(value ? json_object_set_new(o, key, value) : json_object_del(o, key), 0);
    r = parse_json(f, o);
    json_decref(o);
    return r;
}

static void check_wrong_types(parse *f, const char *text, const struct key *key)
{
    json_t *values[] = {json_null(),         json_true(),      json_integer(55),
                        json_real(1.0),      json_string(""),  json_object(),
                        json_pack("[i]", 1), json_pack("[n]"), json_pack("[[]]")};

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        int may = (type_of(values[i]) & key->types & ~ARRAY) != 0 && strcmp(key->name, "reason");

        if (may)
            json_decref(values[i]);
        else
            assert_int_equal(parse_with(f, text, key->name, values[i]), -EBADMSG);
    }
}

static void check_range(parse *f, const char *text, const struct key *key)
{
    assert_int_equal(parse_with(f, text, key->name, json_integer(key->min)), 0);
    assert_int_equal(parse_with(f, text, key->name, json_integer(key->max)), 0);
    assert_int_equal(parse_with(f, text, key->name, json_integer(key->min - 1)), -EBADMSG);
    if (key->max < LARGE)
        assert_int_equal(parse_with(f, text, key->name, json_integer(key->max + 1)), -EBADMSG);
}

/* The key once more in front of everything, with the value that it has. */
static void check_doubled(parse *f, const char *text, const struct key *key)
{
    json_t *o = load(text);
    auto_free char *value = json_dumps(json_object_get(o, key->name), JSON_ENCODE_ANY);
    auto_free char *doubled = NULL;

    assert_true(asprintf(&doubled, "{\"%s\": %s, %s", key->name, value, text + 1) > 0);
    assert_int_equal(parse_exactly(f, doubled, strlen(doubled)), -EBADMSG);
    json_decref(o);
}

static void check_keys(parse *f, const char *text, const struct key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(parse_with(f, text, keys[i].name, NULL), -EBADMSG);
        check_wrong_types(f, text, &keys[i]);
        check_doubled(f, text, &keys[i]);
        if (keys[i].types & INTEGER)
            check_range(f, text, &keys[i]);
        if (keys[i].types & NUL)
            assert_int_equal(parse_with(f, text, keys[i].name, json_null()), 0);
    }
    assert_int_equal(parse_with(f, text, "new in the same format", json_object()), 0);
}

static void test_keys_of_a_job(void **state)
{
    check_keys(parse_job, job_text, job_keys, ARRAY_SIZE(job_keys));
    assert_int_equal(parse_with(parse_job, job_text, "command", json_array()), -EBADMSG);
    assert_int_equal(parse_with(parse_job, job_text, "warnings", json_array()), 0);
}

static void test_keys_of_an_end(void **state)
{
    check_keys(parse_end, end_text, end_keys, ARRAY_SIZE(end_keys));
    assert_int_equal(parse_with(parse_end, end_text, "left", json_array()), 0);
    assert_int_equal(job->exit.n_left_named, 0);
    assert_int_equal(job->exit.n_left, 3);
}

static void test_null_is_taken_for_nothing(void **state)
{
    assert_int_equal(parse_with(parse_job, job_text, "name", json_null()), 0);
    assert_null(job->name);
    assert_int_equal(parse_with(parse_job, job_text, "session", json_null()), 0);
    assert_null(job->session);
    assert_int_equal(parse_with(parse_end, end_text, "exit_code", json_null()), 0);
    assert_int_equal(job->exit.has_status, 0);
}

static void test_reasons(void **state)
{
    for (int i = REIN_REASON_EXIT; i <= REIN_REASON_LOST; i++) {
        assert_int_equal(
            parse_with(parse_end, end_text, "reason", json_string(record_reason_name(i))), 0);
        assert_int_equal(job->exit.reason, i);
    }
    /* one that has no end yet has no record */
    assert_int_equal(parse_with(parse_end, end_text, "reason", json_string("running")), -EBADMSG);
    assert_int_equal(parse_with(parse_end, end_text, "reason", json_string("bored")), -EBADMSG);
}

static void check_left_refused(json_t *left)
{
    json_t *o = load(end_text);

    assert_int_equal(json_object_set_new(o, "left", left), 0);
    assert_int_equal(json_object_set_new(o, "n_left", json_integer(WIRE_LEFT_MAX + 1)), 0);
    assert_int_equal(parse_json(parse_end, o), -EBADMSG);
    json_decref(o);
}

static void test_left_that_is_none(void **state)
{
    json_t *many = json_array();
    json_t *two =
        json_pack("[{si ss} {si ss}]", "pid", 1, "command", "a", "pid", 2, "command", "b");

    for (int i = 0; i <= WIRE_LEFT_MAX; i++)
        (void)json_array_append_new(many, json_pack("{si ss}", "pid", i, "command", "x"));
    check_left_refused(many);
    check_left_refused(json_pack("[{si}]", "pid", 1));
    check_left_refused(json_pack("[{ss}]", "command", "x"));
    check_left_refused(json_pack("[{si si}]", "pid", 1, "command", 2));
    check_left_refused(json_pack("[{si ss}]", "pid", -1, "command", "x"));
    check_left_refused(json_pack("[{sI ss}]", "pid", (json_int_t)INT32 + 1, "command", "x"));
    /* the first is right, the second is not */
    check_left_refused(json_pack("[{si ss} {}]", "pid", 1, "command", "x"));
    /* more that are named than there were */
    json_t *o = load(end_text);
    (void)json_object_set_new(o, "left", two);
    (void)json_object_set_new(o, "n_left", json_integer(1));
    assert_int_equal(parse_json(parse_end, o), -EBADMSG);
    json_decref(o);
}

/* ---- what is no such text ----------------------------------------------------------------- */

static void check_both(const char *text, size_t size, int expected)
{
    assert_int_equal(parse_exactly(parse_job, text, size), expected);
    assert_int_equal(parse_exactly(parse_end, text, size), expected);
}

static void test_garbage(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "\n",
                                        "{",
                                        "}",
                                        "{}",
                                        "[]",
                                        "[{}]",
                                        "null",
                                        "1",
                                        "\"text\"",
                                        "{\"format\": 1}",
                                        "{\"format\"",
                                        "\xff\xfe",
                                        "{\"format\": 1}x",
                                        "# not JSON",
                                        "{'format': 1}"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        check_both(texts[i], strlen(texts[i]), -EBADMSG);
    check_both("\0\0\0\0", 4, -EBADMSG);
}

/* As a machine that went down may leave it. */
static void test_cut_off_and_filled_up(void **state)
{
    char filled[sizeof(job_text) + 100] = "";

    for (size_t n = 0; n < strlen(job_text) - 1; n++)
        assert_int_equal(parse_exactly(parse_job, job_text, n), -EBADMSG);
    for (size_t n = 0; n < strlen(end_text) - 1; n++)
        assert_int_equal(parse_exactly(parse_end, end_text, n), -EBADMSG);
    memcpy(filled, job_text, strlen(job_text)); /* zeros behind it */
    assert_int_equal(parse_exactly(parse_job, filled, sizeof(filled)), -EBADMSG);
    memcpy(filled, end_text, strlen(end_text));
    assert_int_equal(parse_exactly(parse_end, filled, strlen(end_text) + 1), -EBADMSG);
}

static void check_replaced(parse *f, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    auto_free char *changed = NULL;

    assert_non_null(at);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    assert_int_equal(parse_exactly(f, changed, strlen(changed)), -EBADMSG);
}

static void test_texts_that_are_no_c_strings(void **state)
{
    check_replaced(parse_job, job_text, "a name", "a\\u0000name");
    check_replaced(parse_job, job_text, "/bin/tool", "/bin\\u0000");
    check_replaced(parse_job, job_text, "\"cwd\"", "\"cw\\u0000d\"");
    check_replaced(parse_job, job_text, "a name", "\xc3(");
    check_replaced(parse_job, job_text, "a name", "\\ud800");
    check_replaced(parse_end, end_text, "sleep 5", "sleep\\u0000");
    check_replaced(parse_end, end_text, "-15", "99999999999999999999");
    check_replaced(parse_end, end_text, "-15", "1e2");
}

static void test_deep_nesting(void **state)
{
    size_t size = 1000000;
    auto_free char *text = malloc(size);

    memset(text, '[', size);
    check_both(text, size, -EBADMSG);
    memset(text, ' ', size);
    memcpy(text, "{\"x\":", 5);
    for (size_t i = 5; i + 5 < size; i += 5)
        memcpy(text + i, "{\"x\":", 5);
    check_both(text, size, -EBADMSG);
}

static void test_formats(void **state)
{
    static const char *const wrong[] = {"0", "-1", "1.0", "\"1\"", "null", "99999999999999999999"};
    char text[64];

    check_both("{\"format\": 2}", 13, -EPROTO); /* whatever else it says */
    check_both("{\"format\": 9223372036854775807, \"pid\": \"x\"}", 43, -EPROTO);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        (void)snprintf(text, sizeof(text), "{\"format\": %s}", wrong[i]);
        check_both(text, strlen(text), -EBADMSG);
    }
}

/* ---- there and back ----------------------------------------------------------------------- */

static void round_trip(const struct wire_exit *end, const struct wire_left *left)
{
    auto_close int dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    fresh_job();
    assert_int_equal(record_write(dir_fd, end, left, 34), 0);
    assert_int_equal(store_read_end(job, dir_fd), 0);
    assert_memory_equal(&job->exit, end, sizeof(*end));
    assert_memory_equal(&job->log, &end->log, sizeof(end->log));
    assert_true(job->ended);
}

static void test_every_end_comes_back(void **state)
{
    struct wire_exit end = {.type = WIRE_EXIT, .has_status = 1};

    for (end.reason = REIN_REASON_EXIT; end.reason <= REIN_REASON_LOST; end.reason++)
        round_trip(&end, NULL);
    end.reason = REIN_REASON_EXIT;
    for (int code = 0; code < 256; code++) {
        end.wait_status = code << 8;
        round_trip(&end, NULL);
    }
    end.reason = REIN_REASON_SIGNAL;
    for (end.wait_status = 1; end.wait_status <= SYS_SIGNALS; end.wait_status++)
        round_trip(&end, NULL);
    end = (struct wire_exit){.type = WIRE_EXIT, .reason = REIN_REASON_LOST};
    round_trip(&end, NULL);
}

static void test_largest_numbers_come_back(void **state)
{
    struct wire_exit end = {
        .type = WIRE_EXIT,
        .reason = REIN_REASON_OUTPUT_LIMIT,
        .has_status = 1,
        .duration_ns = INT64_MAX,
        .user_us = INT64_MAX - 1,
        .system_us = INT64_MAX - 2,
        .max_rss_bytes = INT64_MAX - 3,
        .log = {INT64_MAX, INT64_MAX - 2, INT64_MAX - 1, INT64_MAX / 8, INT64_MAX / 8 - 2,
                INT64_MAX / 8 - 1},
        .notes = UINT32_MAX,
        .log_errno = INT32_MAX,
        .n_left = UINT32_MAX,
    };

    round_trip(&end, NULL);
}

static void test_commands_come_back_with_any_bytes(void **state)
{
    static struct wire_left left[WIRE_LEFT_MAX];
    struct wire_exit end = {.type = WIRE_EXIT,
                            .reason = REIN_REASON_EXIT,
                            .has_status = 1,
                            .n_left = 1000,
                            .n_left_named = WIRE_LEFT_MAX};

    for (int i = 0; i < WIRE_LEFT_MAX; i++) {
        left[i].pid = INT32_MAX - i;
        for (size_t k = 0; k < sizeof(left[i].command) - 1; k++)
            left[i].command[k] = (char)(1 + (k * (2 * (size_t)i + 1) + (size_t)i) % 255);
        left[i].command[sizeof(left[i].command) - 1 - (size_t)i * 3] = '\0';
    }
    round_trip(&end, left);
    for (int i = 0; i < WIRE_LEFT_MAX; i++) {
        assert_int_equal(job->left[i].pid, left[i].pid);
        assert_string_equal(job->left[i].command, left[i].command);
    }
}

/* Written by somebody else: longer than fits, and letters that stand for no byte. */
static void test_commands_of_others(void **state)
{
    char longest[2000];
    json_t *left;

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    left = json_pack("[{si ss} {si ss}]", "pid", 1, "command", longest, "pid", 2, "command",
                     "a\xe5\xa4\xa9\xf0\x9f\x98\x80z");
    assert_int_equal(parse_with(parse_end, end_text, "left", left), 0);
    assert_int_equal(strlen(job->left[0].command), WIRE_LEFT_COMMAND_MAX - 1);
    assert_int_equal(job->left[1].command[0], 'a');
    assert_int_equal(job->left[1].command[strlen(job->left[1].command) - 1], 'z');
}

/* ---- files -------------------------------------------------------------------------------- */

static int open_dir(void)
{
    return open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void test_files(void **state)
{
    auto_close int dir_fd = open_dir();

    assert_int_equal(store_read_job(job, dir_fd), -ENOENT);
    assert_int_equal(store_read_end(job, dir_fd), -ENOENT);
    assert_false(job->ended);
    (void)write_temp_file("job.json", 0600, job_text);
    assert_int_equal(store_read_job(job, dir_fd), 0);
    assert_int_equal(job->pid, 34);
    (void)write_temp_file("exit.json", 0600, "");
    assert_int_equal(store_read_end(job, dir_fd), -EBADMSG);
    assert_false(job->ended);
    (void)write_temp_file("exit.json", 0600, end_text);
    assert_int_equal(store_read_end(job, dir_fd), 0);
    assert_true(job->ended);
}

static void test_larger_files(void **state)
{
    auto_close int dir_fd = open_dir();
    size_t size = 5000000;
    auto_free char *argument = malloc(size + 1);
    auto_free char *text = NULL;
    json_t *o = load(job_text);

    memset(argument, 'x', size);
    argument[size] = '\0';
    (void)json_array_append_new(json_object_get(o, "command"), json_string(argument));
    text = json_dumps(o, 0);
    json_decref(o);
    (void)write_temp_file("job.json", 0600, text);
    assert_int_equal(store_read_job(job, dir_fd), 0);
    assert_string_equal(job->argv[3], argument);
    assert_int_equal(truncate(in_temp_dir("job.json"), INT64_C(1) << 40), 0);
    fresh_job();
    assert_int_equal(store_read_job(job, dir_fd), -EBADMSG);
    (void)write_temp_file("exit.json", 0600, end_text);
    assert_int_equal(truncate(in_temp_dir("exit.json"), INT64_C(1) << 40), 0);
    assert_int_equal(store_read_end(job, dir_fd), -EBADMSG);
}

/* Nothing is waited for, and no link is followed. */
static void test_what_is_no_file(void **state)
{
    static const char *const names[] = {"job.json", "exit.json"};
    auto_close int dir_fd = open_dir();

    (void)write_temp_file("elsewhere", 0600, job_text);
    for (int i = 0; i < 2; i++) {
        int (*read_it)(rein_job *, int) = i ? store_read_end : store_read_job;
        const char *path = in_temp_dir(names[i]);

        assert_int_equal(mkfifo(path, 0600), 0);
        assert_int_equal(read_it(job, dir_fd), -EBADMSG);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(read_it(job, dir_fd), -EBADMSG);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(symlink("elsewhere", path), 0);
        assert_true(read_it(job, dir_fd) < 0);
    }
}

static void test_lock(void **state)
{
    auto_close int dir_fd = open_dir();
    auto_close int fd = -EBADF;

    assert_false(store_is_locked(dir_fd));
    fd = open(write_temp_file("lock", 0600, ""), O_RDONLY | O_CLOEXEC);
    assert_false(store_is_locked(dir_fd));
    assert_int_equal(flock(fd, LOCK_SH), 0); /* somebody else looks */
    assert_false(store_is_locked(dir_fd));
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_true(store_is_locked(dir_fd));
    fd = close_fd(fd);
    assert_false(store_is_locked(dir_fd));
}

/* ---- a job that was lost ------------------------------------------------------------------ */

#define BLOCK (64 * KIB)

/* Writes blocks of a file where the pattern has an x, and leaves holes elsewhere. */
static void write_blocks(const char *name, const char *pattern, uint64_t more)
{
    auto_close int fd = open(in_temp_dir(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static char bytes[BLOCK];

    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == 'x')
            assert_int_equal(pwrite(fd, bytes, BLOCK, (off_t)(i * BLOCK)), BLOCK);
    assert_int_equal(ftruncate(fd, (off_t)(strlen(pattern) * BLOCK + more)), 0);
}

static int has_holes(void)
{
    auto_close int fd = -EBADF;

    write_blocks("hole", "-x", 0);
    fd = open(in_temp_dir("hole"), O_RDONLY | O_CLOEXEC);
    return lseek(fd, 0, SEEK_HOLE) == 0;
}

static void read_loss(void)
{
    auto_close int dir_fd = open_dir();

    store_read_loss(job, dir_fd);
    assert_true(job->ended);
    assert_int_equal(job->exit.type, WIRE_EXIT);
    assert_int_equal(job->exit.reason, REIN_REASON_LOST);
    assert_int_equal(job->exit.has_status, 0);
    assert_int_equal(job->exit.n_left_named, 0);
    assert_memory_equal(&job->exit.log, &job->log, sizeof(job->log));
}

static void check_log(uint64_t total, uint64_t gap_begin, uint64_t gap_end)
{
    read_loss();
    assert_int_equal(job->log.total, total);
    assert_int_equal(job->log.gap_begin, gap_begin);
    assert_int_equal(job->log.gap_end, gap_end);
}

static void test_loss_without_output(void **state)
{
    check_log(0, 0, 0);
    assert_int_equal(job->exit.duration_ns, 0);
    write_blocks("output.log", "", 0);
    check_log(0, 0, 0);
}

static void test_loss_with_output(void **state)
{
    write_blocks("output.log", "xx", 5);
    if (has_holes())
        check_log(2 * BLOCK + 5, 2 * BLOCK, 2 * BLOCK + 5);
    (void)write_temp_file("output.log", 0600, "12345");
    check_log(5, 0, 0);
}

static void test_loss_with_a_gap(void **state)
{
    if (!has_holes())
        skip();
    write_blocks("output.log", "x---xx", 0);
    check_log(6 * BLOCK, BLOCK, 4 * BLOCK);
    assert_int_equal(unlink(in_temp_dir("output.log")), 0);
    write_blocks("output.log", "--x", 0);
    check_log(3 * BLOCK, 0, 2 * BLOCK);
}

/* The marks' hole, in whole marks. */
static void test_loss_with_marks(void **state)
{
    uint64_t marks = BLOCK / WIRE_MARK_SIZE;

    if (!has_holes())
        skip();
    write_blocks("output.log", "xx", 0);
    write_blocks("output.marks", "x--x", 3); /* the last one is not complete */
    check_log(2 * BLOCK, 0, 0);
    assert_int_equal(job->log.marks, 4 * marks);
    assert_int_equal(job->log.marks_gap_begin, marks);
    assert_int_equal(job->log.marks_gap_end, 3 * marks);
    (void)write_temp_file("output.marks", 0600, "123456789");
    read_loss();
    assert_int_equal(job->log.marks, 1);
    assert_int_equal(job->log.marks_gap_begin, 0);
    assert_int_equal(job->log.marks_gap_end, 0);
}

/* It ran at least until its last output. */
static void test_loss_and_time(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000, .tv_nsec = 5}};

    (void)write_temp_file("output.log", 0600, "x");
    assert_int_equal(utimensat(AT_FDCWD, in_temp_dir("output.log"), times, 0), 0);
    job->started_at_ns = 990 * NSEC_PER_SEC;
    read_loss();
    assert_true(job->exit.duration_ns == 10 * NSEC_PER_SEC + 5);
    job->started_at_ns = 1100 * NSEC_PER_SEC; /* the clock was set back */
    read_loss();
    assert_int_equal(job->exit.duration_ns, 0);
}

static void test_loss_of_what_is_no_file(void **state)
{
    (void)write_temp_file("elsewhere", 0600, "12345");
    assert_int_equal(symlink("elsewhere", in_temp_dir("output.log")), 0);
    assert_int_equal(mkdir(in_temp_dir("output.marks"), 0700), 0);
    check_log(0, 0, 0);
    assert_int_equal(job->log.marks, 0);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_job),
        test(test_end),
        test(test_keys_of_a_job),
        test(test_keys_of_an_end),
        test(test_null_is_taken_for_nothing),
        test(test_reasons),
        test(test_left_that_is_none),
        test(test_garbage),
        test(test_cut_off_and_filled_up),
        test(test_texts_that_are_no_c_strings),
        test(test_deep_nesting),
        test(test_formats),
        test(test_every_end_comes_back),
        test(test_largest_numbers_come_back),
        test(test_commands_come_back_with_any_bytes),
        test(test_commands_of_others),
        test(test_files),
        test(test_larger_files),
        test(test_what_is_no_file),
        test(test_lock),
        test(test_loss_without_output),
        test(test_loss_with_output),
        test(test_loss_with_a_gap),
        test(test_loss_with_marks),
        test(test_loss_and_time),
        test(test_loss_of_what_is_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
