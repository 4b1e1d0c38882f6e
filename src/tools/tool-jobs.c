/* The tools for jobs that are there: get_command_output, stop_command, list_commands, wait_command,
 * send_input. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "job-input.h"
#include "output-query.h"
#include "text/text.h"
#include "tool-call.h"
#include "wait.h"

#define SEND_PATIENCE_NS (30 * NSEC_PER_SEC) /* for a job that does not read */
#define COUNT_MAX 9007199254740992.0
#define WAIT_JOBS_MAX 1000

#define PROCESS_ID_ARGUMENT                                                                        \
    {                                                                                              \
        .name = "process_id", .types = ARGUMENT_STRING,                                            \
        .flags = ARGUMENT_REQUIRED | ARGUMENT_TAKES_NUL,                                           \
        .help = "the handle that the start gave, 8 hexadecimal digits"                             \
    }

static const char *const renders[] = {
    [TEXT_CLEAN] = "clean", [TEXT_PLAIN] = "plain", [TEXT_RAW] = "raw", [TEXT_RENDER_MAX] = NULL};
static const char *const states[] = {"running", "exited", "all", NULL};

const struct argument get_command_output_arguments[] = {
    PROCESS_ID_ARGUMENT,
    {.name = "tail",
     .types = ARGUMENT_INTEGER,
     .min = 1,
     .max = COUNT_MAX,
     .help = "only the last lines, 200 without since; never more than 64 KiB"},
    {.name = "since",
     .types = ARGUMENT_INTEGER,
     .min = 0,
     .max = COUNT_MAX,
     .help = "output from this cursor on, page by page; each answer has the cursor for the next"},
    {.name = "wait",
     .types = ARGUMENT_NUMBER,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = TIMEOUT_MAX_S,
     .fallback = "0",
     .help = "seconds to wait at most for new output, or for the end"},
    {.name = "grep",
     .types = ARGUMENT_STRING,
     .help = "a regular expression: only lines that match"},
    {.name = "render",
     .types = ARGUMENT_STRING,
     .choices = renders,
     .fallback = "\"clean\"",
     .help = "clean: as a terminal would show it; plain: without escape sequences; raw: as it is"},
    {0},
};

const struct argument stop_command_arguments[] = {
    PROCESS_ID_ARGUMENT,
    {.name = "grace",
     .types = ARGUMENT_NUMBER,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = INT_MAX / 1000,
     .help = "seconds between SIGTERM and SIGKILL, 5 when nothing is given; 0: SIGKILL at once"},
    {0},
};

const struct argument list_commands_arguments[] = {
    {.name = "status",
     .types = ARGUMENT_STRING,
     .choices = states,
     .fallback = "\"running\"",
     .help = "which background commands"},
    {.name = "limit",
     .types = ARGUMENT_INTEGER,
     .min = 1,
     .max = COUNT_MAX,
     .help = "at most so many, the newest ones"},
    {0},
};

const struct argument wait_command_arguments[] = {
    {.name = "process_id",
     .aliases = {"process_ids"},
     .types = ARGUMENT_STRING | ARGUMENT_STRINGS,
     .flags = ARGUMENT_REQUIRED | ARGUMENT_TAKES_NUL,
     .help = "one handle, or several"},
    {.name = "timeout",
     .types = ARGUMENT_NUMBER | ARGUMENT_NULL,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = TIMEOUT_MAX_S,
     .fallback = "30",
     .help = "seconds to wait; 0: look once; null: no limit; the commands are left alone"},
    {.name = "until",
     .types = ARGUMENT_STRING | ARGUMENT_OBJECT,
     .fallback = "\"exit\"",
     .schema = "{\"properties\": {\"line\": {\"type\": \"string\"}, \"port\": {\"type\": "
               "\"integer\", \"minimum\": 1, \"maximum\": 65535}}}",
     .help = "\"exit\"; {\"line\": RE}: a line of output that matches a regular expression; "
             "{\"port\": N}: the command listens on a TCP port"},
    {.name = "any",
     .types = ARGUMENT_BOOLEAN,
     .fallback = "false",
     .help = "of several: until it happens to one, and answer only with that"},
    {.name = "since",
     .types = ARGUMENT_INTEGER,
     .min = 0,
     .max = COUNT_MAX,
     .help = "lines from this cursor on, and that output in the answer"},
    {0},
};

