/*
 * The state of one job, as its supervisor sees it, and the calls between the files of this folder.
 *
 * The program has one job, so there is one struct supervisor, static. Two processes share it: the
 * supervisor proper, which runs the loop, and its parent, the guard, which sleeps until the
 * supervisor is gone and only then looks at the memory (see guard.c). Nothing here is locked,
 * because they never run at the same time.
 *
 * Links libc only. The loop allocates nothing.
 */
#ifndef REIN_SUPERVISOR_SUPERVISOR_H
#define REIN_SUPERVISOR_SUPERVISOR_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "job/wire.h"

#define CHUNK_SIZE (64u << 10) /* one read of a pipe */
#define DRAIN_MAX (1u << 20)   /* bytes taken from one pipe before other events are looked at */
#define INPUT_BUFFER_MAX (128u << 10) /* standard input that the job has not read yet */
#define CLIENTS_MAX 512               /* who talks to the supervisor at the same time */

/* The plan, unpacked. All pointers lead into the message that was received. */
struct plan {
    const struct wire_plan *head;
    char **argv; /* argv[-1] is free, for "/bin/sh" */
    char **env;
    char **paths;
    char **secrets;          /* texts to mask in the output */
    char **notify;           /* command for the end; notify[0] is NULL for none */
    const char *cwd;         /* "" stays where the owner is */
    const char *jobs_dir;    /* absolute */
    const char *job_json;    /* text of that file, but for its end */
    const char *cleanup_dir; /* absolute, or "" */
    int fds[WIRE_FD_KINDS];  /* -EBADF where absent */
    int pass_fds[WIRE_PASS_FDS_MAX];
};

/* The job's directory in the store. */
struct store {
    int dir_fd;    /* -EBADF while the job is not there */
    int lock_fd;   /* held as long as one of us lives */
    int listen_fd; /* of the control socket, or -EBADF */
    int published; /* job.json is there: from now on the job exists for others */
};

struct log {
    int fd;
    int marks_fd;       /* -EBADF when the streams are merged */
    int in_store;       /* until then it is in memory */
    int stuck;          /* the store cannot hold it: it stays in memory */
    int restore_failed; /* its file was deleted, and no new one can be made */
    int errnum;         /* why, or why bytes were lost */
    int last_stream;
    uint64_t limit;
    uint64_t memory_limit;
    uint64_t file_end;    /* as long as we made the file */
    uint64_t punched_end; /* the disk blocks before this offset of the gap were given back */
    uint64_t marks_punched_end;
    struct wire_log_state state;
};

struct output {
    int fd; /* read end of a pipe, -EBADF once it has ended */
    int stream;
    int grown;     /* the pipe was made larger */
    int mask_side; /* of mask.c: which of two states holds */
};

struct input {
    int fd; /* write end, -EBADF once it was closed */
    int eof_wanted;
    uint32_t begin, end; /* what waits in the buffer of input.c */
};

/* One end of a conversation. The first place is the starter's. */
struct client {
    int fd;          /* -EBADF for a free place */
    int armed;       /* wants to hear of news */
    uint32_t port;   /* wants to hear that this one is open; 0: none */
    uint64_t cursor; /* how far it has read */
};

enum state {
    STATE_RUNNING,     /* the main process is alive */
    STATE_LINGERING,   /* it has ended, the job goes on until its descendants have */
    STATE_TERMINATING, /* SIGTERM was sent to the tree, the grace runs */
    STATE_KILLING,     /* SIGKILL was sent, until nothing is left */
    STATE_DONE,
    STATE_MAX,
};

struct supervisor {
    struct plan plan;
    struct client clients[CLIENTS_MAX];
    int n_clients; /* places in use, or free between those */
    struct store store;
    struct log log;
    struct output outputs[2];
    int n_outputs;
    struct input input;

    struct rlimit owner_file_size; /* what the owner's limit was before ours was lifted */
    pid_t main_pid;
    int main_pidfd;
    int main_ended;
    int wait_status;
    int tree_empty;

    int state;
    int reason; /* enum rein_reason; REIN_REASON_NONE until something ended the job */
    int64_t started_ns;
    int64_t ended_ns;
    int64_t deadline_ns; /* monotonic; INT64_MAX for none */
    int64_t grace_end_ns;
    int64_t retry_ns;   /* next kill pass */
    int64_t give_up_ns; /* end of patience with processes that do not die */

    int64_t ports_next_ns; /* when to look for open ports; INT64_MAX for never */

    int64_t user_us, system_us;
    uint64_t max_rss_bytes;
    uint32_t notes;
    uint32_t n_left;
    uint32_t n_left_named;
    struct wire_left left[WIRE_LEFT_MAX];
    int recorded;
    int hook_ran;
    int reported; /* EXIT was sent: the guard has nothing to do */
};

/* guard.c */
extern struct supervisor supervisor;

/* plan-read.c: receives and checks the plan. 0 or a negative errno. */
int plan_receive(int socket_fd, struct plan *ret);

