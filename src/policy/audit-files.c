/* The files of the audit trail: names, lock, head, and the way through their lines. */
#include "audit-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "job/context.h"

#define HEAD_NAME "head"
#define HEAD_NEW_NAME "head.new"
#define HEAD_SIZE_MAX 512
#define CHUNK_SIZE (64u << 10)
#define SEQ_MAX (INT64_C(1) << 53) /* what every reader of JSON takes for a whole number */

int audit_fail(struct rein_error **reterr, int errnum, const char *what, const char *name)
{
    int no_room = errnum == -ENOSPC || errnum == -EDQUOT || errnum == -EFBIG;

    return rein_fail(reterr, errnum, no_room ? "limit_exceeded" : "internal", "audit",
                     "audit: cannot %s %s: %s", what, name, strerror(-errnum));
}

void audit_link_none(struct audit_link *ret)
{
    ret->seq = 0;
    memset(ret->digest, '0', sizeof(ret->digest) - 1);
    ret->digest[sizeof(ret->digest) - 1] = '\0';
}

const char *audit_name(unsigned number, char buf[static AUDIT_NAME_SIZE])
{
    if (number == 0)
        (void)snprintf(buf, AUDIT_NAME_SIZE, "audit.jsonl");
    else
        (void)snprintf(buf, AUDIT_NAME_SIZE, "audit.%u.jsonl", number);
    return buf;
}

