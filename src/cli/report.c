/* Lines on standard error. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io-util.h"
#include "visible.h"

enum tone { TONE_PLAIN, TONE_WARNING, TONE_ERROR };

static const char *const colours[] = {
    [TONE_PLAIN] = "\033[1m",
    [TONE_WARNING] = "\033[1;33m",
    [TONE_ERROR] = "\033[1;31m",
};

static int wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if ((no_color && no_color[0] != '\0') || !term || strcmp(term, "dumb") == 0)
        return 0;
    return isatty(STDERR_FILENO);
}

/* One write for one line, so that lines of several processes do not mix. */
static void write_line(enum tone tone, const char *text)
{
    auto_buf struct buf line = {0};
    int colour = wants_colour();

    buf_add_format(&line, "%srein:%s ", colour ? colours[tone] : "", colour ? "\033[0m" : "");
    visible_add(&line, text);
    buf_add_char(&line, '\n');
    if (buf_error(&line) == 0)
        (void)io_write_all(STDERR_FILENO, line.data, line.len);
}

void report(const char *format, ...)
{
    auto_free char *text = NULL;
    va_list ap;
    int r;

    va_start(ap, format);
    r = vasprintf(&text, format, ap);
    va_end(ap);
    if (r < 0)
        text = NULL;
    write_line(TONE_PLAIN, text ? text : "out of memory");
}

void report_error(const struct rein_error *error)
{
    auto_buf struct buf text = {0};

    buf_add_str(&text, error->message);
    if (error->hint)
        buf_add_format(&text, " (%s)", error->hint);
    write_line(TONE_ERROR, buf_error(&text) ? error->message : text.data);
}

void report_warning(const char *text)
{
    auto_buf struct buf line = {0};

    buf_add_format(&line, "warning: %s", text);
    write_line(TONE_WARNING, buf_error(&line) ? text : line.data);
}
