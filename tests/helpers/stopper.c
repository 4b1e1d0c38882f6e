/*
 * stopper MARKER [alone] - a process and its child, both stopped (SIGSTOP). Says "stopped" when the
 * child is, just before it stops itself. With "alone" the child is stopped and the process exits.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE_SECONDS 60

int main(int argc, char **argv)
{
    pid_t child;
    int status;

    if (argc < 2 || !argv[1][0]) {
        fprintf(stderr, "usage: stopper MARKER [alone]\n");
        return 2;
    }
    child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        (void)alarm(LIFE_SECONDS);
        (void)raise(SIGSTOP);
        for (;;)
            (void)pause();
    }
    if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
        return 1;
    (void)!write(STDOUT_FILENO, "stopped\n", 8);
    if (argc > 2 && strcmp(argv[2], "alone") == 0)
        return 0;
    (void)alarm(LIFE_SECONDS);
    (void)raise(SIGSTOP);
    for (;;)
        (void)pause();
}
