/* rein ps: the jobs of the background, as a table or as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "jobs.h"
#include "print.h"
#include "tools/result-json.h"
#include "visible.h"

enum {
    COLUMN_ID,
    COLUMN_STATUS,
    COLUMN_AGE,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_COMMAND,
    COLUMN_NAME,
    COLUMNS
};

#define COLUMN_GAP 2
#define USEC_PER_SEC 1000000
#define COMMAND_WIDTH_MIN 20

static const char *const titles[COLUMNS] = {"ID",     "STATUS",  "AGE", "CPU",
                                            "MEMORY", "COMMAND", "NAME"};

struct row {
    struct buf cells[COLUMNS];
};

/* ---- which -------------------------------------------------------------------------------- */

static bool is_wanted(const struct settings *s, const struct rein_result *one)
{
    if (!s->all && !one->running)
        return false;
    return !s->session || (one->session && strcmp(one->session, s->session) == 0);
}

/* ---- cells -------------------------------------------------------------------------------- */

/* "12s", "3m", "5h", "2d" */
static void add_age(struct buf *b, int64_t ns)
{
    int64_t seconds = ns / NSEC_PER_SEC;

    if (seconds < 60)
        buf_add_format(b, "%" PRId64 "s", seconds);
    else if (seconds < 60 * 60)
        buf_add_format(b, "%" PRId64 "m", seconds / 60);
    else if (seconds < 24 * 60 * 60)
        buf_add_format(b, "%" PRId64 "h", seconds / (60 * 60));
    else
        buf_add_format(b, "%" PRId64 "d", seconds / (24 * 60 * 60));
}

/* "0.08s", and longer times as an age. */
static void add_cpu_time(struct buf *b, int64_t us)
{
    if (us < 10 * USEC_PER_SEC)
        buf_add_format(b, "%.2fs", (double)us / (double)USEC_PER_SEC);
    else
        add_age(b, us * NSEC_PER_USEC);
}

static void add_bytes(struct buf *b, uint64_t bytes)
{
    static const char units[] = "KMGT";
    double number = (double)bytes / KIB;
    size_t unit = 0;

    for (; number >= 1024 && unit + 1 < strlen(units); unit++)
        number /= 1024;
    buf_add_format(b, number < 10 ? "%.1f%c" : "%.0f%c", number, units[unit]);
}

/* Arguments as a shell would take them, where that makes a difference. */
static void add_command(struct buf *b, char *const *argv)
{
    for (char *const *arg = argv; arg && *arg; arg++) {
        bool quoted = **arg == '\0' || strpbrk(*arg, " \t\n'\"\\$`|&;<>()*?[]{}~#");

        if (arg > argv)
            buf_add_char(b, ' ');
        if (quoted)
            buf_add_char(b, '\'');
        visible_add(b, *arg);
        if (quoted)
            buf_add_char(b, '\'');
    }
}

static void fill_row(struct row *row, const struct rein_result *one)
{
    char words[JOB_WORDS_SIZE];

    buf_add_str(&row->cells[COLUMN_ID], one->process_id);
    buf_add_str(&row->cells[COLUMN_STATUS], job_words(one, words));
    add_age(&row->cells[COLUMN_AGE], MAX(time_wall_ns() - one->started_at_ns, (int64_t)0));
    add_cpu_time(&row->cells[COLUMN_CPU], one->user_us + one->system_us);
    add_bytes(&row->cells[COLUMN_MEMORY], one->max_rss_bytes);
    add_command(&row->cells[COLUMN_COMMAND], one->command);
    visible_add(&row->cells[COLUMN_NAME], one->name ? one->name : "");
}

/* ---- the table ---------------------------------------------------------------------------- */

static const char *cell_text(const struct row *row, size_t column)
{
    return row->cells[column].data ? row->cells[column].data : "";
}

static void measure(const struct row *rows, size_t n, size_t widths[static COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++) {
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < n; i++)
            widths[c] = MAX(widths[c], visible_width(cell_text(&rows[i], c)));
    }
}

