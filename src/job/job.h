/* The client side of a job: what the files of this folder share about struct rein_job. */
#ifndef REIN_JOB_JOB_H
#define REIN_JOB_JOB_H

#include <stdint.h>

#include "context.h"
#include "id.h"
#include "plan.h"
#include "rein.h"
#include "wire.h"

struct rein_job {
    rein *context;
    char id[JOB_ID_LENGTH + 1];
    int socket_fd; /* -EBADF after the end */
    struct cgroup_leaf leaf;
    int supervisor_fd; /* pidfd, -EBADF once given to the context for reaping */

    /* what was asked */
    char **argv;
    char *cwd;
    char *name;
    char *session;
    char *job_json; /* up to the pids */
    char **warnings;
    char **missing;
    int split;
    int stdin_pipe;
    int after_keep;
    int background;   /* it has a directory in the store from its start on */
    int attached;     /* started by somebody else, or by another handle */
    int let_go;       /* goes on when the handle is freed */
    int64_t grace_ns; /* as in the spec */
    uint64_t output_limit;
    int64_t started_at_ns; /* wall clock, for people */
    int64_t started_ns;    /* monotonic */

    /* what the supervisor said */
    pid_t pid;
    pid_t supervisor_pid; /* from the store, or 0 */
    pid_t guard_pid;      /* likewise */
    int log_fd;
    int marks_fd;
    char *store_dir; /* the job's directory in the store, whether it is there or not */
    int log_moved;   /* the log is there; until then in memory */
    struct wire_log_state log;
    int armed;      /* an ARM waits for its NEWS */
    int has_reader; /* rein_read() was called: its caller polls for output, too */
    int ended;
    struct wire_exit exit;
    struct wire_left *left; /* exit.n_left_named of them */
    int port_open;          /* the port that was asked for last was seen open */
    int room_pending;       /* an INPUT waits for its ROOM */
    struct wire_room room;

    uint64_t cursor;     /* of rein_read() */
    uint64_t mark_index; /* where the last look-up ended */
    char *message;       /* room for the largest one, once there is a socket */
};

/* Starts a job. Public rein_start() is this without extras. */
int job_start(rein *r,
              const struct rein_spec *spec,
              const struct job_extras *extras,
              rein_job **ret,
              struct rein_error **reterr);

/* Takes the supervisor's messages, waiting at most timeout_ms for the first. 1 when something came,
 * 0 when nothing did, or a negative errno. After the end always 1. */
int job_pump(rein_job *job, int timeout_ms);

/* Sends a message. -ESRCH when the supervisor has gone. */
int job_tell(rein_job *job, const void *data, size_t size);

/* Asks to be told of output beyond cursor, unless that was asked already. */
int job_arm(rein_job *job, uint64_t cursor);

/* Asks for the state of the log as it is now. 0 or a negative errno. */
int job_refresh(rein_job *job);

/* A job without anything in it. 0 or -ENOMEM. */
int job_new(rein *r, rein_job **ret);

/* Makes room for messages. 0 or -ENOMEM. */
int job_make_room(rein_job *job);

/* Describes a job in an empty result, as it is known without asking. 0 or -ENOMEM; then the result
 * is to be freed all the same. */
int job_describe(const rein_job *job, struct rein_result *ret);

/* Sets where the job is, or would be, in the store. 0 or -ENOMEM. */
int job_set_store_dir(rein_job *job);

/* Opens the log as it is in the store, in place of what was open. */
void job_open_log(rein_job *job);

/* attach.c: the socket of a job of the background has ended without a word of its end. Looks into
 * the store, and goes on: as a job that has ended, or with a new socket under the same number. 0,
 * or a negative errno when it lives and cannot be reached. */
int job_reconnect(rein_job *job);

#endif
