/* Makes and sends plans. */
#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/json-write.h"
#include "base/macro.h"
#include "base/socket-util.h"
#include "base/strv.h"
#include "base/syscall-linux.h"
#include "base/time-util.h"
#include "plan-parts.h"
#include "secrets.h"
#include "spec-env.h"
#include "store.h"

/* ---- pieces ------------------------------------------------------------------------------- */

static int make_argv(const struct rein_spec *spec, char ***ret)
{
    const char *script = spec->argv[0];
    const char *shell[] = {"bash", "-c", script, NULL};
    const char *guarded[] = {"bash", "-c", "--", script, NULL};
    int is_shell = (spec->flags & REIN_SPEC_SHELL) != 0;
    int looks_like_option = script[0] == '-' || script[0] == '+';

    *ret = strv_copy(!is_shell ? spec->argv : looks_like_option ? guarded : shell);
    return *ret ? 0 : -ENOMEM;
}

static int make_cwd(const struct rein_spec *spec, char **ret, struct rein_error **reterr)
{
    auto_free char *here = NULL;

    if (spec->cwd && spec->cwd[0] == '/') {
        *ret = strdup(spec->cwd);
        return *ret ? 0 : rein_oom(reterr);
    }
    here = getcwd(NULL, 0);
    if (!here)
        return rein_fail(reterr, -errno, "bad_cwd", "cwd",
                         "the current directory cannot be found out");
    if (!spec->cwd) {
        *ret = TAKE_PTR(here);
        return 0;
    }
    if (!spec->cwd[0])
        return rein_fail(reterr, -ENOENT, "bad_cwd", "cwd", "the working directory is empty");
    return asprintf(ret, "%s/%s", here, spec->cwd) < 0 ? rein_oom(reterr) : 0;
}

/* Appends the places where the command may be, each with its NUL; returns how many. A command with
 * a slash is one place; else every directory of the job's PATH, an empty one being the current. */
static uint32_t add_paths(struct buf *b, const char *command, const char *path)
{
    uint32_t n = 0;

    if (strchr(command, '/')) {
        buf_add(b, command, strlen(command) + 1);
        return 1;
    }
    for (const char *p = path ? path : "/bin:/usr/bin";; p++) {
        size_t size = strcspn(p, ":");

        buf_add(b, p, size);
        buf_add_str(b, size ? "/" : "./");
        buf_add(b, command, strlen(command) + 1);
        n++;
        p += size;
        if (!*p)
            return n;
    }
}

static uint32_t add_vector(struct buf *b, const char *const *v)
{
    uint32_t n = 0;

    for (; v[n]; n++)
        buf_add(b, v[n], strlen(v[n]) + 1);
    return n;
}

static const char *json_bool(int value)
{
    return value ? "true" : "false";
}

/* The text is left open: the pids come from the supervisor. */
static int make_job_json(struct plan_message *plan, const struct rein_spec *spec)
{
    auto_buf struct buf b = {0};
    char stamp[TIME_ISO_SIZE];

    time_format_iso(plan->started_at_ns, stamp);
    buf_add_format(&b, "{\"format\": %d, \"process_id\": \"%s\", \"command\": ", STORE_FORMAT,
                   plan->id);
    json_write_strings(&b, (const char *const *)plan->argv);
    buf_add_str(&b, ", \"cwd\": ");
    json_write_string(&b, plan->shown_cwd);
    buf_add_str(&b, ", \"name\": ");
    json_write_string(&b, plan->name);
    buf_add_str(&b, ", \"session\": ");
    json_write_string(&b, spec->session);
    buf_add_format(&b, ", \"started_at\": \"%s\", \"started_at_ns\": %lld, \"started_ns\": %lld",
                   stamp, (long long)plan->started_at_ns, (long long)time_mono_ns());
    buf_add_format(&b, ", \"background\": %s, \"split\": %s, \"stdin_pipe\": %s",
                   json_bool(spec->flags & REIN_SPEC_BACKGROUND),
                   json_bool(spec->flags & REIN_SPEC_SPLIT),
                   json_bool(spec->stdin_kind == REIN_STDIN_PIPE));
    buf_add_format(
        &b, ", \"grace_ns\": %lld, \"owner_pid\": %d, \"warnings\": ", (long long)spec->grace_ns,
        spec->flags & REIN_SPEC_DETACHED ? 0
        : spec->owner_pid                ? (int)spec->owner_pid
                                         : (int)getpid());
    json_write_strings(&b, (const char *const *)plan->warnings);
    buf_add_str(&b, ", \"missing\": ");
    json_write_strings(&b, (const char *const *)plan->missing);
    plan->job_json = buf_take(&b);
    return plan->job_json ? 0 : -ENOMEM;
}

static int mask_shown(char *text, const char *const *secrets, const char *const *env)
{
    return text ? secrets_mask_shown(secrets, env, text) : 0;
}

/* From here on argv, name and shown_cwd are for people: nobody sees a secret in them. */
static int
hide_secrets(struct plan_message *plan, const char *const *secrets, const char *const *env)
{
    int r = str_copy(&plan->shown_cwd, plan->cwd);

    if (r == 0)
        r = mask_shown(plan->shown_cwd, secrets, env);
    if (r == 0)
        r = mask_shown(plan->name, secrets, env);
    for (char **word = plan->argv; r == 0 && *word; word++)
        r = mask_shown(*word, secrets, env);
    return r;
}

static int make_strings(rein *r,
                        const struct rein_spec *spec,
                        const struct job_extras *extras,
                        struct plan_message *plan,
                        struct rein_error **reterr)
{
    auto_strv char **env = NULL;
    auto_strv char **secrets = NULL;
    auto_buf struct buf b = {0};
    int err = spec_environment_warn(spec, &env, &plan->warnings, reterr);

