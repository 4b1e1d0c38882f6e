/* Appends to the audit trail: finds the end of the chain, makes the line, keeps the files small. */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit-files.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"

#define TAIL_FIRST                                                                                 \
    (16u << 10) /* the last line is looked for in that much, then in twice as much                 \
                 */

/* The end of the newest file. */
struct tail {
    struct audit_link last; /* of the last line that is complete */
    uint64_t size;
    int is_torn;
    char torn_digest[DIGEST_TEXT_SIZE]; /* of what is behind that line */
};

/* One append on its way. */
struct appending {
    int dir_fd;
    int fd;
    struct audit_limits limits;
    struct audit_head head;
    struct tail tail;
    int head_was_missing;
};

/* ---- the end of the chain ----------------------------------------------------------------- */

/* The line before `end`, where a newline or the end of the text stands; NULL when its beginning is
 * not in the text. */
static const char *line_before(const char *text, const char *end, int from_start)
{
    const char *newline = memrchr(text, '\n', (size_t)(end - text));

    return newline ? newline + 1 : from_start ? text : NULL;
}

/* Looks at the end of the file. False when the text does not hold enough of it. */
static int parse_tail(const char *text, size_t size, int from_start, struct tail *ret)
{
    const char *end = text + size;
    const char *line = line_before(text, end, from_start);
    struct audit_link previous;
    json_t *object;

    if (!line)
        return 0;
    ret->is_torn = line < end;
    digest_text(line, (size_t)(end - line), ret->torn_digest);
    if (line == text)
        return from_start;
    end = line - 1;
    line = line_before(text, end, from_start);
    if (!line)
        return 0;
    object = audit_parse(line, (size_t)(end - line), &previous);
    if (object) {
        ret->last.seq = previous.seq + 1;
        digest_text(line, (size_t)(end - line), ret->last.digest);
    }
    json_decref(object);
    return 1;
}

/* Reads as much of the end as that takes. */
static int read_tail(int fd, struct tail *ret, struct rein_error **reterr)
{
    struct stat st;

    *ret = (struct tail){0};
    audit_link_none(&ret->last);
    if (fstat(fd, &st) < 0)
        return audit_fail(reterr, -errno, "look at", "audit.jsonl");
    ret->size = (uint64_t)st.st_size;
    for (uint64_t want = TAIL_FIRST; ret->size > 0; want *= 2) {
        size_t n = (size_t)MIN(want, ret->size);
        auto_free char *text = malloc(n);
        ssize_t got = text ? io_pread(fd, text, n, ret->size - n) : -ENOMEM;

        if (!text)
            return rein_oom(reterr);
        if (got != (ssize_t)n)
            return audit_fail(reterr, got < 0 ? (int)got : -EIO, "read", "audit.jsonl");
        if (parse_tail(text, n, n == ret->size, ret))
            break;
        if (n > 2 * (size_t)AUDIT_LINE_MAX)
            return audit_fail(reterr, -EFBIG, "find the last line of", "audit.jsonl");
    }
    return 0;
}

