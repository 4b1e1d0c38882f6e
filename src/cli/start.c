/* rein start: a command in the background. Its handle is all that standard output gets. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macro.h"
#include "gate.h"
#include "job-spec.h"
#include "jobs.h"
#include "print.h"
#include "report.h"
#include "signals.h"
#include "tools/result-json.h"

/* The hook gives COMMAND the result object as its standard input; $0 is this program. */
#define NOTIFY_SCRIPT "\"$0\" output --json \"$REIN_PROCESS_ID\" | /bin/sh -c \"$1\""

enum { NOTIFY_ARGS = 5 };

struct start {
    const struct settings *settings;
    struct rein_spec spec;
    char program[PATH_MAX];
    const char *notify[NOTIFY_ARGS + 1];
};

/* ---- what belongs to jobs of the background only ------------------------------------------- */

/* Of the two the one from the stronger source counts. */
static int choose_owner(struct start *s, struct rein_error **reterr)
{
    const struct settings *settings = s->settings;
    bool detached = settings->detach || settings->owner == 0;

    if (settings->detach && settings_given(settings, OPT_OWNER)) {
        if (settings->origins[OPT_OWNER].source == settings->origins[OPT_DETACH].source)
            return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                                  "a job outlives its caller, or follows an owner",
                                  "--detach and --owner: only one of them");
        detached = settings->origins[OPT_DETACH].source > settings->origins[OPT_OWNER].source;
    }
    if (detached) {
        s->spec.flags |= REIN_SPEC_DETACHED;
        return 0;
    }
    if (settings->owner > INT_MAX || (kill((pid_t)settings->owner, 0) < 0 && errno == ESRCH))
        return rein_fail(reterr, -ESRCH, "bad_request", "options",
                         "--owner: there is no process %llu", (unsigned long long)settings->owner);
    s->spec.owner_pid = (pid_t)settings->owner;
    return 0;
}

static int choose_notify(struct start *s, struct rein_error **reterr)
{
    ssize_t n;

    if (!s->settings->notify)
        return 0;
    n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
    if (n < 0)
        return rein_fail(reterr, -errno, "internal", "notify", "cannot find this program: %s",
                         strerror(errno));
    s->program[n] = '\0';
    s->notify[0] = "/bin/sh";
    s->notify[1] = "-c";
    s->notify[2] = NOTIFY_SCRIPT;
    s->notify[3] = s->program;
    s->notify[4] = s->settings->notify;
    s->spec.notify = s->notify;
    return 0;
}

static int prepare(struct start *s, const struct call *call, struct rein_error **reterr)
{
    int r = job_spec_check_command(call, reterr);

    if (r < 0)
        return r;
    s->settings = &call->settings;
    s->spec = job_spec_make(s->settings, call->line.rest);
    s->spec.flags |= REIN_SPEC_BACKGROUND;
    s->spec.session = s->settings->session;
    r = choose_owner(s, reterr);
    return r < 0 ? r : choose_notify(s, reterr);
}

/* ---- the answer --------------------------------------------------------------------------- */

static int tell_text(const struct rein_result *result, struct rein_error **reterr)
{
    char line[32];
    int n = snprintf(line, sizeof(line), "%s\n", result->process_id);

    if (result->log_file && isatty(STDERR_FILENO))
        report("output: %s", result->log_file);
    for (char *const *warning = result->warnings; warning && *warning; warning++)
        report_warning(*warning);
    return print_text(line, (size_t)n, reterr);
}

static int tell_json(const struct rein_result *result, struct rein_error **reterr)
{
    struct result_text nothing = {0};
    json_t *object;

    if (result_text_empty(result->split, &nothing) < 0)
        return rein_oom(reterr);
    object = result_json(result, &nothing);
    result_text_done(&nothing);
    return print_json_line(object, reterr);
}

/* A job whose handle nobody got would run unknown. */
static int tell(rein_job *job, const struct settings *s, struct rein_error **reterr)
{
    struct rein_result result = {0};
    int r = job_look(job, &result, reterr);

    if (r >= 0)
        r = s->format == FORMAT_TEXT ? tell_text(&result, reterr) : tell_json(&result, reterr);
    rein_result_done(&result);
    if (r < 0)
        return rein_wrap(reterr, r, "the job %s runs", rein_job_id(job));
    return 0;
}

static int start_and_tell(rein *r, const struct start *s, struct rein_error **reterr)
{
    auto_(job_gate_done) struct job_gate gate = {0};
    rein_job *job = NULL;
    int status = gate_own_job(&gate, r, "start", s->settings, &s->spec, NULL, reterr);

    if (status < 0)
        return status;
    signals_hold(); /* one that comes meanwhile must not leave a job without a handle */
    status = rein_start(r, &s->spec, &job, reterr);
    if (status == 0 && gate.is_open)
        job_gate_expect_end(&gate, rein_job_id(job));
    if (status == 0)
        status = tell(job, s->settings, reterr);
    job = rein_job_free(job);
    return status;
}

int verb_start(struct call *call, struct rein_error **reterr)
{
    struct start s = {0};
    rein *r;
    int status = prepare(&s, call, reterr);

    if (status < 0)
        return status;
    r = rein_open(NULL, reterr);
    if (!r)
        return -EINVAL;
    status = start_and_tell(r, &s, reterr);
    r = rein_free(r);
    return status;
}
