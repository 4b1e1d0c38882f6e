/* rein audit: shows the audit trail, or looks whether it is whole. What its lines say comes from
 * commands, so it is made visible before it gets to a terminal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "job/context.h"
#include "jobs.h"
#include "policy/audit-ends.h"
#include "policy/audit.h"
#include "print.h"
#include "tools/result-json.h"
#include "visible.h"

#define FAULT_EXIT 1

/* ---- showing ------------------------------------------------------------------------------ */

/* The lines that are wanted: all, or the last ones. */
struct showing {
    json_t *lines;
    uint64_t last; /* 0: all */
};

/* What a line is shown as, in this order; of two in a row with the same column, the first there. */
static const struct {
    const char *key;
    int column;
    const char *before, *behind;
} parts[] = {
    {"time", 0, "", ""},
    {"decision", 1, "  ", ""},
    {"event", 1, "  ", ""},
    {"by", 2, ":", ""},
    {"tool", 3, "  ", ""},
    {"error_code", 4, "  ", ""},
    {"risk", 5, "  ", ""},
    {"process_id", 6, "  ", ""},
    {"command", 7, "  ", ""},
    {"script", 7, "  ", ""},
    {"file", 7, "  ", ""},
    {"code", 7, "  ", ""},
    {"exit_code", 8, "  exit ", ""},
    {"reason", 9, "  (", ")"},
};

static void add_value(struct buf *b, const json_t *value)
{
    size_t i;
    const json_t *word;

    if (json_is_string(value))
        visible_add(b, json_string_value(value));
    else if (json_is_integer(value))
        buf_add_format(b, "%lld", (long long)json_integer_value(value));
    json_array_foreach(value, i, word)
    {
        if (i > 0)
            buf_add_char(b, ' ');
        add_value(b, word);
    }
}

static void add_line(struct buf *b, const json_t *line)
{
    int column = -1;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        const json_t *value = json_object_get(line, parts[i].key);

        if (!value || json_is_null(value) || parts[i].column == column)
            continue;
        column = parts[i].column;
        buf_add_str(b, parts[i].before);
        add_value(b, value);
        buf_add_str(b, parts[i].behind);
    }
    buf_add_str(b, json_is_null(line) ? "(not a line of the trail)\n" : "\n");
}

static int take_line(void *to, json_t *line)
{
    struct showing *s = to;

    if (json_array_append_new(s->lines, line ? json_incref(line) : json_null()) < 0)
        return -ENOMEM;
    if (s->last > 0 && json_array_size(s->lines) > s->last)
        (void)json_array_remove(s->lines, 0);
    return 0;
}

static int show(const struct settings *s, const char *state_dir, struct rein_error **reterr)
{
    struct showing showing = {.lines = json_array(), .last = s->lines};
    auto_buf struct buf b = {0};
    int r = audit_read(state_dir, take_line, &showing, reterr);
    size_t i;
    const json_t *line;

    if (r < 0 || s->format != FORMAT_TEXT) {
        r = r < 0 ? r : print_json_line(json_incref(showing.lines), reterr);
        json_decref(showing.lines);
        return r;
    }
    json_array_foreach(showing.lines, i, line) add_line(&b, line);
    json_decref(showing.lines);
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return b.len > 0 ? print_text(b.data, b.len, reterr) : 0;
}

/* ---- verify ------------------------------------------------------------------------------- */

static json_t *report_json(const struct audit_report *report)
{
    json_t *fault = report->what ? json_pack("{s:s, s:I, s:s}", "file", report->file, "line",
                                             (json_int_t)report->line, "what", report->what)
                                 : json_null();

    return json_pack("{s:b, s:I, s:I, s:I, s:o}", "success", report->what == NULL, "files",
                     (json_int_t)report->files, "lines", (json_int_t)report->lines, "torn",
                     (json_int_t)report->torn, "fault", fault);
}

static void add_report(struct buf *b, const char *state_dir, const struct audit_report *report)
{
    if (!report->what) {
        buf_add_format(b, "%llu %s, whole", (unsigned long long)report->lines,
                       report->lines == 1 ? "line" : "lines");
        if (report->torn > 0)
            buf_add_format(b, "; %llu more torn by a crash or a full disk",
                           (unsigned long long)report->torn);
        buf_add_char(b, '\n');
        return;
    }
    visible_add(b, state_dir);
    buf_add_format(b, "/audit/%s", report->file);
    if (report->line > 0)
        buf_add_format(b, ":%llu", (unsigned long long)report->line);
    buf_add_format(b, ": %s\n", report->what);
}

static int verify(const struct settings *s, const char *state_dir, struct rein_error **reterr)
{
    struct audit_report report;
    auto_buf struct buf b = {0};
    int r = audit_verify(state_dir, &report, reterr);

    if (r < 0)
        return r;
    add_report(&b, state_dir, &report);
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    r = s->format == FORMAT_TEXT ? print_text(b.data, b.len, reterr)
                                 : print_json_line(report_json(&report), reterr);
    return r == 0 && report.what ? FAULT_EXIT : r;
}

/* ---- verb --------------------------------------------------------------------------------- */

/* Jobs of the background that have ended are in the trail when somebody reads it. */
static void write_ends(const char *state_dir)
{
    struct gate gate = {.state_dir = state_dir, .settings = gate_settings_default()};

    (void)audit_ends_collect(&gate); /* what fails is left for the next one */
}

int verb_audit(struct call *call, struct rein_error **reterr)
{
    const char *what = operand_at(call, 0);
    rein *context;
    int r;

    if (what && (strcmp(what, "verify") != 0 || operand_at(call, 1)))
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "audit: give 'verify', or no argument");
    context = rein_open(NULL, reterr);
    if (!context)
        return -EINVAL;
    write_ends(context_state_dir(context));
    r = what ? verify(&call->settings, context_state_dir(context), reterr)
             : show(&call->settings, context_state_dir(context), reterr);
    context = rein_free(context);
    return r;
}
