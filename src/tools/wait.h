/*
 * Waiting for jobs: for their ends, for a line of their output, or for a port. All of them at once,
 * asleep in poll() until one has news; nothing is looked at by the clock. What is told about it is
 * the caller's business.
 */
#ifndef REIN_TOOLS_WAIT_H
#define REIN_TOOLS_WAIT_H

#include <jansson.h>
#include <stdbool.h>

#include "patience.h"
#include "regex.h"

/* How a job stands: fills *ret, which is zeroed or was filled before. 1: it runs; 0: it has ended;
 * or a negative errno with *reterr. */
int job_look(rein_job *job, struct rein_result *ret, struct rein_error **reterr);

enum wait_kind { WAIT_EXIT, WAIT_LINE, WAIT_PORT };

struct wait_goal {
    enum wait_kind kind;
    struct regex *line; /* WAIT_LINE */
    int port;           /* WAIT_PORT */
};

/* "exit", "line:RE" or "port:N". "bad_request" for something else. */
int wait_goal_parse(const char *text, struct wait_goal *ret, struct rein_error **reterr);
void wait_goal_done(struct wait_goal *goal);

enum wait_state {
    WAIT_GOES_ON,
    WAIT_HAPPENED,
    WAIT_MISSED /* the job has ended before */
};

struct waiter;

/* Borrows job and goal. since: where in the output lines count from. The job's reading position is
 * the waiter's. */
int waiter_new(rein_job *job,
               const struct wait_goal *goal,
               uint64_t since,
               struct waiter **ret,
               struct rein_error **reterr);
struct waiter *waiter_free(struct waiter *w); /* NULL is fine; always returns NULL */

enum wait_state waiter_state(const struct waiter *w);
rein_job *waiter_job(const struct waiter *w);

/* The line or the port; null for an exit, and as long as it did not happen. A new reference, NULL
 * when there is no memory. */
json_t *waiter_matched(const struct waiter *w);
/* The same as text. "" for an exit. */
const char *waiter_matched_text(const struct waiter *w, size_t *ret_len);

/* Waits until it has happened to all, or with `any` to one of them; at most timeout_ns (negative:
 * without limit), and as long as the caller has patience. "job_ended" when it cannot happen any
 * more, "timeout" for the other two. What happened stands in the waiters' states. */
int wait_for_jobs(struct waiter *const *waiters,
                  size_t n,
                  bool any,
                  int64_t timeout_ns,
                  struct patience *patience,
                  struct rein_error **reterr);

#endif
