/* Checks the fields of a spec, one by one. Looks at nothing outside of it but descriptors. */
#include "spec-check.h"

#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/mask.h"
#include "base/strv.h"
#include "plan.h"

#define bad(reterr, ...) rein_fail(reterr, -EINVAL, "bad_request", "spec", __VA_ARGS__)

static int check_argv(const struct rein_spec *spec, struct rein_error **reterr)
{
    if (!spec->argv || !spec->argv[0])
        return bad(reterr, "no command was given");
    if (spec->flags & REIN_SPEC_SHELL && spec->argv[1])
        return bad(reterr, "with the shell the command is exactly one string");
    if (!(spec->flags & REIN_SPEC_SHELL) && !spec->argv[0][0])
        return bad(reterr, "the command is empty");
    return 0;
}

static int check_choice(const char *field, int value, int max, struct rein_error **reterr)
{
    if (value < 0 || value > max)
        return bad(reterr, "%s is %d, which means nothing", field, value);
    return 0;
}

static int check_choices(const struct rein_spec *spec, struct rein_error **reterr)
{
    const struct {
        const char *field;
        int value;
        int max;
    } choices[] = {
        {"env_profile", spec->env_profile, REIN_ENV_CLEAN},
        {"stdin_kind", spec->stdin_kind, REIN_STDIN_PIPE},
        {"after", spec->after, REIN_AFTER_KEEP},
        {"on_output_limit", spec->on_output_limit, REIN_OUTPUT_KILL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        int r = check_choice(choices[i].field, choices[i].value, choices[i].max, reterr);

        if (r < 0)
            return r;
    }
    if (spec->flags & ~(REIN_SPEC_SPLIT | REIN_SPEC_SHELL | REIN_SPEC_PACED | REIN_SPEC_BACKGROUND |
                        REIN_SPEC_DETACHED))
        return bad(reterr, "flags has a bit that means nothing");
    return 0;
}

static int check_amounts(const struct rein_spec *spec, struct rein_error **reterr)
{
    if (spec->timeout_ns < 0)
        return bad(reterr, "the timeout is negative");
    if (spec->grace_ns < REIN_GRACE_NONE)
        return bad(reterr, "the grace is negative");
    if (spec->cpu_time_ns < 0)
        return bad(reterr, "the processor time is negative");
    if (spec->output_limit && spec->output_limit < OUTPUT_LIMIT_MIN)
        return bad(reterr, "the output limit is below %d bytes", OUTPUT_LIMIT_MIN);
    if (spec->output_limit > OUTPUT_LIMIT_MAX)
        return bad(reterr, "the output limit is above 1024 TiB");
    if (spec->name && strlen(spec->name) > NAME_BYTES_MAX)
        return bad(reterr, "the name is longer than %d bytes", NAME_BYTES_MAX);
    return 0;
}

static int check_pass_fds(const struct rein_spec *spec, struct rein_error **reterr)
{
    if (spec->n_pass_fds > WIRE_PASS_FDS_MAX)
        return bad(reterr, "more than %d descriptors to pass", WIRE_PASS_FDS_MAX);
    if (spec->n_pass_fds && !spec->pass_fds)
        return bad(reterr, "pass_fds is NULL");
    for (size_t i = 0; i < spec->n_pass_fds; i++) {
        int fd = spec->pass_fds[i];

        if (fd < 3 || fd > WIRE_PASS_FD_NUMBER_MAX)
            return bad(reterr, "descriptor %d cannot be passed: 3 to %d can", fd,
                       WIRE_PASS_FD_NUMBER_MAX);
        if (fcntl(fd, F_GETFD) < 0)
            return bad(reterr, "descriptor %d is not open", fd);
    }
    return 0;
}

static int check_session(const char *name, struct rein_error **reterr)
{
    size_t n = strlen(name);

    if (n == 0 || n > SESSION_BYTES_MAX)
        return bad(reterr, "the session's name has %zu bytes; 1 to %d are allowed", n,
                   SESSION_BYTES_MAX);
    if (strchr(name, '/') || name[0] == '.')
        return bad(reterr, "the session's name begins with a dot or has a slash");
    return 0;
}

static int check_background(const struct rein_spec *spec, struct rein_error **reterr)
{
    if (!(spec->flags & REIN_SPEC_BACKGROUND)) {
        if (spec->flags & REIN_SPEC_DETACHED || spec->owner_pid || spec->session || spec->notify)
            return bad(reterr, "an owner, a session and a command for the end need a job of the "
                               "background");
        return 0;
    }
    if (spec->flags & REIN_SPEC_PACED)
        return bad(reterr, "a job of the background waits for no reader");
    if (spec->owner_pid < 0 || (spec->flags & REIN_SPEC_DETACHED && spec->owner_pid))
        return bad(reterr,
                   spec->owner_pid < 0 ? "the owner is no process" : "a detached job has no owner");
    if (spec->notify && (!spec->notify[0] || !strchr(spec->notify[0], '/')))
        return bad(reterr, "the command for the end is no path");
    return spec->session ? check_session(spec->session, reterr) : 0;
}

static int check_names(const char *const *names, struct rein_error **reterr)
{
    for (; names && *names; names++)
        if (!**names || strchr(*names, '='))
            return bad(reterr, "'%.100s' is no name of a variable", *names);
    return 0;
}

static int check_variables(const struct rein_spec *spec, struct rein_error **reterr)
{
    int r = check_names(spec->env_keep, reterr);

    if (r == 0)
        r = check_names(spec->secrets, reterr);
    if (r == 0 && strv_length(spec->secrets) > MASK_SECRETS_MAX)
        r = bad(reterr, "more than %d secrets", MASK_SECRETS_MAX);
    return r;
}

int spec_check(const struct rein_spec *spec, struct rein_error **reterr)
{
    int r;

    if (spec->size < sizeof(*spec))
        return bad(reterr, "spec->size is not set to its size");
    r = check_argv(spec, reterr);
    if (r == 0)
        r = check_choices(spec, reterr);
    if (r == 0)
        r = check_amounts(spec, reterr);
    if (r == 0)
        r = check_pass_fds(spec, reterr);
    if (r == 0)
        r = check_background(spec, reterr);
    if (r == 0)
        r = check_variables(spec, reterr);
    return r;
}
