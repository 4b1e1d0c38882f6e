/* execute_command: a command, as words or for bash. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "job/spec-env.h"
#include "policy/word-split.h"
#include "text/text.h"
#include "tool-call.h"
#include "wait.h"

#define MARKER_SIZE 64
#define OUTPUT_SIZE_MAX (TEXT_LIMIT_MAX * 0.5) /* of each of two streams */
#define ERROR_PREFIX "Error executing command: "

const struct argument execute_command_arguments[] = {
    {.name = "command",
     .types = ARGUMENT_STRING | ARGUMENT_STRINGS,
     .flags = ARGUMENT_REQUIRED,
     .help = "a string is split into words as a shell would, with ~ and $NAME replaced outside "
             "single quotes, and run without a shell: pipes, redirections and chains are refused; "
             "an array is taken as it is"},
    {.name = "timeout",
     .types = ARGUMENT_NUMBER | ARGUMENT_NULL,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = TIMEOUT_MAX_S,
     .fallback = "30",
     .help = "seconds until the command and all its processes are killed; 0 or null: no limit; "
             "not in the background"},
    RUN_ARGUMENTS_COMMON,
    {.name = "shell",
     .types = ARGUMENT_BOOLEAN,
     .fallback = "false",
     .help = "true: command is a string for bash -c, with pipes, redirections and all the rest"},
    {.name = "allow_dangerous",
     .types = ARGUMENT_BOOLEAN,
     .fallback = "false",
     .help = "true: the command may be one that is refused as dangerous otherwise"},
    {.name = "max_output_size",
     .types = ARGUMENT_INTEGER,
     .flags = ARGUMENT_LIMIT,
     .min = 1,
     .max = OUTPUT_SIZE_MAX,
     .fallback = "10000",
     .help = "characters of stdout and of stderr in the answer; of more, head and tail are shown "
             "and log_file has everything"},
    {.name = "spill", .types = ARGUMENT_BOOLEAN, .flags = ARGUMENT_HIDDEN, .help = "no effect"},
    {.name = "spill_dir", .types = ARGUMENT_STRING, .flags = ARGUMENT_HIDDEN, .help = "no effect"},
    {0},
};

/* ---- the command -------------------------------------------------------------------------- */

static int take_array(const json_t *array, char ***ret, struct rein_error **reterr)
{
    size_t n = json_array_size(array);

    if (n == 0)
        return rein_fail(reterr, -EINVAL, "bad_request", "command", "Empty command");
    *ret = calloc(n + 1, sizeof(**ret));
    for (size_t i = 0; i < n; i++)
        if (!*ret || str_copy(&(*ret)[i], json_string_value(json_array_get(array, i))) < 0)
            return rein_oom(reterr);
    return 0;
}

static int split_string(const char *command,
                        const struct rein_spec *spec,
                        char ***ret,
                        struct rein_error **reterr)
{
    auto_strv char **env = NULL;
    int r = spec_environment(spec, &env, reterr);

    return r < 0 ? r : words_split(command, (const char *const *)env, ret, reterr);
}

static int take_script(const char *script, char ***ret, struct rein_error **reterr)
{
    if (script[strspn(script, " \t\r\n")] == '\0')
        return rein_fail(reterr, -EINVAL, "bad_request", "command", "Empty command");
    return strv_add(ret, script) < 0 ? rein_oom(reterr) : 0;
}

static int make_argv(const struct arguments *a,
                     struct rein_spec *spec,
                     char ***ret,
                     struct rein_error **reterr)
{
    const json_t *command = argument_get(a, "command");

    if (argument_is_true(a, "shell")) {
        if (!json_is_string(command))
            return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                             "command: an array was given; allowed with shell: true is a string");
        spec->flags |= REIN_SPEC_SHELL;
        return take_script(json_string_value(command), ret, reterr);
    }
    if (json_is_array(command))
        return take_array(command, ret, reterr);
    return split_string(json_string_value(command), spec, ret, reterr);
}

/* ---- the answer --------------------------------------------------------------------------- */

