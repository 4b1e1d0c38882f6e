/* Fills a rein_spec. */
#include "job-spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strv.h"

#define USAGE_SIZE 80

static void set_stdin(const struct settings *s, struct rein_spec *spec)
{
    if (!s->stdin_from || strcmp(s->stdin_from, "null") == 0) {
        spec->stdin_kind = REIN_STDIN_NULL;
    } else if (strcmp(s->stdin_from, "inherit") == 0) {
        spec->stdin_kind = REIN_STDIN_INHERIT;
    } else if (strcmp(s->stdin_from, "pipe") == 0) {
        spec->stdin_kind = REIN_STDIN_PIPE;
    } else {
        spec->stdin_kind = REIN_STDIN_FILE;
        spec->stdin_path = s->stdin_from;
    }
}

struct rein_spec job_spec_make(const struct settings *s, const char *const *argv)
{
    struct rein_spec spec = {
        .size = sizeof(spec),
        .argv = argv,
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
        .env_keep = (const char *const *)s->env_keep,
        .secrets = (const char *const *)s->secrets,
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

int job_spec_check_command(const struct call *call, struct rein_error **reterr)
{
    size_t n = strv_length(call->line.rest);
    char usage[USAGE_SIZE];

    (void)snprintf(usage, sizeof(usage), "rein %s %s", call->verb->name, call->verb->usage);
    if (n == 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", usage,
                              "%s: COMMAND is missing", call->verb->name);
    if (call->settings.shell && n != 1)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "put the script into quotes", "--shell: takes one string, not %zu",
                              n);
    return 0;
}