/* On a terminal the command gets what the others leave. */
static void fit(size_t widths[static COLUMNS])
{
    struct winsize size = {0};
    size_t others = 0;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return;
    for (size_t c = 0; c < COLUMNS; c++)
        others += c == COLUMN_COMMAND ? 0 : widths[c] + COLUMN_GAP;
    widths[COLUMN_COMMAND] =
        MIN(widths[COLUMN_COMMAND],
            MAX((size_t)COMMAND_WIDTH_MIN, size.ws_col - MIN(others, (size_t)size.ws_col)));
}

static void add_cell(struct buf *b, const char *cell, size_t width, bool is_last)
{
    size_t taken = visible_width(cell);
    bool cut = taken > width;
    size_t len = cut ? visible_cut(cell, width - 1) : strlen(cell);

    buf_add(b, cell, len);
    if (cut) {
        buf_add_str(b, "…");
        taken = width;
    }
    if (!is_last)
        buf_add_format(b, "%*s", (int)(width - taken + COLUMN_GAP), "");
}

/* Without blanks at its end. */
static void end_line(struct buf *b)
{
    while (b->len > 0 && b->data[b->len - 1] == ' ')
        b->len--;
    buf_add_char(b, '\n');
}

static void add_table(struct buf *b, const struct row *rows, size_t n)
{
    size_t widths[COLUMNS];

    measure(rows, n, widths);
    fit(widths);
    for (size_t c = 0; c < COLUMNS; c++)
        add_cell(b, titles[c], widths[c], c == COLUMNS - 1);
    end_line(b);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < COLUMNS; c++)
            add_cell(b, cell_text(&rows[i], c), widths[c], c == COLUMNS - 1);
        end_line(b);
    }
}

static int print_table(const struct settings *s, const rein_list *list, struct rein_error **reterr)
{
    size_t count = rein_list_count(list);
    auto_free struct row *rows = calloc(count + 1, sizeof(*rows));
    auto_buf struct buf b = {0};
    size_t n = 0;
    int error = rows ? 0 : -ENOMEM;

    for (size_t i = 0; rows && i < count; i++)
        if (is_wanted(s, rein_list_get(list, i)))
            fill_row(&rows[n++], rein_list_get(list, i));
    if (rows)
        add_table(&b, rows, n);
    for (size_t i = 0; i < n * COLUMNS; i++) {
        struct buf *cell = &rows[i / COLUMNS].cells[i % COLUMNS];

        error = error ? error : buf_error(cell);
        buf_done(cell);
    }
    if (error < 0 || buf_error(&b) < 0)
        return rein_oom(reterr);
    return print_text(b.data, b.len, reterr);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static int print_json(const struct settings *s, const rein_list *list, struct rein_error **reterr)
{
    json_t *all = json_array();

    for (size_t i = 0; all && i < rein_list_count(list); i++) {
        const struct rein_result *one = rein_list_get(list, i);

        if (is_wanted(s, one) && json_array_append_new(all, short_result_json(one)) < 0) {
            json_decref(all);
            all = NULL;
        }
    }
    return print_json_line(all, reterr);
}

int verb_ps(struct call *call, struct rein_error **reterr)
{
    rein_list *list = NULL;
    rein *r;
    int status;

    if (operand_at(call, 0))
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "ps: '%s' is one argument too many", operand_at(call, 0));
    r = rein_open(NULL, reterr);
    if (!r)
        return -EINVAL;
    status = rein_jobs(r, &list);
    if (status < 0)
        status = rein_fail(reterr, status, "internal", "list", "cannot list the jobs: %s",
                           strerror(-status));
    else if (call->settings.format == FORMAT_TEXT)
        status = print_table(&call->settings, list, reterr);
    else
        status = print_json(&call->settings, list, reterr);
    list = rein_list_free(list);
    r = rein_free(r);
    return status;
}
