/* Reads what stands in the store about a job. Anything may stand there: nothing is believed before
 * it was checked, and what is not right is no such file. */
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/strv.h"
#include "base/syscall-linux.h"
#include "base/time-util.h"
#include "job.h"
#include "record.h"
#include "store.h"

#define JOB_TEXT_MAX (16 * MIB) /* the kernel's limit on arguments, with every byte escaped */
#define END_TEXT_MAX (1 * MIB)
#define FIRST_READ 4096

#define auto_json auto_(json_decrefp)

int store_is_locked(int dir_fd)
{
    auto_close int fd = openat(dir_fd, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* ---- values ------------------------------------------------------------------------------- */

static int get_integer(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *ret)
{
    const json_t *value = json_object_get(o, key);
    int64_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < min || n > max)
        return -EBADMSG;
    *ret = n;
    return 0;
}

static int get_bool(const json_t *o, const char *key, int *ret)
{
    const json_t *value = json_object_get(o, key);

    *ret = json_is_true(value);
    return json_is_boolean(value) ? 0 : -EBADMSG;
}

static int get_string(const json_t *o, const char *key, int may_be_null, char **ret)
{
    const json_t *value = json_object_get(o, key);

    if (may_be_null && json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return -EBADMSG;
    free(*ret);
    return str_copy(ret, json_string_value(value));
}

static int get_strings(const json_t *o, const char *key, size_t min, char ***ret)
{
    const json_t *array = json_object_get(o, key);
    size_t n = json_array_size(array);

    if (!json_is_array(array) || n < min)
        return -EBADMSG;
    *ret = strv_free(*ret);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(array, i));
        int r = s ? strv_add(ret, s) : -EBADMSG;

        if (r < 0)
            return r;
    }
    return 0;
}

/* An object of a version that this one knows. */
static int load(const char *text, size_t size, json_t **ret)
{
    auto_json json_t *o = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    int64_t format;

    if (!json_is_object(o) || get_integer(o, "format", 1, INT64_MAX, &format) < 0)
        return -EBADMSG;
    if (format > STORE_FORMAT)
        return -EPROTO;
    *ret = TAKE_PTR(o);
    return 0;
}

/* ---- job.json ----------------------------------------------------------------------------- */

int store_parse_job(rein_job *job, const char *text, size_t size)
{
    auto_json json_t *o = NULL;
    int64_t pid;
    int64_t supervisor_pid;
    int64_t guard_pid;
    int r = load(text, size, &o);

    if (r < 0)
        return r;
    if ((r = get_strings(o, "command", 1, &job->argv)) < 0 ||
        (r = get_string(o, "cwd", 0, &job->cwd)) < 0 ||
        (r = get_string(o, "name", 1, &job->name)) < 0 ||
        (r = get_string(o, "session", 1, &job->session)) < 0 ||
        (r = get_strings(o, "warnings", 0, &job->warnings)) < 0 ||
        (r = get_strings(o, "missing", 0, &job->missing)) < 0 ||
        (r = get_integer(o, "started_at_ns", 0, INT64_MAX, &job->started_at_ns)) < 0 ||
        (r = get_integer(o, "started_ns", 0, INT64_MAX, &job->started_ns)) < 0 ||
        (r = get_integer(o, "grace_ns", REIN_GRACE_NONE, INT64_MAX, &job->grace_ns)) < 0 ||
        (r = get_integer(o, "pid", 0, INT32_MAX, &pid)) < 0 ||
        (r = get_integer(o, "supervisor_pid", 0, INT32_MAX, &supervisor_pid)) < 0 ||
        (r = get_integer(o, "guard_pid", 0, INT32_MAX, &guard_pid)) < 0 ||
        (r = get_bool(o, "split", &job->split)) < 0 ||
        (r = get_bool(o, "stdin_pipe", &job->stdin_pipe)) < 0)
        return r;
    job->pid = (pid_t)pid;
    job->supervisor_pid = (pid_t)supervisor_pid;
    job->guard_pid = (pid_t)guard_pid;
    return 0;
}

/* ---- exit.json ---------------------------------------------------------------------------- */