    if (err < 0)
        return err;
    if (secrets_resolve(spec, (const char *const *)env, &secrets, &plan->warnings) < 0)
        return rein_oom(reterr);
    plan->head.argc = add_vector(&b, (const char *const *)plan->argv);
    plan->head.envc = add_vector(&b, (const char *const *)env);
    plan->head.pathc = add_paths(&b, plan->argv[0], env_get((const char *const *)env, "PATH"));
    plan->head.notifyc = spec->notify ? add_vector(&b, spec->notify) : 0;
    plan->head.secretc = secrets ? add_vector(&b, (const char *const *)secrets) : 0;
    if (hide_secrets(plan, (const char *const *)secrets, (const char *const *)env) < 0 ||
        make_job_json(plan, spec) < 0)
        return rein_oom(reterr);
    buf_add_str(&b, spec->cwd ? spec->cwd : "");
    buf_add_char(&b, '\0');
    buf_add_format(&b, "%s/jobs", context_state_dir(r));
    buf_add_char(&b, '\0');
    buf_add(&b, plan->job_json, strlen(plan->job_json) + 1);
    buf_add_str(&b, extras && extras->cleanup_dir ? extras->cleanup_dir : "");
    buf_add_char(&b, '\0');
    if (buf_error(&b) == 0 && b.len > WIRE_PLAN_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "plan",
                         "the command and its environment have %zu bytes, more than %u", b.len,
                         WIRE_PLAN_MAX);
    plan->head.strings_size = (uint32_t)b.len;
    plan->strings = buf_take(&b);
    return plan->strings ? 0 : rein_oom(reterr);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static uint32_t plan_flags(const struct rein_spec *spec)
{
    return (spec->flags & REIN_SPEC_SPLIT ? WIRE_PLAN_SPLIT : 0) |
           (spec->flags & REIN_SPEC_PACED ? WIRE_PLAN_PACED : 0) |
           (spec->flags & REIN_SPEC_BACKGROUND ? WIRE_PLAN_BACKGROUND : 0) |
           (spec->on_output_limit == REIN_OUTPUT_KILL ? WIRE_PLAN_OUTPUT_KILL : 0);
}

static void fill_head(const rein *r, const struct rein_spec *spec, struct plan_message *plan)
{
    struct wire_plan *head = &plan->head;

    head->type = WIRE_PLAN;
    head->version = WIRE_VERSION;
    head->flags |= plan_flags(spec);
    head->timeout_ns = spec->timeout_ns;
    head->grace_ns = MAX(spec->grace_ns, 0);
    head->log_limit = spec->output_limit ? spec->output_limit : OUTPUT_LIMIT_DEFAULT;
    head->memory_limit = OUTPUT_IN_MEMORY_MAX;
    head->after = (uint32_t)spec->after; /* the two enums have the same order */
    head->test_fallbacks = r->test_fallbacks;
    memcpy(head->process_id, plan->id, sizeof(plan->id));
}

int plan_make(rein *r,
              const struct rein_spec *spec,
              const struct job_extras *extras,
              struct plan_message *ret,
              struct rein_error **reterr)
{
    int err = job_id_new(ret->id);

    if (err < 0)
        return rein_fail(reterr, err, "internal", "id", "no random bytes for a handle");
    ret->started_at_ns = time_wall_ns();
    fill_head(r, spec, ret);
    if (make_argv(spec, &ret->argv) < 0)
        return rein_oom(reterr);
    err = make_cwd(spec, &ret->cwd, reterr);
    if (err == 0 && spec->name && str_copy(&ret->name, spec->name) < 0)
        err = rein_oom(reterr);
    if (err < 0)
        return err;
    if (plan_add_limits(ret, spec) < 0)
        return rein_oom(reterr);
    err = make_strings(r, spec, extras, ret, reterr);
    return err < 0 ? err : plan_add_fds(r, spec, extras, ret, reterr);
}

/* Puts strings that are too many for one message into a memfd, which becomes the first descriptor.
 */
static int strings_to_memfd(const struct plan_message *plan, int *ret_fd)
{
    auto_close int fd = memfd_create("rein-plan", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : io_write_all(fd, plan->strings, plan->head.strings_size);

    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

int plan_send(const struct plan_message *plan, int socket_fd)
{
    struct wire_plan head = plan->head;
    struct socket_message message = {.head = &head,
                                     .head_size = sizeof(head),
                                     .body = plan->strings,
                                     .body_size = head.strings_size};
    auto_close int strings_fd = -EBADF;
    int fds[WIRE_FDS_MAX];
    size_t n_fds = 0;

    if (head.strings_size > WIRE_PLAN_INLINE_MAX) {
        int r = strings_to_memfd(plan, &strings_fd);

        if (r < 0)
            return r;
        head.flags |= WIRE_PLAN_IN_MEMFD;
        message.body_size = 0;
        fds[n_fds++] = strings_fd;
    }
    memcpy(fds + n_fds, plan->fds, plan->n_fds * sizeof(int));
    message.fds = fds;
    message.n_fds = n_fds + plan->n_fds;
    return socket_send(socket_fd, &message, 0);
}

void plan_done(struct plan_message *plan)
{
    for (size_t i = 0; i < plan->n_own_fds; i++)
        (void)close_fd(plan->own_fds[i]);
    (void)close_fd(plan->log_fd);
    (void)close_fd(plan->marks_fd);
    free(plan->strings);
    free(plan->cwd);
    free(plan->shown_cwd);
    free(plan->name);
    free(plan->job_json);
    plan->argv = strv_free(plan->argv);
    plan->warnings = strv_free(plan->warnings);
    plan->missing = strv_free(plan->missing);
}
