/* The main loop of run, for a job of somebody else. */
#include "follow.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "live.h"
#include "pump.h"
#include "report-end.h"
#include "signals.h"
#include "text/text.h"
#include "tools/error-codes.h"

struct following {
    struct show *show;
    struct pump pump;
    struct printer *printer; /* text */
    struct live *live;       /* events */
    uint64_t matches;        /* before the loop */
    struct rein_error **reterr;
};

void follow_prepare(void)
{
    signals_hold();
}

/* The last lines that match: they are found by looking at everything, and following begins after
 * what was looked at. */
static int show_last_matches(struct following *f)
{
    struct result_text shown = {0};
    int r = show_query(f->show, &shown, &f->matches, f->reterr);

    if (r < 0)
        return r;
    for (size_t i = 0; i < shown.n_streams; i++)
        pump_write(&f->pump, (int)i, shown.streams[i].text, shown.streams[i].len);
    f->show->begin = shown.cursor;
    result_text_done(&shown);
    return 0;
}

static int begin_text(struct following *f)
{
    const struct show *show = f->show;
    int r = show->grep && show->settings->lines > 0 ? show_last_matches(f)
                                                    : show_find_begin(f->show, f->reterr);

    if (r < 0)
        return r;
    f->printer = show_printer(show, f->reterr);
    f->pump.producer = printer_produce;
    f->pump.userdata = f->printer;
    return f->printer ? 0 : -ENOMEM;
}

static int begin_events(struct following *f)
{
    size_t len = 0;
    auto_free char *line = live_started_line(f->show->job, &len);
    int r = show_find_begin(f->show, f->reterr);

    if (r < 0)
        return r;
    f->live = live_new(TEXT_RAW, f->show->settings->encoding, f->show->begin == 0);
    if (!line || !f->live)
        return rein_oom(f->reterr);
    f->pump.producer = live_events;
    f->pump.userdata = f->live;
    f->pump.one_sink = true;
    pump_write(&f->pump, 0, line, len);
    return 0;
}

static int end_events(struct following *f, struct rein_result *result)
{
    static const struct settings as_object = {.format = FORMAT_JSON};
    struct show last = {.settings = &as_object, .job = f->show->job, .result = *result};
    struct result_text shown = {0};
    auto_free char *line = NULL;
    size_t len = 0;
    int r = show_query(&last, &shown, NULL, f->reterr);

    *result = last.result; /* it may have been filled anew */
    if (r < 0)
        return r;
    line = live_exit_line(result_json(result, &shown), &len);
    result_text_done(&shown);
    if (!line)
        return rein_oom(f->reterr);
    pump_write(&f->pump, 0, line, len);
    return 0;
}

static int run_loop(struct following *f, struct rein_result *result)
{
    int r;

    rein_seek(f->show->job, f->show->begin);
    r = pump_run(&f->pump, result);
    if (r < 0 && f->printer)
        return show_printer_error(f->printer, r, f->reterr);
    if (r < 0)
        return rein_fail(f->reterr, r, "internal", "loop", "cannot follow the job: %s",
                         strerror(-r));
    if (f->live && f->pump.ended)
        return end_events(f, result);
    return f->live ? 0 : show_finish_text(f->show, f->printer);
}

int follow(struct show *show, struct rein_error **reterr)
{
    struct following f = {.show = show, .reterr = reterr};
    struct rein_result result = {0};
    int r = pump_open(&f.pump, show->job, /* copies= */ true);

    f.pump.follows = true;
    if (r < 0)
        r = rein_fail(reterr, r, "internal", "loop", "cannot follow the job: %s", strerror(-r));
    else
        r = show->settings->format == FORMAT_JSONL ? begin_events(&f) : begin_text(&f);
    if (r == 0)
        r = run_loop(&f, &result);
    if (f.pump.write_error) {
        report_write_error(&f.pump);
        r = r < 0 ? r : EXIT_STATUS_FAILED;
    }
    if (r == EXIT_STATUS_NOTHING && f.matches > 0)
        r = 0;
    rein_result_done(&result);
    pump_done(&f.pump);
    f.printer = printer_free(f.printer);
    f.live = live_free(f.live);
    return r;
}
