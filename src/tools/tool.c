/* The table of tools, and the way of a call through it. */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "base/suggest.h"
#include "tool-call.h"

/* ---- what comes out ----------------------------------------------------------------------- */

#define ERROR_BRANCH(more)                                                                         \
    "{\"properties\": {\"success\": {\"const\": false}, \"error\": {\"type\": \"string\"}, "       \
    "\"error_code\": {\"type\": \"string\"}, \"hint\": {\"type\": [\"string\", \"null\"]}}, "      \
    "\"required\": [\"success\", \"error\", \"error_code\", \"hint\"" more "]}"

#define OUTPUT(properties, required, error_more)                                                   \
    "{\"type\": \"object\", \"properties\": {" properties                                          \
    "}, \"anyOf\": [{\"required\": [" required "]}, " ERROR_BRANCH(error_more) "]}"

#define P_TEXT(name) "\"" name "\": {\"type\": \"string\"}"
#define P_TEXT_OR_NULL(name) "\"" name "\": {\"type\": [\"string\", \"null\"]}"
#define P_NUMBER(name) "\"" name "\": {\"type\": \"number\"}"
#define P_COUNT(name) "\"" name "\": {\"type\": \"integer\"}"
#define P_SUCCESS "\"success\": {\"type\": \"boolean\"}"
#define P_WARNINGS "\"warnings\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}"
#define P_STATUS(values) "\"status\": {\"enum\": [" values "]}"
#define P_EXIT_CODE                                                                                \
    "\"exit_code\": {\"type\": [\"integer\", \"null\"], \"description\": \"null while it runs; "   \
    "-N: ended by signal N\"}"
#define P_REASON                                                                                   \
    "\"reason\": {\"type\": [\"string\", \"null\"], \"description\": \"exit, signal, timeout, "    \
    "stopped, owner_gone, memory_limit, cpu_limit, file_size_limit, output_limit, lost\"}"
#define P_ENDING P_EXIT_CODE ", " P_REASON ", " P_TEXT_OR_NULL("signal")
#define P_HEAD P_SUCCESS ", " P_TEXT("process_id") ", " P_COUNT("pid") ", " P_ENDING
#define P_SIZES P_COUNT("output_bytes") ", " P_COUNT("omitted_bytes") ", " P_COUNT("cursor")
#define P_MIDDLE P_TEXT("stdout") ", " P_NUMBER("duration_ms") ", " P_SIZES
#define P_RESULT P_HEAD ", " P_MIDDLE ", " P_TEXT_OR_NULL("log_file") ", " P_WARNINGS

#define CODE_RUN_OUTPUT                                                                            \
    OUTPUT(P_RESULT ", " P_STATUS("\"success\", \"error\", \"running\"") ", " P_TEXT("hint"),      \
           "\"status\", \"stdout\", \"exit_code\"",                                                \
           ", \"status\", \"msg\", \"stdout\", \"exit_code\"")
#define EXECUTE_OUTPUT                                                                             \
    OUTPUT(P_RESULT ", " P_STATUS("\"exited\", \"running\"") ", " P_TEXT("stderr") ", " P_NUMBER(  \
               "execution_time"),                                                                  \
           "\"success\", \"process_id\", \"status\"",                                              \
           ", \"stdout\", \"stderr\", \"exit_code\", \"execution_time\"")
#define GET_OUTPUT                                                                                 \
    OUTPUT(P_RESULT                                                                                \
           ", " P_STATUS("\"exited\", \"running\"") ", " P_TEXT("output") ", " P_TEXT("stderr"),   \
           "\"success\", \"process_id\", \"status\", \"exit_code\", \"cursor\"", "")
#define STOP_OUTPUT                                                                                \
    OUTPUT(P_SUCCESS                                                                               \
           ", " P_TEXT("process_id") ", " P_STATUS("\"exited\", \"running\"") ", " P_ENDING        \
                                                                              ", " P_WARNINGS,     \
           "\"success\", \"process_id\", \"status\", \"exit_code\", \"signal\", \"reason\"", "")
#define LIST_OUTPUT                                                                                \
    OUTPUT(P_SUCCESS ", \"commands\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}",   \
           "\"success\", \"commands\"", "")
