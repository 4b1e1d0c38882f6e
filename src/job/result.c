/* Describes a job, running or ended, as a struct rein_result. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/strv.h"
#include "base/time-util.h"
#include "job.h"
#include "record.h"

const char *rein_reason_name(int reason)
{
    return record_reason_name(reason);
}

static int name_log(const rein_job *job, char **ret)
{
    if (job->log_moved && asprintf(ret, "%s/output.log", job->store_dir) < 0) {
        *ret = NULL;
        return -ENOMEM;
    }
    return 0;
}

static int copy_vector(char ***ret, char **v)
{
    *ret = strv_copy((const char *const *)v);
    return *ret ? 0 : -ENOMEM;
}

static int add_warning(struct rein_result *result, const char *format, ...) REIN_PRINTF(2, 3);
static int add_warning(struct rein_result *result, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&text, format, ap);
    va_end(ap);
    return strv_add_take(&result->warnings, n < 0 ? NULL : text);
}

/* What the supervisor noted on the way, in words. */
static int add_notes(const rein_job *job, struct rein_result *result)
{
    const struct wire_exit *e = &job->exit;
    const char *why = strerror(e->log_errno);
    int r = 0;

    if (e->notes & WIRE_NOTE_LOG_IN_MEMORY)
        r = add_warning(result,
                        "the store cannot hold the output (%s): at most 8 MiB of it are kept, in "
                        "memory",
                        why);
    if (r == 0 && e->notes & WIRE_NOTE_LOG_DISK_FULL)
        r = add_warning(result, "output was lost, it could not be written: %s", why);
    if (r == 0 && e->notes & WIRE_NOTE_LOG_TRUNCATED)
        r = add_warning(result, "output was lost, somebody truncated the log");
    if (r == 0 && e->notes & WIRE_NOTE_LOG_DELETED)
        r = add_warning(result, "somebody deleted the log; it was written anew");
    if (r == 0 && e->notes & WIRE_NOTE_HOOK)
        r = add_warning(result, "the command for the job's end could not be started");
    if (r == 0 && e->notes & WIRE_NOTE_CLEANUP)
        r = add_warning(result, "the private directory of the job could not be removed");
    if (r == 0 && e->notes & WIRE_NOTE_LEFT_ALIVE)
        r = add_warning(result, "%u processes could not be ended", e->n_left);
    if (r == 0 && e->notes & WIRE_NOTE_RECORD)
        r = add_warning(result, "the record of the job could not be written");
    if (r == 0 && e->n_left > e->n_left_named)
        r = add_warning(result, "%u processes were left running, %u of them are named", e->n_left,
                        e->n_left_named);
    return r;
}

static int copy_left(const rein_job *job, struct rein_result *result)
{
    size_t n = job->exit.n_left_named;

    result->left_running = calloc(MAX(n, (size_t)1), sizeof(result->left_running[0]));
    if (!result->left_running)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        result->left_running[i].pid = job->left[i].pid;
        result->left_running[i].command =
            strndup(job->left[i].command, sizeof(job->left[i].command) - 1);
        if (!result->left_running[i].command)
            return -ENOMEM;
        result->n_left_running++;
    }
    return 0;
}

static void fill_status(const rein_job *job, struct rein_result *result)
{
    int status = job->exit.wait_status;

    result->reason = job->exit.reason;
    result->has_exit_code = job->exit.has_status != 0;
    if (result->has_exit_code && WIFSIGNALED(status)) {
        result->signal = WTERMSIG(status);
        result->exit_code = -result->signal;
    } else if (result->has_exit_code) {
        result->exit_code = WEXITSTATUS(status);
    }
    result->success = result->reason == REIN_REASON_EXIT && result->exit_code == 0;
}

static void fill_end(const rein_job *job, struct rein_result *result)
{
    fill_status(job, result);
    result->duration_ns = job->exit.duration_ns;
    result->user_us = job->exit.user_us;
    result->system_us = job->exit.system_us;
    result->max_rss_bytes = job->exit.max_rss_bytes;
}

static void fill_running(const rein_job *job, struct rein_result *result)
{
    result->running = 1;
    result->success = 1;
    result->duration_ns = time_mono_ns() - job->started_ns;
}

int job_describe(const rein_job *job, struct rein_result *result)
{
    result->started_at_ns = job->started_at_ns;
    result->output_bytes = job->log.total;
    result->split = job->split;
    result->gap_begin = job->log.gap_begin;
    result->gap_end = job->log.gap_end;
    result->pid = job->pid;
    if (str_copy(&result->process_id, job->id) < 0 || str_copy(&result->cwd, job->cwd) < 0 ||
        str_copy(&result->name, job->name) < 0 || str_copy(&result->session, job->session) < 0 ||
        name_log(job, &result->log_file) < 0 || copy_vector(&result->command, job->argv) < 0 ||
        copy_vector(&result->warnings, job->warnings) < 0 ||
        copy_vector(&result->missing, job->missing) < 0)
        return -ENOMEM;
    if (!job->ended) {
        fill_running(job, result);
        return 0;
    }
    fill_end(job, result);
    if (add_notes(job, result) < 0)
        return -ENOMEM;
    return copy_left(job, result);
}

int rein_wait(rein_job *job, int timeout_ms, struct rein_result *ret)
{
    int64_t until_ns = timeout_ms > 0 ? time_mono_ns() + timeout_ms * NSEC_PER_MSEC : 0;
    struct rein_result result = {.size = sizeof(result)};
    int r;

    if (!job || !ret || ret->size < sizeof(*ret))
        return -EINVAL;
    while (!job->ended) {
        r = job_pump(job, timeout_ms <= 0 ? timeout_ms : time_left_ms(until_ns));
        if (r < 0)
            return r;
        if (r == 0)
            break;
    }
    if (!job->ended) {
        (void)job_refresh(job);
        if (job->has_reader) /* output that was heard of here is still to be polled for */
            (void)job_arm(job, job->cursor);
    }
    r = job_describe(job, &result);
    if (r < 0) {
        rein_result_done(&result);
        return r;
    }
    *ret = result;
    return job->ended ? 0 : -EAGAIN;
}

void rein_result_done(struct rein_result *result)
{
    if (!result)
        return;
    for (size_t i = 0; i < result->n_left_running; i++)
        free(result->left_running[i].command);
    free(result->left_running);
    free(result->process_id);
    free(result->cwd);
    free(result->name);
    free(result->session);
    free(result->log_file);
    (void)strv_free(result->command);
    (void)strv_free(result->warnings);
    (void)strv_free(result->missing);
    memset(result, 0, sizeof(*result));
}
