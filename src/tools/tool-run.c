/* What the tools that start jobs have in common: the spec, the way to the end, the result. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/strv.h"
#include "job/spec-env.h"
#include "policy/word-split.h"
#include "tool-call.h"
#include "wait.h"

#define READ_CHUNK (64u << 10)

const char *const sandbox_levels[] = {"off", "workspace", "strict", NULL};

/* ---- the request -------------------------------------------------------------------------- */

static int check_isolation(const struct arguments *a, struct rein_error **reterr)
{
    static const struct {
        const char *name, *as_now;
    } rows[] = {{"sandbox", "off"}, {"net", "host"}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *given = argument_string(a, rows[i].name);

        if (given && strcmp(given, rows[i].as_now) != 0)
            return rein_fail(reterr, -ENOTSUP, "bad_request", "arguments",
                             "%s: '%.80s' was given: not supported by this version; allowed is "
                             "'%s'",
                             rows[i].name, given, rows[i].as_now);
    }
    return 0;
}

static int add_variable(char ***env, const char *name, json_t *value, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)) {
        auto_free char *given = argument_show(value);

        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "env: %.80s is %s; allowed is a string without NUL characters", name,
                         given ? given : "something else");
    }
    if (name[0] == '\0' || strchr(name, '='))
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments",
                         "env: '%.80s' was given; allowed are names that are not empty and have "
                         "no '='",
                         name);
    buf_add_format(&b, "%s=", name);
    buf_add(&b, json_string_value(value), json_string_length(value));
    return strv_add_take(env, buf_take(&b)) < 0 ? rein_oom(reterr) : 0;
}

static int make_env(const struct arguments *a, char ***ret, struct rein_error **reterr)
{
    json_t *env = json_object_get(a->given, "env");
    const char *name;
    json_t *value;

    json_object_foreach(env, name, value)
    {
        int r = add_variable(ret, name, value, reterr);

        if (r < 0)
            return r;
    }
    return 0;
}

static int
make_cwd(const struct arguments *a, struct job_request *request, struct rein_error **reterr)
{
    const char *given = argument_string(a, "cwd");
    auto_strv char **env = NULL;
    int r;

    if (!given)
        return 0;
    r = spec_environment(&request->spec, &env, reterr);
    if (r < 0)
        return r;
    request->cwd = path_expand(given, (const char *const *)env);
    request->spec.cwd = request->cwd;
    return request->cwd ? 0 : rein_oom(reterr);
}

/* In a file without a name, so that the text can be of any size and nobody has to write it. */
static int
make_input(struct job_request *request, const char *input, size_t len, struct rein_error **reterr)
{
    int r;

    request->stdin_fd = memfd_create("rein-stdin", MFD_CLOEXEC);
    r = request->stdin_fd < 0 ? -errno : io_pwrite_all(request->stdin_fd, input, len, 0);
    if (r < 0)
        return rein_fail(reterr, r, "spawn_failed", "stdin", "cannot keep the input for stdin: %s",
                         strerror(-r));
    request->spec.stdin_kind = REIN_STDIN_FD;
    request->spec.stdin_fd = request->stdin_fd;
    request->input = input;
    request->input_size = len;
    return 0;
}

static int
make_stdin(const struct arguments *a, struct job_request *request, struct rein_error **reterr)
{
    const json_t *given = argument_get(a, "stdin");

    if (json_is_string(given))
        return make_input(request, json_string_value(given), json_string_length(given), reterr);
    if (!json_is_true(given))
        return 0;
    if (!request->in_background)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "arguments",
                              "give the whole input as text, or set run_in_background",
                              "stdin: true was given; allowed in the foreground is a string, for "
                              "nobody could send input meanwhile");
    request->spec.stdin_kind = REIN_STDIN_PIPE;
    return 0;
}

