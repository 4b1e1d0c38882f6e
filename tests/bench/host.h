/* What the files of bench-host share. */
#ifndef REIN_BENCH_HOST_H
#define REIN_BENCH_HOST_H

#include <rein.h>
#include <stdint.h>
#include <stdio.h>

#define HELD_MAX 64 /* jobs that `hold` keeps at a time */

struct host {
    rein *context;
    FILE *answer;
    rein_job *held[HELD_MAX];
    int n_held;
};

/* Monotonic. */
int64_t now_ns(void);

/* Says why and ends the program: a measurement that failed is worth nothing. */
void fail(const char *what, const char *why) __attribute__((noreturn, cold));

/* Starts a job, or fails. */
rein_job *start_job(struct host *host, const struct rein_spec *spec);

/* Waits for the end of a job, checks that it ended for that reason (enum rein_reason), frees it. */
void end_job(rein_job *job, int reason);

/* stop.c: requests that end a tree. argv: the program. */
void request_stop_job(struct host *host, char **argv);
void request_stop_by_term(struct host *host, char **argv);
void request_kill_group(struct host *host, char **argv);

#endif
