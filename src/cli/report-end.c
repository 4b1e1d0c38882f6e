/* Words for the end of a job. */
#include "report-end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tools/result-json.h"

#define LEFT_NAMED_MAX 8

static const char *command_name(const struct rein_result *result)
{
    const char *path = result->command && result->command[0] ? result->command[0] : "job";
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* "1.5 s" */
static void add_seconds(struct buf *b, int64_t ns)
{
    buf_add_format(b, "%.10g s", (double)ns / (double)NSEC_PER_SEC);
}

static void add_size_limit(struct buf *b, const char *what, uint64_t bytes)
{
    buf_add_format(b, "%s limit of %" PRIu64 " bytes was reached", what, bytes);
}

static void add_reason(struct buf *b,
                       const struct rein_result *result,
                       const struct pump *p,
                       const struct settings *s)
{
    char name[SIGNAL_NAME_SIZE];

    switch (result->reason) {
    case REIN_REASON_TIMEOUT:
        buf_add_str(b, "timed out after ");
        add_seconds(b, s->timeout_ns);
        break;
    case REIN_REASON_STOPPED:
        buf_add_str(b, "stopped");
        if (p->stop_signal)
            buf_add_format(b, " (%s)", signal_name(p->stop_signal, name));
        break;
    case REIN_REASON_OWNER_GONE:
        buf_add_str(b, "its owner is gone");
        break;
    case REIN_REASON_MEMORY_LIMIT:
        add_size_limit(b, "the memory", s->memory);
        break;
    case REIN_REASON_CPU_LIMIT:
        buf_add_str(b, "the processor time limit of ");
        add_seconds(b, s->cpu_time_ns);
        buf_add_str(b, " was reached");
        break;
    case REIN_REASON_FILE_SIZE_LIMIT:
        add_size_limit(b, "the file size", s->file_size);
        break;
    case REIN_REASON_OUTPUT_LIMIT:
        buf_add_str(b, "the output limit was reached");
        break;
    case REIN_REASON_LOST:
        buf_add_str(b, "lost: its supervisor was killed, so its exit status is unknown");
        break;
    default: /* REIN_REASON_SIGNAL: what follows says it */
        break;
    }
    if (result->signal)
        buf_add_format(b, "%sended by %s", result->reason == REIN_REASON_SIGNAL ? "" : ", ",
                       signal_name(result->signal, name));
}

static void
report_reason(const struct rein_result *result, const struct pump *p, const struct settings *s)
{
    auto_buf struct buf words = {0};

    add_reason(&words, result, p, s);
    if (buf_error(&words) == 0)
        report("%s: %s", command_name(result), words.data);
}

static void report_left(const struct rein_result *result, const struct settings *s)
{
    auto_buf struct buf words = {0};

    for (size_t i = 0; i < result->n_left_running && i < LEFT_NAMED_MAX; i++)
        buf_add_format(&words, "%s%s (pid %d)", i ? ", " : "", result->left_running[i].command,
                       (int)result->left_running[i].pid);
    if (result->n_left_running > LEFT_NAMED_MAX)
        buf_add_format(&words, " and %zu more", result->n_left_running - LEFT_NAMED_MAX);
    if (words.data && buf_error(&words) == 0)
        report("%s: left running%s: %s", command_name(result),
               s->after == REIN_AFTER_KEEP ? "" : ", now ended", words.data);
}

static void report_lost(const struct rein_result *result, const struct pump *p)
{
    if (p->lost_bytes == 0)
        return;
    if (result->log_file)
        report("%s: %" PRIu64 " bytes of output were dropped; kept output: %s",
               command_name(result), p->lost_bytes, result->log_file);
    else
        report("%s: %" PRIu64 " bytes of output were dropped", command_name(result), p->lost_bytes);
}

/* The job of a reader that has gone was stopped for that, which is nobody's news. */
static bool is_quiet_end(const struct rein_result *result, const struct pump *p)
{
    if (result->reason == REIN_REASON_EXIT)
        return true;
    return result->reason == REIN_REASON_STOPPED && p->reader_gone && !p->stop_signal;
}

void report_write_error(const struct pump *p)
{
    static const char *const names[] = {"standard output", "standard error"};

    report("%s: %s", names[p->failed_stream], strerror(-p->write_error));
}

void report_end(const struct rein_result *result, const struct pump *p, const struct settings *s)
{
    if (!is_quiet_end(result, p))
        report_reason(result, p, s);
    report_lost(result, p);
    report_left(result, s);
    for (char *const *warning = result->warnings; warning && *warning; warning++)
        report_warning(*warning);
}