static int
make_timeout(struct tool_call *call, struct job_request *request, struct rein_error **reterr)
{
    const struct arguments *a = &call->arguments;
    auto_free char *given = NULL;

    if (!request->in_background) {
        request->spec.timeout_ns = MAX(argument_duration(a, "timeout"), INT64_C(0));
        return 0;
    }
    if (!argument_is_given(a, "timeout") || !argument_get(a, "timeout"))
        return 0;
    given = argument_show(argument_get(a, "timeout"));
    if (!given || call_warn(call,
                            "timeout: %s was given, and is ignored in the background: the job "
                            "runs until it ends or is stopped",
                            given) < 0)
        return rein_oom(reterr);
    return 0;
}

int job_request_make(struct tool_call *call, struct job_request *ret, struct rein_error **reterr)
{
    const struct arguments *a = &call->arguments;
    int r;

    ret->in_background = argument_is_true(a, "run_in_background");
    ret->spec = (struct rein_spec){.size = sizeof(ret->spec),
                                   .env_profile = call->context->env_profile,
                                   .env_keep = call->context->env_keep,
                                   .secrets = call->context->secrets};
    if (ret->in_background) {
        ret->spec.flags = REIN_SPEC_BACKGROUND;
        ret->spec.session = call->context->session;
        if (call->context->detached)
            ret->spec.flags |= REIN_SPEC_DETACHED;
        else
            ret->spec.owner_pid = getpid(); /* so that it outlives its handle, not this process */
    } else if (call->sink) {
        ret->spec.flags = REIN_SPEC_PACED;
    }
    r = check_isolation(a, reterr);
    if (r == 0)
        r = make_env(a, &ret->env, reterr);
    ret->spec.env = (const char *const *)ret->env;
    if (r == 0)
        r = make_cwd(a, ret, reterr);
    if (r == 0)
        r = make_stdin(a, ret, reterr);
    if (r == 0)
        r = make_timeout(call, ret, reterr);
    return r;
}

void job_request_done(struct job_request *request)
{
    request->env = strv_free(request->env);
    free(request->cwd);
    request->cwd = NULL;
    request->stdin_fd = close_fd(request->stdin_fd);
}

int call_judge(struct tool_call *call,
               const struct job_request *request,
               const struct rein_code *code,
               const struct code_files *files,
               struct rein_error **reterr)
{
    struct job_intent intent = {
        .spec = &request->spec,
        .code = code,
        .files = files,
        .input = request->input,
        .input_size = request->input_size,
        .allow_dangerous = !code && argument_is_true(&call->arguments, "allow_dangerous"),
    };

    return job_gate_judge(&call->gate, &intent, reterr);
}

/* ---- to the end --------------------------------------------------------------------------- */

struct following {
    struct tool_call *call;
    rein_job *job;
    struct patience patience;
    char *chunk;
    bool output_ended, nobody_listens;
};

/* Tells the sink. Who does not want to hear any more wants no job. */
static void tell(struct following *f, size_t size, const struct rein_piece *piece)
{
    const struct tool_sink *sink = f->call->sink;

    if (f->nobody_listens || !sink->output ||
        sink->output(sink->userdata, f->chunk, size, piece) >= 0)
        return;
    f->nobody_listens = true;
    (void)rein_stop(f->job, 0);
}

static void tell_ends(struct following *f)
{
    static const int streams[] = {REIN_STREAM_STDOUT, REIN_STREAM_STDERR};

    for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
        tell(f, 0, &(struct rein_piece){.stream = streams[i]});
    f->output_ended = true;
}

/* Passes on one piece. 1: there may be more; 0: not now; or a negative errno. */
static int pass_piece(struct following *f)
{
    struct rein_piece piece = {0};
    ssize_t n = rein_read(f->job, f->chunk, READ_CHUNK, 0, &piece);

    if (n == -EAGAIN)
        return 0;
    if (n < 0)
        return (int)n;
    if (n == 0)
        tell_ends(f);
    else
        tell(f, (size_t)n, &piece);
    return 1;
}

