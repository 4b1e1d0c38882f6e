/* The processes beside a job, found from its main process. */
#ifndef REIN_TESTS_JOB_PROCESSES_H
#define REIN_TESTS_JOB_PROCESSES_H

#include "job-test.h"

#include "base/syscall-linux.h"

static inline pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    auto_close int fd = -EBADF;
    const char *p;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(io_read_full(fd, text, sizeof(text) - 1) > 0);
    p = strrchr(text, ')');
    assert_non_null(p);
    return (pid_t)atoi(p + 4);
}

/* The supervisor is the parent of the main process, the guard that of the supervisor. */
static inline int open_supervisor(const rein_job *job)
{
    int fd = sys_pidfd_open(parent_of(rein_job_pid(job)));

    assert_true(fd >= 0);
    return fd;
}

static inline int open_guard(const rein_job *job)
{
    int fd = sys_pidfd_open(parent_of(parent_of(rein_job_pid(job))));

    assert_true(fd >= 0);
    return fd;
}

#endif
