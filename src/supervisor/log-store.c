/* Moves the log from memory to the store: makes the job's directory there, and copies. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "supervisor.h"

/* What may be kept in memory where the store cannot be written. */
#define STUCK_LIMIT (8 * MIB)

/* Makes every missing directory of an absolute path, mode 0700, and opens the last one. It goes
 * step by step, so that the length of the whole path does not count. */
static int make_path(const char *path, int *ret_fd)
{
    auto_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[256];

    while (fd >= 0) {
        size_t n;
        int next;

        path += strspn(path, "/");
        n = strcspn(path, "/");
        if (n == 0)
            break;
        if (n >= sizeof(name))
            return -ENAMETOOLONG;
        memcpy(name, path, n);
        name[n] = '\0';
        path += n;
        if (mkdirat(fd, name, 0700) < 0 && errno != EEXIST)
            return -errno;
        next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (next < 0)
            return -errno;
        (void)close_fd(fd);
        fd = next;
    }
    if (fd < 0)
        return -errno;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int make_job_dir(const struct plan *plan, int *ret_fd)
{
    auto_close int jobs_fd = -EBADF;
    int r = make_path(plan->jobs_dir, &jobs_fd);

    if (r < 0)
        return r;
    if (mkdirat(jobs_fd, plan->head->process_id, 0700) < 0)
        return -errno;
    *ret_fd =
        openat(jobs_fd, plan->head->process_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret_fd < 0 ? -errno : 0;
}

static int create(int dir_fd, const char *name, int *ret_fd)
{
    *ret_fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *ret_fd < 0 ? -errno : 0;
}

static int create_with(int dir_fd, const char *name, const char *text)
{
    auto_close int fd = -EBADF;
    int r = create(dir_fd, name, &fd);

    return r < 0 ? r : io_write_all(fd, text, strlen(text));
}

static int copy(int from_fd, int to_fd, uint64_t size)
{
    static char buf[CHUNK_SIZE];

    for (uint64_t at = 0; at < size;) {
        ssize_t n = io_pread(from_fd, buf, MIN(sizeof(buf), size - at), at);
        int r;

        if (n <= 0)
            return n < 0 ? (int)n : -EIO;
        r = io_pwrite_all(to_fd, buf, (size_t)n, at);
        if (r < 0)
            return r;
        at += (uint64_t)n;
    }
    return 0;
}

/* A file system that cannot punch holes cannot bound a log; memory can. */
static int check_punch(int fd, uint32_t fallbacks)
{
    if (fallbacks & WIRE_NO_PUNCH)
        return -EOPNOTSUPP;
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) < 0 ? -errno : 0;
}

struct new_log {
    int dir_fd, lock_fd, fd, marks_fd;
};

static int build(const struct supervisor *s, struct new_log *n)
{
    const struct log *log = &s->log;
    int r = make_job_dir(&s->plan, &n->dir_fd);

    if (r == 0)
        r = create(n->dir_fd, "lock", &n->lock_fd);
    if (r == 0 && flock(n->lock_fd, LOCK_EX | LOCK_NB) < 0)
        r = -errno;
    if (r == 0)
        r = create_with(n->dir_fd, "job.json", s->plan.job_json);
    if (r == 0)
        r = create(n->dir_fd, "output.log", &n->fd);
    if (r == 0)
        r = check_punch(n->fd, s->plan.head->test_fallbacks);
    if (r == 0)
        r = copy(log->fd, n->fd, log->state.total);
    if (r == 0 && log->marks_fd >= 0) {
        r = create(n->dir_fd, "output.marks", &n->marks_fd);
        if (r == 0)
            r = copy(log->marks_fd, n->marks_fd, log->state.marks * WIRE_MARK_SIZE);
    }
    return r;
}

/* Takes back what build() made before it failed. */
static void unbuild(const struct supervisor *s, struct new_log *n)
{
    static const char *const files[] = {"output.marks", "output.log", "job.json", "lock"};
    auto_close int jobs_fd = -EBADF;

    for (size_t i = 0; n->dir_fd >= 0 && i < ARRAY_SIZE(files); i++)
        (void)unlinkat(n->dir_fd, files[i], 0);
    if (n->dir_fd >= 0 && make_path(s->plan.jobs_dir, &jobs_fd) == 0)
        (void)unlinkat(jobs_fd, s->plan.head->process_id, AT_REMOVEDIR);
    (void)close_fd(n->marks_fd);
    (void)close_fd(n->fd);
    (void)close_fd(n->lock_fd);
    (void)close_fd(n->dir_fd);
}

void log_move_to_store(struct supervisor *s)
{
    struct log *log = &s->log;
    struct new_log n = {-EBADF, -EBADF, -EBADF, -EBADF};
    int r = build(s, &n);

    if (r < 0) {
        unbuild(s, &n);
        log->stuck = 1;
        log->errnum = -r;
        log->limit = MIN(log->limit, STUCK_LIMIT);
        s->notes |= WIRE_NOTE_LOG_IN_MEMORY;
        return;
    }
    (void)close_fd(log->fd);
    (void)close_fd(log->marks_fd);
    log->fd = n.fd;
    log->marks_fd = n.marks_fd;
    log->dir_fd = n.dir_fd;
    log->lock_fd = n.lock_fd;
    report_log_moved(s);
}
