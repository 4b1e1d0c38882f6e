/*
 * The bounded log. Offset in the file = offset in the job's output. Past the limit the first
 * quarter and the newest three quarters stay; the middle is given back by punching a hole. Marks of
 * a split job count as log bytes and are given back together with what they describe.
 */
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "rein.h"
#include "supervisor.h"

#define BLOCK 4096u
#define FULL_DISK_LIMIT_MIN (64 * KIB) /* what is tried to keep on a disk that is full */

static uint64_t round_up(uint64_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

static uint64_t round_down(uint64_t n)
{
    return n / BLOCK * BLOCK;
}

void log_init(struct log *log, const struct plan *plan)
{
    log->fd = plan->fds[WIRE_FD_LOG];
    log->marks_fd = plan->fds[WIRE_FD_MARKS];
    log->last_stream = -1;
    log->limit = plan->head->log_limit;
    log->memory_limit = MIN(plan->head->memory_limit, plan->head->log_limit);
}

static uint64_t kept_bytes(const struct wire_log_state *st)
{
    uint64_t marks = st->marks - (st->marks_gap_end - st->marks_gap_begin);

    return st->total - (st->gap_end - st->gap_begin) + marks * WIRE_MARK_SIZE;
}

/* Gives whole blocks of [begin, end) back, beginning at *punched, the end of what already was. */
static void punch(int fd, uint64_t begin, uint64_t end, uint64_t *punched)
{
    uint64_t from = MAX(round_up(begin), *punched);
    uint64_t to = round_down(end);

    if (to <= from)
        return;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(to - from)) == 0)
        *punched = to;
}

/* The offset of mark number index; beyond all others when it cannot be read. */
static uint64_t mark_offset(const struct log *log, uint64_t index)
{
    uint64_t mark;
    ssize_t n = io_pread(log->marks_fd, &mark, sizeof(mark), index * WIRE_MARK_SIZE);

    return n == (ssize_t)sizeof(mark) ? WIRE_MARK_OFFSET(mark) : UINT64_MAX / 2;
}

/* Where the head ends: its bytes and their marks are a quarter of the limit. */
static uint64_t head_end(const struct log *log)
{
    uint64_t quarter = log->limit / 4;
    uint64_t low = 0;
    uint64_t high = log->marks_fd < 0 ? 0 : log->state.marks;
    uint64_t last = 0;

    while (low < high) { /* low: marks that are in the head for sure; last: the last one's offset */
        uint64_t middle = low + (high - low) / 2;
        uint64_t offset = mark_offset(log, middle);

        if (offset + middle * WIRE_MARK_SIZE < quarter) {
            low = middle + 1;
            last = offset;
        } else {
            high = middle;
        }
    }
    quarter -= MIN(quarter, low * WIRE_MARK_SIZE);
    return MIN(MAX(quarter, last), log->state.total);
}

/* The first mark, from number index on, whose offset is beyond offset. */
static uint64_t first_mark_beyond(const struct log *log, uint64_t index, uint64_t offset)
{
    uint64_t marks[64];

    while (index < log->state.marks) {
        ssize_t n = io_pread(log->marks_fd, marks, sizeof(marks), index * WIRE_MARK_SIZE);
        size_t count = n > 0 ? (size_t)n / sizeof(marks[0]) : 0;

        for (size_t i = 0; i < count; i++)
            if (WIRE_MARK_OFFSET(marks[i]) > offset)
                return index + i;
        if (count == 0)
            break;
        index += count;
    }
    return log->state.marks;
}

/* Lets the gap of the marks follow the log's. The last mark at or before the gap's end stays: it
 * says whose bytes those just behind the gap are. */
static void drop_marks(struct log *log)
{
    struct wire_log_state *st = &log->state;
    uint64_t beyond;

    if (log->marks_fd < 0)
        return;
    if (st->marks_gap_end == 0) /* marks of the head stay */
        st->marks_gap_begin = st->gap_begin ? first_mark_beyond(log, 0, st->gap_begin - 1) : 0;
    st->marks_gap_end = MAX(st->marks_gap_end, st->marks_gap_begin);
    beyond = first_mark_beyond(log, st->marks_gap_end, st->gap_end);
    if (beyond > st->marks_gap_end + 1)
        st->marks_gap_end = beyond - 1;
    punch(log->marks_fd, st->marks_gap_begin * WIRE_MARK_SIZE, st->marks_gap_end * WIRE_MARK_SIZE,
          &log->marks_punched_end);
}

/* How many bytes of the tail cost that much, if their marks lie evenly among them. */
static uint64_t bytes_that_cost(const struct log *log, uint64_t cost)
{
    const struct wire_log_state *st = &log->state;
    uint64_t bytes = st->total - st->gap_end;
    uint64_t marks = (st->marks - st->marks_gap_end) * WIRE_MARK_SIZE;

    return MAX(cost * (bytes * 256 / (bytes + marks)) / 256, (uint64_t)1);
}

