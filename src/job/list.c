/* The jobs in the store, and forgetting them. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "job.h"
#include "store.h"
#include "usage.h"

#define LIST_MAX 100000

struct rein_list {
    struct rein_result *v;
    struct usage *usage; /* of those that run */
    size_t n;
    size_t allocated;
};

DEFINE_FREEP(rein_job, rein_job_free)
DEFINE_FREEP(rein_list, rein_list_free)

size_t rein_list_count(const rein_list *list)
{
    return list ? list->n : 0;
}

const struct rein_result *rein_list_get(const rein_list *list, size_t i)
{
    return list && i < list->n ? &list->v[i] : NULL;
}

rein_list *rein_list_free(rein_list *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        rein_result_done(&list->v[i]);
    if (list) {
        free(list->v);
        free(list->usage);
    }
    free(list);
    return NULL;
}

static int reserve(rein_list *list)
{
    size_t want = MAX(list->allocated * 2, (size_t)64);
    struct rein_result *v;
    struct usage *usage;

    if (list->n < list->allocated)
        return 0;
    v = reallocarray(list->v, want, sizeof(*v));
    if (!v)
        return -ENOMEM;
    list->v = v;
    usage = reallocarray(list->usage, want, sizeof(*usage));
    if (!usage)
        return -ENOMEM;
    list->usage = usage;
    list->allocated = want;
    return 0;
}

/* Without talking to its supervisor: the lock says whether it lives, the size of the log how much
 * there is. */
static void look_how_it_is(rein_job *job, int dir_fd)
{
    int locked = store_is_locked(dir_fd);
    struct stat st;

    if (store_read_end(job, dir_fd) == 0)
        return;
    if (!locked)
        store_read_loss(job, dir_fd);
    else if (fstatat(dir_fd, "output.log", &st, AT_SYMLINK_NOFOLLOW) == 0)
        job->log.total = (uint64_t)st.st_size;
}

static int add_job(rein_list *list, rein *r, int jobs_fd, const char *id)
{
    auto_(rein_job_freep) rein_job *job = NULL;
    auto_close int dir_fd = openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct rein_result *result;
    int err;

    if (dir_fd < 0)
        return 0;
    if (job_new(r, &job) < 0)
        return -ENOMEM;
    memcpy(job->id, id, sizeof(job->id));
    job->background = job->attached = job->let_go = job->log_moved = 1;
    if (job_set_store_dir(job) < 0)
        return -ENOMEM;
    err = store_read_job(job, dir_fd);
    if (err < 0)
        return err == -ENOMEM ? err : 0;
    look_how_it_is(job, dir_fd);
    if (reserve(list) < 0)
        return -ENOMEM;
    result = &list->v[list->n];
    *result = (struct rein_result){.size = sizeof(*result)};
    list->usage[list->n] = (struct usage){.supervisor_pid = job->ended ? 0 : job->supervisor_pid,
                                          .guard_pid = job->guard_pid};
    list->n++; /* what is not complete is freed with the rest */
    return job_describe(job, result);
}

static int read_jobs(rein_list *list, rein *r, int jobs_fd)
{
    int copy = fcntl(jobs_fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int err = 0;

    if (!dir) {
        err = -errno;
        (void)close_fd(copy);
        return err;
    }
    while (err == 0 && list->n < LIST_MAX && (entry = readdir(dir)))
        if (job_id_is_valid(entry->d_name))
            err = add_job(list, r, jobs_fd, entry->d_name);
    (void)closedir(dir);
    return err;
}

/* What the trees of the running ones use now. What cannot be found out is 0. */
static void add_usage(rein_list *list)
{
    usage_of_trees(list->usage, list->n);
    for (size_t i = 0; i < list->n; i++) {
        if (!list->v[i].running)
            continue;
        list->v[i].user_us = list->usage[i].user_us;
        list->v[i].system_us = list->usage[i].system_us;
        list->v[i].max_rss_bytes = list->usage[i].rss_bytes;
    }
}

static int oldest_first(const void *a, const void *b)
{
    const struct rein_result *x = a;
    const struct rein_result *y = b;

    return (x->started_at_ns > y->started_at_ns) - (x->started_at_ns < y->started_at_ns);
}

int rein_jobs(rein *r, rein_list **ret)
{
    auto_(rein_list_freep) rein_list *list = NULL;
    auto_close int jobs_fd = -EBADF;
    int err;

    if (!r || !ret)
        return -EINVAL;
    list = calloc(1, sizeof(*list));
    if (!list)
        return -ENOMEM;
    err = context_open_jobs(r, &jobs_fd, NULL);
    if (err == 0)
        err = read_jobs(list, r, jobs_fd);
    if (err < 0 && err != -ENOENT)
        return err;
    add_usage(list);
    if (list->n > 0)
        qsort(list->v, list->n, sizeof(list->v[0]), oldest_first);
    *ret = TAKE_PTR(list);
    return 0;
}

int rein_forget(rein *r, const char *process_id, struct rein_error **reterr)
{
    auto_close int jobs_fd = -EBADF;
    int err;

    if (!r || !process_id)
        return rein_fail(reterr, -EINVAL, "bad_request", "arguments", "a required pointer is NULL");
    err = job_id_is_valid(process_id) ? context_open_jobs(r, &jobs_fd, NULL) : -ENOENT;
    if (err == 0)
        err = store_remove(jobs_fd, process_id);
    switch (-err) {
    case 0:
        return 0;
    case ENOENT:
        return rein_fail(reterr, err, "no_such_job", "forget",
                         "No background command with process_id '%.100s'", process_id);
    case EBUSY:
        return rein_fail_hint(reterr, err, "bad_request", "forget", "stop it first",
                              "job %s is running", process_id);
    default:
        return rein_fail(reterr, err, "internal", "forget", "cannot remove job %s: %s", process_id,
                         strerror(-err));
    }
}

int rein_gc(rein *r, size_t *ret_removed)
{
    return r ? store_sweep(r, ret_removed) : -EINVAL;
}
