/* rein wait: until jobs end, print a line, or listen on a port. */
#include "tools/wait.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "jobs.h"
#include "print.h"
#include "tools/output-query.h"
#include "visible.h"

struct waiting {
    const struct settings *settings;
    struct jobs jobs;
    struct wait_goal goal;
    struct waiter **waiters; /* one for each job */
};

/* ---- preparing ---------------------------------------------------------------------------- */

static int waiting_open(struct waiting *w, const struct call *call, struct rein_error **reterr)
{
    int r = jobs_open(call, 0, &w->jobs, reterr);

    if (r < 0)
        return r;
    w->waiters = calloc(w->jobs.n + 1, sizeof(struct waiter *));
    if (!w->waiters)
        return rein_oom(reterr);
    for (size_t i = 0; r == 0 && i < w->jobs.n; i++)
        r = waiter_new(w->jobs.list[i], &w->goal, w->settings->since, &w->waiters[i], reterr);
    return r;
}

static void waiting_done(struct waiting *w)
{
    for (size_t i = 0; w->waiters && i < w->jobs.n; i++)
        w->waiters[i] = waiter_free(w->waiters[i]);
    free(w->waiters);
    jobs_done(&w->jobs);
    wait_goal_done(&w->goal);
}

/* ---- the answer --------------------------------------------------------------------------- */

/* Those that it happened to; with --any the first. */
static bool is_told(const struct waiting *w, size_t i)
{
    for (size_t before = 0; w->settings->any && before < i; before++)
        if (waiter_state(w->waiters[before]) == WAIT_HAPPENED)
            return false;
    return waiter_state(w->waiters[i]) == WAIT_HAPPENED;
}

/* The result object, with what matched. */
static json_t *
make_object(const struct waiting *w, const struct waiter *one, struct rein_error **reterr)
{
    struct result_source source = result_source_of_job(waiter_job(one));
    struct output_query query = {.view = {.limit = RESULT_SHOW_DEFAULT},
                                 .lines = OUTPUT_LINES_DEFAULT,
                                 .has_since = settings_given(w->settings, OPT_SINCE),
                                 .since = w->settings->since};
    struct rein_result result = {0};
    struct result_text shown = {0};
    json_t *object = NULL;

    if (query.has_since)
        query.lines = 0;
    if (job_look(waiter_job(one), &result, reterr) >= 0 &&
        output_query_read(&source, &query, &result, &shown, NULL, reterr) == 0) {
        object = result_json(&result, &shown);
        if (!object || json_object_set_new(object, "matched", waiter_matched(one)) < 0) {
            json_decref(object);
            object = NULL;
            (void)rein_oom(reterr);
        }
    }
    result_text_done(&shown);
    rein_result_done(&result);
    return object;
}

static int tell_json(const struct waiting *w, struct rein_error **reterr)
{
    json_t *all = json_array();
    json_t *first;

    for (size_t i = 0; i < w->jobs.n; i++) {
        json_t *object;

        if (!is_told(w, i))
            continue;
        object = make_object(w, w->waiters[i], reterr);
        if (!object) {
            json_decref(all);
            return -ENOMEM;
        }
        (void)json_array_append_new(all, object);
    }
    if (w->jobs.n > 1)
        return print_json_line(all, reterr);
    first = json_incref(json_array_get(all, 0));
    json_decref(all);
    return print_json_line(first, reterr);
}

/* A line for each: the handle, and how it ended or what matched. */
static int tell_text(const struct waiting *w, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    for (size_t i = 0; i < w->jobs.n; i++) {
        struct rein_result result = {0};
        char words[JOB_WORDS_SIZE];
        size_t len;
        int r;

        if (!is_told(w, i))
            continue;
        r = job_look(w->jobs.list[i], &result, reterr);
        if (r < 0)
            return r;
        buf_add_format(&b, "%s ", result.process_id);
        if (w->goal.kind == WAIT_EXIT)
            buf_add_str(&b, job_words(&result, words));
        else
            visible_add(&b, waiter_matched_text(w->waiters[i], &len));
        buf_add_char(&b, '\n');
        rein_result_done(&result);
    }
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

int verb_wait(struct call *call, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    struct waiting w = {.settings = s};
    struct patience patience = PATIENCE_ENDLESS;
    int64_t timeout_ns = settings_given(s, OPT_WAIT_TIMEOUT) ? s->timeout_ns : -1;
    int r = operands_check(call, 1, 0, reterr);

    if (r == 0)
        r = wait_goal_parse(s->wait_for ? s->wait_for : "exit", &w.goal, reterr);
    if (r == 0)
        r = waiting_open(&w, call, reterr);
    if (r == 0)
        r = wait_for_jobs(w.waiters, w.jobs.n, s->any, timeout_ns, &patience, reterr);
    if (r == 0)
        r = s->format == FORMAT_TEXT ? tell_text(&w, reterr) : tell_json(&w, reterr);
    waiting_done(&w);
    return r;
}
