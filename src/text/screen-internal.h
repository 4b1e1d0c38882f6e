/* What screen.c and screen-seq.c share: moving about in the live rows. */
#ifndef REIN_TEXT_SCREEN_INTERNAL_H
#define REIN_TEXT_SCREEN_INTERNAL_H

#include "screen.h"

/* Live row y, 0 is the oldest. */
struct row *screen_row(struct screen *s, size_t y);

/* To be called after a row was changed, with its cost before and the result of the change. */
void screen_update(struct screen *s, size_t cost_before, const struct row *row, int r);

/* Adds an empty row below; pushes the oldest one out when there are too many. */
void screen_add_row(struct screen *s, uint64_t begin);

/* Takes all rows below y away. */
void screen_drop_below(struct screen *s, size_t y);

/* Hands all rows on and goes on below them. */
void screen_new_page(struct screen *s, uint64_t end);

/* Keeps the live rows within SCREEN_COST_MAX. Rows above the cursor go first; when it is in the
 * first one all go. `end`: where the input goes on. */
void screen_bound_cost(struct screen *s, uint64_t end);

/* Keeps the cursor within what a move can reach in its row. */
void screen_bound_x(struct screen *s);

/* To the next row, made at `end` when there is none: in the same column, and at its beginning. */
void screen_down(struct screen *s, uint64_t end);
void screen_line_feed(struct screen *s, uint64_t end);

#endif
