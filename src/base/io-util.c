/* Reading and writing that knows about EINTR and short counts. */
#include "io-util.h"

#include <errno.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "time-util.h"

#define LOCK_LOOK_MS 2

ssize_t io_read(int fd, void *buf, size_t size)
{
    ssize_t n;

    do
        n = read(fd, buf, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t io_pread(int fd, void *buf, size_t size, uint64_t offset)
{
    ssize_t n;

    do
        n = pread(fd, buf, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t io_write(int fd, const void *buf, size_t size)
{
    ssize_t n;

    do
        n = write(fd, buf, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int io_write_all(int fd, const void *buf, size_t size)
{
    const char *p = buf;

    while (size > 0) {
        ssize_t n = io_write(fd, p, size);

        if (n == -EAGAIN) {
            int r = io_poll(fd, POLLOUT, -1);

            if (r < 0)
                return r;
            continue;
        }
        if (n < 0)
            return (int)n;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

int io_pwrite_all(int fd, const void *buf, size_t size, uint64_t offset)
{
    const char *p = buf;

    while (size > 0) {
        ssize_t n = pwrite(fd, p, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

ssize_t io_read_full(int fd, void *buf, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = io_read(fd, (char *)buf + done, size - done);

        if (n < 0)
            return n;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* flock() cannot be given a time, so it is asked again and again. */
int io_lock(int fd, int operation, int timeout_ms)
{
    int64_t until_ns = time_mono_ns() + timeout_ms * NSEC_PER_MSEC;

    while (flock(fd, operation | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (time_mono_ns() > until_ns)
            return -ETIMEDOUT;
        (void)poll(NULL, 0, LOCK_LOOK_MS);
    }
    return 0;
}

int io_poll(int fd, short events, int timeout_ms)
{
    struct pollfd pfd = {.fd = fd, .events = events};
    int64_t until_ns = timeout_ms < 0 ? 0 : time_mono_ns() + timeout_ms * NSEC_PER_MSEC;

    for (;;) {
        int n = poll(&pfd, 1, timeout_ms);

        if (n >= 0)
            return n > 0;
        if (errno != EINTR)
            return -errno;
        if (timeout_ms >= 0)
            timeout_ms = time_left_ms(until_ns);
    }
}
