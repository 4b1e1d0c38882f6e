/* The last steps of a job, in this order: the rest of its output, its private directory, its
 * record, the command that was to be told, its report, its leaf. Run by the supervisor, or by the
 * guard when the supervisor was killed. */
#include "base/cgroup-leaf.h"
#include "job/record.h"
#include "rein.h"
#include "supervisor.h"

void finish_describe(const struct supervisor *s, struct wire_exit *ret)
{
    *ret = (struct wire_exit){
        .type = WIRE_EXIT,
        .reason = s->reason,
        .wait_status = s->wait_status,
        .has_status = (uint32_t)s->main_ended,
        .duration_ns = s->ended_ns - s->started_ns,
        .user_us = s->user_us,
        .system_us = s->system_us,
        .max_rss_bytes = s->max_rss_bytes,
        .log = s->log.state,
        .notes = s->notes,
        .log_errno = s->log.errnum,
        .n_left = s->n_left,
        .n_left_named = s->n_left_named,
    };
}

/* Once, also when the guard takes the last steps again that the supervisor was killed in. What else
 * stands there under this name is not ours. */
static void write_record(struct supervisor *s)
{
    struct wire_exit end;

    if (s->store.dir_fd < 0 || s->recorded)
        return;
    finish_describe(s, &end);
    if (record_write(s->store.dir_fd, &end, s->left, s->main_pid) < 0)
        s->notes |= WIRE_NOTE_RECORD;
    else
        s->recorded = 1;
}

/* Nobody is left who could read the memory: what was written stands in the store instead. */
static void save_output_of_orphan(struct supervisor *s)
{
    if (!is_background(s) && starter(s)->fd < 0 && s->log.state.total > 0 && !s->log.in_store &&
        !s->log.stuck)
        log_move_to_store(s);
}

/* Others cannot know of a job that never became visible: it did not start. */
static void save(struct supervisor *s)
{
    if (is_background(s) && !s->store.published) {
        store_cancel(s);
        return;
    }
    save_output_of_orphan(s);
    if (s->store.dir_fd >= 0)
        log_save(s);
    write_record(s);
    store_close_control(s);
    if (hook_run(s) < 0)
        s->notes |= WIRE_NOTE_HOOK;
}

void finish_leaf(struct supervisor *s)
{
    int fd = s->plan.fds[WIRE_FD_CGROUP];

    if (fd >= 0 && (is_background(s) || starter(s)->fd < 0))
        (void)cgroup_leaf_remove(fd, s->plan.head->leaf_name,
                                 s->tree_empty ? CGROUP_LEAF_WAIT_MS : 0);
}

void finish_job(struct supervisor *s)
{
    output_drain_rest(s);
    if (s->plan.cleanup_dir[0] && remove_dir(s->plan.cleanup_dir) < 0)
        s->notes |= WIRE_NOTE_CLEANUP;
    save(s);
    report_exit(s);
    finish_leaf(s);
}