const struct argument send_input_arguments[] = {
    PROCESS_ID_ARGUMENT,
    {.name = "text",
     .types = ARGUMENT_STRING,
     .flags = ARGUMENT_TAKES_NUL,
     .help = "goes to the standard input as it is: end a line with a newline"},
    {.name = "eof",
     .types = ARGUMENT_BOOLEAN,
     .fallback = "false",
     .help = "true: the end of the input, after text"},
    {.name = "signal",
     .types = ARGUMENT_STRING,
     .help = "a signal for the main process, after text: INT, HUP, USR1"},
    {0},
};

/* ---- handles ------------------------------------------------------------------------------ */

static int fail_unknown(const char *id, struct rein_error **reterr)
{
    return rein_fail_hint(reterr, -ENOENT, "no_such_job", "attach",
                          "list_commands shows the commands that there are",
                          "No background command with process_id '%.100s'", id);
}

/* A job of another session is none for this caller. */
static bool is_visible(const struct tool_context *context, const struct rein_result *result)
{
    return !context->session || (result->session && strcmp(result->session, context->session) == 0);
}

static int
attach(const struct tool_call *call, const char *id, rein_job **ret, struct rein_error **reterr)
{
    struct rein_result result = {0};
    rein_job *job = NULL;
    int r = rein_attach(call->context->rein, id, &job, reterr);

    if (r == 0)
        r = job_look(job, &result, reterr);
    if (r >= 0 && !is_visible(call->context, &result))
        r = fail_unknown(id, reterr);
    rein_result_done(&result);
    if (r < 0) {
        job = rein_job_free(job);
        return r;
    }
    *ret = job;
    return 0;
}

static int attach_argument(const struct tool_call *call, rein_job **ret, struct rein_error **reterr)
{
    return attach(call, argument_string(&call->arguments, "process_id"), ret, reterr);
}

/* ---- get_command_output ------------------------------------------------------------------- */

/* Waits until there is output after an offset, or the end, or the caller has had enough. */
static int await_output(const struct tool_call *call,
                        rein_job *job,
                        uint64_t since,
                        int64_t wait_ns,
                        struct rein_error **reterr)
{
    int64_t until_ns = time_add_ns(time_mono_ns(), wait_ns);
    struct patience patience = call_patience(call);
    char byte;
    int r;

    rein_seek(job, since);
    for (;;) {
        ssize_t n = rein_read(job, &byte, sizeof(byte), 0, NULL);
        struct pollfd fds[2] = {{.fd = rein_job_fd(job), .events = POLLIN}};

        if (n >= 0 || (n == -EAGAIN && time_mono_ns() >= until_ns))
            return 0;
        if (n != -EAGAIN)
            return rein_fail(reterr, (int)n, "internal", "read", "cannot follow the job: %s",
                             strerror((int)-n));
        r = patience_poll(&patience, fds, 1, time_left_ms(until_ns));
        if (r < 0)
            return rein_fail(reterr, r, "internal", "poll", "%s", strerror(-r));
        if (r > 0)
            return 0;
    }
}

static int render_of(const struct arguments *a)
{
    const char *given = argument_string(a, "render");
    int render = TEXT_CLEAN;

    while (renders[render] && strcmp(renders[render], given) != 0)
        render++;
    return render;
}

static struct output_query make_query(const struct arguments *a, const struct regex *grep)
{
    struct output_query query = {
        .view = {.render = render_of(a), .limit = RESULT_SHOW_DEFAULT},
        .lines = argument_count(a, "tail"),
        .has_since = argument_is_given(a, "since"),
        .since = argument_count(a, "since"),
        .grep = grep,
    };

    if (query.lines == 0 && !query.has_since)
        query.lines = OUTPUT_LINES_DEFAULT;
    return query;
}

