/*
 * fork-storm MARKER SLEEPERS HOPPERS [leave] - a tree that is hard to end, of a bounded size.
 *
 * SLEEPERS processes just sleep, half of them in sessions of their own. Each of HOPPERS lines of
 * processes moves on all the time: a process forks its successor, in a new session, and exits. So
 * there are never more than SLEEPERS + 2 × HOPPERS + 1 processes. Says "storm" when all have
 * begun. Then the first process sleeps, or exits with 0 ("leave"). Everything ends by itself after
 * half a minute.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIFE_SECONDS 30
#define PROCESSES_MAX 150
#define HOP_NS 2000000L

static time_t end_time;

static int is_over(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= end_time;
}

static void sleep_to_the_end(void)
{
    struct timespec step = {.tv_nsec = 200000000};

    while (!is_over())
        (void)nanosleep(&step, NULL);
    _exit(0);
}

static void hop_to_the_end(void)
{
    struct timespec step = {.tv_nsec = HOP_NS};

    while (!is_over()) {
        if (fork() > 0)
            _exit(0);
        (void)setsid();
        (void)nanosleep(&step, NULL);
    }
    _exit(0);
}

static int start(int count, void (*body)(void), int ready_fd)
{
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();

        if (pid < 0)
            return -1;
        if (pid == 0) {
            if (i % 2)
                (void)setsid();
            (void)close(ready_fd);
            body();
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int sleepers = argc > 3 ? atoi(argv[2]) : -1;
    int hoppers = argc > 3 ? atoi(argv[3]) : -1;
    struct timespec now;
    int ready[2];
    char byte;

    if (sleepers < 0 || hoppers < 0 || sleepers + 2 * hoppers + 1 > PROCESSES_MAX) {
        fprintf(stderr, "usage: fork-storm MARKER SLEEPERS HOPPERS [leave], at most %d processes\n",
                PROCESSES_MAX);
        return 2;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    end_time = now.tv_sec + LIFE_SECONDS;
    if (pipe(ready) < 0)
        return 1;
    if (start(sleepers, sleep_to_the_end, ready[1]) < 0 ||
        start(hoppers, hop_to_the_end, ready[1]) < 0) {
        fprintf(stderr, "fork-storm: cannot fork\n");
        return 1;
    }
    (void)close(ready[1]);
    (void)!read(ready[0], &byte, 1); /* end of file: each has begun */
    (void)!write(STDOUT_FILENO, "storm\n", 6);
    if (argc > 4 && strcmp(argv[4], "leave") == 0)
        return 0;
    sleep_to_the_end();
}
