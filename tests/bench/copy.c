/*
 * usage: bench-copy FILE BOUND PROGRAM ARG...
 *
 * What a log costs at least: runs PROGRAM with a pipe as its standard output and copies that into
 * FILE with 64 KiB buffers, nothing else. With a BOUND other than 0 the file never has more bytes:
 * writing begins again at its start.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER_SIZE (64u << 10)

static int fail(const char *what)
{
    (void)fprintf(stderr, "bench-copy: %s: %s\n", what, strerror(errno));
    return 1;
}

static int start(char **argv, int stdout_fd, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int err = posix_spawn_file_actions_init(&actions);

    if (err)
        return err;
    err = posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
    if (!err)
        err = posix_spawn(ret_pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return err;
}

static int copy(int from, int to, unsigned long long bound)
{
    static char buffer[BUFFER_SIZE];
    unsigned long long at = 0;

    for (;;) {
        ssize_t n = read(from, buffer, sizeof(buffer));

        if (n <= 0)
            return (int)n;
        if (bound && at + (unsigned long long)n > bound)
            at = 0;
        if (pwrite(to, buffer, (size_t)n, (off_t)at) != n)
            return -1;
        at += (unsigned long long)n;
    }
}

int main(int argc, char **argv)
{
    int fds[2];
    int status;
    int file;
    pid_t pid;

    if (argc < 4) {
        (void)fputs("usage: bench-copy FILE BOUND PROGRAM ARG...\n", stderr);
        return 2;
    }
    file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || pipe2(fds, O_CLOEXEC) < 0)
        return fail(argv[1]);
    errno = start(argv + 3, fds[1], &pid);
    if (errno)
        return fail(argv[3]);
    (void)close(fds[1]);
    if (copy(fds[0], file, strtoull(argv[2], NULL, 10)) < 0)
        return fail("copying");
    if (waitpid(pid, &status, 0) < 0 || status != 0)
        return fail("the program failed");
    return 0;
}
