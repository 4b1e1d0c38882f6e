/*
 * rein.h - run a command or a piece of code and keep hold of it to the end.
 *
 * Pull style: no threads, no callbacks but those that a tool call is given, no signal handlers,
 * nothing printed. The library changes
 * nothing in its host: no signal disposition, no mask, no subreaper flag, no wait for children that
 * are not its own. Each job costs one child process (its supervisor), reaped by pidfd: a host that
 * handles SIGCHLD sees the signal, and a host that reaps with waitpid(-1) may see one pid it does
 * not know; both are harmless to rein.
 *
 * Threads: a `rein` context and its jobs belong to one thread at a time; different contexts may be
 * used by different threads at once. After fork() only the parent may go on using a context.
 *
 * Errors: int and ssize_t functions return 0 or more on success and a negative errno on failure.
 * Functions with a `reterr` parameter also fill *reterr (which may be NULL to do without); it is
 * written on failure only and belongs to the caller, who frees it with rein_error_free().
 * How a job ended is never an error: it is a field of struct rein_result.
 *
 * Structs that a caller fills begin with `size`; zero the struct, set size = sizeof(struct …), then
 * what is wanted. Zero in every other field is the documented default.
 */
#ifndef REIN_H
#define REIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REIN_VERSION_MAJOR 0
#define REIN_VERSION_MINOR 1
#define REIN_VERSION_PATCH 0

/* The version of the library at run time, "MAJOR.MINOR.PATCH". Static storage. */
const char *rein_version(void);

typedef struct rein rein;         /* a context: settings, the store, the supervisor's image */
typedef struct rein_job rein_job; /* one execution, running or ended */

/* ---- errors ------------------------------------------------------------------------------- */

/* Why a request could not be carried out. Read only; all strings are UTF-8 and belong to it. */
struct rein_error {
    const char *code;    /* machine readable: "bad_request", "command_not_found", "bad_cwd", … */
    const char *step;    /* the step that failed: "exec", "chdir", "spawn", …; never NULL */
    const char *message; /* one line for people, without a trailing full stop; never NULL */
    const char *hint;    /* how to mend it, or NULL */
    int errnum;          /* positive errno, or 0 */
};

/* Frees an error. NULL is fine. Always returns NULL. */
struct rein_error *rein_error_free(struct rein_error *error);

/* ---- context ------------------------------------------------------------------------------ */

struct rein_options {
    size_t size;
    /* Directory of the store. NULL: $REIN_STATE, else $XDG_STATE_HOME/rein, else
     * ~/.local/state/rein. It is made (mode 0700) only when something has to be written there. */
    const char *state_dir;
};

/* Makes a context. options may be NULL. Does not start a process. NULL on failure. */
rein *rein_open(const struct rein_options *options, struct rein_error **reterr);

/* Frees a context; its jobs must have been freed before. NULL is fine. Always returns NULL. */
rein *rein_free(rein *r);

/* ---- what to run -------------------------------------------------------------------------- */

enum rein_env_profile {
    REIN_ENV_AGENT = 0, /* the caller's, plus what keeps programs from prompting, paging, colouring
                           and buffering, where the caller has not set it */
    REIN_ENV_INHERIT,   /* the caller's, unchanged */
    REIN_ENV_CLEAN      /* a short allow-list of the caller's without what looks like a secret, plus
                           what `agent` adds */
};

enum rein_stdin_kind {
    REIN_STDIN_NULL = 0, /* /dev/null */
    REIN_STDIN_INHERIT,  /* the caller's descriptor 0 */
    REIN_STDIN_FD,       /* spec->stdin_fd, borrowed for the call */
    REIN_STDIN_FILE,     /* spec->stdin_path, opened for reading */
    REIN_STDIN_PIPE      /* fed by rein_send(), closed by rein_send_eof() */
};

