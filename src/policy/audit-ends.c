#include "audit-ends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "job/context.h"
#include "job/record.h"
#include "job/store.h"
#include "state-file.h"

#define COLLECT_MAX 256 /* lines of one call: it has its own work to do */

static char *open_dir_of(const struct gate *gate)
{
    char *path = NULL;

    return asprintf(&path, "%s/" STORE_OPEN_ENDS, gate->state_dir) < 0 ? NULL : path;
}

int audit_ends_expect(const struct gate *gate,
                      const char *tool,
                      const char *digest,
                      const char *process_id,
                      struct rein_error **reterr)
{
    auto_free char *dir = open_dir_of(gate);
    json_t *note;
    int r;

    if (gate->settings.audit == GATE_AUDIT_OFF)
        return 0;
    note = json_pack("{s:s, s:s}", "tool", tool, "request", digest);
    r = dir && note ? context_make_directories(dir) : -ENOMEM;
    if (r == 0)
        r = state_file_write(dir, process_id, note);
    json_decref(note);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "audit",
                         "the end of %s will not be in the audit trail: %s", process_id,
                         strerror(-r));
    return 0;
}

/* ---- how a job ended ---------------------------------------------------------------------- */

/* The record of a job. 0; -EAGAIN while it runs; *ret is NULL for one of which nothing is known. */
static int read_record(const struct gate *gate, const char *dir, const char *id, json_t **ret)
{
    auto_free char *job_dir = NULL, *moved = NULL;
    auto_close int dir_fd = -EBADF;

    *ret = NULL;
    if (asprintf(&job_dir, "%s/jobs/%s", gate->state_dir, id) < 0) {
        job_dir = NULL;
        return -ENOMEM;
    }
    if (asprintf(&moved, "%s" STORE_END_SUFFIX, id) < 0) {
        moved = NULL;
        return -ENOMEM;
    }
    if (state_file_read(job_dir, RECORD_NAME, ret) == 0 || state_file_read(dir, moved, ret) == 0)
        return 0;
    dir_fd = open(job_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir_fd >= 0 && store_is_locked(dir_fd) == 1)
        return -EAGAIN;
    if (dir_fd >= 0)
        (void)state_file_read(job_dir, RECORD_NAME, ret); /* it ended between the two looks */
    return 0;
}

static json_t *end_fields(const json_t *note, const char *id, const json_t *record)
{
    const json_t *exit_code = json_object_get(record, "exit_code");
    const char *reason = json_string_value(json_object_get(record, "reason"));
    bool success = reason && strcmp(reason, "exit") == 0 && json_integer_value(exit_code) == 0;
    double duration_ms =
        (double)json_integer_value(json_object_get(record, "duration_ns")) / (double)NSEC_PER_MSEC;

    return json_pack("{s:s, s:O?, s:s, s:s, s:b, s:O?, s:f, s:O?}", "event", "end", "tool",
                     json_object_get(note, "tool"), "process_id", id, "reason",
                     reason ? reason : "lost", "success", success, "exit_code", exit_code,
                     "duration_ms", duration_ms, "output_bytes",
                     json_object_get(record, "output_bytes"));
}

static void forget(const char *dir, const char *id)
{
    static const char *const suffixes[] = {"", STORE_END_SUFFIX};

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        auto_free char *path = NULL;

        if (asprintf(&path, "%s/%s%s", dir, id, suffixes[i]) < 0)
            path = NULL;
        else
            (void)unlink(path);
    }
}

/* Writes one line, if the job has ended. 0 or a negative errno. */
static int collect_one(const struct gate *gate, const char *dir, const char *id)
{
    struct gate_pass pass = {0};
    json_t *note = NULL, *record = NULL;
    const char *digest;
    int r = state_file_read(dir, id, &note);

    if (r == 0)
        r = read_record(gate, dir, id, &record);
    if (r == 0) {
        digest = json_string_value(json_object_get(note, "request"));
        (void)snprintf(pass.digest, sizeof(pass.digest), "%s", digest ? digest : "");
        gate_note_end(gate, &pass, end_fields(note, id, record));
        if (pass.warning)
            r = -EIO;
        else
            forget(dir, id);
    }
    gate_pass_done(&pass);
    json_decref(note);
    json_decref(record);
    return r;
}

/* ---- all ---------------------------------------------------------------------------------- */

int audit_ends_collect(const struct gate *gate)
{
    auto_free char *dir = open_dir_of(gate);
    struct dirent *entry;
    DIR *stream;
    int n = 0;

    if (!dir)
        return -ENOMEM;
    stream = opendir(dir);
    if (!stream)
        return errno == ENOENT ? 0 : -errno;
    /* whoever does it at the same time does it for all */
    if (flock(dirfd(stream), LOCK_EX | LOCK_NB) == 0)
        while (n < COLLECT_MAX && (entry = readdir(stream)))
            if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.'))
                n += collect_one(gate, dir, entry->d_name) == 0;
    (void)closedir(stream);
    return 0;
}
