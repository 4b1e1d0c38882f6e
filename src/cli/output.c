/*
 * rein output: what a job wrote. As text it is passed on piece by piece, however long it is; with
 * --json, --show, or -n together with --grep, it is put together first.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "follow.h"
#include "jobs.h"
#include "print.h"
#include "printer.h"
#include "report.h"
#include "show.h"
#include "tools/error-codes.h"
#include "tools/log-walk.h"

/* ---- piece by piece ----------------------------------------------------------------------- */

struct passing {
    struct printer *printer;
    struct buf made;
    struct rein_error **reterr;
};

static int write_made(struct passing *p, int stream)
{
    int fd = stream == REIN_STREAM_STDERR ? STDERR_FILENO : STDOUT_FILENO;
    int r = p->made.len > 0 ? io_write_all(fd, p->made.data, p->made.len) : 0;

    if (r == -EPIPE) /* `rein output ID | head` has what it wants */
        return 1;
    if (r < 0)
        return rein_fail(p->reterr, r, "internal", "write", "%s: %s",
                         fd == STDOUT_FILENO ? "standard output" : "standard error", strerror(-r));
    return 0;
}

static int pass(struct passing *p, const char *data, size_t len, const struct rein_piece *piece)
{
    int r;

    buf_clear(&p->made);
    r = printer_produce(p->printer, data, len, piece, &p->made);
    if (r == 0)
        r = buf_error(&p->made);
    return r < 0 ? show_printer_error(p->printer, r, p->reterr) : write_made(p, piece->stream);
}

static int pass_bytes(void *userdata, int stream, uint64_t offset, const char *data, size_t len)
{
    return pass(userdata, data, len, &(struct rein_piece){.stream = stream});
}

static int pass_gap(void *userdata, uint64_t offset, uint64_t bytes)
{
    return pass(userdata, NULL, 0, &(struct rein_piece){.skipped_bytes = bytes});
}

static int pass_ends(struct passing *p)
{
    static const int streams[] = {REIN_STREAM_STDOUT, REIN_STREAM_STDERR};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(streams); i++)
        r = pass(p, NULL, 0, &(struct rein_piece){.stream = streams[i]});
    return r;
}

static int pass_all(struct show *show, struct rein_error **reterr)
{
    struct rein_error *error = NULL;
    struct passing p = {.printer = show_printer(show, reterr), .reterr = &error};
    struct log_visitor visitor = {.bytes = pass_bytes, .gap = pass_gap, .userdata = &p};
    struct result_source source = result_source_of_job(show->job);
    int r = p.printer ? show_find_begin(show, reterr) : -ENOMEM;

    if (r < 0) {
        p.printer = printer_free(p.printer);
        return r;
    }
    r = log_walk(&source, show->begin, show->result.output_bytes, &visitor, NULL);
    if (r == 0)
        r = pass_ends(&p);
    if (r >= 0)
        r = show_finish_text(show, p.printer);
    else if (!error)
        r = rein_fail(reterr, r, "internal", "output", "cannot read the output: %s", strerror(-r));
    else if (reterr)
        *reterr = TAKE_PTR(error);
    rein_error_free(error);
    buf_done(&p.made);
    p.printer = printer_free(p.printer);
    return r;
}

/* ---- in one piece ------------------------------------------------------------------------- */

static int print_streams(const struct result_text *shown, struct rein_error **reterr)
{
    for (size_t i = 0; i < shown->n_streams; i++) {
        int fd = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
        int r = io_write_all(fd, shown->streams[i].text, shown->streams[i].len);

        if (r == -EPIPE)
            return 0;
        if (r < 0)
            return rein_fail(reterr, r, "internal", "write", "%s: %s",
                             i ? "standard error" : "standard output", strerror(-r));
    }
    return 0;
}

static int print_query(struct show *show, struct rein_error **reterr)
{
    struct result_text shown = {0};
    uint64_t matches = 0;
    int r = show_query(show, &shown, &matches, reterr);

    if (r < 0)
        return r;
    if (show->settings->format == FORMAT_JSON)
        r = print_json_line(result_json(&show->result, &shown), reterr);
    else
        r = print_streams(&shown, reterr);
    for (char *const *w = shown.warnings; show->settings->format == FORMAT_TEXT && w && *w; w++)
        report_warning(*w);
    result_text_done(&shown);
    return r < 0 ? r : show->grep && matches == 0 ? EXIT_STATUS_NOTHING : 0;
}

static bool needs_query(const struct settings *s)
{
    return s->format == FORMAT_JSON || settings_given(s, OPT_SHOW) || (s->grep && s->lines > 0);
}

/* ---- verb --------------------------------------------------------------------------------- */

static int check(const struct settings *s, struct rein_error **reterr)
{
    if (s->follow && s->format == FORMAT_JSON)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "--jsonl gives an event for each piece of output",
                              "--follow: there is no one object for output that goes on");
    if (!s->follow && s->format == FORMAT_JSONL)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "--json gives the result object", "--jsonl: only with --follow");
    if (s->follow && s->origins[OPT_SHOW].source == SOURCE_FLAG)
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "--show: not with --follow, which shows everything");
    if (s->grep && s->format == FORMAT_JSONL)
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "--grep: not with --jsonl, whose events have no lines");
    return 0;
}

static int show_job(struct show *show, struct rein_error **reterr)
{
    if (show->settings->follow)
        return follow(show, reterr);
    return needs_query(show->settings) ? print_query(show, reterr) : pass_all(show, reterr);
}

int verb_output(struct call *call, struct rein_error **reterr)
{
    struct show show = {.settings = &call->settings};
    struct jobs jobs = {0};
    int r = operands_check(call, 1, 1, reterr);

    if (r == 0)
        r = check(&call->settings, reterr);
    if (r == 0 && call->settings.grep)
        r = regex_new(call->settings.grep, &show.grep, reterr);
    if (r == 0 && call->settings.follow)
        follow_prepare();
    if (r == 0)
        r = jobs_open(call, 1, &jobs, reterr);
    if (r == 0) {
        show.job = jobs.list[0];
        r = job_look(show.job, &show.result, reterr);
    }
    if (r >= 0)
        r = show_job(&show, reterr);
    rein_result_done(&show.result);
    show.grep = regex_free(show.grep);
    jobs_done(&jobs);
    return r;
}
