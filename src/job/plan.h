/* From a spec to a plan: everything the supervisor has to do, as data. Nothing is started here. */
#ifndef REIN_JOB_PLAN_H
#define REIN_JOB_PLAN_H

#include <errno.h>

#include "cgroup.h"
#include "context.h"
#include "id.h"
#include "wire.h"

#define OUTPUT_LIMIT_DEFAULT (UINT64_C(64) << 20)
#define OUTPUT_LIMIT_MIN 4096
#define OUTPUT_LIMIT_MAX (UINT64_C(1) << 50)
#define OUTPUT_IN_MEMORY_MAX (UINT64_C(1) << 20) /* beyond it a log moves to the disk */
#define NAME_BYTES_MAX 1024
#define SESSION_BYTES_MAX 64

/* What a piece of code adds to a spec. */
struct job_extras {
    const char *cleanup_dir; /* absolute: removed with all its contents when the job has ended */
    int cleanup_dir_fd;      /* the same directory, locked; the supervisor keeps a copy */
};

struct plan_message {
    struct wire_plan head;
    char *strings;
    int fds[WIRE_FDS_MAX]; /* borrowed, in the order of the wire */
    size_t n_fds;
    int log_fd; /* the library's own copies; moved into the job */
    int marks_fd;
    const struct cgroup_leaf *leaf; /* borrowed, set before plan_make(); NULL for none */
    int own_fds[4];                 /* opened for the plan, closed by plan_done() */
    size_t n_own_fds;
    char id[JOB_ID_LENGTH + 1];
    char **argv; /* what is executed, with secrets masked */
    char *cwd;   /* absolute */
    char *shown_cwd;
    char *name;     /* or NULL */
    char *job_json; /* up to the pids */
    char **warnings;
    char **missing;
    int64_t started_at_ns;
};

#define PLAN_MESSAGE_UNSET                                                                         \
    {                                                                                              \
        .log_fd = -EBADF, .marks_fd = -EBADF                                                       \
    }

/* Makes the plan of a checked spec in *ret, which was PLAN_MESSAGE_UNSET. plan_done() in any
 * case. */
int plan_make(rein *r,
              const struct rein_spec *spec,
              const struct job_extras *extras,
              struct plan_message *ret,
              struct rein_error **reterr);

/* Sends it over the socket. 0 or a negative errno. */
int plan_send(const struct plan_message *plan, int socket_fd);

void plan_done(struct plan_message *plan);

/* Turns a step that failed in the supervisor into an error. */
int plan_failed(const rein *r,
                const struct plan_message *plan,
                const struct wire_failed *failed,
                struct rein_error **reterr);

#endif
