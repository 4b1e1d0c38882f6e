/* rein send: bytes for the standard input of a job, the end of that input, or a signal. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "jobs.h"
#include "print.h"
#include "tools/job-input.h"

#define READ_CHUNK (64u << 10)

/* Sleeps until standard input has something. The job may end first. */
static int wait_for_input(rein_job *job, struct rein_error **reterr)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = rein_job_fd(job), .events = POLLIN}};
        int r = job_check_running(job, reterr);

        if (r < 0)
            return r;
        if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
            return rein_fail(reterr, -errno, "internal", "poll", "%s", strerror(errno));
        if (fds[0].revents)
            return 0;
    }
}

static int send_standard_input(rein_job *job, struct rein_error **reterr)
{
    auto_free char *chunk = malloc(READ_CHUNK);

    if (!chunk)
        return rein_oom(reterr);
    for (;;) {
        int r = wait_for_input(job, reterr);
        ssize_t n;

        if (r < 0)
            return r;
        n = io_read(STDIN_FILENO, chunk, READ_CHUNK);
        if (n < 0)
            return rein_fail(reterr, (int)n, "bad_request", "read",
                             "cannot read standard input: %s", strerror((int)-n));
        if (n == 0)
            return 0;
        r = job_send_bytes(job, chunk, (size_t)n, INT64_MAX, reterr);
        if (r < 0)
            return r;
    }
}

/* ---- verb --------------------------------------------------------------------------------- */

static int send_text(rein_job *job, const char *bytes, bool line, struct rein_error **reterr)
{
    int r = 0;

    if (bytes && strcmp(bytes, "-") == 0)
        r = send_standard_input(job, reterr);
    else if (bytes)
        r = job_send_bytes(job, bytes, strlen(bytes), INT64_MAX, reterr);
    if (r == 0 && line)
        r = job_send_bytes(job, "\n", 1, INT64_MAX, reterr);
    return r;
}

static int send_everything(const struct call *call, rein_job *job, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    int number = 0;
    int r = s->signal ? job_signal_parse("--signal", s->signal, &number, reterr) : 0;

    if (r == 0)
        r = job_check_running(job, reterr);
    if (r == 0)
        r = send_text(job, operand_at(call, 1), s->line, reterr);
    if (r == 0 && s->eof)
        r = job_send_eof(job, INT64_MAX, reterr);
    if (r == 0 && number > 0)
        r = job_send_signal(job, number, reterr);
    return r;
}

int verb_send(struct call *call, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    struct jobs jobs = {0};
    int r = operands_check(call, 1, 2, reterr);

    if (r == 0 && !operand_at(call, 1) && !s->line && !s->eof && !s->signal)
        r = rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                           "give TEXT, - for standard input, --eof or --signal",
                           "send: there is nothing to send");
    if (r == 0)
        r = jobs_open(call, 1, &jobs, reterr);
    if (r == 0)
        r = send_everything(call, jobs.list[0], reterr);
    if (r == 0 && s->format != FORMAT_TEXT)
        r = print_json_line(
            json_pack("{s:b, s:s}", "success", 1, "process_id", rein_job_id(jobs.list[0])), reterr);
    jobs_done(&jobs);
    return r;
}
