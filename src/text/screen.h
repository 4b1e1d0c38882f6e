/*
 * What a terminal would show in the end, for a program that writes to a pipe. It owns the lines
 * that can still change and where the cursor is; lines that cannot change any more it hands on, in
 * order.
 *
 *   - LF ends a line and begins the next one at its first column. CR, BS and TAB move the cursor,
 *     a TAB at the end of a line stays a TAB. VT and FF go down a line in the same column. Other
 *     control characters, the C1 controls too, do nothing. NUL is kept as a character.
 *   - Moves (A B C D E F G H a d e f ` s u, ESC 7 8 D E M) and erasing (J K P X @, ESC c) are
 *     obeyed, all other sequences do nothing.
 *   - There is no width, so nothing wraps.
 *   - There is no height: the cursor moves among the live lines, the newest SCREEN_ROWS_MAX. Down
 *     (B, E, e) does not go beyond the last of them, as at the bottom of a terminal. Line 1 for H,
 *     f and d, and the top for J, is the first live line. H, f and d make lines that are not there.
 *   - Switching to the alternate screen or back begins a new page below the last line and erases
 *     nothing: what a full-screen program showed last can be read.
 *   - What a move alone reaches is bounded: SCREEN_MOVE_MAX columns or the end of the line, and
 *     SCREEN_MOVE_ROWS_MAX lines or the last one there is.
 *   - A line of more than ROW_COLUMNS_MAX columns or ROW_BYTES_MAX bytes is let go: it can no
 *     longer change, and its rest behaves like a line that begins there. So are the oldest live
 *     lines when all of them need more than SCREEN_COST_MAX bytes.
 *   - Ends of lines that were erased or never written are cut off; spaces that were written stay.
 */
#ifndef REIN_TEXT_SCREEN_H
#define REIN_TEXT_SCREEN_H

#include <stddef.h>
#include <stdint.h>

#include "row.h"
#include "span.h"
#include "vt.h"

#define SCREEN_ROWS_MAX 512
#define SCREEN_MOVE_MAX 512
#define SCREEN_MOVE_ROWS_MAX 128
#define SCREEN_COST_MAX (1024 * 1024)

struct screen {
    struct row rows[SCREEN_ROWS_MAX]; /* a ring */
    size_t first;                     /* the oldest live row in it */
    size_t n_rows;                    /* at least 1 */
    size_t y, x;                      /* the cursor: live row, column */
    size_t saved_y, saved_x;
    size_t cost; /* of all live rows together */
    struct span_sink out;
    int error; /* -ENOMEM: nothing happens any more */
};

void screen_init(struct screen *s, struct span_sink out);
void screen_done(struct screen *s);

/* The three kinds of input, as struct vt_handler gives them; ctx is the screen. */
void screen_text(struct screen *s, const struct span *text);
void screen_csi(struct screen *s, const struct vt_csi *seq, uint64_t end);
void screen_esc(struct screen *s, char final, uint64_t end);

/* Hands all lines on and begins an empty one; the input goes on at `end`. */
void screen_flush(struct screen *s, uint64_t end);

#endif
