/* The result object of a job for users of the library, who hold the job and no JSON library. */
#include <errno.h>

#include "base/error.h"
#include "base/macro.h"
#include "output-query.h"
#include "regex.h"
#include "text/text.h"
#include "wait.h"

static int refuse(struct rein_error **reterr, const char *what)
{
    return rein_fail(reterr, -EINVAL, "bad_request", "arguments", "%s", what);
}

static int check(const struct rein_view *v, struct rein_error **reterr)
{
    static const unsigned known = REIN_VIEW_SINCE | REIN_VIEW_CHARS;

    if (v->size < sizeof(*v))
        return refuse(reterr, "view->size is not set to its size");
    if (v->flags & ~known)
        return refuse(reterr, "view->flags has bits without a meaning");
    if (v->render < 0 || v->render >= TEXT_RENDER_MAX)
        return refuse(reterr, "view->render is no way of rendering");
    if (v->since > INT64_MAX)
        return refuse(reterr, "view->since is no place in an output");
    return 0;
}

static struct output_query make_query(const struct rein_view *v, const struct regex *grep)
{
    static const int renders[] = {[REIN_RENDER_CLEAN] = TEXT_CLEAN,
                                  [REIN_RENDER_PLAIN] = TEXT_PLAIN,
                                  [REIN_RENDER_RAW] = TEXT_RAW};
    uint64_t limit = v->limit == REIN_LIMIT_NONE ? 0 : v->limit ? v->limit : RESULT_SHOW_DEFAULT;

    return (struct output_query){
        .view = {.render = renders[v->render],
                 .limit = limit,
                 .in_chars = (v->flags & REIN_VIEW_CHARS) != 0},
        .lines = v->lines,
        .has_since = (v->flags & REIN_VIEW_SINCE) != 0,
        .since = v->since,
        .grep = grep,
    };
}

/* Head and tail of everything; what is cut is kept on the disk, so that it can be read there. */
static bool wants_everything(const struct output_query *q)
{
    return q->lines == 0 && !q->has_since && !q->grep;
}

static int read_text(rein_job *job,
                     const struct output_query *q,
                     struct rein_result *result,
                     struct result_text *ret,
                     struct rein_error **reterr)
{
    struct result_source source = result_source_of_job(job);
    struct result_view view = q->view;
    int r = job_look(job, result, reterr);

    if (r < 0)
        return r;
    view.split = result->split;
    if (r == 0 && wants_everything(q))
        return result_text_read(&source, &view, result, ret, reterr);
    return output_query_read(&source, q, result, ret, NULL, reterr);
}

static int
answer(rein_job *job, const struct output_query *q, char **ret, struct rein_error **reterr)
{
    struct rein_result result = {0};
    struct result_text shown = {0};
    char *line = NULL;
    size_t len;
    int r = read_text(job, q, &result, &shown, reterr);

    if (r >= 0)
        line = json_line_take(result_json(&result, &shown), &len);
    result_text_done(&shown);
    rein_result_done(&result);
    if (r < 0)
        return r;
    if (!line)
        return rein_oom(reterr);
    line[len - 1] = '\0';
    *ret = line;
    return 0;
}

int rein_job_json(rein_job *job,
                  const struct rein_view *view,
                  char **ret_json,
                  struct rein_error **reterr)
{
    static const struct rein_view defaults = {.size = sizeof(defaults)};
    const struct rein_view *v = view ? view : &defaults;
    struct output_query query;
    struct regex *grep = NULL;
    int r;

    if (!job || !ret_json)
        return refuse(reterr, "a pointer is NULL");
    r = check(v, reterr);
    if (r == 0 && v->grep)
        r = regex_new(v->grep, &grep, reterr);
    if (r < 0)
        return r;
    query = make_query(v, grep);
    r = answer(job, &query, ret_json, reterr);
    grep = regex_free(grep);
    return r;
}
