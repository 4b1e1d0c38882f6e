/* Messages with descriptors over a SOCK_SEQPACKET socket. Knows about EINTR, never raises SIGPIPE.
 */
#ifndef REIN_BASE_SOCKET_UTIL_H
#define REIN_BASE_SOCKET_UTIL_H

#include <stddef.h>
#include <sys/types.h>

#define SOCKET_FDS_MAX 128 /* more never travel in one message */

/* A message in two pieces, the second of which may be empty. */
struct socket_message {
    const void *head;
    size_t head_size;
    const void *body;
    size_t body_size;
    const int *fds; /* borrowed */
    size_t n_fds;
};

/* Sends it whole. flags as for sendmsg. 0 or a negative errno. */
int socket_send(int fd, const struct socket_message *message, int flags);

/* Receives one message of at most size bytes. Descriptors are close-on-exec and belong to the
 * caller; room for max_fds of them. Returns the size, 0 at the end of the socket, or a negative
 * errno; -EMSGSIZE when a message did not fit, -EMFILE when there was no number free for one of its
 * descriptors: it is then lost. */
ssize_t socket_receive(
    int fd, void *buf, size_t size, int *fds, size_t max_fds, size_t *ret_n_fds, int flags);

#endif
