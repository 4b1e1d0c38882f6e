/*
 * jump-clock DELAY_MS SECONDS COMMAND [ARG...] - runs a command whose wall clock is set by SECONDS
 * (may be negative), DELAY_MS after the start, for it and all its descendants. Other clocks are
 * untouched, and so is the machine's. Exits as the command does.
 *
 * It traces them: programs cannot find the kernel's shortcut for reading clocks (its entry in the
 * auxiliary vector is blanked), have to ask by a system call, and get another answer. Statically
 * linked programs too, which LD_PRELOAD does not reach. Needs the rights to write into programs
 * that made themselves undumpable: the superuser's, at least of a user namespace.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |      \
     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define N_CALLS 65536

static struct timespec jump_at;
static long jump_seconds;

/* Where a process that is in a clock call wants its answer; 0 when it is in another one. There is
 * one at a time for each process, and hardly ever are so many processes alive that two share. */
static uint64_t answer_at[N_CALLS];

static int has_jumped(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > jump_at.tv_sec ||
           (now.tv_sec == jump_at.tv_sec && now.tv_nsec >= jump_at.tv_nsec);
}

static int peek(pid_t pid, uint64_t address, long *ret)
{
    errno = 0;
    *ret = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)address, NULL);
    return errno ? -errno : 0;
}

static int poke(pid_t pid, uint64_t address, long value)
{
    return ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)address, (void *)value) < 0 ? -errno : 0;
}

/* Where the kernel put argc, from which argv, the environment and the auxiliary vector follow. */
static uint64_t start_of_stack(pid_t pid)
{
    char path[64], line[2048];
    unsigned long value = 0;
    char *field;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fgets(line, sizeof(line), f) && (field = strrchr(line, ')'))) {
        for (int i = 2; i < 28 && field; i++)
            field = strchr(field + 1, ' ');
        value = field ? strtoul(field, NULL, 10) : 0;
    }
    (void)fclose(f);
    return value;
}

static void hide_shortcut(pid_t pid)
{
    uint64_t at = start_of_stack(pid);
    long value = 1;

    for (int list = 0; at && list < 2; list++) /* argc and argv, then the environment */
        do
            at += sizeof(long);
        while (peek(pid, at, &value) == 0 && value != 0);
    if (!at)
        return;
    for (at += sizeof(long); peek(pid, at, &value) == 0 && value != AT_NULL; at += 2 * sizeof(long))
        if (value == AT_SYSINFO_EHDR)
            (void)poke(pid, at, AT_IGNORE);
}

static uint64_t wall_clock_answer(const struct __ptrace_syscall_info *info)
{
    if (info->entry.nr == SYS_clock_gettime && (clockid_t)info->entry.args[0] == CLOCK_REALTIME)
        return info->entry.args[1];
    if (info->entry.nr == SYS_gettimeofday)
        return info->entry.args[0];
    return 0;
}

static void look_at_call(pid_t pid)
{
    uint64_t *answer = &answer_at[pid % N_CALLS];
    struct __ptrace_syscall_info info;
    long seconds;

    memset(&info, 0, sizeof(info));
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        *answer = wall_clock_answer(&info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && *answer) {
        if (info.exit.rval == 0 && has_jumped() && peek(pid, *answer, &seconds) == 0)
            (void)poke(pid, *answer, seconds + jump_seconds);
        *answer = 0;
    }
}

/* What the process is to be continued with: a signal that is its own affair, or none. */
static int take_stop(pid_t pid, int status)
{
    int signo = WSTOPSIG(status);

    if (signo == SYSCALL_STOP) {
        look_at_call(pid);
        return 0;
    }
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
        hide_shortcut(pid);
    if (status >> 16)
        return 0;
    /* A new process begins with a stop of its own. Nothing else here is stopped on purpose. */
    return signo == SIGSTOP || signo == SIGTRAP ? 0 : signo;
}

static int trace(pid_t command)
{
    int status, result = 1;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (pid <= 0)
            continue;
        if (WIFSTOPPED(status)) {
            int signo = take_stop(pid, status);

            (void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signo);
        } else if (pid == command) {
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    return result;
}

int main(int argc, char **argv)
{
    long delay_ms = argc > 3 ? atol(argv[1]) : 0;
    int status;
    pid_t pid;

    if (argc < 4) {
        fprintf(stderr, "usage: jump-clock DELAY_MS SECONDS COMMAND [ARG...]\n");
        return 2;
    }
    jump_seconds = atol(argv[2]);
    (void)clock_gettime(CLOCK_MONOTONIC, &jump_at);
    jump_at.tv_sec += delay_ms / 1000 + (jump_at.tv_nsec + delay_ms % 1000 * 1000000) / 1000000000;
    jump_at.tv_nsec = (jump_at.tv_nsec + delay_ms % 1000 * 1000000) % 1000000000;
    pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(99);
        (void)raise(SIGSTOP);
        (void)execvp(argv[3], argv + 3);
        _exit(99);
    }
    if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)OPTIONS) < 0 ||
        ptrace(PTRACE_SYSCALL, pid, NULL, NULL) < 0) {
        fprintf(stderr, "jump-clock: cannot trace\n");
        return 99;
    }
    return trace(pid);
}