static int answer_query(rein_job *job,
                        const struct output_query *query,
                        json_t **ret,
                        struct rein_error **reterr)
{
    struct result_source source = result_source_of_job(job);
    struct rein_result result = {0};
    struct result_text shown = {0};
    int r = job_look(job, &result, reterr);

    if (r >= 0)
        r = output_query_read(&source, query, &result, &shown, NULL, reterr);
    if (r >= 0) {
        *ret = result_json(&result, &shown);
        r = *ret ? 0 : rein_oom(reterr);
    }
    result_text_done(&shown);
    rein_result_done(&result);
    return r;
}

/* Without `since` news is what comes after the call. */
static int await_news(const struct tool_call *call, rein_job *job, struct rein_error **reterr)
{
    const struct arguments *a = &call->arguments;
    struct rein_result result = {0};
    uint64_t since;
    int r;

    if (argument_duration(a, "wait") <= 0)
        return 0;
    r = job_look(job, &result, reterr);
    since = argument_is_given(a, "since") ? argument_count(a, "since") : result.output_bytes;
    rein_result_done(&result);
    return r <= 0 ? r : await_output(call, job, since, argument_duration(a, "wait"), reterr);
}

int get_command_output(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    const char *pattern = argument_string(&call->arguments, "grep");
    struct regex *grep = NULL;
    rein_job *job = NULL;
    int r = pattern ? regex_new(pattern, &grep, reterr) : 0;

    if (r == 0)
        r = attach_argument(call, &job, reterr);
    if (r == 0)
        r = await_news(call, job, reterr);
    if (r == 0) {
        struct output_query query = make_query(&call->arguments, grep);

        r = answer_query(job, &query, ret_answer, reterr);
    }
    grep = regex_free(grep);
    job = rein_job_free(job);
    return r;
}

/* ---- stop_command ------------------------------------------------------------------------- */

static int await_end(rein_job *job, struct rein_error **reterr)
{
    static const struct wait_goal goal = {.kind = WAIT_EXIT};
    struct waiter *waiter = NULL;
    struct patience patience = PATIENCE_ENDLESS;
    int r = waiter_new(job, &goal, 0, &waiter, reterr);

    if (r == 0)
        r = wait_for_jobs(&waiter, 1, /* any= */ false, /* timeout_ns= */ -1, &patience, reterr);
    waiter = waiter_free(waiter);
    return r;
}

