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
#include "signals.h"

static void set_stdin(const struct settings *s, struct rein_spec *spec)
{
    if (!s->stdin_from || strcmp(s->stdin_from, "null") == 0) {
        spec->stdin_kind = REIN_STDIN_NULL;
    } else if (strcmp(s->stdin_from, "inherit") == 0) {
        spec->stdin_kind = REIN_STDIN_INHERIT;
    } else {
        spec->stdin_kind = REIN_STDIN_FILE;
        spec->stdin_path = s->stdin_from;
    }
}

static struct rein_spec make_spec(const struct settings *s, const struct execution *what)
{
    struct rein_spec spec = {
        .size = sizeof(spec),
        .argv = what->argv,
        .cwd = s->cwd,
        .name = s->name,
        .env_profile = s->env_profile,
        .env = (const char *const *)s->env,
        .after = s->after,
        .timeout_ns = s->timeout_ns,
        .grace_ns = s->grace_ns,
        .output_limit = s->output_limit,
        .on_output_limit = s->on_output_limit,
        .pass_fds = s->pass_fds,
        .n_pass_fds = s->n_pass_fds,
        .memory_limit = s->memory,
        .cpu_time_ns = s->cpu_time_ns,
        .procs_limit = s->procs,
        .file_size_limit = s->file_size,
    };

    if (settings_given(s, OPT_GRACE) && s->grace_ns == 0)
        spec.grace_ns = REIN_GRACE_NONE;
    if (s->split)
        spec.flags |= REIN_SPEC_SPLIT;
    if (s->shell)
        spec.flags |= REIN_SPEC_SHELL;
    set_stdin(s, &spec);
    return spec;
}

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

int execute(const struct settings *s, const struct execution *what, struct rein_error **reterr)
{
    struct rein_spec spec = make_spec(s, what);
    rein_job *job = NULL;
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
    signals_hold();
    status = start(r, what, &spec, &job, reterr);
    if (status == 0)
        status = deliver(job, s, reterr);
    job = rein_job_free(job);
    r = rein_free(r);
    return status;
}
