/* A line as text, a line as cells, and the way from one to the other. */
#include "row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "utf8.h"
#include "width.h"

/* Values of cell.code[0] that are no characters. */
enum {
    CELL_REST = 0x110000, /* a further column of the character to the left */
    CELL_BLANK,           /* erased or never written: a space, but not at the end of a line */
};

struct cell {
    uint32_t code[1 + CELL_MARKS_MAX]; /* marks: 0 where there is none */
    uint64_t src;
};

/* ---- the whole row ----------------------------------------------------------------------- */

void row_done(struct row *row)
{
    buf_done(&row->text);
    map_done(&row->map);
    free(row->cells);
    memset(row, 0, sizeof(*row));
}

void row_reset(struct row *row, uint64_t begin)
{
    if (row->text.allocated > ROW_KEPT_BYTES)
        buf_done(&row->text);
    if (row->map.allocated * sizeof(struct map_run) > ROW_KEPT_BYTES)
        map_done(&row->map);
    buf_clear(&row->text);
    map_clear(&row->map);
    free(row->cells);
    row->cells = NULL;
    row->allocated = 0;
    row->columns = 0;
    row->begin = begin;
    row->ended = 0;
}

int row_is_empty(const struct row *row)
{
    return row->cells ? row->columns == 0 : row->text.len == 0;
}

size_t row_cost_of_cells(size_t columns)
{
    return columns * sizeof(struct cell);
}

size_t row_cost(const struct row *row)
{
    return row->cells ? row_cost_of_cells(row->columns)
                      : row->text.len + row->map.n * sizeof(struct map_run);
}

static int append(struct row *row, const struct span *s)
{
    if (buf_reserve(&row->text, s->len) < 0)
        return -ENOMEM;
    map_add(&row->map, row->text.len, s);
    if (row->map.error)
        return -ENOMEM;
    buf_add(&row->text, s->text, s->len);
    return 0;
}

int row_append(struct row *row, size_t column, const struct span *s, size_t columns)
{
    static const char spaces[] = "                                ";

    while (row->columns < column) { /* blanks stand for no input: so they are told from spaces */
        struct span blanks = {.text = spaces, .src = s->src, .src_step = 0, .text_step = 1};

        blanks.len = MIN(column - row->columns, sizeof(spaces) - 1);
        if (append(row, &blanks) < 0)
            return -ENOMEM;
        row->columns += blanks.len;
    }
    if (append(row, s) < 0)
        return -ENOMEM;
    row->columns += columns;
    return 0;
}

/* ---- from text to cells ------------------------------------------------------------------ */

static size_t glyph_columns(uint32_t code, size_t column)
{
    if (code == '\t')
        return 8 - column % 8;
    return (size_t)width_of(code);
}

static int reserve_cells(struct row *row, size_t n)
{
    struct cell *grown;
    size_t want;

    if (n <= row->allocated)
        return 0;
    want = MAX(n, MAX((size_t)64, row->allocated * 2));
    grown = reallocarray(row->cells, want, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    row->cells = grown;
    row->allocated = want;
    return 0;
}

static void put_mark(struct cell *cells, size_t column, uint32_t code)
{
    while (column > 0 && cells[column].code[0] == CELL_REST)
        column--;
    for (size_t i = 1; i <= CELL_MARKS_MAX; i++)
        if (cells[column].code[i] == 0) {
            cells[column].code[i] = code;
            return;
        }
}

static void put_char(struct cell *cells, size_t column, uint32_t code, size_t width, uint64_t src)
{
    for (size_t i = 0; i < width; i++)
        cells[column + i] = (struct cell){.code = {i == 0 ? code : CELL_REST}, .src = src};
}

/* Fills cells with the characters of a span. Returns how many columns are filled then. */
static size_t spread(struct cell *cells, size_t column, const struct span *s)
{
    for (size_t i = 0; i < s->len;) {
        uint32_t code;
        size_t len = utf8_get(s->text + i, &code);
        size_t width = glyph_columns(code, column);

        if (s->src_step == 0)
            code = CELL_BLANK;
        if (width > 0)
            put_char(cells, column, code, width, span_src_at(s, i));
        else if (column > 0)
            put_mark(cells, column - 1, code);
        column += width;
        i += len;
    }
    return column;
}

static int make_cells(struct row *row)
{
    size_t column = 0;

    if (row->cells)
        return 0;
    if (reserve_cells(row, MAX(row->columns, (size_t)1)) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < row->map.n; i++) {
        struct span s = map_span(&row->map, i, row->text.data, row->text.len);

        column = spread(row->cells, column, &s);
    }
    buf_clear(&row->text);
    map_clear(&row->map);
    return 0;
}

/* ---- editing ----------------------------------------------------------------------------- */

/* Puts a character, or what stands in the rest of its columns, into a cell that exists. */
static void set_code(struct cell *c, uint32_t code)
{
    *c = (struct cell){.code = {code}, .src = c->src};
}

static void blank(struct row *row, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        set_code(&row->cells[i], CELL_BLANK);
}

/* Makes sure that no character reaches over the left edge of a column: one that does becomes
 * blanks, as on a terminal. */
static void split_at(struct row *row, size_t column)
{
    size_t from = column, to = column;

    if (column >= row->columns || row->cells[column].code[0] != CELL_REST)
        return;
    while (from > 0 && row->cells[from].code[0] == CELL_REST)
        from--;
    while (to < row->columns && row->cells[to].code[0] == CELL_REST)
        to++;
    blank(row, from, to);
}

/* Makes the row at least that wide. */
static int widen(struct row *row, size_t columns, uint64_t src)
{
    size_t old = row->columns;

    if (columns <= old)
        return 0;
    if (reserve_cells(row, columns) < 0)
        return -ENOMEM;
    for (size_t i = old; i < columns; i++)
        row->cells[i].src = src;
    row->columns = columns;
    blank(row, old, columns);
    return 0;
}

int row_write(struct row *row, size_t column, const struct glyph *g)
{
    if (make_cells(row) < 0)
        return -ENOMEM;
    if (g->width == 0) {
        if (column > 0 && column <= row->columns)
            put_mark(row->cells, column - 1, g->code);
        return 0;
    }
    if (widen(row, column + g->width, g->span.src) < 0)
        return -ENOMEM;
    split_at(row, column);
    split_at(row, column + g->width);
    for (size_t i = 0; i < g->width; i++)
        set_code(&row->cells[column + i], i == 0 ? g->code : CELL_REST);
    return 0;
}

int row_write_ascii(struct row *row, size_t column, const struct span *s)
{
    size_t end = column + s->len, old;

    if (make_cells(row) < 0)
        return -ENOMEM;
    old = row->columns;
    if (widen(row, end, s->src) < 0)
        return -ENOMEM;
    split_at(row, column);
    split_at(row, end);
    for (size_t i = 0; i < s->len; i++)
        set_code(&row->cells[column + i], (unsigned char)s->text[i]);
    for (size_t i = MAX(column, old); i < end; i++) /* each new column has its own offset */
        row->cells[i].src = span_src_at(s, i - column);
    return 0;
}

/* Blanks at the end of a row are as good as nothing. */
static void trim(struct row *row)
{
    while (row->columns > 0 && row->cells[row->columns - 1].code[0] == CELL_BLANK)
        row->columns--;
}

int row_erase(struct row *row, size_t from, size_t to)
{
    to = MIN(to, row->columns);
    if (from >= to)
        return 0;
    if (from == 0 && to == row->columns) {
        int ended = row->ended;

        row_reset(row, row->begin);
        row->ended = ended;
        return 0;
    }
    if (make_cells(row) < 0)
        return -ENOMEM;
    split_at(row, from);
    split_at(row, to);
    blank(row, from, to);
    trim(row);
    return 0;
}

/* Moves what stands at `from` to the column `to`. Offsets belong to the column and stay. */
static void move_cells(struct row *row, size_t from, size_t to, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t i = to > from ? n - 1 - k : k; /* so that nothing is overwritten before its turn */

        memcpy(row->cells[to + i].code, row->cells[from + i].code, sizeof(row->cells[0].code));
    }
}

