/* The ways of delivering, as a table of steps around the main loop. */
#include "deliver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macro.h"
#include "exit-status.h"
#include "live.h"
#include "pump.h"
#include "report-end.h"
#include "tools/error-codes.h"
#include "tools/result-json.h"

enum way { WAY_AS_IT_IS, WAY_RENDERED, WAY_CUT, WAY_EVENTS, WAY_OBJECT };

struct delivery {
    const struct settings *settings;
    rein_job *job;
    struct pump pump;
    struct live *live;
    struct rein_result result;
    struct rein_error **reterr;
};

static enum way choose_way(const struct settings *s)
{
    bool bytes = !settings_given(s, OPT_RENDER) || s->render == TEXT_RAW;

    if (s->format == FORMAT_JSON)
        return WAY_OBJECT;
    if (s->format == FORMAT_JSONL)
        return WAY_EVENTS;
    if (settings_given(s, OPT_SHOW))
        return WAY_CUT;
    return bytes && s->encoding == TEXT_ENC_AUTO ? WAY_AS_IT_IS : WAY_RENDERED;
}

static struct result_view make_view(const struct settings *s)
{
    struct result_view view = {
        .render = s->render, .encoding = s->encoding, .limit = s->show, .split = s->split};

    if (!settings_given(s, OPT_SHOW) && s->format != FORMAT_TEXT)
        view.limit = RESULT_SHOW_DEFAULT;
    if (!settings_given(s, OPT_RENDER))
        view.render = s->format == FORMAT_TEXT ? TEXT_RAW : TEXT_CLEAN;
    return view;
}

static int read_text(struct delivery *d, struct result_text *ret)
{
    struct result_source source = result_source_of_job(d->job);
    struct result_view view = make_view(d->settings);

    return result_text_read(&source, &view, &d->result, ret, d->reterr);
}

/* ---- before the loop ---------------------------------------------------------------------- */

static int begin_rendered(struct delivery *d)
{
    d->live = live_new(make_view(d->settings).render, d->settings->encoding, /* at_start= */ true);
    d->pump.producer = live_text;
    d->pump.userdata = d->live;
    return d->live ? 0 : -ENOMEM;
}

static int begin_events(struct delivery *d)
{
    size_t len = 0;
    auto_free char *line = live_started_line(d->job, &len);

    d->live = live_new(TEXT_RAW, d->settings->encoding, /* at_start= */ true);
    d->pump.producer = live_events;
    d->pump.userdata = d->live;
    d->pump.one_sink = true;
    if (!d->live || !line)
        return -ENOMEM;
    pump_write(&d->pump, 0, line, len);
    return 0;
}

/* ---- after the loop ----------------------------------------------------------------------- */

static int finish_text(struct delivery *d)
{
    report_end(&d->result, &d->pump, d->settings);
    return 0;
}

static int finish_cut(struct delivery *d)
{
    struct result_text shown = {0};
    int r = read_text(d, &shown);

    if (r < 0)
        return r;
    for (size_t i = 0; i < shown.n_streams; i++)
        pump_write(&d->pump, (int)i, shown.streams[i].text, shown.streams[i].len);
    report_end(&d->result, &d->pump, d->settings);
    for (char *const *warning = shown.warnings; warning && *warning; warning++)
        report_warning(*warning);
    result_text_done(&shown);
    return 0;
}

static int write_object(struct delivery *d,
                        char *(*make_line)(json_t *take_result, size_t *ret_len))
{
    struct result_text shown = {0};
    auto_free char *line = NULL;
    size_t len = 0;
    int r = read_text(d, &shown);

    if (r < 0)
        return r;
    line = make_line(result_json(&d->result, &shown), &len);
    result_text_done(&shown);
    if (!line)
        return rein_oom(d->reterr);
    pump_write(&d->pump, 0, line, len);
    return 0;
}

static int finish_events(struct delivery *d)
{
    return write_object(d, live_exit_line);
}

static int finish_object(struct delivery *d)
{
    return write_object(d, json_line_take);
}

/* ---- the table, and the steps around it --------------------------------------------------- */

static const struct {
    bool passes_on;
    int (*begin)(struct delivery *d);  /* or NULL; 0 or a negative errno */
    int (*finish)(struct delivery *d); /* fills *reterr as well */
} ways[] = {
    [WAY_AS_IT_IS] = {.passes_on = true, .finish = finish_text},
    [WAY_RENDERED] = {.passes_on = true, .begin = begin_rendered, .finish = finish_text},
    [WAY_CUT] = {.finish = finish_cut},
    [WAY_EVENTS] = {.passes_on = true, .begin = begin_events, .finish = finish_events},
    [WAY_OBJECT] = {.finish = finish_object},
};

bool delivery_passes_on(const struct settings *s)
{
    return ways[choose_way(s)].passes_on;
}

static int run_loop(struct delivery *d, enum way way)
{
    int r = pump_open(&d->pump, d->job, ways[way].passes_on);

    if (r == 0 && ways[way].begin)
        r = ways[way].begin(d);
    if (r == 0)
        r = pump_run(&d->pump, &d->result);
    if (r < 0)
        return rein_fail(d->reterr, r, "internal", "loop", "cannot follow the job: %s",
                         strerror(-r));
    return 0;
}

int deliver(rein_job *job, const struct settings *s, struct rein_error **reterr)
{
    struct delivery d = {.settings = s, .job = job, .reterr = reterr};
    enum way way = choose_way(s);
    int r = run_loop(&d, way);

    if (r == 0)
        r = ways[way].finish(&d);
    if (r == 0)
        r = exit_status_of(&d.result);
    if (d.pump.write_error) {
        report_write_error(&d.pump);
        r = r < 0 ? r : EXIT_STATUS_FAILED;
    }
    pump_done(&d.pump);
    d.live = live_free(d.live);
    rein_result_done(&d.result);
    return r;
}
