/* Forgets finished jobs. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "id.h"
#include "store.h"

#define SWEEP_ENTRIES_MAX 10000 /* looked at in one sweep */

struct entry {
    char id[JOB_ID_LENGTH + 1];
    int64_t ended_s;
    uint64_t bytes;
};

struct entries {
    struct entry *v;
    size_t n;
    size_t allocated;
};

static void entries_done(struct entries *e)
{
    free(e->v);
}

static uint64_t file_bytes(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

/* A job whose lock can be had has no supervisor. Holding it meanwhile keeps two sweeps apart. */
static int lock_finished(int dir_fd)
{
    auto_close int fd = openat(dir_fd, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    return TAKE_FD(fd);
}

static int add_entry(struct entries *all, int jobs_fd, const char *id)
{
    auto_close int dir_fd = openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    auto_close int lock_fd = dir_fd < 0 ? -EBADF : lock_finished(dir_fd);
    struct stat st;
    struct entry *e;

    if (dir_fd < 0 || lock_fd == -EWOULDBLOCK || fstat(dir_fd, &st) < 0)
        return 0;
    /* A directory without a lock is one that is being made, until it is old. */
    if (lock_fd < 0 && time_wall_ns() / NSEC_PER_SEC - st.st_mtime < STORE_AGE_MAX_S)
        return 0;
    if (all->n == all->allocated) {
        size_t allocated = MAX(all->allocated * 2, (size_t)256);
        struct entry *grown = realloc(all->v, allocated * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        all->v = grown;
        all->allocated = allocated;
    }
    e = &all->v[all->n++];
    memcpy(e->id, id, sizeof(e->id));
    e->ended_s = st.st_mtime;
    e->bytes = file_bytes(dir_fd, "output.log") + file_bytes(dir_fd, "output.marks");
    return 0;
}

static void remove_job(int jobs_fd, const char *id)
{
    static const char *const files[] = {"output.log",    "output.marks", "exit.json",
                                        "exit.json.new", "job.json",     "lock"};
    auto_close int dir_fd = openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    auto_close int lock_fd = dir_fd < 0 ? -EBADF : lock_finished(dir_fd);

    if (dir_fd < 0 || lock_fd == -EWOULDBLOCK)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        (void)unlinkat(dir_fd, files[i], 0);
    (void)unlinkat(jobs_fd, id, AT_REMOVEDIR);
}

static int newest_first(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return (x->ended_s < y->ended_s) - (x->ended_s > y->ended_s);
}

static void collect(int jobs_fd, struct entries *all)
{
    int copy = fcntl(jobs_fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    if (!dir) {
        (void)close_fd(copy);
        return;
    }
    while (all->n < SWEEP_ENTRIES_MAX && (entry = readdir(dir)))
        if (job_id_is_valid(entry->d_name) && add_entry(all, jobs_fd, entry->d_name) < 0)
            break;
    (void)closedir(dir);
}

void store_sweep(rein *r)
{
    auto_(entries_done) struct entries all = {0};
    auto_close int jobs_fd = -EBADF;
    int64_t now_s = time_wall_ns() / NSEC_PER_SEC;
    uint64_t bytes = 0;

    cgroup_sweep(&r->cgroup);
    if (context_make_state_dir(r, "jobs", &jobs_fd, NULL) < 0)
        return;
    collect(jobs_fd, &all);
    if (all.n > 0)
        qsort(all.v, all.n, sizeof(all.v[0]), newest_first);
    for (size_t i = 0; i < all.n; i++) {
        bytes += all.v[i].bytes;
        if (i >= STORE_JOBS_MAX || bytes > STORE_BYTES_MAX ||
            now_s - all.v[i].ended_s > STORE_AGE_MAX_S)
            remove_job(jobs_fd, all.v[i].id);
    }
}
