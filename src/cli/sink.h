/*
 * Standard output and standard error as places that take bytes without ever blocking, whatever is
 * behind them. The descriptors' own flags are shared with other processes and stay as they are.
 */
#ifndef REIN_CLI_SINK_H
#define REIN_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sink {
    int fd;     /* to poll for POLLOUT, and to write to */
    bool owned; /* fd is ours, opened anew in non-blocking mode */
    bool is_socket;
    bool is_stream; /* a pipe or a socket: it can lose its reader */
    size_t chunk;   /* most that one write may take without blocking */
};

/* Looks at descriptor fd and prepares for writing to it. Cannot fail. */
void sink_open(struct sink *s, int fd);
void sink_close(struct sink *s);

/* Returns how many bytes were taken, -EAGAIN when none could be, or another negative errno. */
ssize_t sink_write(struct sink *s, const void *data, size_t size);

#endif
