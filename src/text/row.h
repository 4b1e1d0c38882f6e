/*
 * One line of the screen. Most lines are only ever appended to: those are kept as text with a map
 * to the input. The first write into the middle turns a row into cells, one a column.
 *
 * In a row of cells each column keeps the input offset at which it was first filled, whatever is
 * written over it later. So offsets never decrease along a line, and a cut in it can be told as an
 * offset from which everything after the cut can be read again.
 *
 * Functions that return int give 0 or -ENOMEM, and then have changed nothing.
 */
#ifndef REIN_TEXT_ROW_H
#define REIN_TEXT_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "map.h"
#include "span.h"

#define ROW_COLUMNS_MAX 16384 /* the screen lets go of a line that would be wider */
#define ROW_BYTES_MAX 65536   /* the same, for its text */
#define ROW_KEPT_BYTES 4096   /* an emptied row keeps memory up to this size for the next line */

#define CELL_MARKS_MAX 3 /* combining characters of a cell; further ones are left out */

struct cell;

struct row {
    struct buf text; /* while cells is NULL */
    struct map map;  /* the same */
    struct cell *cells;
    size_t columns; /* width of the text, or number of cells */
    size_t allocated;
    uint64_t begin; /* input offset at which the row came to be */
    int ended;      /* a line feed left this row */
};

/* One character on its way to a row: the text of a span that has only this one. */
struct glyph {
    struct span span;
    uint32_t code;
    size_t width; /* 0 for a combining character */
};

/* Empties a row that begins at an input offset. */
void row_reset(struct row *row, uint64_t begin);
void row_done(struct row *row);

/* Is there text, visible or not, in it? */
int row_is_empty(const struct row *row);

/* How much memory its contents need, a function of the contents alone. */
size_t row_cost(const struct row *row);
size_t row_cost_of_cells(size_t columns);

/* May text be appended at this column, with row_append()? */
static inline int row_ends_before(const struct row *row, size_t column)
{
    return !row->cells && row->columns <= column;
}

/* Appends text that takes that many columns; before it blanks up to `column`. */
int row_append(struct row *row, size_t column, const struct span *s, size_t columns);

/* Writes over what is at a column; fills up with blanks when the row ends before it. A character of
 * width 0 joins the one before the column; where there is none it is left out. */
int row_write(struct row *row, size_t column, const struct glyph *g);

/* The same for a run of characters of one byte and one column each. */
int row_write_ascii(struct row *row, size_t column, const struct span *s);

/* Makes the columns from..to blank, those that exist; at the end of the row they go. */
int row_erase(struct row *row, size_t from, size_t to);

/* Takes n columns out, the rest moves left. */
int row_delete(struct row *row, size_t column, size_t n);

/* Moves the rest of the row right by n columns, not beyond ROW_COLUMNS_MAX. */
int row_insert(struct row *row, size_t column, size_t n);

/* Hands the row's text on. Its input ends at `end`; with newline a LF is added, which stands for
 * the bytes from the last character on. */
void row_emit(const struct row *row, uint64_t end, int newline, const struct span_sink *out);

#endif