/* What happens to descendants that are alive when the main process has ended. */
enum rein_after {
    REIN_AFTER_KILL = 0, /* they are named in the result and killed */
    REIN_AFTER_WAIT,     /* the job goes on until they have ended, too */
    REIN_AFTER_KEEP      /* they are named in the result and left alone */
};

/* What happens when the output passes spec->output_limit. */
enum rein_output_limit_action {
    REIN_OUTPUT_DROP = 0, /* the middle is dropped, the job goes on */
    REIN_OUTPUT_KILL      /* the job ends with reason output_limit */
};

#define REIN_SPEC_SPLIT 0x1u /* keep stdout and stderr apart */
#define REIN_SPEC_SHELL 0x2u /* argv has exactly one string: a script for `bash -c` */
/* The job's output waits for the reader: reading of its pipes pauses while more than half of
 * output_limit has not been fetched by rein_read(). For callers that pass everything on. */
#define REIN_SPEC_PACED 0x4u
/* A job of the background: it stands in the store from its start on, its output goes to the disk,
 * and every process of the same user can take hold of it with rein_attach(). */
#define REIN_SPEC_BACKGROUND 0x8u
/* With REIN_SPEC_BACKGROUND: the job outlives its owner, and rein_job_free() leaves it alone. */
#define REIN_SPEC_DETACHED 0x10u

#define REIN_GRACE_NONE (-1) /* for grace_ns: SIGKILL at once, also for a stop */

struct rein_spec {
    size_t size;
    uint32_t flags;              /* REIN_SPEC_* */
    const char *const *argv;     /* NULL-terminated; argv[0] is looked up in the job's PATH */
    const char *cwd;             /* NULL: the caller's */
    const char *name;            /* a label for people, or NULL */
    int env_profile;             /* enum rein_env_profile */
    const char *const *env;      /* NULL-terminated "NAME=VALUE", or "NAME" to pass the caller's
                                    variable on; wins over the profile; may be NULL */
    int stdin_kind;              /* enum rein_stdin_kind */
    int stdin_fd;                /* counts only with REIN_STDIN_FD */
    const char *stdin_path;      /* counts only with REIN_STDIN_FILE */
    int after;                   /* enum rein_after */
    int64_t timeout_ns;          /* hard deadline for the whole tree; 0: none */
    int64_t grace_ns;            /* between SIGTERM and SIGKILL. 0: the default (none for the
                                    deadline, limits and leftovers; 5 s for a stop) */
    uint64_t output_limit;       /* bytes of output kept; 0: 64 MiB. At least 4096 */
    int on_output_limit;         /* enum rein_output_limit_action */
    const int *pass_fds;         /* descriptors the job inherits at the same numbers (3…1023) */
    size_t n_pass_fds;           /* at most 64 */
    uint64_t memory_limit;       /* bytes of address space per process; 0: none */
    int64_t cpu_time_ns;         /* processor time per process, whole seconds; 0: none */
    uint64_t procs_limit;        /* processes and threads; 0: none */
    uint64_t file_size_limit;    /* bytes of the largest file the job may write; 0: none */
    const char *const *env_keep; /* NULL-terminated names of the caller's variables that are passed
                                   on whatever the profile, also those that look like secrets; `env`
                                   wins. May be NULL */
    const char *const *secrets;  /* NULL-terminated names of variables, at most 64. The value of
                                    each, in the job's environment or else in the caller's, becomes
                                    stars wherever the job writes it, and in its command line as
                                    results and lists show it: as many as it has bytes, before
                                    anybody can read them. Bytes that may be the beginning of such a
                                    value wait for what comes next, or for the end. A value that is
                                    not there, or has not 4 to 4096 bytes, is a warning in the
                                    result. May be NULL */