int row_delete(struct row *row, size_t column, size_t n)
{
    if (column >= row->columns)
        return 0;
    if (make_cells(row) < 0)
        return -ENOMEM;
    n = MIN(n, row->columns - column);
    split_at(row, column);
    split_at(row, column + n);
    move_cells(row, column + n, column, row->columns - column - n);
    row->columns -= n;
    trim(row);
    return 0;
}

int row_insert(struct row *row, size_t column, size_t n)
{
    size_t rest;

    if (column >= row->columns)
        return 0;
    if (make_cells(row) < 0)
        return -ENOMEM;
    n = MIN(n, ROW_COLUMNS_MAX - MIN(row->columns, (size_t)ROW_COLUMNS_MAX));
    rest = row->columns - column;
    if (n == 0)
        return 0;
    split_at(row, column);
    if (widen(row, row->columns + n, row->cells[row->columns - 1].src) < 0)
        return -ENOMEM;
    move_cells(row, column, column + n, rest);
    blank(row, column, column + n);
    return 0;
}

/* ---- output ------------------------------------------------------------------------------ */

static void emit_cell(struct span_batch *b, const struct cell *c, uint64_t src, uint64_t end)
{
    char text[UTF8_LEN_MAX];
    uint32_t code = c->code[0] == CELL_BLANK ? ' ' : c->code[0];

    span_batch_add(b, text, utf8_put(code, text), src, end - src);
    for (size_t i = 1; i <= CELL_MARKS_MAX && c->code[i]; i++)
        span_batch_add(b, text, utf8_put(c->code[i], text), end, 0);
}

/* Each character stands for the input from its own beginning to that of the next one. Returns the
 * offset where the last one ends. */
static uint64_t emit_cells(const struct row *row, uint64_t end, const struct span_sink *out)
{
    struct span_batch batch;
    size_t columns = row->columns, next;
    uint64_t src = row->begin;

    span_batch_init(&batch, *out);
    while (columns > 0 && row->cells[columns - 1].code[0] == CELL_BLANK)
        columns--;
    for (size_t i = 0; i < columns; i = next) {
        uint64_t next_src;

        for (next = i + 1; next < columns && row->cells[next].code[0] == CELL_REST; next++)
            ;
        next_src = next < row->columns ? row->cells[next].src : end;
        next_src = MIN(MAX(next_src, src), end);
        emit_cell(&batch, &row->cells[i], src, next_src);
        src = next_src;
    }
    span_batch_flush(&batch);
    return src;
}

static uint64_t emit_text(const struct row *row, const struct span_sink *out)
{
    for (size_t i = 0; i < row->map.n; i++) {
        struct span s = map_span(&row->map, i, row->text.data, row->text.len);

        span_sink_add(out, &s);
    }
    return row->text.len > 0 ? map_end(&row->map, row->text.len) : row->begin;
}

void row_emit(const struct row *row, uint64_t end, int newline, const struct span_sink *out)
{
    uint64_t src = row->cells ? emit_cells(row, end, out) : emit_text(row, out);
    struct span lf = {.text = "\n", .len = 1, .src = src, .src_step = end - src, .text_step = 1};

    if (newline)
        span_sink_add(out, &lf);
}
