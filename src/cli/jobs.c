/* Operands to handles. */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/strv.h"
#include "tools/result-json.h"

const char *operand_at(const struct call *call, size_t i)
{
    const struct command_line *line = &call->line;

    if (i < line->n_operands)
        return line->operands[i];
    i -= line->n_operands;
    return i < strv_length(line->rest) ? line->rest[i] : NULL;
}

static size_t count_operands(const struct call *call)
{
    return call->line.n_operands + strv_length(call->line.rest);
}

int operands_check(const struct call *call, size_t min, size_t max, struct rein_error **reterr)
{
    size_t n = count_operands(call);
    char usage[128];

    (void)snprintf(usage, sizeof(usage), "rein %s %s", call->verb->name, call->verb->usage);
    if (n < min)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", usage, "%s: ID is missing",
                              call->verb->name);
    if (max > 0 && n > max)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", usage,
                              "%s: '%s' is one argument too many", call->verb->name,
                              operand_at(call, max));
    return 0;
}

/* Each handle has a few descriptors, and all jobs of a store may be many. This process starts
 * nothing that would inherit the limit. */
static void allow_many_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int jobs_prepare(struct jobs *jobs, size_t n, struct rein_error **reterr)
{
    if (!jobs->context)
        jobs->context = rein_open(NULL, reterr);
    if (!jobs->context)
        return -EINVAL;
    allow_many_descriptors();
    jobs->list = calloc(n + 1, sizeof(*jobs->list));
    return jobs->list ? 0 : rein_oom(reterr);
}

int jobs_open(const struct call *call, size_t n, struct jobs *ret, struct rein_error **reterr)
{
    size_t wanted = n ? n : count_operands(call);
    int r = jobs_prepare(ret, wanted, reterr);

    while (r == 0 && ret->n < wanted) {
        r = rein_attach(ret->context, operand_at(call, ret->n), &ret->list[ret->n], reterr);
        if (r == 0)
            ret->n++;
    }
    return r < 0 ? r : 0;
}

static int attach_running(struct jobs *jobs, const rein_list *list, struct rein_error **reterr)
{
    int r = jobs_prepare(jobs, rein_list_count(list), reterr);

    for (size_t i = 0; r == 0 && i < rein_list_count(list); i++) {
        const struct rein_result *one = rein_list_get(list, i);
        auto_error struct rein_error *error = NULL;

        if (!one->running)
            continue;
        /* one that was forgotten meanwhile does not run any more */
        r = rein_attach(jobs->context, one->process_id, &jobs->list[jobs->n], &error);
        if (r == 0)
            jobs->n++;
        else if (strcmp(error->code, "no_such_job") == 0)
            r = 0;
        else if (reterr)
            *reterr = TAKE_PTR(error);
    }
    return r;
}

int jobs_open_running(struct jobs *ret, struct rein_error **reterr)
{
    rein_list *list = NULL;
    int r;

    ret->context = rein_open(NULL, reterr);
    if (!ret->context)
        return -EINVAL;
    r = rein_jobs(ret->context, &list);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "list", "cannot list the jobs: %s", strerror(-r));
    r = attach_running(ret, list, reterr);
    list = rein_list_free(list);
    return r;
}

void jobs_done(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++)
        jobs->list[i] = rein_job_free(jobs->list[i]);
    free(jobs->list);
    jobs->context = rein_free(jobs->context);
}

const char *job_words(const struct rein_result *result, char buf[static JOB_WORDS_SIZE])
{
    char name[SIGNAL_NAME_SIZE];

    if (result->running)
        (void)snprintf(buf, JOB_WORDS_SIZE, "running");
    else if (result->reason == REIN_REASON_EXIT)
        (void)snprintf(buf, JOB_WORDS_SIZE, "exit %d", result->exit_code);
    else if (result->reason == REIN_REASON_SIGNAL)
        (void)snprintf(buf, JOB_WORDS_SIZE, "%s", signal_name(result->signal, name));
    else if (result->signal)
        (void)snprintf(buf, JOB_WORDS_SIZE, "%s (%s)", rein_reason_name(result->reason),
                       signal_name(result->signal, name));
    else
        (void)snprintf(buf, JOB_WORDS_SIZE, "%s", rein_reason_name(result->reason));
    return buf;
}
