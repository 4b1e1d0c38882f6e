/*
 * daemonize MARKER - becomes a daemon as old programs do: fork, setsid, fork, and the first process
 * exits with 0 when the daemon is in place. The daemon keeps the standard descriptors, so it also
 * holds the output's pipe. It ends by itself after a minute, should nobody end it.
 */
#include <stdio.h>
#include <unistd.h>

#define LIFE_SECONDS 60

static void live(int ready_fd)
{
    (void)setsid();
    if (fork() != 0)
        _exit(0);
    (void)close(ready_fd);
    (void)alarm(LIFE_SECONDS);
    for (;;)
        (void)pause();
}

int main(int argc, char **argv)
{
    int ready[2];
    char byte;

    if (argc != 2 || !argv[1][0]) {
        fprintf(stderr, "usage: daemonize MARKER\n");
        return 2;
    }
    if (pipe(ready) < 0)
        return 1;
    switch (fork()) {
    case -1:
        return 1;
    case 0:
        (void)close(ready[0]);
        live(ready[1]);
    }
    (void)close(ready[1]);
    (void)!read(ready[0], &byte, 1); /* end of file: both forks are done, the daemon lives */
    return 0;
}
