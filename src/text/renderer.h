/*
 * From the bytes of one stream to rendered text, as it comes: decoder, escape sequences and screen
 * in a row. What becomes of the text is the business of the sink. It needs bounded memory, however
 * much is fed; what a terminal could still change (clean), or what a line may turn out to be
 * (not eager), is held back until it is settled.
 */
#ifndef REIN_TEXT_RENDERER_H
#define REIN_TEXT_RENDERER_H

#include "decode.h"
#include "screen.h"
#include "span.h"
#include "vt.h"

struct renderer {
    int render; /* enum text_render */
    struct decoder decoder;
    struct vt vt;
    struct screen screen; /* only for TEXT_CLEAN */
    struct span_sink out;
};

/* render and encoding are to be valid. eager and at_start: see decode.h. */
void renderer_init(
    struct renderer *r, int render, int encoding, int eager, int at_start, struct span_sink out);
void renderer_done(struct renderer *r);

/* Hands on what it can of the next bytes. */
void renderer_feed(struct renderer *r, const void *data, size_t len);

/* That many bytes are not there; all that came before is settled. */
void renderer_gap(struct renderer *r, uint64_t bytes);

/* Hands on the rest. With `more` all but an unfinished character or sequence (of at most 4 KiB).
 * Returns how many of the bytes fed were dealt with; those that were missing count. Nothing may be
 * fed afterwards. */
uint64_t renderer_end(struct renderer *r, int more);

/* 0, or -ENOMEM: the text is incomplete. */
int renderer_error(const struct renderer *r);

#endif
