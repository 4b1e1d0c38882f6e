/*
 * What the library and a job's supervisor say to each other, over SOCK_SEQPACKET sockets: plain
 * structs, one a message, of the machine's own byte order and layout. There are two kinds of ends:
 *
 *   the starter      has one end of a socket pair, and is of the same build, for the supervisor is
 *                    embedded in the library;
 *   one that came    through the job's control socket in the store, later, from any process of the
 *   later            same user, and perhaps of another version: HELLO begins with the supervisor's.
 *
 *   library → supervisor   starter: PLAN once, first; all: ARM, STOP, INPUT, SIGNAL, PORT
 *   supervisor → library   starter: STARTED or FAILED; others: HELLO;
 *                          then NEWS, LOG, ROOM, PORT_OPEN; EXIT once, last
 *
 * A socket that ends without EXIT means: look into the store.
 *
 * This file is shared with the supervisor: libc only, no behaviour.
 */
#ifndef REIN_JOB_WIRE_H
#define REIN_JOB_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#define WIRE_VERSION 2u
#define WIRE_SOCKET_FD 3 /* where the supervisor finds its end */

#define WIRE_PLAN_INLINE_MAX (64u << 10) /* a larger plan travels in a memfd */
#define WIRE_PLAN_MAX (64u << 20) /* the kernel's limit on argv and environment is far below */
#define WIRE_PASS_FDS_MAX 64
#define WIRE_FDS_MAX (WIRE_PASS_FDS_MAX + 8)
#define WIRE_PASS_FD_NUMBER_MAX 1023
#define WIRE_RLIMITS_MAX 8
#define WIRE_LEAF_NAME_SIZE 32
#define WIRE_INPUT_MAX (32u << 10)   /* bytes of standard input in one message */
#define WIRE_MESSAGE_MAX (40u << 10) /* the largest message but PLAN */
#define WIRE_LEFT_MAX 64             /* descendants named in one EXIT */
#define WIRE_LEFT_COMMAND_MAX 256

enum wire_type {
    WIRE_PLAN = 1,
    WIRE_ARM,
    WIRE_STOP,
    WIRE_INPUT,
    WIRE_SIGNAL,
    WIRE_PORT,
    WIRE_STARTED,
    WIRE_FAILED,
    WIRE_NEWS,
    WIRE_LOG,
    WIRE_ROOM,
    WIRE_EXIT,
    WIRE_HELLO,
    WIRE_PORT_OPEN,
};

/* ---- plan --------------------------------------------------------------------------------- */

#define WIRE_PLAN_SPLIT 0x1u       /* two pipes, and marks that tell them apart */
#define WIRE_PLAN_PACED 0x2u       /* pause reading when the owner's reader is far behind */
#define WIRE_PLAN_STDIN_PIPE 0x4u  /* standard input is fed by INPUT messages */
#define WIRE_PLAN_OUTPUT_KILL 0x8u /* passing log_limit ends the job */
#define WIRE_PLAN_IN_MEMFD 0x10u   /* the rest of the plan is in the first descriptor */
#define WIRE_PLAN_BACKGROUND 0x20u /* in the store from the start, with a control socket */

/* Descriptors of the plan in the order sent; absent ones are left out and their bit is 0. */
enum wire_plan_fd {
    WIRE_FD_LOG,     /* memfd for the output; always there */
    WIRE_FD_MARKS,   /* memfd for the stream marks; with SPLIT */
    WIRE_FD_OWNER,   /* pidfd of the owner; a detached job has none */
    WIRE_FD_STDIN,   /* the job's descriptor 0; without it /dev/null, or a pipe */
    WIRE_FD_CLEANUP, /* the locked private directory */
    WIRE_FD_CGROUP,  /* cgroup v2 leaf in which the job runs */
    WIRE_FD_KINDS,
};

enum wire_after { WIRE_AFTER_KILL, WIRE_AFTER_WAIT, WIRE_AFTER_KEEP };

struct wire_rlimit {
    int32_t resource;
    uint32_t pad;
    uint64_t soft;
    uint64_t hard;
};

/*
 * The head is followed by NUL-terminated strings, strings_size bytes in all: argc arguments, envc
 * variables, pathc paths to try with execve in order, notifyc arguments of the command to run at
 * the end, secretc secrets (see base/mask.h); then exactly one each of: working directory (""
 * stays), the store's directory of jobs, job.json's text up to what only the supervisor knows,
 * directory to remove at the end ("" for none).
 */
struct wire_plan {
    uint32_t type;
    uint32_t version;
    uint32_t flags;
    uint32_t fd_mask; /* bit n: descriptor of kind n is sent */
    int64_t timeout_ns;
    int64_t grace_ns;      /* for everything but a STOP, which brings its own */
    uint64_t log_limit;    /* bytes kept in all */
    uint64_t memory_limit; /* bytes kept in the memfd; beyond them the log moves to the disk */
    uint32_t after;
    uint32_t n_rlimits;
    struct wire_rlimit rlimits[WIRE_RLIMITS_MAX];
    uint32_t n_pass_fds; /* sent after the kinds above */
    int32_t pass_fds[WIRE_PASS_FDS_MAX];
    char process_id[12];
    char leaf_name[WIRE_LEAF_NAME_SIZE]; /* of WIRE_FD_CGROUP */
    uint32_t argc, envc, pathc, notifyc, secretc;
    uint32_t
        test_fallbacks; /* enum wire_fallback bits: ways that a test wants to see unavailable */
    uint32_t strings_size;
};