/* For rein_stop(): -1 is the job's own, else 5 seconds. */
static int grace_ms(const struct arguments *a)
{
    int64_t ns = argument_duration(a, "grace");

    return ns < 0 ? -1 : (int)((ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static int stop_running(const struct tool_call *call, rein_job *job, struct rein_error **reterr)
{
    int r = rein_stop(job, grace_ms(&call->arguments));

    if (r < 0)
        return rein_fail(reterr, r, "internal", "stop", "cannot stop the job %s: %s",
                         rein_job_id(job), strerror(-r));
    return await_end(job, reterr);
}

int stop_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    struct rein_result result = {0};
    rein_job *job = NULL;
    bool ran = false;
    int r = attach_argument(call, &job, reterr);

    if (r == 0)
        r = job_look(job, &result, reterr);
    if (r > 0) {
        ran = true;
        r = stop_running(call, job, reterr);
        if (r == 0)
            r = job_look(job, &result, reterr);
    }
    if (r >= 0) {
        *ret_answer = stop_json(&result, ran ? NULL : STOP_ENDED_BEFORE);
        r = *ret_answer ? 0 : rein_oom(reterr);
    }
    rein_result_done(&result);
    job = rein_job_free(job);
    return r;
}

/* ---- list_commands ------------------------------------------------------------------------ */

static bool is_wanted(const struct tool_call *call, const struct rein_result *one)
{
    const char *status = argument_string(&call->arguments, "status");

    if (!is_visible(call->context, one))
        return false;
    return strcmp(status, "all") == 0 || (strcmp(status, "running") == 0) == (one->running != 0);
}

/* The newest ones up to the limit, in the order of the list. */
static json_t *make_list(const struct tool_call *call, const rein_list *list)
{
    uint64_t limit = argument_count(&call->arguments, "limit");
    json_t *commands = json_array();
    size_t i = rein_list_count(list);

    while (commands && i-- > 0 && (limit == 0 || json_array_size(commands) < limit)) {
        const struct rein_result *one = rein_list_get(list, i);

        if (is_wanted(call, one) &&
            json_array_insert_new(commands, 0, short_result_json(one)) < 0) {
            json_decref(commands);
            commands = NULL;
        }
    }
    return commands;
}

int list_commands(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    rein_list *list = NULL;
    int r = rein_jobs(call->context->rein, &list);

    if (r < 0)
        return rein_fail(reterr, r, "internal", "list", "cannot list the jobs: %s", strerror(-r));
    *ret_answer = json_pack("{s:b, s:o}", "success", 1, "commands", make_list(call, list));
    list = rein_list_free(list);
    return *ret_answer ? 0 : rein_oom(reterr);
}

/* ---- wait_command ------------------------------------------------------------------------- */

struct waiting {
    struct tool_call *call;
    struct wait_goal goal;
    rein_job **jobs;
    struct waiter **waiters;
    size_t n;
};

static int refuse_goal(const json_t *until, struct rein_error **reterr)
{
    auto_free char *given = argument_show(until);

    return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                     "until: %s was given; allowed is \"exit\", {\"line\": RE}, or {\"port\": N} "
                     "with N from 1 to 65535",
                     given ? given : "something else");
}

/* {"line": RE} and {"port": N} as the command line has them. */
static int parse_goal(const json_t *until, struct wait_goal *ret, struct rein_error **reterr)
{
    const json_t *line = json_object_get(until, "line");
    const json_t *port = json_object_get(until, "port");
    auto_error struct rein_error *error = NULL;
    auto_buf struct buf goal = {0};
    int r;

    if (json_is_object(until) && json_object_size(until) != 1)
        return refuse_goal(until, reterr);
    if (json_is_string(until))
        buf_add_str(&goal, json_string_value(until));
    else if (json_is_string(line) && strlen(json_string_value(line)) == json_string_length(line))
        buf_add_format(&goal, "line:%s", json_string_value(line));
    else if (json_is_integer(port))
        buf_add_format(&goal, "port:%lld", (long long)json_integer_value(port));
    else
        return refuse_goal(until, reterr);
    if (buf_error(&goal) < 0)
        return rein_oom(reterr);
    r = wait_goal_parse(goal.data ? goal.data : "", ret, &error);
    if (r == 0 || strncmp(goal.data ? goal.data : "", "line:", strlen("line:")) != 0)
        return r < 0 ? refuse_goal(until, reterr) : 0;
    if (reterr)
        *reterr = TAKE_PTR(error);
    return r;
}

static const char *id_at(const json_t *ids, size_t i)
{
    return json_string_value(json_is_array(ids) ? json_array_get(ids, i) : ids);
}

static int waiting_open(struct waiting *w, struct rein_error **reterr)
{
    const json_t *ids = argument_get(&w->call->arguments, "process_id");
    uint64_t since = argument_count(&w->call->arguments, "since");
    size_t n = json_is_array(ids) ? json_array_size(ids) : 1;

    if (n == 0)
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "process_id: [] was given; needed is at least one handle");
    if (n > WAIT_JOBS_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "arguments",
                         "process_id: %zu were given; allowed are %d", n, WAIT_JOBS_MAX);
    w->jobs = calloc(n, sizeof(*w->jobs));
    w->waiters = calloc(n, sizeof(*w->waiters));
    if (!w->jobs || !w->waiters)
        return rein_oom(reterr);
    for (; w->n < n; w->n++) {
        int r = attach(w->call, id_at(ids, w->n), &w->jobs[w->n], reterr);

        if (r == 0)
            r = waiter_new(w->jobs[w->n], &w->goal, since, &w->waiters[w->n], reterr);
        if (r < 0) {
            w->jobs[w->n] = rein_job_free(w->jobs[w->n]);
            return r;
        }
    }
    return 0;
}