#define WAIT_OUTPUT                                                                                \
    OUTPUT(P_RESULT ", " P_STATUS("\"exited\", \"running\"") ", " P_TEXT("output") ", " P_TEXT(    \
               "stderr") ", \"matched\": {\"description\": \"the line or the port\"}, "            \
                         "\"results\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}}",  \
           "\"success\", \"matched\"", "")
#define SEND_OUTPUT OUTPUT(P_SUCCESS ", " P_TEXT("process_id"), "\"success\", \"process_id\"", "")

/* ---- the table ---------------------------------------------------------------------------- */

static const struct tool tools[] = {
    {.name = "code_run",
     .title = "Run code",
     .description =
         "Runs a piece of code in a fresh process and gives what it printed, both streams in "
         "order, as stdout. status is success only for exit code 0. Nothing is kept between runs.",
     .arguments = code_run_arguments,
     .output_schema = CODE_RUN_OUTPUT,
     .destructive = true,
     .open_world = true,
     .starts_jobs = true,
     .run = code_run,
     .complete_error = code_run_complete_error},
    {.name = "execute_command",
     .title = "Execute a command",
     .description =
         "Runs a command without a shell and gives stdout, stderr and exit_code. With "
         "run_in_background it answers at once: use that for servers, watchers and long test "
         "suites, follow with get_command_output or wait_command, and end each with stop_command. "
         "The exit code decides, whatever the text looks like.",
     .arguments = execute_command_arguments,
     .output_schema = EXECUTE_OUTPUT,
     .destructive = true,
     .open_world = true,
     .starts_jobs = true,
     .run = execute_command,
     .complete_error = execute_command_complete_error},
    {.name = "get_command_output",
     .title = "Output of a background command",
     .description =
         "Shows the end of what a background command wrote, or what came since a cursor. Ask for "
         "few lines; look at status and exit_code. To wait for the end use wait_command instead "
         "of asking again and again.",
     .arguments = get_command_output_arguments,
     .output_schema = GET_OUTPUT,
     .read_only = true,
     .idempotent = true,
     .run = get_command_output},
    {.name = "stop_command",
     .title = "Stop a background command",
     .description = "Ends a background command with all its processes: SIGTERM, then SIGKILL. "
                    "success says that nothing of it is alive.",
     .arguments = stop_command_arguments,
     .output_schema = STOP_OUTPUT,
     .destructive = true,
     .idempotent = true,
     .run = stop_command},
    {.name = "list_commands",
     .title = "List background commands",
     .description = "Lists background commands, the oldest first.",
     .arguments = list_commands_arguments,
     .output_schema = LIST_OUTPUT,
     .read_only = true,
     .idempotent = true,
     .run = list_commands},
    {.name = "wait_command",
     .title = "Wait for background commands",
     .description =
         "Waits until background commands end, write a line, or listen on a port. When the time "
         "runs out the answer is an error with error_code timeout, and the commands go on.",
     .arguments = wait_command_arguments,
     .output_schema = WAIT_OUTPUT,
     .read_only = true,
     .idempotent = true,
     .run = wait_command},
    {.name = "send_input",
     .title = "Send input to a background command",
     .description = "Writes to the standard input of a background command that was started with "
                    "stdin: true, ends that input, or sends a signal to any.",
     .arguments = send_input_arguments,
     .output_schema = SEND_OUTPUT,
     .destructive = true,
     .open_world = true,
     .run = send_input},
};

const struct tool *tool_table(size_t *ret_count)
{
    *ret_count = ARRAY_SIZE(tools);
    return tools;
}

const struct tool *tool_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

json_t *tool_describe(const struct tool *tool)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:b, s:b, s:b, s:b}}", "name", tool->name,
                     "title", tool->title, "description", tool->description, "inputSchema",
                     arguments_schema(tool->arguments), "outputSchema",
                     json_loads(tool->output_schema, 0, NULL), "annotations", "readOnlyHint",
                     tool->read_only, "destructiveHint", tool->destructive, "idempotentHint",
                     tool->idempotent, "openWorldHint", tool->open_world);
}

/* ---- answers ------------------------------------------------------------------------------ */

int answer_set(json_t *answer, const char *key, json_t *take_value, struct rein_error **reterr)
{
    return json_object_set_new(answer, key, take_value) < 0 ? rein_oom(reterr) : 0;
}

struct patience call_patience(const struct tool_call *call)
{
    const struct tool_context *c = call->context;

    return (struct patience){.stop_fd = c->stop_fd,
                             .look = c->look,
                             .look_ms = c->look_ms,
                             .userdata = c->look_userdata};
}

