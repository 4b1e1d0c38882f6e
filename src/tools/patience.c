/* Waiting for descriptors no longer than the caller likes. Knows of no job. */
#include "patience.h"

#include <errno.h>
#include <stdbool.h>

#include "base/macro.h"
#include "base/time-util.h"

/* Until the caller is to be asked again; -1: not by time. */
static int until_look_ms(const struct patience *p)
{
    int64_t next_ns = p->asked_at_ns + p->look_ms * NSEC_PER_MSEC;

    return p->look && p->look_ms > 0 ? time_left_ms(next_ns) : -1;
}

/* Somebody who always finds something to do would otherwise never ask. */
static bool had_enough(struct patience *p, bool interrupted)
{
    if (!p->look || (!interrupted && until_look_ms(p) != 0))
        return false;
    p->asked_at_ns = time_mono_ns();
    return p->look(p->userdata) < 0;
}

int patience_poll(struct patience *p, struct pollfd *fds, size_t n, int timeout_ms)
{
    int look_ms = until_look_ms(p);
    bool interrupted = false;

    if (look_ms >= 0)
        timeout_ms = timeout_ms < 0 ? look_ms : MIN(timeout_ms, look_ms);
    fds[n] = (struct pollfd){.fd = p->stop_fd, .events = POLLIN};
    if (poll(fds, n + 1, timeout_ms) < 0) {
        interrupted = errno == EINTR;
        if (!interrupted)
            return -errno;
        for (size_t i = 0; i <= n; i++)
            fds[i].revents = 0;
    }
    return fds[n].revents || had_enough(p, interrupted) ? 1 : 0;
}
