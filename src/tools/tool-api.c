/* The tools as the public header has them: text in, text out. What they do is not known here. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "result-json.h"
#include "tool.h"

static int refuse(struct rein_error **reterr, const char *what)
{
    return rein_fail(reterr, -EINVAL, "bad_request", "arguments", "%s", what);
}

static struct tool_context make_context(rein *r, const struct rein_tool_options *o)
{
    return (struct tool_context){
        .rein = r,
        .session = o->session,
        .detached = (o->flags & REIN_TOOL_DETACHED) != 0,
        .stop_fd = o->flags & REIN_TOOL_STOP_FD ? o->stop_fd : -EBADF,
        .code_timeout_max_ns = o->code_timeout_max_ns,
        .prelude = o->prelude,
        .asker = {.ask = o->approve, .userdata = o->userdata},
        .look = o->look,
        .look_ms = o->look_ms,
        .look_userdata = o->userdata,
        .env_profile = o->env_profile,
        .env_keep = o->env_keep,
        .secrets = o->secrets,
    };
}

static int check(const struct rein_tool_options *o, struct rein_error **reterr)
{
    static const unsigned known = REIN_TOOL_DETACHED | REIN_TOOL_STOP_FD;

    if (o->size < sizeof(*o))
        return refuse(reterr, "options->size is not set to its size");
    if (o->flags & ~known)
        return refuse(reterr, "options->flags has bits without a meaning");
    if (o->code_timeout_max_ns < 0)
        return refuse(reterr, "options->code_timeout_max_ns is negative");
    if (o->look_ms < 0)
        return refuse(reterr, "options->look_ms is negative");
    return 0;
}

/* As one line without its end. */
static int give_text(json_t *take_value, char **ret, struct rein_error **reterr)
{
    size_t len;
    char *line = json_line_take(take_value, &len);

    if (!line)
        return rein_oom(reterr);
    line[len - 1] = '\0';
    *ret = line;
    return 0;
}

int rein_tool_call(rein *r,
                   const char *name,
                   const char *arguments,
                   size_t len,
                   const struct rein_tool_options *options,
                   char **ret_answer,
                   struct rein_error **reterr)
{
    static const struct rein_tool_options defaults = {.size = sizeof(defaults)};
    const struct rein_tool_options *o = options ? options : &defaults;
    struct tool_sink listener = {o->started, o->output, o->userdata};
    const struct tool_sink *sink = o->started || o->output ? &listener : NULL;
    struct tool_context context;
    json_t *answer = NULL;
    int failed, err;

    if (!r || !name || !ret_answer || (!arguments && len > 0))
        return refuse(reterr, "a pointer is NULL");
    err = check(o, reterr);
    if (err < 0)
        return err;
    context = make_context(r, o);
    if (len == 0)
        failed = tool_call(&context, name, NULL, sink, &answer);
    else
        failed = tool_call_text(&context, name, arguments, len, sink, &answer);
    if (failed < 0)
        return rein_oom(reterr);
    err = give_text(answer, ret_answer, reterr);
    return err < 0 ? err : failed;
}

int rein_tool_list(char **ret_json, struct rein_error **reterr)
{
    json_t *all = json_array();
    size_t n;
    const struct tool *tools = tool_table(&n);

    if (!ret_json) {
        json_decref(all);
        return refuse(reterr, "ret_json is NULL");
    }
    for (size_t i = 0; all && i < n; i++) {
        if (json_array_append_new(all, tool_describe(&tools[i])) < 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return give_text(all, ret_json, reterr);
}

char *rein_text_free(char *line)
{
    free(line);
    return NULL;
}
