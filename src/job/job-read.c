/* Reading a job's log: by position, by offset, across the gap, and apart by stream. */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "job.h"

#define STALE_READS_MAX 1000 /* in a row; then somebody writes faster than can be read */

static int in_gap(const struct wire_log_state *log, uint64_t offset)
{
    return offset >= log->gap_begin && offset < log->gap_end;
}

static int reaches_into_gap(const struct wire_log_state *log, uint64_t offset, size_t size)
{
    return offset < log->gap_end && offset + size > log->gap_begin;
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

/* Which stream the byte at offset belongs to, and how many bytes from it on do, too. As long as no
 * mark was dropped, one of the head may count behind the gap. */
static int find_stream(rein_job *job, uint64_t offset, uint64_t *ret_run)
{
    const struct wire_log_state *log = &job->log;
    int dropped = log->marks_gap_end > log->marks_gap_begin;
    int behind = dropped && offset >= log->gap_end;
    uint64_t low = behind ? log->marks_gap_end : 0;
    uint64_t high = dropped && !behind ? log->marks_gap_begin : log->marks;
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

/* The supervisor may have given some of these bytes back since we last heard of it. Then there is a
 * hole in the file; marks tell nothing by themselves. */
static int may_be_dropped(const rein_job *job, uint64_t offset, size_t size)
{
    off_t hole;

    if (job->ended)
        return 0;
    hole = lseek(job->log_fd, (off_t)offset, SEEK_HOLE);
    return hole < 0 || (uint64_t)hole < offset + size || job->split;
}

static ssize_t
read_kept(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *piece)
{
    const struct wire_log_state *log = &job->log;
    uint64_t run = UINT64_MAX;
    ssize_t n;

    if (in_gap(log, offset))
        offset = log->gap_end;
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

/* Reads, and asks the supervisor afterwards, if need be, whether that still was there: then it was
 * right. If not, once more from where the gap ends now; and if even that was dropped meanwhile,
 * from the middle of what is kept, for the gap's end may run before us for ever. */
static ssize_t
read_valid(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *piece)
{
    for (int i = 0; i < STALE_READS_MAX; i++) {
        ssize_t n = read_kept(job, offset, buf, size, piece);
        uint64_t begin = piece->cursor - (uint64_t)MAX(n, 0);
        int r;

        if (n <= 0 || !may_be_dropped(job, begin, (size_t)n))
            return n;
        r = job_refresh(job);
        if (r < 0)
            return r;
        if (!reaches_into_gap(&job->log, begin, (size_t)n))
            return n;
        if (i > 0)
            offset = MAX(offset, job->log.gap_end + (job->log.total - job->log.gap_end) / 2);
    }
    return -ETIMEDOUT;
}

ssize_t
rein_read_at(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece)
{
    struct rein_piece piece;
    ssize_t n;

    if (!job || !buf || size == 0)
        return -EINVAL;
    n = read_valid(job, offset, buf, size, &piece);
    if (n < 0)
        return n;
    piece.skipped_bytes = piece.cursor - (uint64_t)n - offset;
    if (ret_piece)
        *ret_piece = piece;
    return n;
}

/* Moves on behind a piece, or behind bytes lost at the very end. A caller that polls may read once
 * only, so news of what is beyond is asked for at once. */
static ssize_t
give(rein_job *job, ssize_t n, const struct rein_piece *piece, struct rein_piece *ret_piece)
{
    job->cursor = piece->cursor;
    (void)job_arm(job, job->cursor);
    if (ret_piece)
        *ret_piece = *piece;
    return n;
}

ssize_t
rein_read(rein_job *job, void *buf, size_t size, int timeout_ms, struct rein_piece *ret_piece)
{
    int64_t until_ns = timeout_ms > 0 ? time_mono_ns() + timeout_ms * NSEC_PER_MSEC : 0;
    struct rein_piece piece;

    if (!job || !buf || size == 0)
        return -EINVAL;
    job->has_reader = 1;
    for (;;) {
        ssize_t n = rein_read_at(job, job->cursor, buf, size, &piece);
        int r;

        if (n < 0)
            return n;
        if (n > 0 || (job->ended && piece.cursor >= job->log.total))
            return give(job, n, &piece, ret_piece);
        r = job_pump(job, 0);
        if (r == 0)
            r = job_arm(job, piece.cursor);
        else if (r > 0)
            continue;
        if (r < 0)
            return r;
        r = timeout_ms == 0 ? 0 : job_pump(job, timeout_ms < 0 ? -1 : time_left_ms(until_ns));
        if (r <= 0)
            return r < 0 ? r : -EAGAIN;
    }
}

void rein_seek(rein_job *job, uint64_t offset)
{
    if (job)
        job->cursor = offset;
}
