/* Sending, with a word for each way in which it fails. */
#include "job-input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/parse-util.h"
#include "base/time-util.h"
#include "result-json.h"
#include "wait.h"

#define RETRY_MS 10 /* a job that does not read gives no sign when it does again */
#define SIGNAL_MAX 64
#define ENDING_MS 200 /* between a closed input and the end that it was a part of */

int job_signal_parse(const char *option, const char *given, int *ret, struct rein_error **reterr)
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
                          "%s: '%s' is no signal", option, given);
}

static int fail_ended(const rein_job *job, struct rein_error **reterr)
{
    return rein_fail(reterr, -ESRCH, "job_ended", "send", "the job %s has ended", rein_job_id(job));
}

/* A job that ends closes its input first. */
static int is_ending(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};
    int r = rein_wait(job, ENDING_MS, &result);

    rein_result_done(&result);
    return r == 0;
}

static int fail_send(rein_job *job, int err, struct rein_error **reterr)
{
    if (err == -EPIPE && is_ending(job))
        err = -ESRCH;
    switch (err) {
    case -ESRCH:
        return fail_ended(job, reterr);
    case -EINVAL:
        return rein_fail_hint(reterr, err, "bad_request", "send",
                              "start it with --stdin pipe, or as a tool with stdin: true, to send "
                              "it input",
                              "the job %s has no pipe as its standard input", rein_job_id(job));
    case -EPIPE:
        return rein_fail(reterr, err, "bad_request", "send",
                         "the standard input of the job %s is closed", rein_job_id(job));
    default:
        return rein_fail(reterr, err, "internal", "send", "cannot send to the job %s: %s",
                         rein_job_id(job), strerror(-err));
    }
}

int job_check_running(rein_job *job, struct rein_error **reterr)
{
    struct rein_result result = {0};
    int r = job_look(job, &result, reterr);

    rein_result_done(&result);
    return r == 0 ? fail_ended(job, reterr) : MIN(r, 0);
}

/* The job does not read at the moment. */
static int wait_for_room(rein_job *job, size_t left, int64_t until_ns, struct rein_error **reterr)
{
    if (until_ns != INT64_MAX && time_mono_ns() >= until_ns)
        return rein_fail(reterr, -ETIMEDOUT, "timeout", "send",
                         "the job %s does not read its input; the last %zu bytes were not taken",
                         rein_job_id(job), left);
    (void)io_poll(rein_job_fd(job), POLLIN, RETRY_MS);
    return job_check_running(job, reterr);
}

int job_send_bytes(
    rein_job *job, const char *data, size_t size, int64_t until_ns, struct rein_error **reterr)
{
    while (size > 0) {
        ssize_t n = rein_send(job, data, size);
        int r = 0;

        if (n == -EAGAIN || n == 0)
            r = wait_for_room(job, size, until_ns, reterr);
        else if (n < 0)
            r = fail_send(job, (int)n, reterr);
        if (r < 0)
            return r;
        data += MAX(n, (ssize_t)0);
        size -= (size_t)MAX(n, (ssize_t)0);
    }
    return 0;
}

int job_send_eof(rein_job *job, int64_t until_ns, struct rein_error **reterr)
{
    for (;;) {
        int r = rein_send_eof(job);

        if (r != -EAGAIN)
            return r < 0 ? fail_send(job, r, reterr) : 0;
        r = wait_for_room(job, 0, until_ns, reterr);
        if (r < 0)
            return r;
    }
}

int job_send_signal(rein_job *job, int number, struct rein_error **reterr)
{
    int r = rein_job_signal(job, number);

    return r < 0 ? fail_send(job, r, reterr) : 0;
}
