/*
 * Kernel calls and constants that a libc may not know yet. Linux only. Each wrapper returns what
 * the call gives, or a negative errno.
 */
#ifndef REIN_BASE_SYSCALL_LINUX_H
#define REIN_BASE_SYSCALL_LINUX_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 0x0001
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#define F_SEAL_WRITE 0x0008
#endif
#ifndef F_SETPIPE_SZ
#define F_SETPIPE_SZ 1031
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 0x1U
#define MFD_ALLOW_SEALING 0x2U
#endif
#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 0x1
#define FALLOC_FL_PUNCH_HOLE 0x2
#endif

static inline int sys_result(long r)
{
    return r < 0 ? -errno : (int)r;
}

#define SYS_SIGNALS 64

/* libc leaves out the signals that it uses itself; what is inherited through exec has them all. Bit
 * n of the mask blocks signal n + 1. */
static inline void sys_set_signal_mask(uint64_t mask)
{
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

/* The kernel's struct sigaction is all zero for the default action. */
static inline void sys_reset_signal(int signo)
{
    const uint64_t action[4] = {0};

    (void)syscall(SYS_rt_sigaction, signo, action, NULL, sizeof(uint64_t));
}

static inline int sys_pidfd_open(pid_t pid)
{
    return sys_result(syscall(SYS_pidfd_open, pid, 0));
}

static inline int sys_pidfd_signal(int pidfd, int signo)
{
    return sys_result(syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0));
}

static inline int sys_close_range(unsigned int first, unsigned int last)
{
    return sys_result(syscall(SYS_close_range, first, last, 0));
}

#endif
