/*
 * What a request for the output of a job shows: the last lines, the next page from a cursor on, or
 * the lines that match. The three have one description and one answer, for every surface.
 *
 *   last lines   of the whole output; what is beyond the limit is left out at the beginning
 *   page         from `since` on, as far as the limit goes, up to an end of a line or character;
 *                the cursor follows what is shown, so that page after page gives everything once
 *   matches      rendered lines of the whole output or from `since` on; with `lines` the last ones,
 *                else with `since` a page of them
 *
 * The streams of a split job share the limit; lines that match are counted in each.
 */
#ifndef REIN_TOOLS_OUTPUT_QUERY_H
#define REIN_TOOLS_OUTPUT_QUERY_H

#include "regex.h"
#include "result-json.h"

#define OUTPUT_LINES_DEFAULT 200

struct output_query {
    struct result_view view; /* .limit: of the answer; 0: none; .split and .keep_end are ignored */
    uint64_t lines;          /* the last so many; 0: all */
    bool has_since;
    uint64_t since;
    const struct regex *grep; /* or NULL */
    bool hold_unfinished;     /* matches: a last line without an end is left for later */
};

/* Reads, for an ended or a running job that *result was just filled for. *ret_matches, which may be
 * NULL, gets the number of lines shown by a query with .grep. */
int output_query_read(const struct result_source *source,
                      const struct output_query *query,
                      struct rein_result *result,
                      struct result_text *ret,
                      uint64_t *ret_matches,
                      struct rein_error **reterr);

/* ---- parts of it, for output-query.c only -------------------------------------------------- */

int output_read_page(const struct result_source *source,
                     const struct output_query *query,
                     const struct rein_result *result,
                     struct result_text *ret);
int output_read_matches(const struct result_source *source,
                        const struct output_query *query,
                        const struct rein_result *result,
                        struct result_text *ret,
                        uint64_t *ret_matches,
                        struct rein_error **reterr);

#endif
