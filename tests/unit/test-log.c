/*
 * The bounded log against a model that keeps everything: after every append the kept bytes are the
 * written ones, each in its place, with the right stream, and the bound holds. Many random
 * histories, and the histories of a disk that fills up.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io-util.h"

/* Writes of the log go here: it is a disk with so much room left. */
static int64_t disk_left = INT64_MAX;
static int was_full;

static int write_to_disk(int fd, const void *buf, size_t size, uint64_t offset)
{
    if ((int64_t)size > disk_left) {
        was_full = 1;
        int r = io_pwrite_all(fd, buf, (size_t)disk_left, offset); /* what fits is written */

        disk_left = 0;
        return r < 0 ? r : -ENOSPC;
    }
    if (disk_left != INT64_MAX)
        disk_left -= (int64_t)size;
    return io_pwrite_all(fd, buf, size, offset);
}

#define io_pwrite_all write_to_disk
#include "supervisor/log.c"
#undef io_pwrite_all

#define HISTORY_MAX (2u << 20)

static struct supervisor s;
static struct wire_plan head;
static char written[HISTORY_MAX];          /* all that was appended */
static unsigned char streams[HISTORY_MAX]; /* to which stream */
static char in_file[HISTORY_MAX];
static uint64_t n_written;
static int n_moves, n_endings, last_reason;
static int n_checks;
static uint64_t truncate_to; /* what the next check finds; UINT64_MAX: nothing */

/* ---- what the log calls ------------------------------------------------------------------- */

void log_move_to_store(struct supervisor *sup)
{
    n_moves++;
    sup->log.stuck = 1;
}

void ending_begin(struct supervisor *sup, int reason, int64_t grace_ns)
{
    n_endings++;
    last_reason = reason;
}

/* Somebody cut the file before this write, as log-store.c notes it. */
void log_check(struct supervisor *sup)
{
    struct wire_log_state *st = &sup->log.state;

    n_checks++;
    if (truncate_to == UINT64_MAX)
        return;
    assert_int_equal(ftruncate(sup->log.fd, (off_t)truncate_to), 0);
    st->gap_begin = truncate_to;
    st->gap_end = st->total;
    truncate_to = UINT64_MAX;
}

/* ---- the model ---------------------------------------------------------------------------- */

static int new_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void begin(uint64_t limit, int split, uint32_t flags)
{
    memset(&s, 0, sizeof(s));
    head = (struct wire_plan){.flags = flags, .log_limit = limit, .memory_limit = UINT64_MAX};
    s.plan.head = &head;
    for (int i = 0; i < WIRE_FD_KINDS; i++)
        s.plan.fds[i] = -EBADF;
    s.plan.fds[WIRE_FD_LOG] = new_file("log");
    if (split)
        s.plan.fds[WIRE_FD_MARKS] = new_file("marks");
    log_init(&s.log, &s.plan);
    n_written = 0;
    n_moves = n_endings = n_checks = 0;
    truncate_to = UINT64_MAX;
    disk_left = INT64_MAX;
    was_full = 0;
}

static void end(void)
{
    (void)close_fd(s.log.fd);
    (void)close_fd(s.log.marks_fd);
}

static void append(int stream, size_t size)
{
    for (size_t i = 0; i < size; i++) { /* never zero, so that a hole is seen */
        written[n_written + i] = (char)(1 + (n_written + i) * 2654435761u % 255);
        streams[n_written + i] = (unsigned char)stream;
    }
    log_append(&s, stream, written + n_written, size);
    n_written += size;
}

/* Which stream the marks say that an offset belongs to, looked up as a reader does. */
static unsigned stream_at(uint64_t offset)
{
    const struct wire_log_state *st = &s.log.state;
    int dropped = st->marks_gap_end > st->marks_gap_begin;
    int behind = dropped && offset >= st->gap_end;
    uint64_t low = behind ? st->marks_gap_end : 0;
    uint64_t high = dropped && !behind ? st->marks_gap_begin : st->marks;
    unsigned stream = 99;

    for (uint64_t i = low; i < high; i++) {
        uint64_t mark = 0;

        assert_int_equal(pread(s.log.marks_fd, &mark, sizeof(mark), (off_t)(i * WIRE_MARK_SIZE)),
                         sizeof(mark));
        if (WIRE_MARK_OFFSET(mark) > offset)
            break;
        stream = WIRE_MARK_STREAM(mark);
    }
    return stream;
}