    /* The rest counts for jobs of the background only. */
    pid_t owner_pid;           /* the process whose end ends the job; 0: the caller. Not with
                                  REIN_SPEC_DETACHED */
    const char *session;       /* name of the session, 1 to 64 bytes without '/', or NULL */
    const char *const *notify; /* NULL-terminated argv of a command that is run once, when the job
                                  has ended and its record is written, with the job's environment
                                  and working directory and with REIN_PROCESS_ID and REIN_STATE;
                                  notify[0] is a path. Or NULL */
};

/* Starts a job and waits until its command was really executed (a few milliseconds at most unless
 * the file system is slow), or fails: "bad_request", "bad_cwd", "command_not_found",
 * "not_executable", "spawn_failed", "limit_exceeded", "internal". Nothing is left behind on
 * failure. Unless it is detached, the job belongs to this process, or to spec->owner_pid: it ends
 * with it, by SIGKILL too. *ret is owned by the caller. */
int rein_start(rein *r, const struct rein_spec *spec, rein_job **ret, struct rein_error **reterr);

/* A piece of code for rein_start_code(). */
struct rein_code {
    size_t size;
    const char *language;    /* name or alias: "python", "bash", "node", … */
    const char *text;        /* the code; may hold NUL bytes only if the language takes them */
    size_t text_size;        /* bytes of text */
    const char *file;        /* instead of text: a file the interpreter runs as it is */
    const char *const *args; /* NULL-terminated arguments of the script; may be NULL */
    const char *prelude;     /* Python: what runs before the code, in its namespace and outside of
                                its file. NULL: nothing; "": the built-in prelude, which the other
                                languages do without; else a file's path, at most 1 MiB */
};

/* Starts an interpreter on code. spec->argv must be NULL; all else counts as in rein_start().
 * Code given as text is written to a private file (mode 0600, directory 0700) that is gone when the
 * job has ended, also after SIGKILL of the caller. Errors as rein_start(). */
int rein_start_code(rein *r,
                    const struct rein_code *code,
                    const struct rein_spec *spec,
                    rein_job **ret,
                    struct rein_error **reterr);

/* ---- a running job ------------------------------------------------------------------------ */

/* The handle, 8 lowercase hexadecimal digits; lives as long as the job. */
const char *rein_job_id(const rein_job *job);

/* The pid of the main process, for display: it may already have been reused. */
pid_t rein_job_pid(const rein_job *job);

/* A descriptor to poll for POLLIN: readable means that rein_read() or rein_wait() has news. It
 * belongs to the job; never read from it, never close it. */
int rein_job_fd(const rein_job *job);

enum rein_stream {
    REIN_STREAM_OUTPUT = 0, /* both streams, merged */
    REIN_STREAM_STDOUT,
    REIN_STREAM_STDERR
};

/* Where a piece of output came from. */
struct rein_piece {
    int stream;             /* enum rein_stream */
    uint64_t cursor;        /* offset in the job's output just after the piece */
    uint64_t skipped_bytes; /* bytes lost before the piece, because the output passed its limit */
};

/* Gives the next bytes of the job's output, in the order written, waiting at most timeout_ms
 * milliseconds for some (-1: without limit, 0: not at all). Returns how many bytes were put into
 * buf, 0 when the output has ended, -EAGAIN when there is none yet. ret_piece may be NULL. */
ssize_t
rein_read(rein_job *job, void *buf, size_t size, int timeout_ms, struct rein_piece *ret_piece);

/* The same at an offset of the caller's, without moving the position of rein_read(); never waits.
 * Bytes dropped by the output limit are skipped: ret_piece->skipped_bytes tells how many, and
 * ret_piece->cursor is where to go on. 0: nothing at or after the offset (yet). Works on an ended
 * job as long as the handle is not freed. */
ssize_t
rein_read_at(rein_job *job, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece);

/* Sends bytes to the job's standard input (REIN_STDIN_PIPE). Returns how many were taken, which may
 * be fewer than asked for; -EAGAIN when the job does not read, -EPIPE after it closed its input or
 * after rein_send_eof(), -EINVAL for a job without such a pipe, -ESRCH after its end. */
