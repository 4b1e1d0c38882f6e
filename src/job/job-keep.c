/* Puts the output of an ended job that is only in memory into the store. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "job.h"
#include "record.h"

static int create(int dir_fd, const char *name, int *ret_fd)
{
    *ret_fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *ret_fd < 0 ? -errno : 0;
}

static int create_with(int dir_fd, const char *name, const char *text)
{
    auto_close int fd = -EBADF;
    int r = create(dir_fd, name, &fd);

    return r < 0 ? r : io_write_all(fd, text, strlen(text));
}

/* Copies [begin, end) to the same offsets. */
static int copy_range(int from_fd, int to_fd, uint64_t begin, uint64_t end)
{
    char buf[16384];

    while (begin < end) {
        ssize_t n = io_pread(from_fd, buf, (size_t)MIN(sizeof(buf), end - begin), begin);
        int r = n <= 0 ? (n < 0 ? (int)n : -EIO) : io_pwrite_all(to_fd, buf, (size_t)n, begin);

        if (r < 0)
            return r;
        begin += (uint64_t)n;
    }
    return 0;
}

/* A copy of a file but for its gap, in which it gets a hole as well. *ret_fd replaces the old. */
static int copy_file(int dir_fd,
                     const char *name,
                     int from_fd,
                     uint64_t gap_begin,
                     uint64_t gap_end,
                     uint64_t end,
                     int *ret_fd)
{
    auto_close int fd = -EBADF;
    int r = create(dir_fd, name, &fd);

    if (r == 0)
        r = copy_range(from_fd, fd, 0, gap_end ? gap_begin : end);
    if (r == 0 && gap_end)
        r = copy_range(from_fd, fd, gap_end, end);
    if (r == 0 && ftruncate(fd, (off_t)end) < 0)
        r = -errno;
    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

/* Last, and by rename: others see the job once everything else about it is there. */
static int write_job_json(const rein_job *job, int dir_fd)
{
    auto_free char *text = NULL;
    int r;

    if (asprintf(&text, "%s, \"guard_pid\": 0, \"supervisor_pid\": 0, \"pid\": %d}\n",
                 job->job_json, (int)job->pid) < 0)
        return -ENOMEM;
    r = create_with(dir_fd, "job.json.new", text);
    if (r == 0 && renameat(dir_fd, "job.json.new", dir_fd, "job.json") < 0)
        r = -errno;
    return r < 0 ? r : create_with(dir_fd, "lock", "");
}

static int write_files(rein_job *job, int dir_fd, int *ret_log_fd)
{
    const struct wire_log_state *log = &job->log;
    auto_close int marks_fd = -EBADF;
    int r = 0;

    if (job->split)
        r = copy_file(dir_fd, "output.marks", job->marks_fd, log->marks_gap_begin * WIRE_MARK_SIZE,
                      log->marks_gap_end * WIRE_MARK_SIZE, log->marks * WIRE_MARK_SIZE, &marks_fd);
    if (r == 0)
        r = copy_file(dir_fd, "output.log", job->log_fd, log->gap_begin, log->gap_end, log->total,
                      ret_log_fd);
    if (r == 0)
        r = record_write(dir_fd, &job->exit, job->left, job->pid);
    return r < 0 ? r : write_job_json(job, dir_fd);
}

int rein_job_keep_output(rein_job *job, struct rein_error **reterr)
{
    auto_close int jobs_fd = -EBADF;
    auto_close int dir_fd = -EBADF;
    auto_close int log_fd = -EBADF;
    int r;

    if (!job || !job->ended)
        return rein_fail(reterr, -EINVAL, "bad_request", "keep", "the job has not ended");
    if (job->log_moved)
        return 0;
    r = context_make_state_dir(job->context, "jobs", &jobs_fd, reterr);
    if (r < 0)
        return r;
    if (mkdirat(jobs_fd, job->id, 0700) < 0)
        return rein_fail(reterr, -errno, "internal", "keep", "cannot make the job's directory");
    dir_fd = openat(jobs_fd, job->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    r = dir_fd < 0 ? -errno : write_files(job, dir_fd, &log_fd);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "keep", "cannot write to '%s': %s", job->store_dir,
                         strerror(-r));
    job->log_moved = 1;
    return 0;
}