static uint64_t blocks(int fd)
{
    struct stat st;

    return fd < 0 || fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

static uint64_t length(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_size;
}

static void check_bytes(uint64_t begin_at, uint64_t end_at)
{
    assert_int_equal(pread(s.log.fd, in_file, (size_t)(end_at - begin_at), (off_t)begin_at),
                     end_at - begin_at);
    assert_memory_equal(in_file, written + begin_at, (size_t)(end_at - begin_at));
}

/* Everything that a reader counts on. */
static void check(void)
{
    const struct wire_log_state *st = &s.log.state;

    assert_int_equal(st->total, n_written);
    assert_true(st->gap_begin <= st->gap_end && st->gap_end <= st->total);
    assert_true(st->marks_gap_begin <= st->marks_gap_end && st->marks_gap_end <= st->marks);
    assert_true(kept_bytes(st) <= s.log.limit || s.notes & WIRE_NOTE_LOG_DISK_FULL);
    if (st->gap_end == 0) {
        check_bytes(0, st->total);
    } else {
        check_bytes(0, st->gap_begin);
        check_bytes(st->gap_end, st->total);
    }
    assert_true(s.log.file_end <= length(s.log.fd)); /* or the next look takes it for cut off */
    if (st->gap_end < st->total)
        assert_int_equal(s.log.file_end, st->total);
    assert_true(blocks(s.log.fd) + blocks(s.log.marks_fd) <= kept_bytes(st) + 5 * BLOCK);
}

static void check_streams(void)
{
    const struct wire_log_state *st = &s.log.state;

    for (int i = 0; i < 40 && st->total; i++) {
        uint64_t offset = (uint64_t)rand() % st->total;

        if (offset >= st->gap_begin && offset < st->gap_end)
            offset = i % 2 ? st->gap_end : st->gap_begin - 1;
        if (offset < st->total)
            assert_int_equal(stream_at(offset), streams[offset]);
    }
}

/* Sizes as pipes give them: mostly small, sometimes a whole read. */
static size_t any_size(void)
{
    switch (rand() % 8) {
    case 0:
        return CHUNK_SIZE;
    case 1:
        return 1 + (size_t)rand() % CHUNK_SIZE;
    case 2:
        return 1;
    default:
        return 1 + (size_t)rand() % 2000;
    }
}

/* ---- tests -------------------------------------------------------------------------------- */

static void test_random_histories(void **state)
{
    static const uint64_t limits[] = {4096, 5000, 20000, 65536, 100001, 300000};

    for (unsigned seed = 1; seed <= 36; seed++) {
        int split = seed % 2;

        srand(seed);
        begin(limits[seed % ARRAY_SIZE(limits)], split, split ? WIRE_PLAN_SPLIT : 0);
        for (int i = 0; i < 250; i++) {
            size_t size = any_size();

            if (n_written + size > HISTORY_MAX)
                break;
            append(split ? rand() % 2 : 0, size);
            check();
            if (split && i % 16 == 0)
                check_streams();
        }
        if (s.log.state.gap_end)
            assert_true(s.log.state.gap_begin <= s.log.limit / 4);
        assert_int_equal(n_endings, 0);
        end();
    }
}

/* The head is a quarter to the byte; the tail never falls much below three quarters. */
static void test_shares(void **state)
{
    begin(256 * KIB, 0, 0);
    for (int i = 0; i < 300; i++) {
        append(0, 5000);
        check();
        if (s.log.state.gap_end == 0)
            continue;
        assert_int_equal(s.log.state.gap_begin, 64 * KIB);
        assert_true(n_written - s.log.state.gap_end >= 160 * KIB);
    }
    assert_true(s.log.state.gap_end > 0);
    end();
}

static void test_what_fits_is_never_dropped(void **state)
{
    begin(100000, 0, 0);
    while (n_written + 997 <= 100000)
        append(0, 997);
    check();
    assert_int_equal(s.log.state.gap_end, 0);
    append(0, (size_t)(100000 - n_written));
    assert_int_equal(s.log.state.gap_end, 0);
    append(0, 1);
    assert_int_not_equal(s.log.state.gap_end, 0);
    check();
    end();
}

/* One append that is larger than all that may be kept: its end stays. */
static void test_one_append_larger_than_the_limit(void **state)
{
    begin(4096, 0, 0);
    append(0, CHUNK_SIZE);
    check();
    assert_int_equal(s.log.state.gap_begin, 1024);
    assert_true(n_written - s.log.state.gap_end > 2000);
    end();
}

static void test_streams_behind_the_gap(void **state)
{
    for (int stream = 0; stream < 2; stream++) {
        begin(65536, 1, WIRE_PLAN_SPLIT);
        for (int i = 0; i < 100; i++)
            append(stream, 4000); /* one mark in all */
        check();
        check_streams();
        append(1 - stream, 10);
        check_streams();
        for (int i = 0; i < 100; i++)
            append(stream, 4000);
        check_streams();
        end();
    }
}

/* As many marks as there can be: head and tail keep their shares all the same. */
static void test_shares_with_many_marks(void **state)
{
    begin(256 * KIB, 1, WIRE_PLAN_SPLIT);
    for (int i = 0; i < 200000; i++)
        append(i % 2, 1);
    check();
    check_streams();
    assert_true(s.log.state.gap_begin * 9 <= 64 * KIB);
    assert_true(s.log.state.gap_begin * 9 >= 63 * KIB);
    assert_true((n_written - s.log.state.gap_end) * 9 >= 160 * KIB);
    end();
}

static void test_marks_are_given_back(void **state)
{
    begin(65536, 1, WIRE_PLAN_SPLIT);
    for (int i = 0; i < 60000; i++)
        append(i % 2, 7);
    check();
    check_streams();
    assert_true(s.log.state.marks == 60000);
    assert_true(blocks(s.log.marks_fd) < 65536);
    end();
}

/* ---- the limit ends the job ---------------------------------------------------------------- */

static void test_limit_that_kills(void **state)
{
    begin(10000, 0, WIRE_PLAN_OUTPUT_KILL);
    append(0, 9000);
    assert_int_equal(n_endings, 0);
    written[9500] = 0;
    append(0, 5000);
    assert_int_equal(n_endings, 1);
    assert_int_equal(last_reason, REIN_REASON_OUTPUT_LIMIT);
    check();
    assert_int_equal(s.log.state.gap_end, n_written);
    append(0, 100); /* what comes while the tree is ending is not kept */
    check();
    assert_int_equal(s.log.state.gap_end, n_written);
    assert_true(s.log.state.gap_begin <= 10000);
    end();
}

/* Up to the end of a line, if there is one. */
static void test_limit_that_kills_keeps_whole_lines(void **state)
{
    static char text[5000];

    memset(text, 'x', sizeof(text));
    text[700] = text[800] = '\n';
    begin(4096, 0, WIRE_PLAN_OUTPUT_KILL);
    log_append(&s, 0, text + 1000, 3000);
    log_append(&s, 0, text, 2000);
    assert_int_equal(s.log.state.gap_begin, 3801);
    assert_int_equal(s.log.state.total, 5000);
    end();
}

/* ---- memory and disk ----------------------------------------------------------------------- */

static void test_moves_when_memory_is_not_enough(void **state)
{
    begin(100000, 0, 0);
    s.log.memory_limit = 50000;
    append(0, 50000);
    assert_int_equal(n_moves, 0);
    append(0, 1);
    assert_int_equal(n_moves, 1);
    append(0, 49000); /* and it is not tried again */
    assert_int_equal(n_moves, 1);
    end();
}

/* Before each write the file is looked at, and what was found counts at once. */
static void test_cut_file(void **state)
{
    for (int split = 0; split < 2; split++) {
        begin(65536, split, split ? WIRE_PLAN_SPLIT : 0);
        append(0, 3000);
        append(split, 3000);
        truncate_to = 1000;
        append(0, 10);
        assert_int_equal(n_checks, 3);
        assert_int_equal(s.log.state.gap_begin, 1000);
        assert_int_equal(s.log.state.gap_end, 6000);
        check();
        for (int i = 0; i < 30; i++) {
            append(split ? i % 2 : 0, 5000);
            check();
        }
        if (split)
            check_streams();
        assert_int_equal(s.log.state.gap_begin, 1000);
        truncate_to = 0;
        append(0, 10);
        check();
        assert_int_equal(s.log.state.gap_begin, 0);
        end();
    }
}

/* A disk that fills up at any point: what can be kept is the newest, and it is said. */
static void test_full_disk(void **state)
{
    for (int64_t room = 0; room < 400000; room += 15013) {
        int split = (int)(room % 2);

        srand((unsigned)room);
        begin(300000, split, split ? WIRE_PLAN_SPLIT : 0);
        disk_left = room;
        for (int i = 0; i < 60; i++) {
            append(split ? rand() % 2 : 0, 1 + (size_t)rand() % 20000);
            check();
            if (split)
                check_streams();
            if (i == 50)
                disk_left = INT64_MAX; /* somebody made room */
        }
        assert_int_equal((s.notes & WIRE_NOTE_LOG_DISK_FULL) != 0, was_full);
        assert_int_equal(s.log.errnum, was_full ? ENOSPC : 0);
        assert_true(s.log.state.gap_end < n_written);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_histories),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_what_fits_is_never_dropped),
        cmocka_unit_test(test_one_append_larger_than_the_limit),
        cmocka_unit_test(test_streams_behind_the_gap),
        cmocka_unit_test(test_shares_with_many_marks),
        cmocka_unit_test(test_marks_are_given_back),
        cmocka_unit_test(test_limit_that_kills),
        cmocka_unit_test(test_limit_that_kills_keeps_whole_lines),
        cmocka_unit_test(test_moves_when_memory_is_not_enough),
        cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