static void waiting_done(struct waiting *w)
{
    for (size_t i = 0; i < w->n; i++) {
        w->waiters[i] = waiter_free(w->waiters[i]);
        w->jobs[i] = rein_job_free(w->jobs[i]);
    }
    free(w->jobs);
    free(w->waiters);
    wait_goal_done(&w->goal);
}

static int answer_one(const struct waiting *w, size_t i, json_t **ret, struct rein_error **reterr)
{
    struct output_query query = {.view = {.limit = RESULT_SHOW_DEFAULT},
                                 .lines = OUTPUT_LINES_DEFAULT,
                                 .has_since = argument_is_given(&w->call->arguments, "since"),
                                 .since = argument_count(&w->call->arguments, "since")};
    int r;

    if (query.has_since)
        query.lines = 0;
    r = answer_query(w->jobs[i], &query, ret, reterr);
    return r < 0 ? r : answer_set(*ret, "matched", waiter_matched(w->waiters[i]), reterr);
}

static int answer_several(const struct waiting *w, json_t **ret, struct rein_error **reterr)
{
    bool any = argument_is_true(&w->call->arguments, "any");
    json_t *results = json_array(), *matched = json_array();
    int r = 0;

    for (size_t i = 0; r == 0 && i < w->n && !(any && json_array_size(results) > 0); i++) {
        json_t *one = NULL;

        if (waiter_state(w->waiters[i]) != WAIT_HAPPENED)
            continue;
        r = answer_one(w, i, &one, reterr);
        if (r == 0 && (json_array_append(matched, json_object_get(one, "matched")) < 0 ||
                       json_array_append(results, one) < 0))
            r = rein_oom(reterr);
        json_decref(one);
    }
    *ret = json_pack("{s:b, s:o, s:o}", "success", 1, "results", results, "matched", matched);
    return r < 0 ? r : *ret ? 0 : rein_oom(reterr);
}

int wait_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    const struct arguments *a = &call->arguments;
    struct patience patience = call_patience(call);
    struct waiting w = {.call = call};
    int r = parse_goal(argument_get(a, "until"), &w.goal, reterr);

    if (r == 0)
        r = waiting_open(&w, reterr);
    if (r == 0)
        r = wait_for_jobs(w.waiters, w.n, argument_is_true(a, "any"),
                          argument_duration(a, "timeout"), &patience, reterr);
    if (r == 0)
        r = w.n == 1 ? answer_one(&w, 0, ret_answer, reterr)
                     : answer_several(&w, ret_answer, reterr);
    waiting_done(&w);
    return r;
}

/* ---- send_input --------------------------------------------------------------------------- */

static int
send_all(const struct arguments *a, rein_job *job, int number, struct rein_error **reterr)
{
    int64_t until_ns = time_add_ns(time_mono_ns(), SEND_PATIENCE_NS);
    const json_t *bytes = argument_get(a, "text");
    int r = job_check_running(job, reterr);

    if (r == 0 && bytes)
        r = job_send_bytes(job, json_string_value(bytes), json_string_length(bytes), until_ns,
                           reterr);
    if (r == 0 && argument_is_true(a, "eof"))
        r = job_send_eof(job, until_ns, reterr);
    if (r == 0 && number > 0)
        r = job_send_signal(job, number, reterr);
    return r;
}

int send_input(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    const struct arguments *a = &call->arguments;
    const char *signal_given = argument_string(a, "signal");
    rein_job *job = NULL;
    int number = 0;
    int r = 0;

    if (!argument_get(a, "text") && !argument_is_true(a, "eof") && !signal_given)
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "text: nothing was given to send; needed is text, eof: true, or signal");
    if (signal_given)
        r = job_signal_parse("signal", signal_given, &number, reterr);
    if (r == 0)
        r = attach_argument(call, &job, reterr);
    if (r == 0)
        r = send_all(a, job, number, reterr);
    if (r == 0) {
        *ret_answer = json_pack("{s:b, s:s}", "success", 1, "process_id", rein_job_id(job));
        r = *ret_answer ? 0 : rein_oom(reterr);
    }
    job = rein_job_free(job);
    return r;
}
