/* The last steps of a job, in this order: the rest of its output, its private directory, its
 * record, its report, its leaf. Run by the supervisor, or by the guard when the supervisor was
 * killed. */
#include "base/cgroup-leaf.h"
#include "job/record.h"
#include "rein.h"
#include "supervisor.h"

static void write_record(struct supervisor *s)
{
    struct record record = {
        .reason = s->reason,
        .has_status = s->main_ended,
        .wait_status = s->wait_status,
        .pid = s->main_pid,
        .duration_ns = s->ended_ns - s->started_ns,
        .user_us = s->user_us,
        .system_us = s->system_us,
        .max_rss_bytes = s->max_rss_bytes,
        .output_bytes = s->log.state.total,
        .gap_begin = s->log.state.gap_begin,
        .gap_end = s->log.state.gap_end,
    };

    if (s->log.dir_fd >= 0 && record_write(s->log.dir_fd, &record) < 0)
        s->notes |= WIRE_NOTE_RECORD;
}

/* Nobody is left who could read the memory: what was written stands in the store instead. */
static void save_output_of_orphan(struct supervisor *s)
{
    if (s->socket_fd < 0 && s->log.state.total > 0 && s->log.dir_fd < 0 && !s->log.stuck)
        log_move_to_store(s);
}

void finish_leaf(struct supervisor *s)
{
    int fd = s->plan.fds[WIRE_FD_CGROUP];

    if (fd >= 0 && s->socket_fd < 0)
        (void)cgroup_leaf_remove(fd, s->plan.head->leaf_name,
                                 s->tree_empty ? CGROUP_LEAF_WAIT_MS : 0);
}

void finish_job(struct supervisor *s)
{
    output_drain_rest(s);
    save_output_of_orphan(s);
    if (s->plan.cleanup_dir[0] && remove_dir(s->plan.cleanup_dir) < 0)
        s->notes |= WIRE_NOTE_CLEANUP;
    write_record(s);
    report_exit(s);
    finish_leaf(s);
}
