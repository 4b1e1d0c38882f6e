/* What trees of processes use at this moment, from one look at /proc. Linux only. */
#ifndef REIN_JOB_USAGE_H
#define REIN_JOB_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct usage {
    pid_t supervisor_pid; /* in: the tree is what is below it; 0: none */
    pid_t guard_pid;      /* in: its parent, which uses nothing and need not be looked at */
    int64_t user_us, system_us;
    uint64_t rss_bytes; /* resident memory of all its processes; shared pages count for each */
};

/* Fills in v[0…n). What cannot be found out stays 0. */
void usage_of_trees(struct usage *v, size_t n);

#endif