/* As waitpid() would give it. */
static int get_status(const json_t *o, struct wire_exit *e)
{
    int64_t code;

    if (json_is_null(json_object_get(o, "exit_code")))
        return 0;
    if (get_integer(o, "exit_code", -SYS_SIGNALS, 255, &code) < 0)
        return -EBADMSG;
    e->has_status = 1;
    e->wait_status = code < 0 ? (int)-code : (int)(code << 8);
    return 0;
}

static int get_reason(const json_t *o, struct wire_exit *e)
{
    const char *name = json_string_value(json_object_get(o, "reason"));
    int reason = name ? record_reason_find(name) : -EINVAL;

    if (reason <= REIN_REASON_NONE)
        return -EBADMSG;
    e->reason = reason;
    return 0;
}

static int get_numbers(const json_t *o, struct wire_exit *e)
{
    int64_t max_rss, total, gap_begin, gap_end, marks, marks_gap_begin, marks_gap_end, notes, err;
    int64_t n_left;

    if (get_integer(o, "duration_ns", 0, INT64_MAX, &e->duration_ns) < 0 ||
        get_integer(o, "user_us", 0, INT64_MAX, &e->user_us) < 0 ||
        get_integer(o, "system_us", 0, INT64_MAX, &e->system_us) < 0 ||
        get_integer(o, "max_rss_bytes", 0, INT64_MAX, &max_rss) < 0 ||
        get_integer(o, "output_bytes", 0, INT64_MAX, &total) < 0 ||
        get_integer(o, "gap_end", 0, total, &gap_end) < 0 ||
        get_integer(o, "gap_begin", 0, gap_end, &gap_begin) < 0 ||
        get_integer(o, "marks", 0, INT64_MAX / WIRE_MARK_SIZE, &marks) < 0 ||
        get_integer(o, "marks_gap_end", 0, marks, &marks_gap_end) < 0 ||
        get_integer(o, "marks_gap_begin", 0, marks_gap_end, &marks_gap_begin) < 0 ||
        get_integer(o, "notes", 0, UINT32_MAX, &notes) < 0 ||
        get_integer(o, "log_errno", 0, INT32_MAX, &err) < 0 ||
        get_integer(o, "n_left", 0, UINT32_MAX, &n_left) < 0)
        return -EBADMSG;
    e->max_rss_bytes = (uint64_t)max_rss;
    e->log = (struct wire_log_state){(uint64_t)total,           (uint64_t)gap_begin,
                                     (uint64_t)gap_end,         (uint64_t)marks,
                                     (uint64_t)marks_gap_begin, (uint64_t)marks_gap_end};
    e->notes = (uint32_t)notes;
    e->log_errno = (int32_t)err;
    e->n_left = (uint32_t)n_left;
    return 0;
}

/* Each code point of a command stands for a byte, see record.c. */
static void get_bytes(const char *text, char *buf, size_t size)
{
    size_t n = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p && n < size - 1; p++) {
        if (*p < 0x80)
            buf[n++] = (char)*p;
        else if ((*p & 0xfc) == 0xc0 && p[1]) {
            buf[n++] = (char)(*p << 6 | (p[1] & 0x3f));
            p++;
        } else
            buf[n++] = '?';
    }
    buf[n] = '\0';
}

/* The caller frees *ret, also after a failure. */
static int get_left(const json_t *o, struct wire_exit *e, struct wire_left **ret)
{
    const json_t *array = json_object_get(o, "left");
    size_t n = json_array_size(array);

    if (!json_is_array(array) || n > WIRE_LEFT_MAX || n > e->n_left)
        return -EBADMSG;
    *ret = calloc(MAX(n, (size_t)1), sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(array, i);
        const char *command = json_string_value(json_object_get(entry, "command"));
        struct wire_left *left = &(*ret)[i];
        int64_t pid;

        if (!command || get_integer(entry, "pid", 0, INT32_MAX, &pid) < 0)
            return -EBADMSG;
        left->pid = (int32_t)pid;
        get_bytes(command, left->command, sizeof(left->command));
    }
    e->n_left_named = (uint32_t)n;
    return 0;
}

