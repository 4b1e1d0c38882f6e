/* rein tool: the tools for models, from the command line. */
#include "tools/tool.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "gate.h"
#include "jobs.h"
#include "live.h"
#include "print.h"
#include "signals.h"
#include "sink.h"
#include "text/text.h"
#include "tools/error-codes.h"
#include "tools/result-json.h"

#define READ_CHUNK (64u << 10)
#define INPUT_MAX (256 * MIB) /* of arguments */
#define CALL_FAILED 1         /* exit status with an error object */
#define USAGE_HINT "rein tool list [--json], or rein tool call NAME [JSON | -] [--jsonl]"

/* ---- list --------------------------------------------------------------------------------- */

static int list_json(struct rein_error **reterr)
{
    json_t *all = json_array();
    size_t n;
    const struct tool *tools = tool_table(&n);

    for (size_t i = 0; all && i < n; i++) {
        if (json_array_append_new(all, tool_describe(&tools[i])) < 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return print_json_line(all, reterr);
}

static int list_text(struct rein_error **reterr)
{
    auto_buf struct buf b = {0};
    size_t n;
    const struct tool *tools = tool_table(&n);

    for (size_t i = 0; i < n; i++)
        buf_add_format(&b, "%s\t%s\n", tools[i].name, tools[i].title);
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

static int list(struct call *call, struct rein_error **reterr)
{
    if (operand_at(call, 1))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", USAGE_HINT,
                              "tool list: '%s' is one argument too many", operand_at(call, 1));
    return call->settings.format == FORMAT_TEXT ? list_text(reterr) : list_json(reterr);
}

/* ---- the arguments ------------------------------------------------------------------------ */

static int read_input(struct buf *ret, struct rein_error **reterr)
{
    auto_free char *chunk = malloc(READ_CHUNK);

    if (!chunk)
        return rein_oom(reterr);
    for (;;) {
        ssize_t n = io_read(STDIN_FILENO, chunk, READ_CHUNK);

        if (n < 0)
            return rein_fail(reterr, (int)n, "bad_request", "read",
                             "cannot read standard input: %s", strerror((int)-n));
        if (n == 0)
            return buf_error(ret) < 0 ? rein_oom(reterr) : 0;
        if (ret->len + (size_t)n > INPUT_MAX)
            return rein_fail(reterr, -E2BIG, "limit_exceeded", "read",
                             "the arguments have more than %llu bytes",
                             (unsigned long long)INPUT_MAX);
        buf_add(ret, chunk, (size_t)n);
    }
}

static int take_arguments(const char *given, struct buf *ret, struct rein_error **reterr)
{
    if (given && strcmp(given, "-") == 0)
        return read_input(ret, reterr);
    buf_add_str(ret, given ? given : "{}");
    return buf_error(ret) < 0 ? rein_oom(reterr) : 0;
}

/* ---- events ------------------------------------------------------------------------------- */

struct events {
    struct live *live;
    struct sink out;
    int signal_fd; /* breaks off a write that nobody reads */
    struct buf made;
};

static int write_event(struct events *e, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = sink_write(&e->out, data, size);
        struct pollfd fds[] = {{.fd = e->out.fd, .events = POLLOUT},
                               {.fd = e->signal_fd, .events = POLLIN}};

        if (n < 0 && n != -EAGAIN)
            return (int)n;
        data += MAX(n, (ssize_t)0);
        size -= (size_t)MAX(n, (ssize_t)0);
        if (n != -EAGAIN)
            continue;
        if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
            return -errno;
        if (fds[1].revents)
            return -ECANCELED;
    }
    return 0;
}

static int tell_started(void *userdata, const rein_job *job)
{
    struct events *e = userdata;
    size_t len;
    auto_free char *line = live_started_line(job, &len);

    return line ? write_event(e, line, len) : -ENOMEM;
}

static int
tell_output(void *userdata, const void *data, size_t size, const struct rein_piece *piece)
{
    struct events *e = userdata;
    int r;

    buf_clear(&e->made);
    r = live_events(e->live, data, size, piece, &e->made);
    if (r == 0)
        r = buf_error(&e->made);
    return r < 0 ? r : write_event(e, e->made.data, e->made.len);
}

static int events_open(struct events *e, int signal_fd, struct rein_error **reterr)
{
    e->live = live_new(TEXT_RAW, TEXT_ENC_AUTO, /* at_start= */ true);
    e->signal_fd = signal_fd;
    sink_open(&e->out, STDOUT_FILENO);
    return e->live ? 0 : rein_oom(reterr);
}

static void events_done(struct events *e)
{
    e->live = live_free(e->live);
    sink_close(&e->out);
    buf_done(&e->made);
}

/* ---- call --------------------------------------------------------------------------------- */

static int print_answer(json_t *take_answer, bool as_event, struct rein_error **reterr)
{
    size_t len;
    auto_free char *line =
        as_event ? live_exit_line(take_answer, &len) : json_line_take(take_answer, &len);

    return line ? print_text(line, len, reterr) : rein_oom(reterr);
}

static int call_with(const struct tool_context *context,
                     const char *name,
                     const struct buf *given,
                     bool with_events,
                     struct rein_error **reterr)
{
    struct events e = {0};
    struct tool_sink sink = {.started = tell_started, .output = tell_output, .userdata = &e};
    json_t *answer = NULL;
    int failed = with_events ? events_open(&e, context->stop_fd, reterr) : 0;
    int r;

    if (failed == 0)
        failed = tool_call_text(context, name, given->data ? given->data : "", given->len,
                                with_events ? &sink : NULL, &answer);
    if (with_events)
        events_done(&e);
    if (failed < 0)
        return rein_oom(reterr);
    r = print_answer(answer, with_events && !failed, reterr);
    return r < 0 ? r : failed ? CALL_FAILED : 0;
}

/* What cannot even be tried is an answer as well: callers read standard output. */
static int answer_failure(struct rein_error *take_error)
{
    print_error_json(take_error);
    rein_error_free(take_error);
    return CALL_FAILED;
}

/* Signals that come while a job of ours runs end that job; the answer then tells. */
static void watch_signals(const struct tool *tool, struct tool_context *context)
{
    if (!tool || !tool->starts_jobs)
        return;
    signals_hold();
    context->stop_fd = signals_open();
}

static int make_call(struct call *call, struct rein_error **reterr)
{
    struct gate_settings gate;
    struct tool_context context = {
        .detached = true,
        .stop_fd = -EBADF,
        .prelude = call->settings.prelude,
        .secrets = (const char *const *)call->settings.secrets,
        .env_keep = (const char *const *)call->settings.env_keep,
        .env_profile = call->settings.env_profile,
        .gate = &gate,
        .asker = terminal_asker(&context.stop_fd),
    };
    const char *name = operand_at(call, 1);
    auto_buf struct buf given = {0};
    struct rein_error *error = NULL;
    int r = take_arguments(operand_at(call, 2), &given, &error);

    if (r == 0)
        r = gate_settings_of(&call->settings, &gate, &error);
    if (r == 0)
        context.rein = rein_open(NULL, &error);
    if (!context.rein)
        return answer_failure(error);
    watch_signals(tool_find(name), &context);
    r = call_with(&context, name, &given, call->settings.format == FORMAT_JSONL, reterr);
    context.rein = rein_free(context.rein);
    context.stop_fd = close_fd(context.stop_fd);
    return r;
}

/* ---- verb --------------------------------------------------------------------------------- */

int verb_tool(struct call *call, struct rein_error **reterr)
{
    const char *what = operand_at(call, 0);

    if (what && strcmp(what, "list") == 0)
        return list(call, reterr);
    if (!what || strcmp(what, "call") != 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", USAGE_HINT, "tool: %s%s",
                              what ? what : "list or call is missing",
                              what ? ": neither list nor call" : "");
    if (!operand_at(call, 1))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", USAGE_HINT,
                              "tool call: the name of the tool is missing");
    if (operand_at(call, 3))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", USAGE_HINT,
                              "tool call: '%.80s' is one argument too many", operand_at(call, 3));
    return make_call(call, reterr);
}
