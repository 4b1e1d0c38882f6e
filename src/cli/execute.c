/*
 * One job in the foreground. The steps: spec from settings, start, main loop, then the result in
 * the format that was asked for. The four ways of delivering output differ in a table.
 */
#include "execute.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "deliver.h"
#include "exit-status.h"
#include "gate.h"
#include "job-spec.h"
#include "signals.h"

static int check(const struct settings *s, struct rein_error **reterr)
{
    if (s->stdin_from && strcmp(s->stdin_from, "pipe") == 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "use --stdin inherit and pipe into rein",
                              "--stdin pipe: nobody could feed a job in the foreground");
    return 0;
}

static int start(rein *r,
                 const struct execution *what,
                 const struct rein_spec *spec,
                 rein_job **ret,
                 struct rein_error **reterr)
{
    return what->code ? rein_start_code(r, what->code, spec, ret, reterr)
                      : rein_start(r, spec, ret, reterr);
}

/* Starts what may be started, and sees it through. */
static int start_and_deliver(rein *r,
                             const struct settings *s,
                             const struct execution *what,
                             const struct rein_spec *spec,
                             struct rein_error **reterr)
{
    auto_(job_gate_done) struct job_gate gate = {0};
    rein_job *job = NULL;
    int status = gate_own_job(&gate, r, what->code ? "code" : "run", s, spec, what->code, reterr);

    if (status < 0)
        return status;
    signals_hold();
    status = start(r, what, spec, &job, reterr);
    if (status == 0)
        status = deliver(job, s, reterr);
    if (job)
        gate_note_own_end(&gate, job);
    job = rein_job_free(job);
    return status;
}

int execute(const struct settings *s, const struct execution *what, struct rein_error **reterr)
{
    struct rein_spec spec = job_spec_make(s, what->argv);
    rein *r;
    int status;

    status = check(s, reterr);
    if (status < 0)
        return status;
    r = rein_open(NULL, reterr);
    if (!r)
        return -ENOMEM;
    if (delivery_passes_on(s))
        spec.flags |= REIN_SPEC_PACED;
    status = start_and_deliver(r, s, what, &spec, reterr);
    r = rein_free(r);
    return status;
}