int store_parse_end(rein_job *job, const char *text, size_t size)
{
    auto_json json_t *o = NULL;
    auto_free struct wire_left *left = NULL;
    struct wire_exit e = {.type = WIRE_EXIT};
    int r = load(text, size, &o);

    if (r < 0)
        return r;
    if ((r = get_reason(o, &e)) < 0 || (r = get_status(o, &e)) < 0 ||
        (r = get_numbers(o, &e)) < 0 || (r = get_left(o, &e, &left)) < 0)
        return r;
    free(job->left);
    job->left = TAKE_PTR(left);
    job->exit = e;
    job->log = e.log;
    job->ended = 1;
    return 0;
}

/* ---- files -------------------------------------------------------------------------------- */

typedef int parse_text(rein_job *job, const char *text, size_t size);

/* A file that is larger than the first buffer, whose contents it begins with. */
static int parse_large(rein_job *job, int fd, const char *first, size_t max, parse_text *parse)
{
    auto_free char *text = NULL;
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
        return -EBADMSG;
    text = malloc(MAX((size_t)st.st_size, (size_t)FIRST_READ));
    if (!text)
        return -ENOMEM;
    memcpy(text, first, FIRST_READ);
    n = st.st_size > FIRST_READ
            ? io_read_full(fd, text + FIRST_READ, (size_t)st.st_size - FIRST_READ)
            : 0;
    return n < 0 ? (int)n : parse(job, text, FIRST_READ + (size_t)n);
}

/* Most files are small, and come with one call: a list of jobs reads many. */
static int parse_file(rein_job *job, int dir_fd, const char *name, size_t max, parse_text *parse)
{
    auto_close int fd =
        openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    char first[FIRST_READ];
    ssize_t n;

    if (fd < 0)
        return -errno;
    n = io_read(fd, first, sizeof(first));
    if (n < 0)
        return n == -EISDIR || n == -EAGAIN ? -EBADMSG : (int)n;
    if (n == FIRST_READ)
        return parse_large(job, fd, first, max, parse);
    return parse(job, first, (size_t)n);
}

int store_read_job(rein_job *job, int dir_fd)
{
    return parse_file(job, dir_fd, "job.json", JOB_TEXT_MAX, store_parse_job);
}

int store_read_end(rein_job *job, int dir_fd)
{
    return parse_file(job, dir_fd, RECORD_NAME, END_TEXT_MAX, store_parse_end);
}

/* What was dropped is a hole in the file, as far as it is whole blocks; the rest of what was
 * dropped is still there, and right. */
static void find_gap(int fd, uint64_t size, uint64_t *ret_begin, uint64_t *ret_end)
{
    off_t hole = lseek(fd, 0, SEEK_HOLE);
    off_t data;

    if (hole < 0 || (uint64_t)hole >= size)
        return;
    data = lseek(fd, hole, SEEK_DATA);
    *ret_begin = (uint64_t)hole;
    *ret_end = data < 0 ? size : (uint64_t)data;
}

static uint64_t file_size(int dir_fd, const char *name, struct stat *ret_st)
{
    if (fstatat(dir_fd, name, ret_st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(ret_st->st_mode))
        return 0;
    return (uint64_t)ret_st->st_size;
}

/* It ran at least until its last output. */
static int64_t known_duration_ns(const rein_job *job, const struct stat *st)
{
    int64_t written_ns = (int64_t)st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec;

    return MAX(written_ns - job->started_at_ns, (int64_t)0);
}

void store_read_loss(rein_job *job, int dir_fd)
{
    struct wire_log_state log = {0};
    struct stat st = {0};
    auto_close int fd = openat(dir_fd, "output.log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    auto_close int marks_fd = openat(dir_fd, "output.marks", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    log.total = file_size(dir_fd, "output.log", &st);
    job->exit = (struct wire_exit){.type = WIRE_EXIT, .reason = REIN_REASON_LOST};
    job->exit.duration_ns = known_duration_ns(job, &st);
    find_gap(fd, log.total, &log.gap_begin, &log.gap_end);
    log.marks = file_size(dir_fd, "output.marks", &st) / WIRE_MARK_SIZE;
    find_gap(marks_fd, log.marks * WIRE_MARK_SIZE, &log.marks_gap_begin, &log.marks_gap_end);
    log.marks_gap_begin = (log.marks_gap_begin + WIRE_MARK_SIZE - 1) / WIRE_MARK_SIZE;
    log.marks_gap_end /= WIRE_MARK_SIZE;
    job->exit.log = job->log = log;
    job->ended = 1;
}
