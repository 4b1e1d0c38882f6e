/*
 * Variables that clean up after themselves.
 *
 *   auto_free char *s          free(s)
 *   auto_close int fd          close(fd) when it is not negative; unset is -EBADF
 *   auto_(thing_freep) thing *t    calls thing_freep(&t)
 *
 * TAKE_PTR(p) and TAKE_FD(fd) give the value away and leave the variable unset. Cleaning up keeps
 * errno.
 */
#ifndef REIN_BASE_CLEANUP_H
#define REIN_BASE_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define auto_(function) __attribute__((cleanup(function)))
#define auto_free auto_(cleanup_free)
#define auto_close auto_(cleanup_close)

#define TAKE_PTR(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) take_ = (p);                                                                 \
        (p) = NULL;                                                                                \
        take_;                                                                                     \
    })

#define TAKE_FD(fd)                                                                                \
    ({                                                                                             \
        int take_ = (fd);                                                                          \
        (fd) = -EBADF;                                                                             \
        take_;                                                                                     \
    })

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

/* Closes fd unless it is unset. Always returns the unset value: fd = close_fd(fd). Keeps errno. */
static inline int close_fd(int fd)
{
    if (fd >= 0) {
        int saved = errno;

        (void)close(fd); /* on Linux the descriptor is gone even after EINTR */
        errno = saved;
    }
    return -EBADF;
}

static inline void cleanup_close(int *fd)
{
    *fd = close_fd(*fd);
}

/* Defines type_freep() for auto_(), from a type_free() that takes NULL. */
#define DEFINE_FREEP(type, free_function)                                                          \
    static inline void free_function##p(type **p)                                                  \
    {                                                                                              \
        if (*p)                                                                                    \
            (void)free_function(*p);                                                               \
    }

#endif
