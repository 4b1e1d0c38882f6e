/*
 * job.json and exit.json from arbitrary bytes: no crash, nothing but the errors that are promised,
 * and what is accepted has the properties that readers of a job count on. A refused end
 * changes nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "base/syscall-linux.h"
#include "job/job.h"
#include "job/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static rein *context(void)
{
    static rein *r;

    if (!r)
        r = rein_open(NULL, NULL);
    require(r != NULL);
    return r;
}

static rein_job *new_job(void)
{
    rein_job *job = NULL;

    require(job_new(context(), &job) == 0);
    memcpy(job->id, "01234567", sizeof(job->id));
    job->attached = job->let_go = 1;
    require(job_set_store_dir(job) == 0);
    return job;
}

/* Whatever was taken can be told. */
static void check_told(const rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};

    require(job_describe(job, &result) == 0);
    require(result.command[0] != NULL && result.warnings && result.missing);
    require(result.running == !job->ended);
    require(result.gap_begin <= result.gap_end && result.gap_end <= result.output_bytes);
    require(!result.has_exit_code || (result.exit_code >= -SYS_SIGNALS && result.exit_code <= 255));
    require((result.signal > 0) == (result.exit_code < 0));
    require(result.n_left_running <= WIRE_LEFT_MAX);
    rein_result_done(&result);
}

static void check_error(int r)
{
    require(r == 0 || r == -EBADMSG || r == -EPROTO);
}

static void check_job(const char *text, size_t size)
{
    rein_job *job = new_job();
    int r = store_parse_job(job, text, size);

    check_error(r);
    if (r == 0) {
        require(job->pid >= 0 && job->supervisor_pid >= 0 && job->grace_ns >= REIN_GRACE_NONE);
        require(job->started_ns >= 0 && job->started_at_ns >= 0);
        require(job->argv && job->argv[0] && job->cwd);
        check_told(job);
    }
    (void)rein_job_free(job);
}

/* ---- ends --------------------------------------------------------------------------------- */

static void check_end_fields(const struct wire_exit *e)
{
    require(e->type == WIRE_EXIT);
    require(e->reason > REIN_REASON_NONE && e->reason <= REIN_REASON_LOST);
    require(e->log.marks_gap_begin <= e->log.marks_gap_end && e->log.marks_gap_end <= e->log.marks);
    require(e->log.marks <= INT64_MAX / WIRE_MARK_SIZE);
    require(e->n_left_named <= WIRE_LEFT_MAX && e->n_left_named <= e->n_left);
    require(e->has_status || e->wait_status == 0);
}

static void check_end(const char *text, size_t size)
{
    static const char *const argv[] = {"x", NULL};
    rein_job *job = new_job();
    struct rein_job before = *job;
    int r = store_parse_end(job, text, size);

    check_error(r);
    if (r == 0) {
        require(job->ended);
        check_end_fields(&job->exit);
        for (uint32_t i = 0; i < job->exit.n_left_named; i++)
            require(memchr(job->left[i].command, '\0', sizeof(job->left[i].command)) != NULL);
        job->argv = strv_copy(argv);
        check_told(job);
    } else {
        require(memcmp(&before, job, sizeof(before)) == 0);
    }
    (void)rein_job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_job((const char *)data, size);
    check_end((const char *)data, size);
    return 0;
}
