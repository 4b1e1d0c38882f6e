/* Writes exit.json. */
#include "record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "rein.h"

static const char *const reason_names[] = {
    [REIN_REASON_NONE] = "running",
    [REIN_REASON_EXIT] = "exit",
    [REIN_REASON_SIGNAL] = "signal",
    [REIN_REASON_TIMEOUT] = "timeout",
    [REIN_REASON_STOPPED] = "stopped",
    [REIN_REASON_OWNER_GONE] = "owner_gone",
    [REIN_REASON_MEMORY_LIMIT] = "memory_limit",
    [REIN_REASON_CPU_LIMIT] = "cpu_limit",
    [REIN_REASON_FILE_SIZE_LIMIT] = "file_size_limit",
    [REIN_REASON_OUTPUT_LIMIT] = "output_limit",
    [REIN_REASON_LOST] = "lost",
};

const char *record_reason_name(int reason)
{
    if (reason < 0 || (size_t)reason >= ARRAY_SIZE(reason_names))
        return "lost";
    return reason_names[reason];
}

int record_reason_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(reason_names); i++)
        if (strcmp(reason_names[i], name) == 0)
            return (int)i;
    return -EINVAL;
}

/* Text on its way into a file. The first failure stays. */
struct writer {
    int fd;
    int error;
    size_t len;
    char text[1024];
};

static void flush(struct writer *w)
{
    int r = io_write_all(w->fd, w->text, w->len);

    if (w->error == 0)
        w->error = r;
    w->len = 0;
}

static void add_bytes(struct writer *w, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t part = MIN(n, sizeof(w->text) - w->len);

        memcpy(w->text + w->len, bytes, part);
        w->len += part;
        bytes += part;
        n -= part;
        if (w->len == sizeof(w->text))
            flush(w);
    }
}

static void add(struct writer *w, const char *s)
{
    add_bytes(w, s, strlen(s));
}

static void add_digits(struct writer *w, int64_t value)
{
    char digits[24];
    char *p = digits + sizeof(digits) - 1;
    uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    *p = '\0';
    do
        *--p = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    if (value < 0)
        *--p = '-';
    add(w, p);
}

static void add_number(struct writer *w, const char *key, int64_t value)
{
    add(w, ", \"");
    add(w, key);
    add(w, "\": ");
    add_digits(w, value);
}

/* A command line, which is text for people: whatever is no plain ASCII becomes a code point of the
 * same number, so that the file is valid and a reader can have the bytes again. */
static void add_string(struct writer *w, const char *bytes, size_t max)
{
    static const char hex[] = "0123456789abcdef";

    add(w, "\"");
    for (size_t i = 0; i < max && bytes[i]; i++) {
        unsigned char c = (unsigned char)bytes[i];
        char escaped[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], '\0'};

        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            add(w, escaped);
        else
            add_bytes(w, bytes + i, 1);
    }
    add(w, "\"");
}

static void add_status(struct writer *w, const struct wire_exit *end)
{
    if (!end->has_status)
        add(w, ", \"exit_code\": null");
    else if (WIFSIGNALED(end->wait_status))
        add_number(w, "exit_code", -WTERMSIG(end->wait_status));
    else
        add_number(w, "exit_code", WEXITSTATUS(end->wait_status));
}

static void add_left(struct writer *w, const struct wire_exit *end, const struct wire_left *left)
{
    add_number(w, "n_left", end->n_left);
    add(w, ", \"left\": [");
    for (uint32_t i = 0; i < end->n_left_named; i++) {
        add(w, i ? ", {\"pid\": " : "{\"pid\": ");
        add_digits(w, left[i].pid);
        add(w, ", \"command\": ");
        add_string(w, left[i].command, sizeof(left[i].command));
        add(w, "}");
    }
    add(w, "]");
}

static void
add_record(struct writer *w, const struct wire_exit *end, const struct wire_left *left, pid_t pid)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"pid", pid},
        {"duration_ns", end->duration_ns},
        {"user_us", end->user_us},
        {"system_us", end->system_us},
        {"max_rss_bytes", (int64_t)end->max_rss_bytes},
        {"output_bytes", (int64_t)end->log.total},
        {"gap_begin", (int64_t)end->log.gap_begin},
        {"gap_end", (int64_t)end->log.gap_end},
        {"marks", (int64_t)end->log.marks},
        {"marks_gap_begin", (int64_t)end->log.marks_gap_begin},
        {"marks_gap_end", (int64_t)end->log.marks_gap_end},
        {"notes", end->notes},
        {"log_errno", end->log_errno},
    };

    add(w, "{\"format\": 1, \"reason\": \"");
    add(w, record_reason_name(end->reason));
    add(w, "\"");
    add_status(w, end);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        add_number(w, numbers[i].key, numbers[i].value);
    add_left(w, end, left);
    add(w, "}\n");
    flush(w);
}

int record_reserve(int dir_fd)
{
    auto_close int fd =
        openat(dir_fd, RECORD_NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RECORD_RESERVED) < 0 && errno == ENOSPC)
        return -errno;
    return 0;
}

/* Not truncated before it is written, or the room would be gone. */
static int
try_write(int dir_fd, const struct wire_exit *end, const struct wire_left *left, pid_t pid)
{
    auto_close int fd =
        openat(dir_fd, RECORD_NEW_NAME, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct writer w = {.fd = fd};
    off_t size;

    if (fd < 0)
        return -errno;
    add_record(&w, end, left, pid);
    size = lseek(fd, 0, SEEK_CUR);
    if (w.error == 0 && (size < 0 || ftruncate(fd, size) < 0))
        w.error = -errno;
    if (w.error == 0 && renameat(dir_fd, RECORD_NEW_NAME, dir_fd, RECORD_NAME) < 0)
        w.error = -errno;
    return w.error;
}

int record_write(int dir_fd, const struct wire_exit *end, const struct wire_left *left, pid_t pid)
{
    struct wire_exit nameless = *end;
    int r = try_write(dir_fd, end, left, pid);

    nameless.n_left_named = 0;
    if (r < 0 && end->n_left_named > 0) /* names may not fit on a full disk */
        r = try_write(dir_fd, &nameless, NULL, pid);
    if (r < 0)
        (void)unlinkat(dir_fd, RECORD_NEW_NAME, 0);
    return r;
}
