/* rein send: bytes for the standard input of a job, the end of that input, or a signal. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/parse-util.h"
#include "jobs.h"
#include "print.h"
#include "tools/result-json.h"

#define READ_CHUNK (64u << 10)
#define RETRY_MS 10 /* a job that does not read gives no sign when it does again */
#define SIGNAL_MAX 64

/* ---- signals ------------------------------------------------------------------------------ */

/* "TERM", "SIGTERM", "term" or "15". */
static int parse_signal(const char *given, int *ret, struct rein_error **reterr)
{
    const char *name = strncasecmp(given, "SIG", 3) == 0 ? given + 3 : given;
    const char *reason;
    uint64_t number;

    if (parse_uint64(given, 1, SIGNAL_MAX, &number, &reason) == 0) {
        *ret = (int)number;
        return 0;
    }
    for (int i = 1; i <= SIGNAL_MAX; i++) {
        char known[SIGNAL_NAME_SIZE];

        if (strcasecmp(signal_name(i, known) + 3, name) == 0) {
            *ret = i;
            return 0;
        }
    }
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                          "use a name such as TERM or INT, or a number from 1 to 64",
                          "--signal: '%s' is no signal", given);
}

/* ---- input -------------------------------------------------------------------------------- */

static int fail_ended(const rein_job *job, struct rein_error **reterr)
{
    return rein_fail(reterr, -ESRCH, "job_ended", "send", "the job %s has ended", rein_job_id(job));
}

static int fail_send(const rein_job *job, int err, struct rein_error **reterr)
{
    switch (err) {
    case -ESRCH:
        return fail_ended(job, reterr);
    case -EINVAL:
        return rein_fail_hint(reterr, err, "bad_request", "send",
                              "start it with --stdin pipe to send it input",
                              "the job %s has no pipe as its standard input", rein_job_id(job));
    case -EPIPE:
        return rein_fail(reterr, err, "bad_request", "send",
                         "the standard input of the job %s is closed", rein_job_id(job));
    default:
        return rein_fail(reterr, err, "internal", "send", "cannot send to the job %s: %s",
                         rein_job_id(job), strerror(-err));
    }
}

static int check_running(rein_job *job, struct rein_error **reterr)
{
    struct rein_result result = {0};
    int r = job_look(job, &result, reterr);

    rein_result_done(&result);
    return r == 0 ? fail_ended(job, reterr) : MIN(r, 0);
}

/* The job does not read at the moment. */
static int wait_for_room(rein_job *job, struct rein_error **reterr)
{
    (void)io_poll(rein_job_fd(job), POLLIN, RETRY_MS);
    return check_running(job, reterr);
}

static int send_all(rein_job *job, const char *data, size_t size, struct rein_error **reterr)
{
    while (size > 0) {
        ssize_t n = rein_send(job, data, size);
        int r = 0;

        if (n == -EAGAIN || n == 0)
            r = wait_for_room(job, reterr);
        else if (n < 0)
            r = fail_send(job, (int)n, reterr);
        if (r < 0)
            return r;
        data += MAX(n, (ssize_t)0);
        size -= (size_t)MAX(n, (ssize_t)0);
    }
    return 0;
}

/* Sleeps until standard input has something. The job may end first. */
static int wait_for_input(rein_job *job, struct rein_error **reterr)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = rein_job_fd(job), .events = POLLIN}};
        int r = check_running(job, reterr);

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
        r = send_all(job, chunk, (size_t)n, reterr);
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
        r = send_all(job, bytes, strlen(bytes), reterr);
    if (r == 0 && line)
        r = send_all(job, "\n", 1, reterr);
    return r;
}

static int send_eof(rein_job *job, struct rein_error **reterr)
{
    for (;;) {
        int r = rein_send_eof(job);

        if (r != -EAGAIN)
            return r < 0 ? fail_send(job, r, reterr) : 0;
        r = wait_for_room(job, reterr);
        if (r < 0)
            return r;
    }
}

static int send_signal(rein_job *job, int number, struct rein_error **reterr)
{
    int r = rein_job_signal(job, number);

    return r < 0 ? fail_send(job, r, reterr) : 0;
}

static int send_everything(const struct call *call, rein_job *job, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;
    int number = 0;
    int r = s->signal ? parse_signal(s->signal, &number, reterr) : 0;

    if (r == 0)
        r = check_running(job, reterr);
    if (r == 0)
        r = send_text(job, operand_at(call, 1), s->line, reterr);
    if (r == 0 && s->eof)
        r = send_eof(job, reterr);
    if (r == 0 && number > 0)
        r = send_signal(job, number, reterr);
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
