/* code_run: a piece of code in a fresh process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "code/code.h"
#include "fence.h"
#include "text/text.h"
#include "tool-call.h"
#include "wait.h"

#define FILES_MAX 1024 /* the supervisor removes them one by one */
#define BACKGROUND_HINT                                                                            \
    "set run_in_background: true, which has no timeout, and follow the run with wait_command or "  \
    "get_command_output"

const struct argument code_run_arguments[] = {
    {.name = "type",
     .aliases = {"language", "code_type"},
     .types = ARGUMENT_STRING,
     .fallback = "\"python\"",
     .help = "language of the code: python, bash, sh, node, perl, ruby or powershell"},
    {.name = "code",
     .aliases = {"script"},
     .types = ARGUMENT_STRING,
     .flags = ARGUMENT_TAKES_NUL,
     .help = "the code; print what you want to see"},
    {.name = "reply",
     .types = ARGUMENT_STRING,
     .flags = ARGUMENT_TAKES_NUL,
     .help = "without code: a text whose last fenced block of the language is the code"},
    {.name = "timeout",
     .types = ARGUMENT_NUMBER | ARGUMENT_NULL,
     .flags = ARGUMENT_LIMIT,
     .min = 0,
     .max = TIMEOUT_MAX_S,
     .fallback = "60",
     .help = "seconds until the run and all its processes are killed; at most 600; not in the "
             "background"},
    RUN_ARGUMENTS_COMMON,
    {.name = "files",
     .types = ARGUMENT_OBJECT,
     .schema = "{\"additionalProperties\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": "
               "\"object\", \"properties\": {\"base64\": {\"type\": \"string\"}}, \"required\": "
               "[\"base64\"]}]}}",
     .help = "files to lay beside the code: an object of relative names to text, or to "
             "{\"base64\": ...}; without cwd the run starts among them"},
    {.name = "max_output_size",
     .aliases = {"maxlen"},
     .types = ARGUMENT_INTEGER,
     .flags = ARGUMENT_LIMIT,
     .min = 1,
     .max = TEXT_LIMIT_MAX,
     .fallback = "10000",
     .help = "characters of output in the answer; of more, head and tail are shown and log_file "
             "has everything"},
    {.name = "inline_eval",
     .types = ARGUMENT_BOOLEAN,
     .flags = ARGUMENT_HIDDEN,
     .refusal = "code runs in a process of its own; leave inline_eval out",
     .help = "no effect"},
    {0},
};

/* A request, and what it borrows from. */
struct run {
    struct tool_call *call;
    struct job_request request;
    struct rein_code code;
    const struct language *language;
    struct buf block; /* of a reply */
    struct code_file *files;
    struct buf *decoded; /* one for each file */
    size_t n_files;
};

static void run_done(struct run *run)
{
    for (size_t i = 0; i < run->n_files; i++)
        buf_done(&run->decoded[i]);
    free(run->files);
    free(run->decoded);
    buf_done(&run->block);
    job_request_done(&run->request);
}

/* ---- the code ----------------------------------------------------------------------------- */

static int choose_language(struct run *run, struct rein_error **reterr)
{
    auto_error struct rein_error *error = NULL;
    const char *type = argument_string(&run->call->arguments, "type");

    if (language_require(type, &run->language, &error) < 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "language",
                              error->hint ? error->hint : "", "不支持的类型: %.80s", type);
    run->code.language = run->language->name;
    return 0;
}

static int choose_text(struct run *run, struct rein_error **reterr)
{
    const json_t *code = argument_get(&run->call->arguments, "code");
    const json_t *reply = argument_get(&run->call->arguments, "reply");

    if (json_string_length(code) > 0) {
        run->code.text = json_string_value(code);
        run->code.text_size = json_string_length(code);
        return 0;
    }
    if (reply && fence_find_last(json_string_value(reply), json_string_length(reply), run->language,
                                 &run->block)) {
        run->code.text = run->block.data ? run->block.data : "";
        run->code.text_size = run->block.len;
        return buf_error(&run->block) < 0 ? rein_oom(reterr) : 0;
    }
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "code",
                          reply ? "reply has no fenced block with the tag of the language"
                                : "give code, or reply with a fenced block of the language",
                          "[Error] Code missing. Must use reply code block or 'script' arg.");
}

/* ---- files -------------------------------------------------------------------------------- */

static int refuse_file(const char *name, json_t *value, struct rein_error **reterr)
{
    auto_free char *given = argument_show(value);

    return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                     "files: '%.80s' is %s; allowed is text, or an object with valid base64", name,
                     given ? given : "something else");
}

static int add_file(struct run *run, const char *name, json_t *value, struct rein_error **reterr)
{
    struct code_file *file = &run->files[run->n_files];
    struct buf *decoded = &run->decoded[run->n_files++];
    const json_t *base64 = json_object_get(value, "base64");

    file->name = name;
    if (json_is_string(value)) {
        file->data = json_string_value(value);
        file->size = json_string_length(value);
        return 0;
    }
    if (!json_is_string(base64) || json_object_size(value) != 1 ||
        base64_decode(json_string_value(base64), json_string_length(base64), decoded) < 0)
        return refuse_file(name, value, reterr);
    file->data = decoded->data ? decoded->data : "";
    file->size = decoded->len;
    return buf_error(decoded) < 0 ? rein_oom(reterr) : 0;
}