/* Drops the oldest bytes behind the head until size more fit into the limit. */
static void make_room(struct log *log, uint64_t size)
{
    struct wire_log_state *st = &log->state;
    uint64_t step = MIN(MAX(log->limit / 16, (uint64_t)BLOCK), MIB);

    if (st->gap_end == 0)
        st->gap_begin = st->gap_end = head_end(log);
    while (kept_bytes(st) + size > log->limit && st->gap_end < st->total) {
        uint64_t need = kept_bytes(st) + size - log->limit;

        st->gap_end = MIN(st->total, st->gap_end + bytes_that_cost(log, MAX(need, step)));
        drop_marks(log);
    }
    punch(log->fd, st->gap_begin, st->gap_end, &log->punched_end);
}

/* size bytes of output that could not be kept: everything from the gap on is lost with them, for
 * there is one gap. */
static void lose(struct log *log, uint64_t size)
{
    struct wire_log_state *st = &log->state;

    if (st->gap_end == 0)
        st->gap_begin = st->total;
    st->total += size;
    st->gap_end = st->total;
    drop_marks(log);
    punch(log->fd, st->gap_begin, st->gap_end, &log->punched_end);
}

/* What a piece may cost beside its bytes. */
static uint64_t mark_cost(const struct log *log)
{
    return log->marks_fd >= 0 ? WIRE_MARK_SIZE : 0;
}

static int write_mark(struct log *log, int stream)
{
    uint64_t mark = WIRE_MARK(log->state.total, (unsigned)stream);
    int r;

    if (log->marks_fd < 0 || stream == log->last_stream)
        return 0;
    r = io_pwrite_all(log->marks_fd, &mark, sizeof(mark), log->state.marks * WIRE_MARK_SIZE);
    if (r < 0)
        return r;
    log->state.marks++;
    log->last_stream = stream;
    return 0;
}

static int write_piece(struct log *log, int stream, const char *data, size_t size)
{
    int r = write_mark(log, stream);

    if (r == 0)
        r = io_pwrite_all(log->fd, data, size, log->state.total);
    if (r == 0) {
        log->state.total += size;
        log->file_end = log->state.total;
    }
    return r;
}

/* The disk is full: keep less, so that the newest output still finds room. */
static void append_on_full_disk(struct supervisor *s, int stream, const char *data, size_t size)
{
    struct log *log = &s->log;

    s->notes |= WIRE_NOTE_LOG_DISK_FULL;
    while (log->limit > FULL_DISK_LIMIT_MIN) {
        log->limit = MAX(MIN(log->limit, kept_bytes(&log->state)) / 2, FULL_DISK_LIMIT_MIN);
        make_room(log, size + mark_cost(log));
        if (write_piece(log, stream, data, size) == 0)
            return;
    }
    lose(log, size);
}

/* The limit ends the job: keep what fits, up to a line's end, and nothing after it. */
static void append_up_to_limit(struct supervisor *s, int stream, const char *data, size_t size)
{
    struct log *log = &s->log;
    uint64_t kept = kept_bytes(&log->state) + mark_cost(log);
    size_t fits = kept < log->limit ? (size_t)MIN(log->limit - kept, size) : 0;
    const char *newline;

    if (log->state.gap_end == 0 && fits > 0) {
        newline = memrchr(data, '\n', fits);
        if (newline)
            fits = (size_t)(newline - data) + 1;
        if (write_piece(log, stream, data, fits) < 0)
            fits = 0;
        data += fits;
        size -= fits;
    }
    if (size > 0)
        lose(log, size);
    ending_begin(s, REIN_REASON_OUTPUT_LIMIT, s->plan.head->grace_ns);
}

/* How much there may be behind the head, with the mark that still counts there and one of its own.
 * A full disk may have made the limit smaller than the head. */
static uint64_t tail_max(const struct log *log)
{
    uint64_t head = log->state.gap_begin + (log->state.marks_gap_begin + 2) * mark_cost(log);

    return log->limit > head ? log->limit - head : FULL_DISK_LIMIT_MIN;
}

/* Keeps a piece that is small enough for the head, or goes behind it. */
static void append_piece(struct supervisor *s, int stream, const char *data, size_t size)
{
    struct log *log = &s->log;
    int r;

    if (kept_bytes(&log->state) + size + mark_cost(log) > log->limit)
        make_room(log, size + mark_cost(log));
    if (size > tail_max(log)) { /* only its end can stay */
        size_t lost = size - (size_t)tail_max(log);

        lose(log, lost);
        data += lost;
        size -= lost;
    }
    r = write_piece(log, stream, data, size);
    if (r == 0)
        return;
    log->errnum = -r;
    append_on_full_disk(s, stream, data, size);
}

void log_append(struct supervisor *s, int stream, const char *data, size_t size)
{
    struct log *log = &s->log;
    uint64_t head = log->limit / 4;
    uint64_t after;

    log_check(s);
    after = kept_bytes(&log->state) + size + mark_cost(log);
    if (!log->in_store && !log->stuck && after > log->memory_limit)
        log_move_to_store(s);
    if (s->plan.head->flags & WIRE_PLAN_OUTPUT_KILL &&
        (after > log->limit || log->state.gap_end > 0)) {
        append_up_to_limit(s, stream, data, size);
        return;
    }
    if (after > log->limit && log->state.gap_end == 0 && log->state.total < head) {
        size_t n = (size_t)MIN(size, head - log->state.total);

        append_piece(s, stream, data, n);
        data += n;
        size -= n;
    }
    if (size > 0)
        append_piece(s, stream, data, size);
}