static int make_background_answer(struct tool_call *call,
                                  rein_job *job,
                                  json_t **ret,
                                  struct rein_error **reterr)
{
    struct rein_result result = {0};
    json_t *answer;
    int r = job_look(job, &result, reterr);

    if (r < 0)
        return r;
    job_gate_expect_end(&call->gate, result.process_id);
    answer = json_pack("{s:b, s:s, s:I, s:s, s:o, s:[]}", "success", 1, "process_id",
                       result.process_id, "pid", (json_int_t)result.pid, "status", "running",
                       "log_file", json_text(result.log_file), "warnings");
    for (char *const *w = result.warnings; answer && w && *w; w++)
        (void)json_array_append_new(json_object_get(answer, "warnings"), json_text(*w));
    rein_result_done(&result);
    if (!answer)
        return rein_oom(reterr);
    *ret = answer;
    return 0;
}

static int add_marker(const struct tool_call *call, json_t *answer, struct rein_error **reterr)
{
    char marker[MARKER_SIZE];

    (void)snprintf(marker, sizeof(marker), "Command timed out after %.10g seconds",
                   json_number_value(argument_get(&call->arguments, "timeout")));
    return answer_add_line(answer, "stderr", marker, reterr);
}

static int make_answer(struct tool_call *call,
                       rein_job *job,
                       struct rein_result *result,
                       json_t **ret,
                       struct rein_error **reterr)
{
    int r = call_result(call, job, result, ret, reterr);
    int64_t microseconds = result->duration_ns / NSEC_PER_USEC;

    if (r == 0)
        r = answer_set(*ret, "execution_time", json_real((double)microseconds / 1e6), reterr);
    if (r == 0 && result->reason == REIN_REASON_TIMEOUT)
        r = add_marker(call, *ret, reterr);
    return r;
}

static int finish(struct tool_call *call, rein_job *job, json_t **ret, struct rein_error **reterr)
{
    struct rein_result result = {0};
    int r = call_follow(call, job, &result, reterr);

    if (r == 0)
        r = make_answer(call, job, &result, ret, reterr);
    rein_result_done(&result);
    return r;
}

/* ---- the tool ----------------------------------------------------------------------------- */

static int warn_of_spill_dir(struct tool_call *call, struct rein_error **reterr)
{
    if (argument_string(&call->arguments, "spill_dir") &&
        call_warn(call, "spill_dir: not used; log_file names where the whole output is") < 0)
        return rein_oom(reterr);
    return 0;
}

int execute_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    auto_(job_request_done) struct job_request request = JOB_REQUEST_UNSET;
    auto_strv char **argv = NULL;
    rein_job *job = NULL;
    int r = job_request_make(call, &request, reterr);

    if (r == 0)
        r = make_argv(&call->arguments, &request.spec, &argv, reterr);
    if (r == 0)
        r = warn_of_spill_dir(call, reterr);
    if (r < 0)
        return r;
    request.spec.argv = (const char *const *)argv;
    if (!request.in_background)
        request.spec.flags |= REIN_SPEC_SPLIT;
    r = call_judge(call, &request, NULL, NULL, reterr); /* all is known, nothing has happened */
    if (r == 0)
        r = rein_start(call->context->rein, &request.spec, &job, reterr);
    if (r == 0)
        r = request.in_background ? make_background_answer(call, job, ret_answer, reterr)
                                  : finish(call, job, ret_answer, reterr);
    job = rein_job_free(job);
    return r;
}

int execute_command_complete_error(json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "error"));
    auto_buf struct buf b = {0};

    buf_add_format(&b, ERROR_PREFIX "%s", message ? message : "");
    if (buf_error(&b) < 0)
        return -ENOMEM;
    return json_object_set_new(error, "stdout", json_string("")) |
           json_object_set_new(error, "stderr", json_string(b.data)) |
           json_object_set_new(error, "exit_code", json_integer(-1)) |
           json_object_set_new(error, "execution_time", json_integer(0));
}