static int make_files(struct run *run, struct rein_error **reterr)
{
    json_t *files = json_object_get(run->call->arguments.given, "files");
    size_t n = json_object_size(files);
    const char *name;
    json_t *value;

    if (n > FILES_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "arguments",
                         "files: %zu were given; allowed are %d", n, FILES_MAX);
    run->files = calloc(n + 1, sizeof(*run->files));
    run->decoded = calloc(n + 1, sizeof(*run->decoded));
    if (!run->files || !run->decoded)
        return rein_oom(reterr);
    json_object_foreach(files, name, value)
    {
        int r = add_file(run, name, value, reterr);

        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- preparing ---------------------------------------------------------------------------- */

/* Above the ceiling nothing runs: a shorter time than asked for would be a surprise later. */
static int check_ceiling(const struct run *run, struct rein_error **reterr)
{
    int64_t ceiling_ns = run->call->context->code_timeout_max_ns;
    int64_t timeout_ns = run->request.spec.timeout_ns;

    if (ceiling_ns == 0)
        ceiling_ns = TOOL_CODE_TIMEOUT_MAX_S * NSEC_PER_SEC;
    if (run->request.in_background || (timeout_ns > 0 && timeout_ns <= ceiling_ns))
        return 0;
    return rein_fail_hint(reterr, -EINVAL, "limit_exceeded", "timeout", BACKGROUND_HINT,
                          "[ERROR] Timeout must be <= %.10g seconds; code not executed.",
                          (double)ceiling_ns / (double)NSEC_PER_SEC);
}

/* A file is for Python alone; the other languages do without. */
static const char *choose_prelude(const struct run *run)
{
    const char *prelude = run->call->context->prelude;

    if (!run->language || !run->language->prelude)
        return NULL;
    if (!prelude)
        return "";
    return strcmp(prelude, "none") == 0 ? NULL : prelude;
}

static int prepare(struct run *run, struct rein_error **reterr)
{
    int r = choose_language(run, reterr);

    run->code.size = sizeof(run->code);
    run->code.prelude = choose_prelude(run);
    if (r == 0)
        r = choose_text(run, reterr);
    if (r == 0)
        r = make_files(run, reterr);
    if (r == 0)
        r = job_request_make(run->call, &run->request, reterr);
    if (r == 0)
        r = check_ceiling(run, reterr);
    return r;
}

/* ---- the answer --------------------------------------------------------------------------- */

static const char *marker_of(const struct rein_result *result)
{
    switch (result->reason) {
    case REIN_REASON_TIMEOUT:
        return "[Timeout Error] 超时强制终止";
    case REIN_REASON_STOPPED:
        return "[Stopped] 用户强制终止";
    default:
        return NULL;
    }
}

static const char *hint_about_silence(const struct rein_result *result)
{
    if (result->running || result->output_bytes > 0)
        return NULL;
    if (result->reason == REIN_REASON_EXIT)
        return "the run wrote no output: print what you want to see";
    return "nothing was written before the end: what a program kept in its buffers is lost";
}

/* The result object with the names of this tool. */
static int rename_keys(json_t *answer, const struct rein_result *result, struct rein_error **reterr)
{
    const char *status = result->running ? "running" : result->success ? "success" : "error";
    json_t *output = json_incref(json_object_get(answer, "output"));
    const char *hint = hint_about_silence(result);
    int r = answer_set(answer, "status", json_string(status), reterr);

    (void)json_object_del(answer, "output");
    if (r < 0) {
        json_decref(output);
        return r;
    }
    r = answer_set(answer, "stdout", output, reterr);
    if (r == 0 && marker_of(result))
        r = answer_add_line(answer, "stdout", marker_of(result), reterr);
    if (r == 0 && hint)
        r = answer_set(answer, "hint", json_string(hint), reterr);
    return r;
}

static int make_background_answer(rein_job *job,
                                  struct rein_result *result,
                                  json_t **ret,
                                  struct rein_error **reterr)
{
    struct result_text nothing = {0};
    int r = job_look(job, result, reterr);

    if (r < 0)
        return r;
    if (result_text_empty(/* split= */ false, &nothing) < 0)
        return rein_oom(reterr);
    *ret = result_json(result, &nothing);
    result_text_done(&nothing);
    return *ret ? 0 : rein_oom(reterr);
}

static int finish(struct run *run, rein_job *job, json_t **ret, struct rein_error **reterr)
{
    struct rein_result result = {0};
    int r;

    if (run->request.in_background) {
        r = make_background_answer(job, &result, ret, reterr);
        if (r == 0)
            job_gate_expect_end(&run->call->gate, result.process_id);
    } else {
        r = call_follow(run->call, job, &result, reterr);
        if (r == 0)
            r = call_result(run->call, job, &result, ret, reterr);
    }
    if (r == 0)
        r = rename_keys(*ret, &result, reterr);
    rein_result_done(&result);
    return r;
}

/* ---- the tool ----------------------------------------------------------------------------- */

int code_run(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr)
{
    auto_(run_done) struct run run = {.call = call, .request = JOB_REQUEST_UNSET};
    struct code_files files;
    rein_job *job = NULL;
    int r = prepare(&run, reterr);

    if (r < 0)
        return r;
    files = (struct code_files){.list = run.files, .n = run.n_files};
    r = call_judge(call, &run.request, &run.code, &files, reterr);
    if (r == 0)
        r = code_start(call->context->rein, &run.code, &files, &run.request.spec, &job, reterr);
    if (r == 0)
        r = finish(&run, job, ret_answer, reterr);
    job = rein_job_free(job);
    return r;
}

int code_run_complete_error(json_t *error)
{
    return json_object_set_new(error, "status", json_string("error")) |
           json_object_set(error, "msg", json_object_get(error, "error")) |
           json_object_set_new(error, "stdout", json_string("")) |
           json_object_set_new(error, "exit_code", json_integer(-1));
}
