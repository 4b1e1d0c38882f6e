/* Turns a step that failed in the supervisor into an error that a person can act on. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "plan.h"

#define SHEBANG_MAX 256

/* Reads the interpreter that the first line of a script names. False when there is none. */
static int read_interpreter(int dir_fd, const char *path, char ret[static SHEBANG_MAX])
{
    auto_close int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : io_read_full(fd, ret, SHEBANG_MAX - 1);
    size_t begin;

    if (n < 2 || ret[0] != '#' || ret[1] != '!')
        return 0;
    ret[n] = '\0';
    begin = 2 + strspn(ret + 2, " \t");
    ret[begin + strcspn(ret + begin, " \t\r\n")] = '\0';
    memmove(ret, ret + begin, strlen(ret + begin) + 1);
    return ret[0] != '\0';
}

/* "No such file" although the file is there: its interpreter, or its loader, is what is missing.
 * Relative places are below the job's directory, not ours. */
static int missing_interpreter(const struct plan_message *plan, char ret[static SHEBANG_MAX])
{
    auto_close int cwd_fd = open(plan->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *p = plan->strings;

    for (uint32_t i = 0; i < plan->head.argc + plan->head.envc; i++)
        p += strlen(p) + 1;
    for (uint32_t i = 0; i < plan->head.pathc; i++, p += strlen(p) + 1) {
        if (faccessat(cwd_fd, p, X_OK, 0) < 0)
            continue;
        if (!read_interpreter(cwd_fd, p, ret))
            (void)snprintf(ret, SHEBANG_MAX, "the loader of '%.200s'", p);
        return 1;
    }
    return 0;
}

static int fail_not_found(const struct plan_message *plan, int err, struct rein_error **reterr)
{
    const char *command = plan->argv[0];
    char interpreter[SHEBANG_MAX];
    auto_free char *hint = NULL;

    if (!missing_interpreter(plan, interpreter))
        return rein_fail(reterr, err, "command_not_found", "exec", "'%s' was not found", command);
    if (asprintf(&hint, "its interpreter %s does not exist", interpreter) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(reterr, err, "command_not_found", "exec", hint,
                          "'%s' cannot run: its interpreter was not found", command);
}

static int fail_exec(const struct plan_message *plan, int err, struct rein_error **reterr)
{
    const char *command = plan->argv[0];

    switch (-err) {
    case ENOENT:
    case ENOTDIR:
        return fail_not_found(plan, err, reterr);
    case E2BIG:
        return rein_fail_hint(reterr, err, "limit_exceeded", "exec",
                              "one argument or variable may have 128 KiB; give long code to `rein "
                              "code`, long data as a file or on standard input",
                              "the arguments or the environment of '%.100s' are too long", command);
    case EACCES:
    case ENOEXEC:
    case EISDIR:
    case ETXTBSY:
    case ELOOP:
    case ENAMETOOLONG:
    case ELIBBAD:
    case EPERM:
    case EINVAL:
        return rein_fail(reterr, err, "not_executable", "exec", "'%.1000s' cannot be executed: %s",
                         command, strerror(-err));
    default:
        return rein_fail(reterr, err, "spawn_failed", "exec", "'%s' could not be started: %s",
                         command, strerror(-err));
    }
}

static int fail_clone(int err, struct rein_error **reterr)
{
    if (err == -EAGAIN)
        return rein_fail_hint(reterr, err, "spawn_failed", "clone",
                              "the limit on processes (ulimit -u, or a pids cgroup) is reached",
                              "no new process can be started: %s", strerror(-err));
    return rein_fail(reterr, err, "spawn_failed", "clone", "no new process can be started: %s",
                     strerror(-err));
}

/* A job of the background needs its place in the store. What only some file systems lack is named,
 * for the error alone would not tell. */
static int fail_store(const rein *r, uint32_t step, int err, struct rein_error **reterr)
{
    static const char *const lacks[] = {
        [WIRE_STEP_STORE] = "",
        [WIRE_STEP_LOCK] = ", whose file system may have no locks",
        [WIRE_STEP_CONTROL] = ", whose file system may have no sockets",
    };
    static const char *const names[] = {
        [WIRE_STEP_STORE] = "store", [WIRE_STEP_LOCK] = "lock", [WIRE_STEP_CONTROL] = "control"};

    return rein_fail_hint(reterr, err, "spawn_failed", names[step],
                          "REIN_STATE names the store's directory; it has to be writable and on a "
                          "local file system",
                          "cannot put the job into the store '%s'%s: %s", context_state_dir(r),
                          lacks[step], strerror(-err));
}

int plan_failed(const rein *r,
                const struct plan_message *plan,
                const struct wire_failed *failed,
                struct rein_error **reterr)
{
    static const char *const steps[] = {
        [WIRE_STEP_PLAN] = "plan",
        [WIRE_STEP_PIPE] = "pipe",
        [WIRE_STEP_CLONE] = "clone",
        [WIRE_STEP_SESSION] = "session",
        [WIRE_STEP_DESCRIPTORS] = "descriptors",
        [WIRE_STEP_CHDIR] = "chdir",
        [WIRE_STEP_LIMITS] = "limits",
        [WIRE_STEP_EXEC] = "exec",
    };
    int err = failed->errnum > 0 ? -failed->errnum : -EIO;

    if (failed->step == WIRE_STEP_EXEC)
        return fail_exec(plan, err, reterr);
    if (failed->step == WIRE_STEP_STORE || failed->step == WIRE_STEP_LOCK ||
        failed->step == WIRE_STEP_CONTROL)
        return fail_store(r, failed->step, err, reterr);
    if (failed->step == WIRE_STEP_CLONE)
        return fail_clone(err, reterr);
    if (failed->step == WIRE_STEP_CHDIR)
        return rein_fail(reterr, err, "bad_cwd", "chdir",
                         "cannot enter the working directory '%s': %s", plan->shown_cwd,
                         strerror(-err));
    return rein_fail(reterr, err, "spawn_failed",
                     failed->step < ARRAY_SIZE(steps) && steps[failed->step] ? steps[failed->step]
                                                                             : "supervisor",
                     "the job could not be started: %s", strerror(-err));
}
