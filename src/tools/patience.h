/*
 * How long a caller is ready to wait: until a descriptor of its own is readable, or until it says
 * no when it is asked. What is waited for, and what happens then, is the waiting one's business.
 */
#ifndef REIN_TOOLS_PATIENCE_H
#define REIN_TOOLS_PATIENCE_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

struct patience {
    int stop_fd;                 /* readable: the caller has had enough; or -EBADF */
    int (*look)(void *userdata); /* negative: the caller has had enough; or NULL */
    int look_ms;                 /* how often it is asked; 0: only after a signal */
    void *userdata;
    int64_t asked_at_ns; /* zero at first */
};

#define PATIENCE_ENDLESS ((struct patience){.stop_fd = -EBADF})

/* Polls n descriptors; fds has room for one more, which is used here. 0: one of them has something,
 * the time (-1: no limit) is over, or it is worth looking again; 1: the caller has had enough; or a
 * negative errno. */
int patience_poll(struct patience *p, struct pollfd *fds, size_t n, int timeout_ms);

#endif
