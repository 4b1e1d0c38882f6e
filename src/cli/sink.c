/* Writing that does not block. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"

#define SINK_CHUNK (1u << 20)

/* A pipe or a terminal opened once more has flags of its own. -EBADF where that is not possible, or
 * would allow more than the descriptor does. */
static int reopen(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    char path[32];
    int own;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own < 0 ? -EBADF : own;
}

void sink_open(struct sink *s, int fd)
{
    struct stat st;
    int own = -EBADF;

    *s = (struct sink){.fd = fd, .chunk = SINK_CHUNK};
    if (fstat(fd, &st) < 0)
        return; /* the first write will tell */
    s->is_socket = S_ISSOCK(st.st_mode);
    s->is_stream = s->is_socket || S_ISFIFO(st.st_mode);
    if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
        return;
    own = reopen(fd);
    if (own >= 0) {
        s->fd = own;
        s->owned = true;
    } else {
        s->chunk = PIPE_BUF; /* what a pipe that polls as writable takes at once */
    }
}

void sink_close(struct sink *s)
{
    if (s->owned)
        s->fd = close_fd(s->fd);
    *s = (struct sink){.fd = -EBADF};
}

ssize_t sink_write(struct sink *s, const void *data, size_t size)
{
    int r;

    size = MIN(size, s->chunk);
    if (s->is_socket) {
        ssize_t n = send(s->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

        return n < 0 ? -errno : n;
    }
    if (!s->owned && s->chunk == PIPE_BUF) {
        r = io_poll(s->fd, POLLOUT, 0);
        if (r <= 0)
            return r < 0 ? r : -EAGAIN;
    }
    return io_write(s->fd, data, size);
}
