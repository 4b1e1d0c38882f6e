/*
 * ignore-term MARKER - survives every signal that can be survived, and writes a line for each
 * SIGTERM, so that a test sees when it came. Says "ready" first. It ends by itself after a minute.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIFE_SECONDS 60

static void report(int signo)
{
    if (signo == SIGTERM)
        (void)!write(STDOUT_FILENO, "TERM\n", 5);
}

int main(int argc, char **argv)
{
    struct sigaction action;
    struct timespec now, end;

    if (argc != 2 || !argv[1][0]) {
        fprintf(stderr, "usage: ignore-term MARKER\n");
        return 2;
    }
    memset(&action, 0, sizeof(action));
    action.sa_handler = report;
    for (int signo = 1; signo < NSIG; signo++)
        (void)sigaction(signo, &action, NULL);
    (void)!write(STDOUT_FILENO, "ready\n", 6);

    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LIFE_SECONDS;
    do {
        struct timespec second = {.tv_sec = 1};

        (void)nanosleep(&second, NULL);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec);
    return 0;
}