/* Newer kernel calls that a test can make "unavailable" to see the older way work. */
enum wire_fallback {
    WIRE_NO_PROC_CHILDREN = 0x1, /* /proc/PID/task/TID/children */
    WIRE_NO_PUNCH = 0x2,         /* fallocate(FALLOC_FL_PUNCH_HOLE) */
    WIRE_NO_CGROUP = 0x4,        /* cgroup.kill */
    WIRE_NO_MEMFD_EXEC = 0x8,    /* execution of a memfd */
};

/* ---- library → supervisor ----------------------------------------------------------------- */

/* "Tell me when there is output beyond cursor": one NEWS answers one ARM. cursor is also how far
 * the reader has come, for PACED. A job starts armed. */
struct wire_arm {
    uint32_t type;
    uint32_t pad;
    uint64_t cursor;
};

struct wire_stop {
    uint32_t type;
    uint32_t pad;
    int64_t grace_ns;
};

struct wire_signal {
    uint32_t type;
    int32_t signo; /* to the main process */
};

/* "Tell me when the job's tree listens on this TCP port": one PORT_OPEN answers, the same struct. A
 * port of 0 takes the question back. */
struct wire_port {
    uint32_t type;
    uint32_t port;
};

/* Bytes for standard input follow the head; eof ends it after them. Answered by ROOM. */
struct wire_input {
    uint32_t type;
    uint32_t eof;
};

/* ---- supervisor → library ----------------------------------------------------------------- */

/* The descriptors of a log that is in the store come along. */
struct wire_started {
    uint32_t type;
    int32_t pid;
    uint32_t log_in_store;
    uint32_t pad;
};

enum wire_step {
    WIRE_STEP_PLAN,
    WIRE_STEP_STORE,
    WIRE_STEP_LOCK,
    WIRE_STEP_CONTROL,
    WIRE_STEP_PIPE,
    WIRE_STEP_CLONE,
    WIRE_STEP_SESSION,
    WIRE_STEP_DESCRIPTORS,
    WIRE_STEP_CHDIR,
    WIRE_STEP_LIMITS,
    WIRE_STEP_EXEC,
    WIRE_STEP_MAX,
};

struct wire_failed {
    uint32_t type;
    uint32_t step;
    int32_t errnum;
    uint32_t pad;
};

/* The state of the log: what a reader needs to read it by itself. Bytes [gap_begin, gap_end) are
 * not kept; mark numbers [marks_gap_begin, marks_gap_end) neither. */
struct wire_log_state {
    uint64_t total;
    uint64_t gap_begin, gap_end;
    uint64_t marks; /* how many were written */
    uint64_t marks_gap_begin, marks_gap_end;
};

struct wire_news {
    uint32_t type;
    uint32_t pad;
    struct wire_log_state log;
};

/* To one that came later. The descriptors of the log come along, and of the marks with SPLIT. */
struct wire_hello {
    uint32_t type;
    uint32_t version;
    int32_t pid;
    uint32_t log_in_store;
    int64_t started_ns; /* monotonic */
    struct wire_log_state log;
};

/* The log has moved to the store; its descriptor comes along, and that of the marks with SPLIT. A
 * new one that takes the place of a deleted one is told of in the same way. */
struct wire_log {
    uint32_t type;
    uint32_t pad;
};

struct wire_room {
    uint32_t type;
    int32_t errnum;    /* 0, EPIPE */
    uint32_t accepted; /* bytes of the INPUT that were taken */
    uint32_t pad;
};

/* Facts that become warnings in the result. */
#define WIRE_NOTE_LOG_IN_MEMORY 0x1u  /* the store could not be written; log_errno says why */
#define WIRE_NOTE_LOG_DISK_FULL 0x2u  /* the log lost more than its limit asks for; log_errno */
#define WIRE_NOTE_CLEANUP 0x4u        /* the private directory could not be removed */
#define WIRE_NOTE_LEFT_ALIVE 0x8u     /* the tree could not be ended */
#define WIRE_NOTE_RECORD 0x10u        /* exit.json could not be written */
#define WIRE_NOTE_LOG_DELETED 0x40u   /* somebody deleted the log; it was written anew */
#define WIRE_NOTE_LOG_TRUNCATED 0x80u /* somebody truncated the log; what was cut off is lost */
#define WIRE_NOTE_HOOK 0x100u         /* the command for the end could not be started */
/* One that does not: */
#define WIRE_NOTE_LEAF_KILLED 0x20u /* cgroup.kill was used, see cgroup_leaf_kill() */

struct wire_left {
    int32_t pid;
    char command[WIRE_LEFT_COMMAND_MAX];
};

struct wire_exit {
    uint32_t type;
    int32_t reason; /* enum rein_reason */
    int32_t wait_status;
    uint32_t has_status; /* 0: lost before the main process was reaped */
    int64_t duration_ns;
    int64_t user_us, system_us;
    uint64_t max_rss_bytes;
    struct wire_log_state log;
    uint32_t notes;
    int32_t log_errno;
    uint32_t n_left;       /* descendants alive when the main process ended, all of them */
    uint32_t n_left_named; /* that many struct wire_left follow */
};

/* ---- stream marks ------------------------------------------------------------------------- */

/* A mark is 8 bytes: offset << 1 | stream (0 stdout, 1 stderr). From that offset of the log on, up
 * to the next mark's, bytes belong to that stream. Offsets never fall. Marks count as log bytes. */
#define WIRE_MARK_SIZE 8u
#define WIRE_MARK(offset, stream) ((uint64_t)(offset) << 1 | (stream))
#define WIRE_MARK_OFFSET(mark) ((mark) >> 1)
#define WIRE_MARK_STREAM(mark) ((unsigned)((mark)&1))

#endif
