/* Resource limits of a plan, and what is to be said about those that hold only in a weaker form. */
#include "plan-parts.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/strv.h"

static void add_rlimit(struct plan_message *plan, int resource, uint64_t soft, uint64_t hard)
{
    struct wire_rlimit *limit = &plan->head.rlimits[plan->head.n_rlimits++];

    limit->resource = resource;
    limit->soft = soft;
    limit->hard = hard;
}

static int note_weaker(struct plan_message *plan, const char *layer, const char *warning)
{
    int r = strv_add(&plan->missing, layer);

    return r < 0 ? r : strv_add(&plan->warnings, warning);
}

static int add_cpu_limit(struct plan_message *plan, int64_t cpu_time_ns)
{
    uint64_t seconds = (uint64_t)(cpu_time_ns / NSEC_PER_SEC + (cpu_time_ns % NSEC_PER_SEC > 0));
    auto_free char *warning = NULL;
    int r;

    add_rlimit(plan, RLIMIT_CPU, seconds, seconds + 1);
    if (cpu_time_ns % NSEC_PER_SEC) {
        if (asprintf(&warning, "cpu-time %.3f s was rounded up to %llu s",
                     (double)cpu_time_ns / 1e9, (unsigned long long)seconds) < 0)
            return -ENOMEM;
        r = strv_add_take(&plan->warnings, TAKE_PTR(warning));
        if (r < 0)
            return r;
    }
    return note_weaker(plan, "cpu",
                       "cpu-time holds for each process by itself, not for all of them together");
}

/* How many processes and threads this user has now: the kernel's limit counts all of them. */
static uint64_t count_user_tasks(void)
{
    DIR *proc = opendir("/proc");
    uint64_t n = 0;
    struct dirent *entry;

    while (proc && (entry = readdir(proc))) {
        char path[300];
        struct stat st;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
        if (stat(path, &st) == 0 && st.st_uid == getuid() && st.st_nlink > 2)
            n += st.st_nlink - 2;
    }
    if (proc)
        (void)closedir(proc);
    return n;
}

static int add_procs_limit(struct plan_message *plan, uint64_t procs)
{
    uint64_t limit = count_user_tasks();

    if (__builtin_add_overflow(limit, procs, &limit))
        limit = UINT64_MAX;
    add_rlimit(plan, RLIMIT_NPROC, limit, limit);
    return note_weaker(plan, "procs",
                       getuid() == 0
                           ? "procs does not bind root without a cgroup"
                           : "procs counts all processes of the user: those of now, and this many");
}

int plan_add_limits(struct plan_message *plan, const struct rein_spec *spec)
{
    int r = 0;

    if (spec->memory_limit) {
        add_rlimit(plan, RLIMIT_AS, spec->memory_limit, spec->memory_limit);
        r = note_weaker(plan, "memory",
                        "memory holds for the address space of each process by itself");
    }
    if (r == 0 && spec->cpu_time_ns)
        r = add_cpu_limit(plan, spec->cpu_time_ns);
    if (r == 0 && spec->procs_limit)
        r = add_procs_limit(plan, spec->procs_limit);
    if (r == 0 && spec->file_size_limit)
        add_rlimit(plan, RLIMIT_FSIZE, spec->file_size_limit, spec->file_size_limit);
    return r;
}
