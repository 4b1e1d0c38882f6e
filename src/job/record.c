/* Writes exit.json. */
#include "record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
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

/* Text under construction, of a size that all the numbers below fit into. */
struct line {
    char text[1024];
    size_t len;
};

static void add(struct line *line, const char *s)
{
    size_t n = strlen(s);

    if (line->len + n < sizeof(line->text)) {
        memcpy(line->text + line->len, s, n + 1);
        line->len += n;
    }
}

static void add_number(struct line *line, const char *key, int64_t value)
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
    add(line, ", \"");
    add(line, key);
    add(line, "\": ");
    add(line, p);
}

static void add_status(struct line *line, const struct record *record)
{
    if (!record->has_status)
        add(line, ", \"exit_code\": null");
    else if (WIFSIGNALED(record->wait_status))
        add_number(line, "exit_code", -WTERMSIG(record->wait_status));
    else
        add_number(line, "exit_code", WEXITSTATUS(record->wait_status));
}

static void format_record(const struct record *record, struct line *line)
{
    add(line, "{\"format\": 1, \"reason\": \"");
    add(line, record_reason_name(record->reason));
    add(line, "\"");
    add_status(line, record);
    add_number(line, "pid", record->pid);
    add_number(line, "duration_ns", record->duration_ns);
    add_number(line, "user_us", record->user_us);
    add_number(line, "system_us", record->system_us);
    add_number(line, "max_rss_bytes", (int64_t)record->max_rss_bytes);
    add_number(line, "output_bytes", (int64_t)record->output_bytes);
    add_number(line, "gap_begin", (int64_t)record->gap_begin);
    add_number(line, "gap_end", (int64_t)record->gap_end);
    add(line, "}\n");
}

int record_write(int dir_fd, const struct record *record)
{
    static const char temporary[] = RECORD_NAME ".new";
    struct line line = {.len = 0};
    auto_close int fd = -EBADF;
    int r;

    format_record(record, &line);
    fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    r = io_write_all(fd, line.text, line.len);
    if (r == 0 && renameat(dir_fd, temporary, dir_fd, RECORD_NAME) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir_fd, temporary, 0);
    return r;
}