ssize_t rein_send(rein_job *job, const void *data, size_t size);

/* Ends the job's standard input once all that was sent has been read. Errors as rein_send(). */
int rein_send_eof(rein_job *job);

/* Asks for the end of the whole tree: SIGTERM, then SIGKILL after grace_ms milliseconds (-1: the
 * job's own grace, else 5000). Returns at once; rein_wait() tells when the tree is empty. Calling
 * it again with a shorter grace shortens what is left. 0 also when the job has ended. */
int rein_stop(rein_job *job, int grace_ms);

/* ---- how it ended ------------------------------------------------------------------------- */

enum rein_reason {
    REIN_REASON_NONE = 0, /* still running */
    REIN_REASON_EXIT,
    REIN_REASON_SIGNAL,
    REIN_REASON_TIMEOUT,
    REIN_REASON_STOPPED,
    REIN_REASON_OWNER_GONE,
    REIN_REASON_MEMORY_LIMIT,
    REIN_REASON_CPU_LIMIT,
    REIN_REASON_FILE_SIZE_LIMIT,
    REIN_REASON_OUTPUT_LIMIT,
    REIN_REASON_LOST /* the supervisor was killed; the tree is gone, the exit code unknown */
};

/* "exit", "signal", "timeout", …; "running" for REIN_REASON_NONE. Static storage. */
const char *rein_reason_name(int reason);

struct rein_left_running {
    pid_t pid;
    char *command; /* for people: arguments joined by spaces, cut when long */
};

struct rein_result {
    size_t size;           /* in: sizeof(struct rein_result) */
    int running;           /* 1 while the job runs; then only the fields that make sense are set */
    int reason;            /* enum rein_reason */
    int success;           /* running, or reason exit with exit_code 0 */
    int has_exit_code;     /* 0 while running or lost */
    int exit_code;         /* 0…255, or -N when signal N ended the main process */
    int signal;            /* N, or 0 */
    int64_t started_at_ns; /* wall clock, nanoseconds since 1970 */
    int64_t duration_ns;   /* monotonic, from the start to the job's end, or until now */
    uint64_t output_bytes; /* all that the job wrote */
    int split;             /* the streams were kept apart */
    uint64_t gap_begin;    /* bytes [gap_begin, gap_end) were dropped by the output limit */
    uint64_t gap_end;
    int64_t user_us, system_us; /* processor time of the tree, microseconds */
    uint64_t max_rss_bytes;     /* largest resident set of one process of the tree */
    char *process_id;
    pid_t pid;
    char **command; /* NULL-terminated: the executed argv */
    char *cwd;
    char *name;     /* or NULL */
    char *session;  /* or NULL */
    char *log_file; /* or NULL: the output fitted in memory */
    struct rein_left_running *left_running;
    size_t n_left_running;
    char **warnings; /* NULL-terminated, never NULL */
    char **missing;  /* NULL-terminated, never NULL: limits that hold only in a weaker form */
};

/* Waits at most timeout_ms milliseconds (-1: without limit, 0: not at all) for the job's end: the
 * main process has ended, its output is complete and no process of its tree is alive. Fills ret,
 * whose contents are the caller's (rein_result_done()). 0: ended; -EAGAIN: still running, and ret
 * describes it as it is. Output need not have been read. May be called again. */
int rein_wait(rein_job *job, int timeout_ms, struct rein_result *ret);

/* Frees what a result holds and zeroes it. A zeroed one is fine. */
void rein_result_done(struct rein_result *result);

/* Moves the output of an ended job that is only in memory to the store, so that it can be read
 * after the handle is freed; a later rein_wait() names it in log_file. Nothing to do when it is
 * there already. */
int rein_job_keep_output(rein_job *job, struct rein_error **reterr);

/* Frees a job. One that still runs and was started by this handle is ended with SIGKILL, tree and
 * all, and waited for, unless it is detached or has another owner. What rein_attach() gave is let
 * go: the job goes on. NULL is fine. Always returns NULL. */
