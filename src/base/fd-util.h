/* Where descriptors of ours may be. */
#ifndef REIN_BASE_FD_UTIL_H
#define REIN_BASE_FD_UTIL_H

#include <errno.h>
#include <fcntl.h>

#include "cleanup.h"

/* Moves a descriptor that will live on away from 0, 1 and 2: a host that has closed one of those
 * must not find us in its place. Gives the new number; the old one where there is no other, and for
 * an unset one or a negative errno. */
static inline int fd_above_stdio(int take_fd)
{
    int saved = errno;
    int fd = take_fd >= 0 && take_fd <= 2 ? fcntl(take_fd, F_DUPFD_CLOEXEC, 3) : -1;

    errno = saved;
    if (fd < 0)
        return take_fd;
    (void)close_fd(take_fd);
    return fd;
}

#endif
