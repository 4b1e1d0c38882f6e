/*
 * The program's beginning, and the guard.
 *
 * Two processes: the one that was executed becomes the guard and clones the supervisor as its
 * child, sharing memory and descriptors. The guard is a subreaper and sleeps until its child is
 * gone. When the supervisor finished its work, the guard just ends. When it was killed, everything
 * that it looked after comes up to the guard, which kills it, and then finishes the job in the
 * supervisor's place, as lost: it has the same memory, the same pipes and the same socket.
 *
 * While the supervisor lives the guard is inside waitpid with all signals blocked: it touches no
 * memory, not even errno.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "base/time-util.h"
#include "rein.h"
#include "supervisor.h"

#ifndef SUPERVISOR_STACK_SIZE
#define SUPERVISOR_STACK_SIZE (128u << 10)
#endif

struct supervisor supervisor;

#define STATUS_SIZE 4096 /* of /proc/self/status, which has less before the line that counts */

static _Alignas(16) char supervisor_stack[SUPERVISOR_STACK_SIZE];

/* The signals that are ignored, bit n for signal n + 1, as /proc says it; all where it does not:
 * to set one costs a call, to set all of them more than the rest of the start. */
static uint64_t ignored_signals(void)
{
    static const char key[] = "\nSigIgn:";
    char text[STATUS_SIZE];
    auto_close int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : io_read(fd, text, sizeof(text) - 1);
    const char *line;

    text[n > 0 ? n : 0] = '\0';
    line = strstr(text, key);
    return line && strchr(line + 1, '\n') ? strtoull(line + sizeof(key) - 1, NULL, 16) : UINT64_MAX;
}

/* Ignored signals and a mask are inherited through exec; the owner's are not ours, nor the job's.
 */
static void reset_signals(void)
{
    uint64_t ignored;

    sys_set_signal_mask(UINT64_MAX);
    ignored = ignored_signals();
    for (int signo = 1; signo <= SYS_SIGNALS; signo++)
        if (ignored & UINT64_C(1) << (signo - 1))
            sys_reset_signal(signo);
}

/* At run time: the struct is large and nearly all zero, and would else be part of the program. */
static void init(struct supervisor *s)
{
    s->clients[0] = (struct client){.fd = WIRE_SOCKET_FD, .armed = 1};
    s->n_clients = 1;
    s->store = (struct store){.dir_fd = -EBADF, .lock_fd = -EBADF, .listen_fd = -EBADF};
    s->log.fd = s->log.marks_fd = -EBADF;
    s->outputs[0].fd = s->outputs[1].fd = s->input.fd = s->main_pidfd = -EBADF;
    s->deadline_ns = s->grace_end_ns = s->retry_ns = s->ports_next_ns = INT64_MAX;
}

/* Nothing was started: nothing stays. */
static void fail_start(struct supervisor *s, enum wire_step step, int err)
{
    store_cancel(s);
    if (s->plan.cleanup_dir[0])
        (void)remove_dir(s->plan.cleanup_dir);
    s->reported = 1;
    report_failed(s, step, err);
    finish_leaf(s);
}

/* A job of the background is in the store before it is started, and visible there afterwards. */
static int begin(struct supervisor *s, enum wire_step *ret_step)
{
    if (is_background(s)) {
        int r = store_begin(s, ret_step);

        if (r < 0)
            return r;
        log_move_to_store(s);
        (void)setsid(); /* the starter's terminal and its end are none of our business */
    }
    s->started_ns = time_mono_ns();
    return spawn_main(s, ret_step);
}

/* Its command has been executed, but nobody could ever find it again. */
static void end_unpublished(struct supervisor *s, int err)
{
    ending_begin(s, REIN_REASON_LOST, 0);
    loop_run(s);
    fail_start(s, WIRE_STEP_STORE, err);
}

static void start_job(struct supervisor *s)
{
    const struct wire_plan *head = s->plan.head;
    enum wire_step step;
    int r;

    log_init(&s->log, &s->plan);
    mask_prepare(s);
    r = begin(s, &step);
    if (r < 0) {
        fail_start(s, step, r);
        return;
    }
    r = is_background(s) ? store_publish(s) : 0;
    if (r < 0) {
        end_unpublished(s, r);
        return;
    }
    if (head->timeout_ns > 0)
        s->deadline_ns = time_add_ns(s->started_ns, head->timeout_ns);
    report_started(s);
    loop_run(s);
    finish_job(s);
}

static int supervise(void *arg)
{
    struct supervisor *s = arg;
    int r;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    r = plan_receive(starter(s)->fd, &s->plan);
    if (r < 0) {
        s->reported = 1;
        report_failed(s, WIRE_STEP_PLAN, r);
        return 1;
    }
    start_job(s);
    return 0;
}

/* The supervisor was killed. Its tree has come up to us, the main process by its death signal is
 * dead or dying. */
static void finish_lost_job(struct supervisor *s)
{
    s->main_ended = 0;
    s->n_left = 0;
    s->n_left_named = 0;
    s->reason = REIN_REASON_NONE;
    s->state = STATE_RUNNING;
    s->tree_empty = 0;
    ending_begin(s, REIN_REASON_LOST, 0);
    loop_run(s);
    s->main_ended = 0; /* whatever it did last was our doing */
    finish_job(s);
}

/* The supervisor was killed in its last steps: how the job ended is known, and may stand in the
 * record already. */
static void finish_ended_job(struct supervisor *s)
{
    if (s->ended_ns == 0)
        s->ended_ns = time_mono_ns();
    finish_job(s);
}

/* The owner's limit on the size of files is the job's, not the log's. Lifted as far as we may. */
static void lift_file_size_limit(struct supervisor *s)
{
    struct rlimit lifted = {RLIM_INFINITY, RLIM_INFINITY};

    if (getrlimit(RLIMIT_FSIZE, &s->owner_file_size) < 0 ||
        s->owner_file_size.rlim_cur == RLIM_INFINITY)
        return;
    if (setrlimit(RLIMIT_FSIZE, &lifted) == 0)
        return;
    lifted.rlim_cur = lifted.rlim_max = s->owner_file_size.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &lifted);
}

/* A job can stop its supervisor, which is of the same user. It is sent on at once. */
static void wait_for_supervisor(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, WUNTRACED) < 0 || WIFSTOPPED(status))
        (void)kill(pid, SIGCONT); /* our own child, not reaped yet: the pid is still its */
}

int main(void)
{
    struct supervisor *s = &supervisor;
    pid_t pid;

    init(s);
    reset_signals();
    /* Out of the way of a terminal's signals. A session of its own would do that, too, but is a new
     * group for the scheduler on many machines, which costs milliseconds on a busy one. */
    (void)setpgid(0, 0);
    /* Not dumpable: others of this user cannot read its memory or descriptors through /proc, and a
     * crash of the supervisor does not take the guard along. */
    (void)prctl(PR_SET_DUMPABLE, 0);
    lift_file_size_limit(s);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid = clone(supervise, supervisor_stack + sizeof(supervisor_stack),
                CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, s);
    if (pid < 0) {
        report_failed(s, WIRE_STEP_CLONE, -errno);
        return 1;
    }
    wait_for_supervisor(pid);
    if (s->reported || !s->plan.cleanup_dir)
        return 0;
    if (s->state == STATE_DONE)
        finish_ended_job(s);
    else
        finish_lost_job(s);
    return 0;
}