/* spawn.c: makes the pipes and starts the main process. On failure *ret_step says which step. */
int spawn_main(struct supervisor *s, enum wire_step *ret_step);

/* loop.c: runs the job to its end. */
void loop_run(struct supervisor *s);
/* Waits for the starter's next message, or for the owner's end. */
void loop_wait_for_starter(struct supervisor *s);

/* clients.c: who talks to us. */
static inline int is_background(const struct supervisor *s)
{
    return (s->plan.head->flags & WIRE_PLAN_BACKGROUND) != 0;
}
static inline struct client *starter(struct supervisor *s)
{
    return &s->clients[0];
}
/* Lets those in that wait at the control socket. */
void clients_accept(struct supervisor *s);
/* False when all places are taken: then the others wait. */
int clients_have_room(struct supervisor *s);
/* Forgets one. The end of a starter in the foreground is the owner's. */
void client_drop(struct supervisor *s, struct client *c);
/* The owner has ended. */
void clients_lose_owner(struct supervisor *s);

/* ending.c: the state machine. */
enum event {
    EVENT_MAIN_ENDED,
    EVENT_TREE_EMPTY,
    EVENT_GRACE_OVER,
    EVENT_RETRY,
    EVENT_MAX,
};
void ending_dispatch(struct supervisor *s, enum event event);
/* Wants the end of the tree for a reason, with a grace after SIGTERM. */
void ending_begin(struct supervisor *s, int reason, int64_t grace_ns);
/* The next moment at which time alone makes something happen; INT64_MAX for never. */
int64_t ending_next_ns(const struct supervisor *s);
void ending_tick(struct supervisor *s, int64_t now_ns);

/* reap.c: collects ended children; returns how many. Sets main_ended, wait_status, tree_empty, adds
 * usage. */
size_t reap_children(struct supervisor *s);

/* log.c: the bounded log. */
void log_init(struct log *log, const struct plan *plan);
void log_append(struct supervisor *s, int stream, const char *data, size_t size);

/* store.c: the job's directory in the store. */
/* Makes it, locked and with a control socket. 0 or a negative errno; *ret_step says which step. */
int store_begin(struct supervisor *s, enum wire_step *ret_step);
/* Lets others see the job: its main process runs. 0 or a negative errno. */
int store_publish(struct supervisor *s);
/* Takes back what store_begin() made. */
void store_cancel(struct supervisor *s);
/* Takes the control socket away: from now on the record answers. */
void store_close_control(struct supervisor *s);
/* A new file in the directory. 0 or a negative errno. */
int store_create(const struct store *store, const char *name, int *ret_fd);

/* log-store.c: moves the log from memory to the store. Sets log->stuck when that is impossible. */
void log_move_to_store(struct supervisor *s);
/* Writes a log that is stuck in memory, or whose file is gone, to the store as it is at the end. */
void log_save(struct supervisor *s);
/* Before a write: was the file deleted, or cut off, by somebody else? */
void log_check(struct supervisor *s);

/* output.c: pipes to log. */
void output_drain(struct supervisor *s, struct output *o);
void output_drain_rest(struct supervisor *s);
int output_paused(const struct supervisor *s);

/* mask.c: secrets become stars before they reach the log. */
void mask_prepare(const struct supervisor *s);
void mask_append(struct supervisor *s, struct output *o, const char *data, size_t size);
/* What may be the beginning of a secret is none: no more is to come. */
void mask_flush(struct supervisor *s, struct output *o);
/* The same for a command line in a buffer of that size. */
void mask_command(char *command, size_t size);

/* input.c: what clients send to the job's standard input. */
void input_take(struct supervisor *s,
                struct client *c,
                const struct wire_input *message,
                size_t size);
void input_flush(struct supervisor *s);

/* ports.c: looks whether the job's tree listens on a port that a client asked for. */
void ports_ask(struct supervisor *s, struct client *c, uint32_t port);
void ports_tick(struct supervisor *s, int64_t now_ns);

/* report.c: messages to clients. */
void report_started(struct supervisor *s);
void report_failed(struct supervisor *s, enum wire_step step, int err);
void report_hello(struct supervisor *s, struct client *c);
void report_news(struct supervisor *s);
void report_log_moved(struct supervisor *s);
void report_room(struct supervisor *s, struct client *c, uint32_t accepted, int errnum);
void report_port_open(struct supervisor *s, struct client *c);
void report_exit(struct supervisor *s);

/* hook.c: starts the command for the end. 0 or a negative errno. */
int hook_run(struct supervisor *s);

/* finish.c: the last steps of a job: private directory, record, report, leaf. */
void finish_job(struct supervisor *s);
/* Removes the leaf when there is no owner who would. */
void finish_leaf(struct supervisor *s);
/* Fills in how the job ended. */
void finish_describe(const struct supervisor *s, struct wire_exit *ret);

/* remove-dir.c: removes a directory with all that is in it. 0 or a negative errno. */
int remove_dir(const char *path);

#endif
