/*
 * Output on its way while the job runs, for the main loop: as the events of --jsonl, or as rendered
 * text. No character is cut: its first bytes wait for the others. Text that a terminal could still
 * change waits, too, so that what is kept here is bounded, however much comes.
 */
#ifndef REIN_CLI_LIVE_H
#define REIN_CLI_LIVE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "rein.h"

struct live;

/* render: enum text_render, for live_text(); encoding: enum text_encoding; at_start: what comes is
 * the beginning of the output. NULL when there is no memory. */
struct live *live_new(int render, int encoding, bool at_start);
struct live *live_free(struct live *l); /* always returns NULL */

/* Two producers for struct pump, one of which is to be used; userdata is the struct live. The text
 * of events is decoded and not rendered. */
int live_events(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret);
int live_text(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret);

/* The line of the first event. The caller frees it; NULL when there is no memory. */
char *live_started_line(const rein_job *job, size_t *ret_len);

/* The line of the last event, from the result object, whose reference it takes over. */
char *live_exit_line(json_t *take_result, size_t *ret_len);

#endif
