/* A signalfd for the signals that ask for the end. */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

#include "base/io-util.h"
#include "base/macro.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A blocked signal is queued even when it is ignored, so those are to be left out. */
static int is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void ending_set(sigset_t *ret)
{
    (void)sigemptyset(ret);
    for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
        if (!is_ignored(ending_signals[i]))
            (void)sigaddset(ret, ending_signals[i]);
}

void signals_hold(void)
{
    sigset_t set;

    ending_set(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL); /* fails only for a wrong first argument */
}

int signals_open(void)
{
    sigset_t set;
    int fd;

    ending_set(&set);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int signals_take(int fd)
{
    struct signalfd_siginfo info;

    return io_read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}
