/* The log's way from memory into the store, and what becomes of it when somebody else has deleted
 * or truncated its file there. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "supervisor.h"

#define LOG_NAME "output.log"
#define MARKS_NAME "output.marks"

/* What may be kept in memory where the store cannot hold it. */
#define STUCK_LIMIT (8 * MIB)

static int copy(int from_fd, int to_fd, uint64_t begin, uint64_t end)
{
    static char buf[CHUNK_SIZE];

    for (uint64_t at = begin; at < end;) {
        ssize_t n = io_pread(from_fd, buf, (size_t)MIN(sizeof(buf), end - at), at);
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

/* All but the gap, where the copy gets a hole. */
static int copy_kept(int from_fd, int to_fd, uint64_t gap_begin, uint64_t gap_end, uint64_t end)
{
    int r = copy(from_fd, to_fd, 0, gap_end ? gap_begin : end);

    if (r == 0 && gap_end)
        r = copy(from_fd, to_fd, gap_end, end);
    return r;
}

/* A file system that cannot punch holes cannot bound a log; memory can. Punches where nothing is
 * yet, for on some file systems only a real request tells. */
static int check_punch(int fd, uint32_t fallbacks)
{
    if (fallbacks & WIRE_NO_PUNCH)
        return -EOPNOTSUPP;
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) < 0 ? -errno : 0;
}

/* Files that take the log's place. */
struct new_log {
    int fd, marks_fd;
};

static int build(const struct supervisor *s, struct new_log *n, int must_punch)
{
    const struct log *log = &s->log;
    const struct wire_log_state *st = &log->state;
    int r = store_create(&s->store, LOG_NAME, &n->fd);

    if (r == 0 && must_punch)
        r = check_punch(n->fd, s->plan.head->test_fallbacks);
    if (r == 0)
        r = copy_kept(log->fd, n->fd, st->gap_begin, st->gap_end, st->total);
    if (r == 0 && ftruncate(n->fd, (off_t)log->file_end) < 0)
        r = -errno;
    if (r < 0 || log->marks_fd < 0)
        return r;
    (void)unlinkat(s->store.dir_fd, MARKS_NAME, 0);
    r = store_create(&s->store, MARKS_NAME, &n->marks_fd);
    if (r == 0)
        r = copy_kept(log->marks_fd, n->marks_fd, st->marks_gap_begin * WIRE_MARK_SIZE,
                      st->marks_gap_end * WIRE_MARK_SIZE, st->marks * WIRE_MARK_SIZE);
    return r;
}

/* Makes the files from the old ones, and lets those go. */
static int replace(struct supervisor *s, int must_punch)
{
    struct log *log = &s->log;
    struct new_log n = {-EBADF, -EBADF};
    int r = build(s, &n, must_punch);

    if (r < 0) {
        (void)unlinkat(s->store.dir_fd, MARKS_NAME, 0);
        (void)unlinkat(s->store.dir_fd, LOG_NAME, 0);
        (void)close_fd(n.marks_fd);
        (void)close_fd(n.fd);
        return r;
    }
    (void)close_fd(log->fd);
    log->fd = n.fd;
    if (n.marks_fd >= 0) {
        (void)close_fd(log->marks_fd);
        log->marks_fd = n.marks_fd;
    }
    log->in_store = 1;
    return 0;
}

/* A job of the foreground appears in the store only with its log. */
static int enter_store(struct supervisor *s)
{
    enum wire_step step;
    int r;

    if (s->store.dir_fd >= 0)
        return replace(s, /* must_punch= */ 1);
    r = store_begin(s, &step);
    if (r < 0)
        return r;
    r = replace(s, /* must_punch= */ 1);
    if (r == 0)
        r = store_publish(s);
    if (r < 0 && !s->log.in_store)
        store_cancel(s);
    return s->log.in_store ? 0 : r;
}

void log_move_to_store(struct supervisor *s)
{
    struct log *log = &s->log;
    int r = enter_store(s);

    if (r < 0) {
        log->stuck = 1;
        log->errnum = -r;
        log->limit = MIN(log->limit, STUCK_LIMIT);
        s->notes |= WIRE_NOTE_LOG_IN_MEMORY;
    } else if (s->main_pid > 0) {
        report_log_moved(s);
    }
}

/* Somebody cut the file: what it had beyond its new end is lost, and all in between with it, for
 * there is one gap. */
static void note_truncation(struct supervisor *s, uint64_t size)
{
    struct wire_log_state *st = &s->log.state;

    s->notes |= WIRE_NOTE_LOG_TRUNCATED;
    if (st->gap_end == 0 || size < st->gap_begin)
        st->gap_begin = size;
    st->gap_end = st->total;
    s->log.file_end = size;
    s->log.punched_end = MIN(s->log.punched_end, size);
}

void log_check(struct supervisor *s)
{
    struct log *log = &s->log;
    struct stat st;

    if (!log->in_store || fstat(log->fd, &st) < 0)
        return;
    if ((uint64_t)st.st_size < log->file_end)
        note_truncation(s, (uint64_t)st.st_size);
    if (st.st_nlink > 0)
        return;
    /* Its bytes are still there as long as it is open. Where no new one can be made, it goes on
     * being written, and once more at the end a new one is tried. */
    if (log->restore_failed)
        return;
    s->notes |= WIRE_NOTE_LOG_DELETED;
    log->restore_failed = replace(s, /* must_punch= */ 0) < 0;
    if (!log->restore_failed)
        report_log_moved(s);
}

void log_save(struct supervisor *s)
{
    struct log *log = &s->log;

    log->restore_failed = 0;
    if (log->in_store)
        log_check(s);
    else if (log->stuck)
        (void)replace(s, /* must_punch= */ 0);
}
