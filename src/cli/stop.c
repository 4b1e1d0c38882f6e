/* rein stop: ends jobs, all at the same time, and returns when nothing of them is alive. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "jobs.h"
#include "print.h"
#include "report.h"
#include "tools/error-codes.h"
#include "tools/result-json.h"
#include "tools/wait.h"

struct stopping {
    const struct settings *settings;
    struct jobs jobs;
    bool *ended_before;          /* one for each job */
    struct rein_result *results; /* the same */
};

/* ---- ending ------------------------------------------------------------------------------- */

/* For rein_stop(): -1 is the job's own. */
static int grace_ms(const struct settings *s)
{
    if (!settings_given(s, OPT_STOP_GRACE))
        return -1;
    return (int)MIN((s->grace_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, (int64_t)INT_MAX);
}

static int ask_all(struct stopping *s, struct rein_error **reterr)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        int r = job_look(s->jobs.list[i], &s->results[i], reterr);

        if (r < 0)
            return r;
        s->ended_before[i] = r == 0;
        r = s->ended_before[i] ? 0 : rein_stop(s->jobs.list[i], grace_ms(s->settings));
        if (r < 0)
            return rein_fail(reterr, r, "internal", "stop", "cannot stop the job %s: %s",
                             rein_job_id(s->jobs.list[i]), strerror(-r));
    }
    return 0;
}

static int wait_all(struct stopping *s, struct rein_error **reterr)
{
    static const struct wait_goal goal = {.kind = WAIT_EXIT};
    struct patience patience = PATIENCE_ENDLESS;
    struct waiter **waiters = calloc(s->jobs.n + 1, sizeof(struct waiter *));
    int r = waiters ? 0 : rein_oom(reterr);

    for (size_t i = 0; r == 0 && i < s->jobs.n; i++)
        r = waiter_new(s->jobs.list[i], &goal, 0, &waiters[i], reterr);
    if (r == 0)
        r = wait_for_jobs(waiters, s->jobs.n, /* any= */ false, /* timeout_ns= */ -1, &patience,
                          reterr);
    for (size_t i = 0; waiters && i < s->jobs.n; i++)
        waiters[i] = waiter_free(waiters[i]);
    free(waiters);
    for (size_t i = 0; r >= 0 && i < s->jobs.n; i++)
        r = job_look(s->jobs.list[i], &s->results[i], reterr);
    return r;
}

static int stop_all(struct stopping *s, struct rein_error **reterr)
{
    int r;

    s->ended_before = calloc(s->jobs.n + 1, sizeof(*s->ended_before));
    s->results = calloc(s->jobs.n + 1, sizeof(*s->results));
    if (!s->ended_before || !s->results)
        return rein_oom(reterr);
    r = ask_all(s, reterr);
    return r < 0 ? r : wait_all(s, reterr);
}

static void stopping_done(struct stopping *s)
{
    for (size_t i = 0; s->results && i < s->jobs.n; i++)
        rein_result_done(&s->results[i]);
    free(s->results);
    free(s->ended_before);
    jobs_done(&s->jobs);
}

/* ---- the answer --------------------------------------------------------------------------- */

/* The handle on standard output; what a caller has to know besides on standard error. */
static int tell_text(struct stopping *s, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct rein_result *result = &s->results[i];
        char words[JOB_WORDS_SIZE];

        if (s->ended_before[i])
            report("%s: " STOP_ENDED_BEFORE " (%s)", result->process_id, job_words(result, words));
        for (char *const *w = s->ended_before[i] ? NULL : result->warnings; w && *w; w++)
            report_warning(*w);
        if (result_is_stopped(result))
            buf_add_format(&b, "%s\n", result->process_id);
        for (size_t k = 0; !result_is_stopped(result) && k < result->n_left_running; k++)
            report("%s: could not be ended: %s (pid %d)", result->process_id,
                   result->left_running[k].command, (int)result->left_running[k].pid);
    }
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return b.len > 0 ? print_text(b.data, b.len, reterr) : 0;
}

static json_t *make_object(const struct stopping *s, size_t i)
{
    return stop_json(&s->results[i], s->ended_before[i] ? STOP_ENDED_BEFORE : NULL);
}

static int tell_json(struct stopping *s, struct rein_error **reterr)
{
    json_t *all;

    if (s->jobs.n == 1 && !s->settings->all)
        return print_json_line(make_object(s, 0), reterr);
    all = json_array();
    for (size_t i = 0; all && i < s->jobs.n; i++) {
        if (json_array_append_new(all, make_object(s, i)) < 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return print_json_line(all, reterr);
}

static int tell(struct stopping *s, struct rein_error **reterr)
{
    int r = s->settings->format == FORMAT_TEXT ? tell_text(s, reterr) : tell_json(s, reterr);

    for (size_t i = 0; r == 0 && i < s->jobs.n; i++)
        if (!result_is_stopped(&s->results[i]))
            r = EXIT_STATUS_FAILED;
    return r;
}

int verb_stop(struct call *call, struct rein_error **reterr)
{
    struct stopping s = {.settings = &call->settings};
    int r = 0;

    if (call->settings.all && operand_at(call, 0))
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "stop: both --all and the job %s", operand_at(call, 0));
    if (!call->settings.all)
        r = operands_check(call, 1, 0, reterr);
    if (r == 0)
        r = call->settings.all ? jobs_open_running(&s.jobs, reterr)
                               : jobs_open(call, 0, &s.jobs, reterr);
    if (r == 0)
        r = stop_all(&s, reterr);
    if (r >= 0)
        r = tell(&s, reterr);
    stopping_done(&s);
    return r;
}