int call_warn(struct tool_call *call, const char *format, ...)
{
    char *warning = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&warning, format, ap);
    va_end(ap);
    return r < 0 ? -ENOMEM : strv_add_take(&call->warnings, warning);
}

int call_add_warnings(const struct tool_call *call, json_t *answer, struct rein_error **reterr)
{
    json_t *warnings = json_object_get(answer, "warnings");

    for (char *const *w = call->warnings; warnings && w && *w; w++)
        if (json_array_append_new(warnings, json_text(*w)) < 0)
            return rein_oom(reterr);
    return 0;
}

static json_t *make_error(const struct tool *tool, const struct rein_error *error)
{
    json_t *answer = error_json(error);

    if (answer && tool && tool->complete_error && tool->complete_error(answer) != 0) {
        json_decref(answer);
        return NULL;
    }
    return answer;
}

static int refuse_tool(const char *name, struct rein_error **reterr)
{
    struct suggestion near = {.typed = name, .typed_len = strlen(name)};
    auto_buf struct buf hint = {0};

    for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
        suggest_consider(&near, tools[i].name);
    if (near.best)
        buf_add_format(&hint, "did you mean %s? ", near.best);
    buf_add_str(&hint, "The tools are");
    for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
        buf_add_format(&hint, "%s %s", i ? "," : "", tools[i].name);
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "tool", buf_error(&hint) ? "" : hint.data,
                          "%.80s: there is no such tool", name);
}

/* ---- the call ----------------------------------------------------------------------------- */

static int run(struct tool_call *call, json_t *arguments, json_t **ret, struct rein_error **reterr)
{
    json_t *answer = NULL;
    int r = job_gate_open(&call->gate, call->context->rein, call->tool->name, call->context->gate,
                          &call->context->asker, reterr);

    if (r == 0)
        r = arguments_check(call->tool->arguments, arguments, &call->arguments, reterr);
    if (r == 0 && !call->tool->starts_jobs)
        r = job_gate_judge_call(&call->gate, call->arguments.given, call->context->session, reterr);
    if (r == 0)
        r = call->tool->run(call, &answer, reterr);
    if (r == 0 && call->gate.pass.warning && call_warn(call, "%s", call->gate.pass.warning) < 0)
        r = rein_oom(reterr);
    if (r == 0)
        r = call_add_warnings(call, answer, reterr);
    if (r < 0) {
        json_decref(answer);
        return r;
    }
    *ret = answer;
    return 0;
}

/* Who has to approve a call is told by which name. */
static int answer_error(const struct tool_call *call, const struct rein_error *error, json_t **ret)
{
    const char *id = call->gate.pass.approval_id;

    *ret = make_error(call->tool, error);
    if (*ret && id[0] && json_object_set_new(*ret, "approval_id", json_string(id)) < 0) {
        json_decref(*ret);
        *ret = NULL;
    }
    return *ret ? 1 : -ENOMEM;
}

static void call_done(struct tool_call *call)
{
    arguments_done(&call->arguments);
    job_gate_done(&call->gate);
    call->warnings = strv_free(call->warnings);
}

int tool_call(const struct tool_context *context,
              const char *name,
              json_t *arguments,
              const struct tool_sink *sink,
              json_t **ret_answer)
{
    struct tool_call call = {.tool = tool_find(name), .context = context, .sink = sink};
    auto_error struct rein_error *error = NULL;
    int r;

    if (!call.tool)
        r = refuse_tool(name, &error);
    else
        r = run(&call, arguments, ret_answer, &error);
    if (r < 0 && error)
        job_gate_note_refusal(&call.gate, error);
    r = r < 0 ? answer_error(&call, error, ret_answer) : 0;
    call_done(&call);
    return r;
}

int tool_call_text(const struct tool_context *context,
                   const char *name,
                   const char *given,
                   size_t len,
                   const struct tool_sink *sink,
                   json_t **ret_answer)
{
    auto_error struct rein_error *error = NULL;
    json_t *arguments = NULL;
    int r;

    if (tool_find(name) && arguments_parse(given, len, &arguments, &error) < 0)
        return answer_error(&(struct tool_call){.tool = tool_find(name)}, error, ret_answer);
    r = tool_call(context, name, arguments, sink, ret_answer);
    json_decref(arguments);
    return r;
}
