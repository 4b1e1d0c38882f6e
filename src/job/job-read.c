/* Reading a job's log: by position, by offset, across the gap, and apart by stream. */
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "job.h"

static int in_gap(const struct wire_log_state *log, uint64_t offset)
{
    return offset >= log->gap_begin && offset < log->gap_end;
}

/* Mark number index, or 0 bytes. */
static int read_mark(const rein_job *job, uint64_t index, uint64_t *ret)
{
    return io_pread(job->marks_fd, ret, sizeof(*ret), index * WIRE_MARK_SIZE) ==
           (ssize_t)sizeof(*ret);
}

/* The last mark in [low, high) whose offset is not beyond offset, found by halving. False if none.
 */
static int
find_mark(const rein_job *job, uint64_t low, uint64_t high, uint64_t offset, uint64_t *ret_index)
{
    uint64_t mark;
    int found = 0;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (!read_mark(job, middle, &mark))
            return 0;
        if (WIRE_MARK_OFFSET(mark) > offset) {
            high = middle;
        } else {
            *ret_index = middle;
            found = 1;
            low = middle + 1;
        }
    }
    return found;
}

/* Which stream the byte at offset belongs to, and how many bytes from it on do, too. */
static int find_stream(rein_job *job, uint64_t offset, uint64_t *ret_run)
{
    const struct wire_log_state *log = &job->log;
    int behind = offset >= log->gap_end && log->marks_gap_end > 0;
    uint64_t low = behind ? log->marks_gap_end : 0;
    uint64_t high = behind || log->marks_gap_end == 0 ? log->marks : log->marks_gap_begin;
    uint64_t index = 0;
    uint64_t mark = 0;
    uint64_t next;

    /* Readers go forward: the mark of the last look-up, or the one after it, is likely. */
    if (job->mark_index >= low && job->mark_index < high &&
        read_mark(job, job->mark_index, &mark) && WIRE_MARK_OFFSET(mark) <= offset)
        low = job->mark_index;
    if (!find_mark(job, low, high, offset, &index) || !read_mark(job, index, &mark)) {
        *ret_run = UINT64_MAX;
        return REIN_STREAM_STDOUT;
    }
    job->mark_index = index;
    *ret_run = UINT64_MAX;
    if (index + 1 < high && read_mark(job, index + 1, &next))
        *ret_run = WIRE_MARK_OFFSET(next) - offset;
    return WIRE_MARK_STREAM(mark) ? REIN_STREAM_STDERR : REIN_STREAM_STDOUT;
}

/* The supervisor may have given the bytes at offset back since we last heard of it. The size of the
 * file tells how far it has come; only when that is far does it have to be asked. */
static int may_be_dropped(const rein_job *job, uint64_t offset)
{
    struct stat st;

    if (job->ended || offset < job->output_limit / 4)
        return 0;
    return fstat(job->log_fd, &st) < 0 || (uint64_t)st.st_size - offset > job->output_limit / 2 ||
           job->split;
}

static ssize_t
read_kept(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *piece)
{
    const struct wire_log_state *log = &job->log;
    uint64_t skipped = 0;
    uint64_t run = UINT64_MAX;
    ssize_t n;

    if (in_gap(log, offset)) {
        skipped = log->gap_end - offset;
        offset = log->gap_end;
    }
    piece->skipped_bytes = skipped;
    piece->cursor = offset;
    piece->stream = REIN_STREAM_OUTPUT;
    if (offset >= log->total)
        return 0;
    size = (size_t)MIN((uint64_t)size, log->total - offset);
    if (offset < log->gap_begin)
        size = (size_t)MIN((uint64_t)size, log->gap_begin - offset);
    if (job->split) {
        piece->stream = find_stream(job, offset, &run);
        size = (size_t)MIN((uint64_t)size, run);
    }
    n = io_pread(job->log_fd, buf, size, offset);
    if (n > 0)
        piece->cursor = offset + (uint64_t)n;
    return n;
}

ssize_t
rein_read_at(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece)
{
    struct rein_piece piece;
    ssize_t n;

    if (!job || !buf || size == 0)
        return -EINVAL;
    n = read_kept(job, offset, buf, size, &piece);
    if (n > 0 && may_be_dropped(job, piece.cursor - (uint64_t)n)) {
        int r = job_refresh(job);

        if (r < 0)
            return r;
        if (in_gap(&job->log, piece.cursor - (uint64_t)n))
            n = read_kept(job, offset, buf, size, &piece);
    }
    if (ret_piece)
        *ret_piece = piece;
    return n;
}

ssize_t
rein_read(rein_job *job, void *buf, size_t size, int timeout_ms, struct rein_piece *ret_piece)
{
    int64_t until_ns = timeout_ms > 0 ? time_mono_ns() + timeout_ms * NSEC_PER_MSEC : 0;
    struct rein_piece piece;

    if (!job || !buf || size == 0)
        return -EINVAL;
    for (;;) {
        ssize_t n = rein_read_at(job, job->cursor, buf, size, &piece);
        int r;

        if (n != 0) {
            if (n > 0)
                job->cursor = piece.cursor;
            if (ret_piece)
                *ret_piece = piece;
            return n;
        }
        r = job_pump(job, 0);
        if (r == 0)
            r = job_arm(job, job->cursor);
        else if (r > 0 && job->ended && job->cursor >= job->log.total)
            return 0;
        else if (r > 0)
            continue;
        if (r < 0)
            return r;
        r = timeout_ms == 0 ? 0 : job_pump(job, timeout_ms < 0 ? -1 : time_left_ms(until_ns));
        if (r <= 0)
            return r < 0 ? r : -EAGAIN;
    }
}