/* The newest file; made when it is not there. */
static int open_newest(struct appending *a, struct rein_error **reterr)
{
    struct stat st;

    a->fd = openat(a->dir_fd, "audit.jsonl",
                   O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (a->fd < 0 || fstat(a->fd, &st) < 0)
        return audit_fail(reterr, -errno, "open", "audit.jsonl");
    /* What is written into a pipe or a device is in no trail. */
    if (!S_ISREG(st.st_mode))
        return rein_fail(reterr, -EINVAL, "internal", "audit", "audit: audit.jsonl is no file");
    return read_tail(a->fd, &a->tail, reterr);
}

/* The number of a file's first line, which is its first key; 0 when it cannot be read. */
static uint64_t first_seq(int dir_fd, unsigned number)
{
    char name[AUDIT_NAME_SIZE];
    static const char begin[] = "{\"seq\":";
    char text[64] = "";
    auto_close int fd =
        openat(dir_fd, audit_name(number, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || io_read_full(fd, text, sizeof(text) - 1) <= 0)
        return 0;
    if (strncmp(text, begin, strlen(begin)) != 0)
        return 0;
    return strtoull(text + strlen(begin), NULL, 10);
}

/* The head is behind when a crash came between it and its line. It is before the line when somebody
 * cut the file: then the chain goes on from the head, so that the gap stays visible. */
static void join_head(struct appending *a)
{
    a->head_was_missing = !a->head.is_there && a->tail.last.seq > 1;
    for (unsigned n = AUDIT_FILES_MAX + 1; a->head_was_missing && n-- > 0;) {
        uint64_t first = first_seq(a->dir_fd, n);

        if (first > 0) {
            a->head.first = first;
            break;
        }
    }
    if (a->tail.last.seq > a->head.last.seq)
        a->head.last = a->tail.last;
}

/* ---- room --------------------------------------------------------------------------------- */

/* The first free number, where a crash has left one, else the last that may be used. */
static unsigned free_number(const struct appending *a)
{
    unsigned n = 1;

    while (n < a->limits.files && audit_has_file(a->dir_fd, n))
        n++;
    return n;
}

/* Takes files away, from a number on, once the head says which line is the oldest then. */
static int drop_oldest(struct appending *a, unsigned from, struct rein_error **reterr)
{
    char name[AUDIT_NAME_SIZE];
    uint64_t first = 0;
    int dropping = 0;
    int r;

    for (unsigned n = from; n <= AUDIT_FILES_MAX; n++)
        dropping |= audit_has_file(a->dir_fd, n);
    for (unsigned n = from; dropping && first == 0 && n-- > 0;)
        first = first_seq(a->dir_fd, n);
    a->head.first = MAX(a->head.first, first);
    r = audit_write_head(a->dir_fd, &a->head, reterr);
    if (r < 0)
        return r;
    for (unsigned n = from; dropping && n <= AUDIT_FILES_MAX; n++)
        (void)unlinkat(a->dir_fd, audit_name(n, name), 0);
    return 0;
}

/* Each file gets the next number, from the free one down: after a crash nothing is lost, and one
 * number is free. */
static int put_aside(struct appending *a, struct rein_error **reterr)
{
    unsigned n = free_number(a);
    int is_free = !audit_has_file(a->dir_fd, n);
    int r = drop_oldest(a, is_free ? a->limits.files + 1 : a->limits.files, reterr);

    for (; r == 0 && n > 0; n--) {
        char from[AUDIT_NAME_SIZE];
        char to[AUDIT_NAME_SIZE];

        if (renameat(a->dir_fd, audit_name(n - 1, from), a->dir_fd, audit_name(n, to)) < 0)
            return audit_fail(reterr, -errno, "rename", from);
    }
    return r;
}

static int make_room(struct appending *a, size_t line_size, struct rein_error **reterr)
{
    int r;

    /* A line that is torn is closed where it stands. */
    if (a->tail.size == 0 || a->tail.is_torn || a->tail.size + line_size <= a->limits.file_bytes)
        return 0;
    r = put_aside(a, reterr);
    if (r < 0)
        return r;
    a->fd = close_fd(a->fd);
    return open_newest(a, reterr);
}

/* ---- the line ----------------------------------------------------------------------------- */

static int make_line(const struct appending *a, json_t *fields, char **ret)
{
    const char *previous = a->tail.is_torn ? a->tail.torn_digest : a->head.last.digest;
    char stamp[TIME_ISO_SIZE];
    json_int_t seq = (json_int_t)a->head.last.seq + 1;
    json_t *line;
    int r = 0;

    time_format_iso(time_wall_ns(), stamp);
    line = json_pack("{s:I, s:s, s:s}", "seq", seq, "time", stamp, "previous", previous);
    if (a->tail.is_torn)
        r |= json_object_set_new(line, "repaired", json_true());
    if (a->head_was_missing)
        r |= json_object_set_new(line, "head_missing", json_true());
    r |= json_object_update_missing(line, fields);
    *ret = r == 0 ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    return *ret ? 0 : -ENOMEM;
}

/* In one piece, with the newline that a torn line lacks in front. */
static int write_line(struct appending *a, const char *line, size_t len, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};
    int r;

    if (a->tail.is_torn)
        buf_add_char(&b, '\n');
    buf_add(&b, line, len);
    buf_add_char(&b, '\n');
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    r = io_write_all(a->fd, b.data, b.len);
    if (r < 0)
        return audit_fail(reterr, r, "write", "audit.jsonl");
    a->head.last.seq++;
    digest_text(line, len, a->head.last.digest);
    return audit_write_head(a->dir_fd, &a->head, reterr);
}

static int append(struct appending *a, json_t *fields, struct rein_error **reterr)
{
    auto_free char *line = NULL;
    size_t len;
    int r = audit_read_head(a->dir_fd, &a->head, reterr);

    if (r == 0)
        r = open_newest(a, reterr);
    if (r < 0)
        return r;
    join_head(a);
    if (make_line(a, fields, &line) < 0)
        return rein_oom(reterr);
    len = strlen(line);
    if (len > AUDIT_LINE_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "audit",
                         "audit: a line has %zu bytes, more than %u", len, AUDIT_LINE_MAX);
    r = make_room(a, len + 1, reterr);
    return r < 0 ? r : write_line(a, line, len, reterr);
}

int audit_append(const char *state_dir,
                 json_t *fields,
                 const struct audit_limits *limits,
                 struct rein_error **reterr)
{
    struct appending a = {.fd = -EBADF};
    int r = audit_open(state_dir, /* make= */ 1, &a.dir_fd, reterr);

    if (r < 0)
        return r;
    if (limits)
        a.limits = *limits;
    if (a.limits.file_bytes == 0)
        a.limits.file_bytes = AUDIT_FILE_BYTES_DEFAULT;
    a.limits.files = MIN(a.limits.files ? a.limits.files : AUDIT_FILES_DEFAULT, AUDIT_FILES_MAX);
    r = append(&a, fields, reterr);
    (void)close_fd(a.fd);
    (void)close_fd(a.dir_fd);
    return r;
}
