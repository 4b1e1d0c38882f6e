/* Forgets finished jobs. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "id.h"
#include "record.h"
#include "store.h"

#define SWEEP_ENTRIES_MAX 100000 /* looked at in one sweep */
#define SWEEP_PAUSE_S 5          /* between two that were not asked for */
#define SWEEP_STAMP "last-sweep"
#define UNLOCKED_AGE_MAX_S 60 /* of a directory that is being made and has no lock yet */
#define LOCK_TRIES 20         /* a millisecond apart, while others look at the lock */
#define LOCK_TRIES_ENDED 2000 /* while a supervisor that has written the record goes */

struct entry {
    char id[JOB_ID_LENGTH + 1];
    int is_job; /* not the rest of a start that failed */
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

static int exists(int dir_fd, const char *name)
{
    return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- what there is ------------------------------------------------------------------------ */

static int64_t ended_s(int dir_fd, const struct stat *dir)
{
    struct stat st;

    return fstatat(dir_fd, RECORD_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtime
                                                                       : dir->st_mtime;
}

/* Fills in a directory that may be forgotten. False for one of a job that runs or is being made. */
static int look_at(int jobs_fd, const char *id, struct entry *ret)
{
    auto_close int dir_fd = openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int64_t now_s = time_wall_ns() / NSEC_PER_SEC;
    struct stat st;

    if (dir_fd < 0 || fstat(dir_fd, &st) < 0 || store_is_locked(dir_fd))
        return 0;
    memcpy(ret->id, id, sizeof(ret->id));
    ret->is_job = exists(dir_fd, "job.json");
    if (!ret->is_job && !exists(dir_fd, "lock") && now_s - st.st_mtime < UNLOCKED_AGE_MAX_S)
        return 0;
    ret->ended_s = ended_s(dir_fd, &st);
    ret->bytes = file_bytes(dir_fd, "output.log") + file_bytes(dir_fd, "output.marks");
    return 1;
}

static int add_entry(struct entries *all, int jobs_fd, const char *id)
{
    if (all->n == all->allocated) {
        size_t allocated = MAX(all->allocated * 2, (size_t)256);
        struct entry *grown = realloc(all->v, allocated * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        all->v = grown;
        all->allocated = allocated;
    }
    if (look_at(jobs_fd, id, &all->v[all->n]))
        all->n++;
    return 0;
}

static int collect(int jobs_fd, struct entries *all)
{
    int copy = fcntl(jobs_fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int r = 0;

    if (!dir) {
        r = -errno;
        (void)close_fd(copy);
        return r;
    }
    rewinddir(dir);
    while (r == 0 && all->n < SWEEP_ENTRIES_MAX && (entry = readdir(dir)))
        if (job_id_is_valid(entry->d_name))
            r = add_entry(all, jobs_fd, entry->d_name);
    (void)closedir(dir);
    return r;
}

/* ---- what goes ---------------------------------------------------------------------------- */

/* The lock of a directory whose job does not run; it keeps two who remove apart. Who only looks
 * whether it is held holds it, too, for a moment, and a supervisor for some moments after it has
 * written the record. -ENOENT when there is none. */
static int lock_finished(int dir_fd)
{
    auto_close int fd = openat(dir_fd, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int tries = exists(dir_fd, RECORD_NAME) ? LOCK_TRIES_ENDED : LOCK_TRIES;

    if (fd < 0)
        return -errno;
    for (int i = 0; i < tries; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return TAKE_FD(fd);
        if (errno != EWOULDBLOCK)
            return -errno;
        (void)poll(NULL, 0, 1);
    }
    return -EBUSY;
}

/* What rein has put there, and nothing else; first what makes others see the job. */
static int empty(int dir_fd)
{
    static const char *const names[] = {"job.json",      "job.json.new", RECORD_NAME,
                                        RECORD_NEW_NAME, "output.log",   "output.marks",
                                        "control",       "lock.new",     "lock"};
    int r = 0;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (unlinkat(dir_fd, names[i], 0) < 0 && errno != ENOENT)
            r = -errno;
    return r;
}

/* Leaves the record to whoever waits for the job's end. */
static void keep_record(int jobs_fd, int dir_fd, const char *id)
{
    char note[64], kept[80];

    (void)snprintf(note, sizeof(note), "../" STORE_OPEN_ENDS "/%s", id);
    if (faccessat(jobs_fd, note, F_OK, 0) < 0)
        return;
    (void)snprintf(kept, sizeof(kept), "%s" STORE_END_SUFFIX, note);
    (void)renameat(dir_fd, RECORD_NAME, jobs_fd, kept);
}

int store_remove(int jobs_fd, const char *id)
{
    auto_close int dir_fd = openat(jobs_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    auto_close int lock_fd = dir_fd < 0 ? -errno : lock_finished(dir_fd);
    int r;

    if (dir_fd < 0 || (lock_fd < 0 && lock_fd != -ENOENT))
        return lock_fd;
    keep_record(jobs_fd, dir_fd, id);
    r = empty(dir_fd);
    if (r == 0)
        (void)unlinkat(jobs_fd, id, AT_REMOVEDIR); /* stays while somebody keeps something in it */
    return r;
}

static int newest_first(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return (x->ended_s < y->ended_s) - (x->ended_s > y->ended_s);
}

/* Removes what is beyond a bound; returns how many jobs. */
static size_t remove_beyond(int jobs_fd, const struct entries *all)
{
    int64_t now_s = time_wall_ns() / NSEC_PER_SEC;
    uint64_t bytes = 0;
    size_t n_jobs = 0;
    size_t n_removed = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct entry *e = &all->v[i];

        n_jobs += (size_t)e->is_job;
        bytes += e->bytes;
        if (e->is_job && n_jobs <= STORE_JOBS_MAX && bytes <= STORE_BYTES_MAX &&
            now_s - e->ended_s <= STORE_AGE_MAX_S)
            continue;
        if (store_remove(jobs_fd, e->id) == 0 && e->is_job)
            n_removed++;
    }
    return n_removed;
}

int store_sweep(rein *r, size_t *ret_removed)
{
    auto_(entries_done) struct entries all = {0};
    auto_close int jobs_fd = -EBADF;
    size_t n_removed;
    int err;

    cgroup_sweep(&r->cgroup);
    err = context_open_jobs(r, &jobs_fd, NULL);
    if (err == 0)
        err = collect(jobs_fd, &all);
    if (err < 0 && err != -ENOENT)
        return err;
    if (all.n > 0)
        qsort(all.v, all.n, sizeof(all.v[0]), newest_first);
    n_removed = remove_beyond(jobs_fd, &all);
    if (ret_removed)
        *ret_removed = n_removed;
    return 0;
}

/* A mark in the store tells when it was swept last. One from the future is no mark. */
static int was_swept(int jobs_fd)
{
    auto_close int fd =
        openat(jobs_fd, "../" SWEEP_STAMP, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int64_t age_s;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    age_s = time_wall_ns() / NSEC_PER_SEC - st.st_mtime;
    if (st.st_size > 0 && age_s >= 0 && age_s < SWEEP_PAUSE_S)
        return 1;
    if (st.st_size == 0)
        (void)!write(fd, "\n", 1); /* the first sweep is not put off by the mark's birth */
    else
        (void)futimens(fd, NULL);
    return 0;
}

void store_sweep_sometimes(rein *r)
{
    auto_close int jobs_fd = -EBADF;

    if (context_open_jobs(r, &jobs_fd, NULL) == 0 && !was_swept(jobs_fd))
        (void)store_sweep(r, NULL);
}
