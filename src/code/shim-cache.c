/* What shims were found to become, in a file. */
#include "shim-cache.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io-util.h"

#define CACHE_NAME "shims"
#define CACHE_NEW_NAME "shims.new"
#define ANSWER_MARK "= "

/* True for a regular file that only this user can have written. */
static int is_own_file(int fd, struct stat *ret_st)
{
    return fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode) && ret_st->st_uid == geteuid() &&
           (ret_st->st_mode & 077) == 0;
}

/* Reads the whole file; text stays empty where it cannot be used. */
static void read_cache(int dir_fd, struct buf *text)
{
    auto_close int fd =
        openat(dir_fd, CACHE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    ssize_t n;

    if (fd < 0 || !is_own_file(fd, &st) || st.st_size > (off_t)SHIM_CACHE_SIZE_MAX)
        return;
    if (buf_reserve(text, SHIM_CACHE_SIZE_MAX) < 0)
        return;
    n = io_read_full(fd, text->data, SHIM_CACHE_SIZE_MAX);
    text->len = n > 0 ? (size_t)n : 0;
    text->data[text->len] = '\0';
}

/* The beginning of the answer to key in text, or NULL. An entry begins where the text does or after
 * an empty line; no key holds one. */
static const char *find_answer(const char *text, const char *key)
{
    size_t key_len = strlen(key);

    for (const char *entry = text; entry;) {
        const char *end = strstr(entry, "\n\n");

        if (end && strncmp(entry, key, key_len) == 0 &&
            strncmp(entry + key_len, ANSWER_MARK, strlen(ANSWER_MARK)) == 0)
            return entry + key_len + strlen(ANSWER_MARK);
        entry = end ? end + 2 : NULL;
    }
    return NULL;
}

char *shim_cache_get(int dir_fd, const char *key)
{
    auto_buf struct buf text = {0};
    const char *answer;

    assert(key);

    read_cache(dir_fd, &text);
    if (text.len == 0)
        return NULL;
    answer = find_answer(text.data, key);
    return answer ? strndup(answer, strcspn(answer, "\n")) : NULL;
}

/* Appends as many whole entries of old as there is room for. */
static void add_old_entries(struct buf *text, const struct buf *old)
{
    size_t room = SHIM_CACHE_SIZE_MAX - text->len;
    size_t keep = 0;

    for (const char *entry = old->len > 0 ? old->data : NULL; entry;) {
        const char *end = strstr(entry, "\n\n");

        if (end && (size_t)(end + 2 - old->data) <= room)
            keep = (size_t)(end + 2 - old->data);
        entry = end ? end + 2 : NULL;
    }
    if (keep > 0)
        buf_add(text, old->data, keep);
}

/* Opens the file that is going to replace the old one, for one writer at a time: what a crash left
 * behind is taken over, a writer at work is left alone. */
static int open_new(int dir_fd)
{
    auto_close int fd =
        openat(dir_fd, CACHE_NEW_NAME,
               O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat opened, named;

    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    if (!is_own_file(fd, &opened))
        return -EPERM;
    /* Another writer may have finished, and renamed this very file, before the lock was had. */
    if (fstatat(dir_fd, CACHE_NEW_NAME, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
        opened.st_dev != named.st_dev || opened.st_ino != named.st_ino)
        return -EAGAIN;
    if (ftruncate(fd, 0) < 0)
        return -errno;
    return TAKE_FD(fd);
}

void shim_cache_put(int dir_fd, const char *key, const char *interpreter)
{
    auto_close int fd = -EBADF;
    auto_buf struct buf old = {0};
    auto_buf struct buf text = {0};

    assert(key);
    assert(interpreter);

    if (strlen(key) > SHIM_CACHE_KEY_MAX || strlen(interpreter) > SHIM_CACHE_KEY_MAX ||
        strchr(interpreter, '\n'))
        return;
    fd = open_new(dir_fd);
    if (fd < 0)
        return;
    read_cache(dir_fd, &old);
    buf_add_format(&text, "%s" ANSWER_MARK "%s\n\n", key, interpreter);
    add_old_entries(&text, &old);
    if (buf_error(&text) == 0 && io_write_all(fd, text.data, text.len) == 0)
        (void)renameat(dir_fd, CACHE_NEW_NAME, dir_fd, CACHE_NAME);
}
