/*
 * The job's directory in the store: made, locked, given a control socket, made visible. What others
 * may find there at any moment is the truth: the lock exists only locked, job.json only complete
 * and with a main process that runs, both by rename.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "job/record.h"
#include "supervisor.h"

#define CONTROL_BACKLOG 1024
#define PID_ROOM 10 /* digits; blanks behind them mean nothing in JSON */

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

int store_create(const struct store *store, const char *name, int *ret_fd)
{
    *ret_fd = openat(store->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *ret_fd < 0 ? -errno : 0;
}

/* A file gets its name only when it is as others shall see it. */
static int rename_new(const struct store *store, const char *from, const char *to)
{
    return renameat(store->dir_fd, from, store->dir_fd, to) < 0 ? -errno : 0;
}

static int make_lock(struct store *store)
{
    int r = store_create(store, "lock.new", &store->lock_fd);

    if (r == 0 && flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0)
        r = -errno;
    return r < 0 ? r : rename_new(store, "lock.new", "lock");
}

static char *put(char *p, const char *s)
{
    size_t n = strlen(s);

    memcpy(p, s, n + 1);
    return p + n;
}

static char *put_number(char *p, unsigned long number)
{
    char digits[24];
    char *begin = digits + sizeof(digits) - 1;

    *begin = '\0';
    do
        *--begin = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return put(p, begin);
}

/* Socket paths have 108 bytes, stores any length: the name goes by way of the directory's
 * descriptor. */
static void control_address(int dir_fd, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)put(put_number(put(ret->sun_path, "/proc/self/fd/"), (unsigned long)dir_fd), "/control");
}

static int make_control(struct store *store)
{
    struct sockaddr_un address;
    mode_t mask;
    int r;

    store->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (store->listen_fd < 0)
        return -errno;
    control_address(store->dir_fd, &address);
    mask = umask(0177);
    r = bind(store->listen_fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
    (void)umask(mask);
    if (r == 0 && listen(store->listen_fd, CONTROL_BACKLOG) < 0)
        r = -errno;
    return r;
}

/* Where the pid of the main process goes, once it is known; the room for it is there already, so
 * that a disk that fills up meanwhile changes nothing. */
static off_t pid_offset;

static int write_job_json(const struct supervisor *s)
{
    auto_close int fd = -EBADF;
    char end[96];
    char *p =
        put(put_number(put(end, ", \"supervisor_pid\": "), (unsigned long)getpid()), ", \"pid\": ");
    size_t n = (size_t)(p - end);
    int r = store_create(&s->store, "job.json.new", &fd);

    memset(p, ' ', PID_ROOM);
    *p = '0';
    (void)put(p + PID_ROOM, "}\n");
    pid_offset = (off_t)(strlen(s->plan.job_json) + n);
    if (r == 0)
        r = io_write_all(fd, s->plan.job_json, strlen(s->plan.job_json));
    return r < 0 ? r : io_write_all(fd, end, strlen(end));
}

static int try_begin(struct supervisor *s, enum wire_step *ret_step)
{
    int r;

    *ret_step = WIRE_STEP_STORE;
    r = make_job_dir(&s->plan, &s->store.dir_fd);
    if (r < 0)
        return r;
    *ret_step = WIRE_STEP_LOCK;
    r = make_lock(&s->store);
    if (r < 0)
        return r;
    *ret_step = WIRE_STEP_CONTROL;
    r = make_control(&s->store);
    if (r < 0)
        return r;
    *ret_step = WIRE_STEP_STORE;
    r = record_reserve(s->store.dir_fd);
    return r < 0 ? r : write_job_json(s);
}

int store_begin(struct supervisor *s, enum wire_step *ret_step)
{
    int r = try_begin(s, ret_step);

    if (r < 0)
        store_cancel(s);
    return r;
}

int store_publish(struct supervisor *s)
{
    auto_close int fd = openat(s->store.dir_fd, "job.json.new", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    char digits[24];
    size_t n = (size_t)(put_number(digits, (unsigned long)s->main_pid) - digits);
    int r = fd < 0 ? -errno : io_pwrite_all(fd, digits, n, (uint64_t)pid_offset);

    if (r == 0)
        r = rename_new(&s->store, "job.json.new", "job.json");
    s->store.published = r == 0;
    return r;
}

void store_close_control(struct supervisor *s)
{
    if (s->store.listen_fd < 0)
        return;
    (void)unlinkat(s->store.dir_fd, "control", 0);
    s->store.listen_fd = close_fd(s->store.listen_fd);
}

/* The lock goes last, so that nobody else takes the rest for a leftover. */
void store_cancel(struct supervisor *s)
{
    static const char *const files[] = {
        "output.marks",       "output.log", "job.json.new", "job.json",
        (RECORD_NAME ".new"), "control",    "lock.new",     "lock"};
    auto_close int jobs_fd = -EBADF;

    if (s->store.dir_fd < 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        (void)unlinkat(s->store.dir_fd, files[i], 0);
    if (make_path(s->plan.jobs_dir, &jobs_fd) == 0)
        (void)unlinkat(jobs_fd, s->plan.head->process_id, AT_REMOVEDIR);
    s->store.listen_fd = close_fd(s->store.listen_fd);
    s->store.dir_fd = close_fd(s->store.dir_fd);
    s->store.lock_fd = close_fd(s->store.lock_fd);
    s->store.published = 0;
}
