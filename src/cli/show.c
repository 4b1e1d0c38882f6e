/* From settings to queries and printers. */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "report.h"
#include "text/text.h"
#include "tools/error-codes.h"
#include "tools/log-walk.h"

/* Lines are tested and shown as a terminal would show them, unless something else is asked for.
 * When following they are shown at once: nobody waits until a terminal could not change them any
 * more. */
static int render_of(const struct settings *s)
{
    if (settings_given(s, OPT_RENDER))
        return s->render;
    if (s->format != FORMAT_TEXT)
        return TEXT_CLEAN;
    return !s->grep ? TEXT_RAW : s->follow ? TEXT_PLAIN : TEXT_CLEAN;
}

int show_query(struct show *show,
               struct result_text *ret,
               uint64_t *ret_matches,
               struct rein_error **reterr)
{
    const struct settings *s = show->settings;
    struct result_source source = result_source_of_job(show->job);
    struct output_query query = {
        .view = {.render = render_of(s), .encoding = s->encoding, .limit = s->show},
        .lines = s->lines,
        .has_since = settings_given(s, OPT_SINCE),
        .since = s->since,
        .grep = show->grep,
        .hold_unfinished = s->follow,
    };

    if (s->format == FORMAT_JSON && !settings_given(s, OPT_SHOW))
        query.view.limit = RESULT_SHOW_DEFAULT;
    if (s->format == FORMAT_JSON && !settings_given(s, OPT_LINES) && !query.has_since)
        query.lines = OUTPUT_LINES_DEFAULT;
    return output_query_read(&source, &query, &show->result, ret, ret_matches, reterr);
}

int show_find_begin(struct show *show, struct rein_error **reterr)
{
    struct result_source source = result_source_of_job(show->job);
    int r = 0;

    if (show->settings->lines > 0)
        r = log_find_last_lines(&source, &show->result, show->settings->lines, &show->begin);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    show->begin = MAX(show->begin, show->settings->since);
    return 0;
}

static bool is_raw(const struct settings *s)
{
    return settings_given(s, OPT_RENDER) && s->render == TEXT_RAW;
}

struct printer *show_printer(const struct show *show, struct rein_error **reterr)
{
    const struct settings *s = show->settings;
    struct printer_options options = {
        .as_it_is = render_of(s) == TEXT_RAW && s->encoding == TEXT_ENC_AUTO && !show->grep,
        .render = render_of(s),
        .encoding = s->encoding,
        .grep = show->grep,
        .tells_gaps = !is_raw(s),
        .log_file = show->result.log_file,
        .at_start = show->begin == 0,
        .eager = s->follow && !show->grep,
    };
    struct printer *p = printer_new(&options);

    if (!p)
        (void)rein_oom(reterr);
    return p;
}

int show_printer_error(const struct printer *p, int err, struct rein_error **reterr)
{
    const struct rein_error *error = printer_error(p);

    if (error)
        return rein_fail_hint(reterr, err, error->code, error->step, error->hint ? error->hint : "",
                              "%s", error->message);
    return rein_fail(reterr, err, "internal", "output", "cannot show the output: %s",
                     strerror(-err));
}

int show_finish_text(const struct show *show, const struct printer *p)
{
    uint64_t lost = printer_lost(p);

    if (lost > 0 && (is_raw(show->settings) || show->grep))
        report("%s: %" PRIu64 " bytes of output were dropped; kept output: %s",
               show->result.process_id, lost,
               show->result.log_file ? show->result.log_file : "none");
    return show->grep && printer_matches(p) == 0 ? EXIT_STATUS_NOTHING : 0;
}
