/* A library context: where the store is, the supervisor's image, supervisors still to be reaped. */
#ifndef REIN_JOB_CONTEXT_H
#define REIN_JOB_CONTEXT_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "rein.h"

#define CONTEXT_REAP_MAX 64 /* ended supervisors that are reaped later rather than waited for */

struct rein {
    char *state_dir; /* absolute */
    pid_t owner_pid; /* the process that may use this context */
    int image_fd;    /* the supervisor's program; -EBADF until the first start */
    int null_fd;     /* /dev/null; likewise */
    int owner_pidfd; /* of this process; -EBADF until the first start */
    uint32_t test_fallbacks;
    struct cgroup cgroup;          /* where jobs get leaves */
    int to_reap[CONTEXT_REAP_MAX]; /* pidfds */
    size_t n_to_reap;
    struct pollfd *loose; /* pidfds of supervisors that may outlive us: never waited for */
    size_t n_loose, loose_allocated;
};

/* The store's directory, absolute. It may not exist yet. */
const char *context_state_dir(const rein *r);

/* -EPERM when the store is somebody else's, or others can write to it; a missing one is none. */
int context_check_private(const rein *r, struct rein_error **reterr);

/* mkdir -p with mode 0700 for all that is missing. 0 or a negative errno. */
int context_make_directories(const char *path);

/* Makes the store's directory and a directory below it, both mode 0700, and opens the latter. */
int context_make_state_dir(rein *r, const char *subdir, int *ret_fd, struct rein_error **reterr);

/* Opens the directory of the jobs, without making it. -ENOENT when there is none, -EPERM when the
 * store is somebody else's, or others can write to it. */
int context_open_jobs(const rein *r, int *ret_fd, struct rein_error **reterr);

/* Makes ready what every start needs: the image, /dev/null and our own pidfd. */
int context_prepare(rein *r, struct rein_error **reterr);

/* Reaps the supervisor behind a pidfd, which is taken: now if it has ended, later otherwise. */
void context_reap(rein *r, int take_pidfd);

/* The same for one that is not to be waited for: it is reaped when that costs nothing. */
void context_let_go(rein *r, int take_pidfd);

#endif
