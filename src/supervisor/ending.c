/*
 * How a job comes to its end: states × events, each cell a function. All behaviour is in the table;
 * the functions only act.
 *
 *   RUNNING ──main ended──▶ LINGERING (--after wait) ─┐
 *      │  └───────────────▶ DONE (tree empty, or --after keep)
 *      └─ending_begin()──▶ TERMINATING ──grace over──▶ KILLING ──tree empty──▶ DONE
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/cgroup-leaf.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "rein.h"
#include "supervisor.h"
#include "tree.h"

#define RETRY_FIRST_NS (2 * NSEC_PER_MSEC)
#define RETRY_MAX_NS (100 * NSEC_PER_MSEC)
#define PATIENCE_NS (10 * NSEC_PER_SEC) /* with processes that SIGKILL does not end */
#define KILL_PASSES_MAX 100             /* before other events are looked at */

static int64_t retry_step_ns;

static uint32_t fallbacks(const struct supervisor *s)
{
    return s->plan.head->test_fallbacks;
}

static void become_done(struct supervisor *s)
{
    s->state = STATE_DONE;
}

/* A storm of forks is won by being faster: no waiting between two passes as long as somebody dies,
 * and none of the dead in the way, whose number would hide the living. */
static void kill_walk(struct supervisor *s)
{
    for (int pass = 0; pass < KILL_PASSES_MAX && !s->tree_empty; pass++) {
        if (tree_signal(SIGKILL, 0, fallbacks(s)) == 0 || reap_children(s) == 0)
            return;
        s->give_up_ns = time_mono_ns() + PATIENCE_NS;
    }
}

static void kill_tree(struct supervisor *s)
{
    if (s->plan.fds[WIRE_FD_CGROUP] >= 0) {
        cgroup_leaf_kill(s->plan.fds[WIRE_FD_CGROUP]);
        s->notes |= WIRE_NOTE_LEAF_KILLED;
    }
    kill_walk(s);
    s->retry_ns = time_mono_ns() + retry_step_ns;
    retry_step_ns = MIN(retry_step_ns * 2, RETRY_MAX_NS);
}

static void start_killing(struct supervisor *s)
{
    s->state = STATE_KILLING;
    s->grace_end_ns = INT64_MAX;
    s->give_up_ns = time_mono_ns() + PATIENCE_NS;
    retry_step_ns = RETRY_FIRST_NS;
    kill_tree(s);
}

static void name_left(struct supervisor *s)
{
    size_t named;

    s->n_left = (uint32_t)tree_list(s->left, WIRE_LEFT_MAX, &named, fallbacks(s));
    s->n_left_named = (uint32_t)named;
    for (size_t i = 0; i < named && s->plan.head->secretc > 0; i++)
        mask_command(s->left[i].command, sizeof(s->left[i].command));
}

/* Time has shown that somebody does not die: uninterruptible sleep, or not ours to signal. */
static void retry_killing(struct supervisor *s)
{
    if (time_mono_ns() < s->give_up_ns) {
        kill_tree(s);
        return;
    }
    name_left(s);
    if (s->n_left > 0)
        s->notes |= WIRE_NOTE_LEFT_ALIVE;
    become_done(s);
}

static void start_terminating(struct supervisor *s, int64_t grace_ns)
{
    s->state = STATE_TERMINATING;
    s->grace_end_ns = time_add_ns(time_mono_ns(), grace_ns);
    (void)tree_signal(SIGTERM, 1, fallbacks(s));
}

static void end_tree(struct supervisor *s, int64_t grace_ns)
{
    if (grace_ns > 0)
        start_terminating(s, grace_ns);
    else
        start_killing(s);
}

/* The reason when the main process ended by itself. */
static int natural_reason(const struct supervisor *s)
{
    const struct wire_plan *head = s->plan.head;

    if (!WIFSIGNALED(s->wait_status))
        return REIN_REASON_EXIT;
    for (uint32_t i = 0; i < head->n_rlimits; i++) {
        if (head->rlimits[i].resource == RLIMIT_CPU && WTERMSIG(s->wait_status) == SIGXCPU)
            return REIN_REASON_CPU_LIMIT;
        if (head->rlimits[i].resource == RLIMIT_FSIZE && WTERMSIG(s->wait_status) == SIGXFSZ)
            return REIN_REASON_FILE_SIZE_LIMIT;
    }
    return REIN_REASON_SIGNAL;
}

static void main_ended(struct supervisor *s)
{
    if (s->plan.head->after == WIRE_AFTER_WAIT) {
        s->state = STATE_LINGERING;
        return;
    }
    s->reason = natural_reason(s);
    if (s->tree_empty)
        return; /* the next event says so */
    name_left(s);
    if (s->plan.head->after == WIRE_AFTER_KEEP)
        become_done(s);
    else
        end_tree(s, s->plan.head->grace_ns);
}

static void lingering_ended(struct supervisor *s)
{
    s->reason = natural_reason(s);
    become_done(s);
}

static void (*const actions[STATE_MAX][EVENT_MAX])(struct supervisor *s) = {
    [STATE_RUNNING] = {[EVENT_MAIN_ENDED] = main_ended, [EVENT_TREE_EMPTY] = become_done},
    [STATE_LINGERING] = {[EVENT_TREE_EMPTY] = lingering_ended},
    [STATE_TERMINATING] = {[EVENT_TREE_EMPTY] = become_done, [EVENT_GRACE_OVER] = start_killing},
    [STATE_KILLING] = {[EVENT_TREE_EMPTY] = become_done, [EVENT_RETRY] = retry_killing},
};

void ending_dispatch(struct supervisor *s, enum event event)
{
    if (actions[s->state][event])
        actions[s->state][event](s);
}

void ending_begin(struct supervisor *s, int reason, int64_t grace_ns)
{
    switch ((enum state)s->state) {
    case STATE_RUNNING:
    case STATE_LINGERING:
        s->reason = reason;
        s->deadline_ns = INT64_MAX;
        end_tree(s, grace_ns);
        break;
    case STATE_TERMINATING: /* under way: only a shorter grace changes anything */
        s->grace_end_ns = MIN(s->grace_end_ns, time_add_ns(time_mono_ns(), grace_ns));
        break;
    case STATE_KILLING:
    case STATE_DONE:
    case STATE_MAX:
        break;
    }
}

int64_t ending_next_ns(const struct supervisor *s)
{
    switch ((enum state)s->state) {
    case STATE_RUNNING:
    case STATE_LINGERING:
        return s->deadline_ns;
    case STATE_TERMINATING:
        return s->grace_end_ns;
    case STATE_KILLING:
        return s->retry_ns;
    case STATE_DONE:
    case STATE_MAX:
        break;
    }
    return INT64_MAX;
}

void ending_tick(struct supervisor *s, int64_t now_ns)
{
    if (now_ns < ending_next_ns(s))
        return;
    if (s->state == STATE_TERMINATING)
        ending_dispatch(s, EVENT_GRACE_OVER);
    else if (s->state == STATE_KILLING)
        ending_dispatch(s, EVENT_RETRY);
    else
        ending_begin(s, REIN_REASON_TIMEOUT, s->plan.head->grace_ns);
}