/* Waits for news of the job or of the caller. */
static int await_news(struct following *f, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = rein_job_fd(f->job), .events = POLLIN}};
    int r = patience_poll(&f->patience, fds, 1, timeout_ms);

    if (r <= 0)
        return r;
    f->patience = PATIENCE_ENDLESS; /* it is asked for its end once */
    (void)rein_stop(f->job, -1);
    return 0;
}

static int look(rein_job *job, struct rein_result *ret)
{
    rein_result_done(ret);
    ret->size = sizeof(*ret);
    return rein_wait(job, 0, ret);
}

static int follow(struct following *f, struct rein_result *ret)
{
    for (;;) {
        int r = f->output_ended ? 0 : pass_piece(f);
        bool more = r > 0 && !f->output_ended;

        if (r >= 0 && f->output_ended)
            r = look(f->job, ret);
        if (r < 0 && r != -EAGAIN)
            return r;
        if (r == 0 && f->output_ended)
            return 0;
        r = await_news(f, more ? 0 : -1);
        if (r < 0)
            return r;
    }
}

int call_follow(struct tool_call *call,
                rein_job *job,
                struct rein_result *ret,
                struct rein_error **reterr)
{
    const struct tool_sink *sink = call->sink;
    struct following f = {
        .call = call, .job = job, .patience = call_patience(call), .output_ended = !sink};
    int r = 0;

    if (sink) {
        f.chunk = malloc(READ_CHUNK);
        if (!f.chunk)
            return rein_oom(reterr);
        f.nobody_listens = sink->started && sink->started(sink->userdata, job) < 0;
        if (f.nobody_listens)
            (void)rein_stop(job, 0);
    }
    r = follow(&f, ret);
    free(f.chunk);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "follow", "cannot follow the job: %s",
                         strerror(-r));
    job_gate_note_end(&call->gate, ret);
    return 0;
}

/* ---- the answer --------------------------------------------------------------------------- */

/* Where a stream of which only a part is shown can be read whole: the log has both. */
static int name_artifacts(json_t *answer,
                          const struct rein_result *result,
                          const struct result_text *shown,
                          struct rein_error **reterr)
{
    static const char *const keys[] = {"stdout_artifact", "stderr_artifact"};
    int r = 0;

    if (!result->split || !result->log_file)
        return 0;
    for (size_t i = 0; r == 0 && i < MIN(shown->n_streams, ARRAY_SIZE(keys)); i++)
        if (shown->streams[i].omitted_bytes > 0)
            r = answer_set(answer, keys[i], json_text(result->log_file), reterr);
    return r;
}

int call_result(struct tool_call *call,
                rein_job *job,
                struct rein_result *result,
                json_t **ret,
                struct rein_error **reterr)
{
    struct result_source source = result_source_of_job(job);
    struct result_view view = {.in_chars = true, .split = result->split};
    struct result_text shown = {0};
    json_t *answer;
    int r;

    view.limit = argument_count(&call->arguments, "max_output_size");
    if (view.split) /* of a stream; the view's is of both */
        view.limit *= 2;
    r = result_text_read(&source, &view, result, &shown, reterr);
    if (r < 0)
        return r;
    answer = result_json(result, &shown);
    r = answer ? name_artifacts(answer, result, &shown, reterr) : rein_oom(reterr);
    result_text_done(&shown);
    if (r < 0) {
        json_decref(answer);
        return r;
    }
    *ret = answer;
    return 0;
}

int answer_add_line(json_t *answer, const char *key, const char *line, struct rein_error **reterr)
{
    const json_t *before = json_object_get(answer, key);
    size_t len = json_string_length(before);
    auto_buf struct buf b = {0};

    buf_add(&b, json_string_value(before), len);
    if (len > 0 && b.data && b.data[len - 1] != '\n')
        buf_add_char(&b, '\n');
    buf_add_str(&b, line);
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return answer_set(answer, key, json_stringn(b.data, b.len), reterr);
}
