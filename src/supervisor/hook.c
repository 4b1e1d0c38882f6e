/* Starts the command that is to be told of the job's end. It is no part of the job: nobody waits
 * for it, and it lives on when the supervisor has gone. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "exec-child.h"
#include "supervisor.h"

#define HOOK_ENV_MAX 4096 /* variables of the job that are passed on */
#define STATE_PATH_MAX 4096

static _Alignas(16) char child_stack[32u << 10];
static char *hook_env[HOOK_ENV_MAX + 3];
static char id_variable[32] = "REIN_PROCESS_ID=";
static char state_variable[sizeof("REIN_STATE=") + STATE_PATH_MAX] = "REIN_STATE=";

static int is_set(const char *variable, const char *name)
{
    size_t n = strlen(name);

    return strncmp(variable, name, n) == 0;
}

/* The store is the directory above that of the jobs. */
static void set_state(const struct plan *plan)
{
    size_t n = strlen(plan->jobs_dir);
    size_t suffix = strlen("/jobs");

    if (n > suffix && n - suffix < STATE_PATH_MAX)
        memcpy(strchr(state_variable, '=') + 1, plan->jobs_dir, n - suffix);
}

/* The job's environment, and where to find the record. */
static void make_env(const struct plan *plan)
{
    size_t n = 0;

    (void)strncat(id_variable, plan->head->process_id,
                  sizeof(id_variable) - strlen(id_variable) - 1);
    set_state(plan);
    for (char **v = plan->env; *v && n < HOOK_ENV_MAX; v++)
        if (!is_set(*v, "REIN_PROCESS_ID=") && !is_set(*v, "REIN_STATE="))
            hook_env[n++] = *v;
    hook_env[n++] = id_variable;
    hook_env[n++] = state_variable;
    hook_env[n] = NULL;
}

int hook_run(struct supervisor *s)
{
    static struct wire_plan head;
    static struct plan plan;
    struct exec_child child = {.plan = &plan, .file_size = &s->owner_file_size};
    pid_t pid;

    if (!s->plan.notify[0] || s->hook_ran)
        return 0;
    s->hook_ran = 1;
    make_env(&s->plan);
    head.pathc = 1;
    plan = (struct plan){.head = &head,
                         .argv = s->plan.notify,
                         .env = hook_env,
                         .paths = s->plan.notify,
                         .cwd = s->plan.cwd};
    pid = clone(exec_child_main, child_stack + sizeof(child_stack),
                CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (pid < 0)
        return -errno;
    if (child.errnum)
        (void)waitpid(pid, NULL, 0);
    return -child.errnum;
}
