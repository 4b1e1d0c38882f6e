/* Chooses how a query is answered, and answers the one for the last lines. */
#include "output-query.h"

#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "log-walk.h"

/* How much of a long last line is rendered, beyond what may be shown: rendering makes text shorter,
 * but what needs more than this is not worth the time. */
#define WINDOW_BYTES (4u << 20)
#define WINDOW_FACTOR 4

/* How much of [begin, end) to pass over: all but a window, if the log has more than that. */
static uint64_t
choose_skip(const struct rein_result *result, uint64_t begin, uint64_t end, uint64_t window)
{
    bool gap =
        result->gap_end > result->gap_begin && result->gap_begin >= begin && result->gap_end <= end;
    uint64_t lost = gap ? result->gap_end - result->gap_begin : 0;

    return end - begin - lost <= window ? 0 : end - window - begin;
}

static int read_last_lines(const struct result_source *source,
                           const struct output_query *query,
                           struct rein_result *result,
                           struct result_text *ret,
                           struct rein_error **reterr)
{
    struct result_view view = query->view;
    struct result_range range = {.end = result->output_bytes, .more = result->running};
    uint64_t window = WINDOW_BYTES + view.limit * WINDOW_FACTOR;
    int r = 0;

    view.split = result->split;
    view.keep_end = query->lines > 0;
    if (query->lines > 0)
        r = log_find_last_lines(source, result, query->lines, &range.begin);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    range.begin = MIN(MAX(range.begin, query->since), range.end);
    if (view.keep_end && view.limit > 0)
        range.skip = choose_skip(result, range.begin, range.end, window);
    return result_text_read_range(source, &view, &range, result, ret, reterr);
}

int output_query_read(const struct result_source *source,
                      const struct output_query *query,
                      struct rein_result *result,
                      struct result_text *ret,
                      uint64_t *ret_matches,
                      struct rein_error **reterr)
{
    uint64_t matches = 0;
    int r;

    if (!query->grep && (!query->has_since || query->lines > 0))
        return read_last_lines(source, query, result, ret, reterr);
    *ret = (struct result_text){0};
    if (query->grep)
        r = output_read_matches(source, query, result, ret, &matches, reterr);
    else
        r = output_read_page(source, query, result, ret);
    if (ret_matches)
        *ret_matches = matches;
    if (r < 0)
        result_text_done(ret);
    if (r < 0 && !query->grep)
        return rein_fail(reterr, r, "internal", "output", "cannot read the output: %s",
                         strerror(-r));
    return r;
}