int audit_has_file(int dir_fd, unsigned number)
{
    char name[AUDIT_NAME_SIZE];
    struct stat st;

    return fstatat(dir_fd, audit_name(number, name), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- directory and lock ------------------------------------------------------------------- */

/* On the directory: the files themselves are renamed. Nobody holds it for long, so that looking
 * again is as good as a queue, and has an end. */
static int lock(int dir_fd, int operation, const char *path, struct rein_error **reterr)
{
    int r = io_lock(dir_fd, operation, AUDIT_LOCK_WAIT_MS);

    if (r == -ETIMEDOUT)
        return rein_fail(reterr, -EAGAIN, "internal", "audit",
                         "audit: another process has held '%s' for %d ms", path,
                         AUDIT_LOCK_WAIT_MS);
    return r < 0 ? audit_fail(reterr, r, "lock", path) : 0;
}

/* Whoever can write there can make others believe anything. */
static int check_private(int dir_fd, const char *path, struct rein_error **reterr)
{
    struct stat st;

    if (fstat(dir_fd, &st) < 0)
        return audit_fail(reterr, -errno, "look at", path);
    if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return rein_fail(reterr, -EPERM, "internal", "audit",
                         "audit: '%s' belongs to another user, or others can write to it", path);
    return 0;
}

int audit_open(const char *state_dir, int make, int *ret_fd, struct rein_error **reterr)
{
    auto_free char *path = NULL;
    auto_close int fd = -EBADF;
    int r;

    if (asprintf(&path, "%s/audit", state_dir) < 0)
        return rein_oom(reterr);
    r = make ? context_make_directories(path) : 0;
    if (r < 0)
        return audit_fail(reterr, r, "make the directory", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return audit_fail(reterr, -errno, "open", path);
    r = check_private(fd, path, reterr);
    if (r < 0)
        return r;
    r = lock(fd, make ? LOCK_EX : LOCK_SH, path, reterr);
    if (r < 0)
        return r;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* ---- head --------------------------------------------------------------------------------- */

static int is_number(json_int_t seq)
{
    return seq > 0 && seq < SEQ_MAX;
}

static void parse_head(const char *text, size_t len, struct audit_head *ret)
{
    auto_(json_decrefp) json_t *head = json_loadb(text, len, 0, NULL);
    const char *digest;
    json_int_t seq;
    json_int_t first;

    if (json_unpack(head, "{s:I, s:s, s:I}", "seq", &seq, "digest", &digest, "first", &first) < 0)
        return;
    if (strlen(digest) != DIGEST_TEXT_SIZE - 1 || !is_number(seq) || !is_number(first))
        return;
    ret->last.seq = (uint64_t)seq;
    memcpy(ret->last.digest, digest, DIGEST_TEXT_SIZE);
    ret->first = (uint64_t)first;
    ret->is_there = 1;
}

int audit_read_head(int dir_fd, struct audit_head *ret, struct rein_error **reterr)
{
    auto_close int fd = openat(dir_fd, HEAD_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char text[HEAD_SIZE_MAX];
    ssize_t n;

    *ret = (struct audit_head){.first = 1};
    audit_link_none(&ret->last);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return audit_fail(reterr, -errno, "open", HEAD_NAME);
    n = io_read_full(fd, text, sizeof(text));
    if (n < 0)
        return audit_fail(reterr, (int)n, "read", HEAD_NAME);
    parse_head(text, (size_t)n, ret);
    return 0;
}

/* By rename: a crash leaves the old one or the new one. */
int audit_write_head(int dir_fd, const struct audit_head *head, struct rein_error **reterr)
{
    char text[HEAD_SIZE_MAX];
    int n = snprintf(text, sizeof(text), "{\"seq\":%llu,\"digest\":\"%s\",\"first\":%llu}\n",
                     (unsigned long long)head->last.seq, head->last.digest,
                     (unsigned long long)head->first);
    auto_close int fd =
        openat(dir_fd, HEAD_NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : io_write_all(fd, text, (size_t)n);

    if (r == 0 && renameat(dir_fd, HEAD_NEW_NAME, dir_fd, HEAD_NAME) < 0)
        r = -errno;
    if (r == 0)
        return 0;
    (void)unlinkat(dir_fd, HEAD_NEW_NAME, 0);
    return audit_fail(reterr, r, "write", HEAD_NAME);
}

/* ---- lines -------------------------------------------------------------------------------- */

json_t *audit_parse(const char *line, size_t len, struct audit_link *ret_previous)
{
    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    const char *digest;
    json_int_t seq;

    if (object && json_unpack(object, "{s:I, s:s}", "seq", &seq, "previous", &digest) == 0 &&
        is_number(seq) && strlen(digest) == DIGEST_TEXT_SIZE - 1) {
        ret_previous->seq = (uint64_t)seq - 1;
        memcpy(ret_previous->digest, digest, DIGEST_TEXT_SIZE);
        return object;
    }
    json_decref(object);
    return NULL;
}

/* A walk through one file. */
struct walk {
    int (*take)(void *to, const struct audit_place *at, const char *line, size_t len);
    void *to;
    struct audit_place at;
    struct buf pending; /* the beginning of a line whose end has not been read */
};

static int give(struct walk *w, const char *line, size_t len)
{
    w->at.line++;
    return w->take(w->to, &w->at, line, len);
}

/* Gives away all lines that are complete in what was read, and keeps the rest. */
static int give_lines(struct walk *w, struct rein_error **reterr)
{
    const char *p = w->pending.data;
    const char *end = p + w->pending.len;
    auto_buf struct buf rest = {0};
    const char *newline;
    int r = 0;

    while (r >= 0 && (newline = memchr(p, '\n', (size_t)(end - p)))) {
        r = give(w, p, (size_t)(newline - p));
        p = newline + 1;
    }
    if (r < 0)
        return r;
    buf_add(&rest, p, (size_t)(end - p));
    buf_clear(&w->pending);
    buf_add(&w->pending, rest.data, rest.len);
    return buf_error(&w->pending) < 0 || buf_error(&rest) < 0 ? rein_oom(reterr) : 0;
}

static int walk_file(struct walk *w, int fd, const char *name, struct rein_error **reterr)
{
    char chunk[CHUNK_SIZE];

    for (;;) {
        ssize_t n = io_read(fd, chunk, sizeof(chunk));
        int r;

        if (n < 0)
            return audit_fail(reterr, (int)n, "read", name);
        if (n == 0)
            break;
        buf_add(&w->pending, chunk, (size_t)n);
        if (buf_error(&w->pending) < 0)
            return rein_oom(reterr);
        r = memchr(chunk, '\n', (size_t)n) ? give_lines(w, reterr) : 0;
        if (r < 0)
            return r;
        if (w->pending.len > AUDIT_LINE_MAX)
            return audit_fail(reterr, -EFBIG, "take in a line of", name);
    }
    w->at.is_torn = 1;
    return w->pending.len > 0 ? give(w, w->pending.data, w->pending.len) : 0;
}

static int open_and_walk(struct walk *w, int dir_fd, struct rein_error **reterr)
{
    char name[AUDIT_NAME_SIZE];
    auto_close int fd = openat(dir_fd, audit_name(w->at.file, name),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? 0 : audit_fail(reterr, -errno, "open", name);
    return walk_file(w, fd, name, reterr);
}

int audit_walk(int dir_fd,
               int (*take)(void *to, const struct audit_place *at, const char *line, size_t len),
               void *to,
               struct rein_error **reterr)
{
    for (unsigned number = AUDIT_FILES_MAX + 1; number-- > 0;) {
        struct walk w = {.take = take, .to = to, .at = {.file = number}};
        int r = open_and_walk(&w, dir_fd, reterr);

        buf_done(&w.pending);
        if (r < 0)
            return r;
    }
    return 0;
}