rein_job *rein_job_free(rein_job *job);

/* ---- jobs of the background, from any process of the same user ----------------------------- */

/* Takes hold of a job in the store, running or ended, whoever started it. "no_such_job" for an id
 * that is not there or is none at all; "internal" when the store cannot be read, is of another user
 * or of a newer version. The handle has its own position for rein_read(), which begins at 0; all
 * functions above work on it, but rein_send() only if the job has a pipe for input. Waits a few
 * milliseconds at most, unless the job's supervisor hangs. *ret is owned by the caller. */
int rein_attach(rein *r, const char *process_id, rein_job **ret, struct rein_error **reterr);

/* Sends a signal to the main process, 1…64. Returns at once; -EINVAL for another number, -ESRCH
 * after the end. */
int rein_job_signal(rein_job *job, int signo);

/* Moves the position of rein_read(), to an absolute offset in the output; beyond its end the next
 * read waits for what comes there. */
void rein_seek(rein_job *job, uint64_t offset);

/* Waits until a process of the job's tree listens on a TCP port (1…65535) of its network namespace,
 * at most timeout_ms milliseconds (-1: without limit). 0 when it does, -EAGAIN after that time,
 * -ESRCH when the job has ended before, -EINVAL for another number. The supervisor watches; the
 * caller sleeps. */
int rein_wait_port(rein_job *job, int port, int timeout_ms);

/* The same for a caller that polls: asks for it, and then rein_job_fd() tells of news. After
 * rein_wait(job, 0, …) rein_port_is_open() is 1 when the port that was asked for last was seen
 * open. 0 or a negative errno. */
int rein_port_ask(rein_job *job, int port);
int rein_port_is_open(const rein_job *job);

/* The jobs in the store, the oldest first, as they are at this moment. */
typedef struct rein_list rein_list;

/* Reads the list. Running jobs have the processor time and, as max_rss_bytes, the memory that their
 * tree uses now. A job that cannot be read is left out. 0, or a negative errno: -ENOMEM, -EPERM
 * for a store of somebody else, what the file system gave. A store that does not exist is empty.
 * *ret is owned by the caller. */
int rein_jobs(rein *r, rein_list **ret);
size_t rein_list_count(const rein_list *list);
/* Number i of the list, which it belongs to; NULL beyond its end. */
const struct rein_result *rein_list_get(const rein_list *list, size_t i);
/* Frees a list. NULL is fine. Always returns NULL. */
rein_list *rein_list_free(rein_list *list);

/* Forgets an ended job: its output and its record. "no_such_job"; "bad_request" when it runs. */
int rein_forget(rein *r, const char *process_id, struct rein_error **reterr);

/* Forgets finished jobs that are too old (24 hours), too many (200) or too large together (1 GiB),
 * and what a crash left behind; never a running one. Every start does the same from time to time.
 * *ret_removed, which may be NULL, gets the number of jobs. 0 or a negative errno. */
int rein_gc(rein *r, size_t *ret_removed);

/* ---- the tools for models ------------------------------------------------------------------ */

/* JSON in, JSON out: the calls that `rein tool` and every other surface have. */

#define REIN_TOOL_DETACHED 0x1u /* jobs of the background outlive this process */
#define REIN_TOOL_STOP_FD 0x2u  /* stop_fd is a descriptor */

/* Who calls. All of it is borrowed for the call, and optional. */
struct rein_tool_options {
    size_t size;
    unsigned flags;              /* REIN_TOOL_* */
    const char *session;         /* only its jobs are seen, and new ones belong to it; or NULL */
    int stop_fd;                 /* with REIN_TOOL_STOP_FD: readable: the caller has had enough. A
                                    job in the foreground is stopped, a wait is broken off */
    const char *prelude;         /* of code_run: NULL: the built-in one; "none"; or a file */
    int64_t code_timeout_max_ns; /* ceiling for the timeout of code_run; 0: 600 s */

