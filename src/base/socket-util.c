/* Messages with descriptors. */
#include "socket-util.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "macro.h"

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int) * SOCKET_FDS_MAX)];
};

/* There is one control message, and it stands at the beginning. */
static void put_fds(struct msghdr *msg, union control *control, const int *fds, size_t n_fds)
{
    assert(n_fds <= SOCKET_FDS_MAX);
    if (n_fds == 0)
        return;
    control->head.cmsg_level = SOL_SOCKET;
    control->head.cmsg_type = SCM_RIGHTS;
    control->head.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
    memcpy(CMSG_DATA(&control->head), fds, sizeof(int) * n_fds);
    msg->msg_control = control;
    msg->msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
}

int socket_send(int fd, const struct socket_message *message, int flags)
{
    union control control;
    struct iovec iov[2] = {
        {.iov_base = (void *)(uintptr_t)message->head, .iov_len = message->head_size},
        {.iov_base = (void *)(uintptr_t)message->body, .iov_len = message->body_size}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = message->body_size ? 2 : 1};
    ssize_t n;

    put_fds(&msg, &control, message->fds, message->n_fds);
    do
        n = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

/* Takes what fits into fds and closes the rest. Returns how many there were in all. */
static size_t take_fds(const struct msghdr *msg, int *fds, size_t max_fds)
{
    const struct cmsghdr *c = msg->msg_control;
    size_t n = 0;

    if (msg->msg_controllen < CMSG_LEN(0) || c->cmsg_level != SOL_SOCKET ||
        c->cmsg_type != SCM_RIGHTS)
        return 0;
    for (; CMSG_LEN(sizeof(int) * (n + 1)) <= c->cmsg_len; n++) {
        int fd;

        memcpy(&fd, CMSG_DATA(c) + n * sizeof(int), sizeof(int));
        if (n < max_fds)
            fds[n] = fd;
        else
            (void)close_fd(fd);
    }
    return n;
}

ssize_t socket_receive(
    int fd, void *buf, size_t size, int *fds, size_t max_fds, size_t *ret_n_fds, int flags)
{
    union control control;
    struct iovec iov = {.iov_base = buf, .iov_len = size};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    size_t n_fds;
    ssize_t n;

    *ret_n_fds = 0;
    /* A peer that has gone without reading all that we sent is told of once by ECONNRESET, before
     * its own last messages. */
    do
        n = recvmsg(fd, &msg, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    if (n < 0)
        return -errno;
    n_fds = take_fds(&msg, fds, max_fds);
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || n_fds > max_fds) {
        for (size_t i = 0; i < MIN(n_fds, max_fds); i++)
            fds[i] = close_fd(fds[i]);
        return msg.msg_flags & MSG_CTRUNC ? -EMFILE : -EMSGSIZE;
    }
    *ret_n_fds = n_fds;
    return n;
}