    /* What a job in the foreground does while it runs; size 0 is the end of a stream. They run in
     * the caller's thread, within the call. A negative result ends the job. */
    int (*started)(void *userdata, const rein_job *job);
    int (*output)(void *userdata, const void *data, size_t size, const struct rein_piece *piece);

    /* Asked before something risky is started. request_json: {"tool", "command": [...], "cwd",
     * "env": {...}, "sandbox", "risk", "reasons": [...]}, with "script" (a text for bash) or
     * "language" and "code" in place of "command". Secrets are hidden in it, long texts cut. 0: no;
     * 1: yes, once; 2: yes, and always for exactly this, in the session or else in all; -ETIMEDOUT:
     * no answer came, which is a no; another negative number: there is nobody to ask. NULL is the
     * same as nobody. */
    int (*approve)(void *userdata, const char *request_json);

    /* Called while the call waits, after each signal that interrupts it and every look_ms
     * milliseconds (0: after signals only). A negative result is the same as a readable stop_fd. */
    int (*look)(void *userdata);
    int look_ms;
    void *userdata; /* for all of them */

    /* Of all jobs, as in struct rein_spec. */
    int env_profile; /* enum rein_env_profile */
    const char *const *env_keep;
    const char *const *secrets;
};

/* Calls a tool with a JSON object of arguments, len bytes of UTF-8; none at all are an empty
 * object. options may be NULL. Blocks until the tool has answered. 0: *ret_answer is the result; 1:
 * it is an error object, also for a tool that does not exist or arguments that are no JSON. Both
 * are one JSON text that the caller gives to rein_text_free(). A negative errno: there is no
 * answer, *reterr says why: "bad_request" for wrong pointers, "internal" for a lack of memory. */
int rein_tool_call(rein *r,
                   const char *name,
                   const char *arguments,
                   size_t len,
                   const struct rein_tool_options *options,
                   char **ret_answer,
                   struct rein_error **reterr);

/* The tools as one JSON array, in the form of tools/list of the Model Context Protocol: name,
 * title, description, inputSchema, outputSchema, annotations. 0, or a negative errno. *ret_json is
 * given to rein_text_free(). */
int rein_tool_list(char **ret_json, struct rein_error **reterr);

/* How the output of a job is shown in its result object. */
enum rein_render {
    REIN_RENDER_CLEAN = 0, /* as a terminal would show it in the end */
    REIN_RENDER_PLAIN,     /* without escape sequences */
    REIN_RENDER_RAW        /* decoded, nothing else */
};

#define REIN_VIEW_SINCE 0x1u /* since counts */
#define REIN_VIEW_CHARS 0x2u /* limit counts characters */
#define REIN_LIMIT_NONE UINT64_MAX

struct rein_view {
    size_t size;
    unsigned flags;   /* REIN_VIEW_* */
    int render;       /* enum rein_render */
    uint64_t limit;   /* bytes of text, of both streams together; 0: 64 KiB; REIN_LIMIT_NONE */
    uint64_t lines;   /* only the last so many lines; 0: all */
    uint64_t since;   /* only from this cursor on, up to the limit; the object has the next one */
    const char *grep; /* only lines that match this regular expression (PCRE2), or NULL */
};

/* The result object of a running or ended job as every surface gives it, with its output as text.
 * Without lines, since and grep an ended job shows head and tail of everything, and what is cut is
 * kept as by rein_job_keep_output(). view may be NULL. 0 or a negative errno: "bad_request" for a
 * view or an expression that is none, "internal". *ret_json is given to rein_text_free(). */
int rein_job_json(rein_job *job,
                  const struct rein_view *view,
                  char **ret_json,
                  struct rein_error **reterr);

/* Frees a text of the three above. NULL is fine. Always returns NULL. */
char *rein_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
