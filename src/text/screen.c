/*
 * Live rows, the cursor, and what characters do to them. Sequences are in screen-seq.c.
 *
 * Nearly all output is lines that are appended and never changed, so that is what is made fast:
 * runs of printable characters go into their row at once, and where a piece of text has more lines
 * than are live the ones that would be pushed out anyway never become rows (pass_lines()).
 */
#include "screen.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "screen-internal.h"
#include "utf8.h"
#include "width.h"

/* From how many bytes on it pays to look for lines that need not become rows. */
#define PASS_BYTES_MIN 4096

/* ---- rows -------------------------------------------------------------------------------- */

void screen_init(struct screen *s, struct span_sink out)
{
    memset(s, 0, sizeof(*s));
    s->out = out;
    s->n_rows = 1;
}

void screen_done(struct screen *s)
{
    for (size_t i = 0; i < SCREEN_ROWS_MAX; i++)
        row_done(&s->rows[i]);
}

struct row *screen_row(struct screen *s, size_t y)
{
    return &s->rows[(s->first + y) % SCREEN_ROWS_MAX];
}

void screen_update(struct screen *s, size_t cost_before, const struct row *row, int r)
{
    s->cost += row_cost(row) - cost_before;
    if (r < 0)
        s->error = r;
}

static void reset_row(struct screen *s, size_t y, uint64_t begin)
{
    struct row *row = screen_row(s, y);

    s->cost -= row_cost(row);
    row_reset(row, begin);
}

/* Hands the oldest live row on. There is another one below it. */
static void push_out_first(struct screen *s)
{
    row_emit(screen_row(s, 0), screen_row(s, 1)->begin, /* newline= */ 1, &s->out);
    reset_row(s, 0, 0);
    s->first = (s->first + 1) % SCREEN_ROWS_MAX;
    s->n_rows--;
    s->y -= MIN(s->y, (size_t)1);
    if (s->saved_y == 0)
        s->saved_x = 0;
    else
        s->saved_y--;
}

void screen_add_row(struct screen *s, uint64_t begin)
{
    if (s->n_rows == SCREEN_ROWS_MAX)
        push_out_first(s);
    s->n_rows++;
    screen_row(s, s->n_rows - 1)->begin = begin; /* else it is as reset_row() left it */
}

void screen_drop_below(struct screen *s, size_t y)
{
    while (s->n_rows > y + 1)
        reset_row(s, --s->n_rows, 0);
}

void screen_flush(struct screen *s, uint64_t end)
{
    size_t n = s->n_rows;

    while (n > 0 && !screen_row(s, n - 1)->ended && row_is_empty(screen_row(s, n - 1)))
        n--;
    for (size_t i = 0; i < n; i++) {
        const struct row *row = screen_row(s, i);
        uint64_t row_end = i + 1 < s->n_rows ? screen_row(s, i + 1)->begin : end;

        row_emit(row, row_end, row->ended || i + 1 < n, &s->out);
    }
    screen_drop_below(s, 0);
    reset_row(s, 0, end);
    s->y = s->x = 0;
    s->saved_y = s->saved_x = 0;
}

void screen_new_page(struct screen *s, uint64_t end)
{
    struct row *last = screen_row(s, s->n_rows - 1);

    last->ended |= !row_is_empty(last);
    screen_flush(s, end);
}

void screen_bound_cost(struct screen *s, uint64_t end)
{
    while (s->cost > SCREEN_COST_MAX && s->y > 0)
        push_out_first(s);
    if (s->cost > SCREEN_COST_MAX && s->n_rows > 1)
        screen_new_page(s, end);
}

/* Lets go of the row with the cursor, which has become too long. */
static void release_row(struct screen *s, uint64_t src)
{
    struct row *row;
    int ended;

    while (s->y > 0)
        push_out_first(s);
    row = screen_row(s, 0);
    ended = row->ended;
    row_emit(row, s->n_rows > 1 ? screen_row(s, 1)->begin : src, /* newline= */ 0, &s->out);
    reset_row(s, 0, s->n_rows > 1 ? screen_row(s, 1)->begin : src);
    row->ended = ended;
    s->x = 0;
}

/* ---- characters -------------------------------------------------------------------------- */

/* Is the cursor at or beyond the end of the last line, where text can be appended? (Offsets along a
 * line must not go beyond the line below, so other rows are not appended to.) */
static int is_at_end(struct screen *s)
{
    return s->y == s->n_rows - 1 && row_ends_before(screen_row(s, s->y), s->x);
}

/* How much may be appended at the cursor. Columns and bytes are counted alike, so that one number
 * tells it. */
static size_t room_at_end(struct screen *s)
{
    const struct row *row = screen_row(s, s->y);
    size_t room = MIN(ROW_COLUMNS_MAX - row->columns, ROW_BYTES_MAX - row->text.len);

    return room - MIN(room, s->x - row->columns); /* blanks come first */
}

static void append(struct screen *s, const struct span *text, size_t columns)
{
    struct row *row = screen_row(s, s->y);
    size_t cost = row_cost(row);

    screen_update(s, cost, row, row_append(row, s->x, text, columns));
    s->x += columns;
}

/* Is the glyph to be appended? A combining character needs one before it. */
static int is_appended(struct screen *s, const struct glyph *g)
{
    return is_at_end(s) && (g->width > 0 || screen_row(s, s->y)->columns == s->x);
}

/* Would the row with the cursor become too long with this character? */
static int is_too_long_with(struct screen *s, const struct glyph *g)
{
    if (is_at_end(s))
        return room_at_end(s) < MAX(g->width, g->span.len);
    return MAX(screen_row(s, s->y)->columns, s->x + g->width) > ROW_COLUMNS_MAX;
}

static void put_glyph(struct screen *s, const struct glyph *g)
{
    if (is_too_long_with(s, g))
        release_row(s, g->span.src);
    if (is_appended(s, g)) {
        append(s, &g->span, g->width);
    } else {
        struct row *row = screen_row(s, s->y);
        size_t cost = row_cost(row);

        screen_update(s, cost, row, row_write(row, s->x, g));
        s->x += g->width;
    }
    screen_bound_cost(s, span_src_at(&g->span, g->span.len));
}

/* May n columns be written at the cursor, one after the other, without a bound being reached? */
static int has_room_for_cells(struct screen *s, size_t n)
{
    size_t columns = MAX(screen_row(s, s->y)->columns, s->x + n);

    return columns <= ROW_COLUMNS_MAX && s->cost + row_cost_of_cells(columns) <= SCREEN_COST_MAX;
}

/* Writes a run of printable ASCII and NUL, one column each. */
static void put_ascii(struct screen *s, const struct span *text)
{
    for (size_t i = 0; i < text->len && !s->error;) {
        struct row *row = screen_row(s, s->y);
        struct span part = span_part(text, i, text->len);

        if (is_at_end(s) && room_at_end(s) > 0) {
            part.len = MIN(part.len, room_at_end(s));
            append(s, &part, part.len);
            screen_bound_cost(s, span_src_at(&part, part.len));
        } else if (!is_at_end(s) && has_room_for_cells(s, part.len)) {
            size_t cost = row_cost(row);

            screen_update(s, cost, row, row_write_ascii(row, s->x, &part));
            s->x += part.len;
        } else {
            part.len = 1;
            put_glyph(
                s, &(struct glyph){.span = part, .code = (unsigned char)part.text[0], .width = 1});
        }
        i += part.len;
    }
}

static void put_tab(struct screen *s, const struct span *tab)
{
    size_t columns = 8 - s->x % 8;

    if (s->x >= screen_row(s, s->y)->columns)
        put_glyph(s, &(struct glyph){.span = *tab, .code = '\t', .width = columns});
    else
        s->x += columns;
}

void screen_bound_x(struct screen *s)
{
    s->x = MIN(s->x, MAX(screen_row(s, s->y)->columns, (size_t)SCREEN_MOVE_MAX));
}

void screen_down(struct screen *s, uint64_t end)
{
    if (s->y + 1 == s->n_rows)
        screen_add_row(s, end);
    s->y++;
    screen_bound_x(s);
}

void screen_line_feed(struct screen *s, uint64_t end)
{
    screen_row(s, s->y)->ended = 1;
    screen_down(s, end);
    s->x = 0;
}

static void put_control(struct screen *s, const struct span *control)
{
    uint64_t end = span_src_at(control, 1);

    switch (control->text[0]) {
    case '\n':
        screen_line_feed(s, end);
        break;
    case '\r':
        s->x = 0;
        break;
    case '\b':
        s->x -= MIN(s->x, (size_t)1);
        break;
    case '\t':
        put_tab(s, control);
        break;
    case '\v':
    case '\f':
        screen_down(s, end);
        break;
    default:
        break;
    }
}

static struct glyph get_glyph(const struct span *text, size_t i)
{
    struct glyph g;
    size_t len = utf8_get(text->text + i, &g.code);

    g.span = span_part(text, i, i + len);
    g.width = (size_t)width_of(g.code);
    return g;
}

static int is_c1(uint32_t code)
{
    return code >= 0x80 && code < 0xa0;
}

/* With the cursor at the end of the last row: appends the characters beyond ASCII from text[i] on,
 * as far as the row has room. Returns how many bytes that were. */
static size_t append_wide(struct screen *s, const struct span *text, size_t i)
{
    size_t room = room_at_end(s);
    size_t end = i, columns = 0;
    struct span run;

    while (end < text->len && (unsigned char)text->text[end] >= 0x80) {
        struct glyph g = get_glyph(text, end);
        size_t used = MAX(columns, end - i);

        if (is_c1(g.code) || room - used < MAX(g.width, g.span.len) ||
            (end == i && !is_appended(s, &g)))
            break;
        columns += g.width;
        end += g.span.len;
    }
    run = span_part(text, i, end);
    if (run.len > 0) {
        append(s, &run, columns);
        screen_bound_cost(s, span_src_at(text, end));
    }
    return run.len;
}

/* Writes the character beyond ASCII at text[i], or several. Returns how many bytes that were. */
static size_t put_wide(struct screen *s, const struct span *text, size_t i)
{
    struct glyph g;
    size_t n = is_at_end(s) ? append_wide(s, text, i) : 0;

    if (n > 0)
        return n;
    g = get_glyph(text, i);
    if (!is_c1(g.code))
        put_glyph(s, &g);
    return g.span.len;
}

static int is_printable(char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\0';
}

/* ---- text -------------------------------------------------------------------------------- */

/* Deals with the character at text[i], or a run of them. Returns how many bytes that were. */
static size_t put_next(struct screen *s, const struct span *text, size_t i)
{
    size_t n = i;
    struct span run;

    if ((unsigned char)text->text[i] >= 0x80)
        return put_wide(s, text, i);
    while (n < text->len && is_printable(text->text[n]))
        n++;
    run = span_part(text, i, MAX(n, i + 1));
    if (n > i)
        put_ascii(s, &run);
    else
        put_control(s, &run);
    return run.len;
}

/* Where text from i on stops being lines that can be taken over as they are. */
static size_t plain_prefix(const struct span *text, size_t i)
{
    const unsigned char *s = (const unsigned char *)text->text;

    for (; i < text->len; i++) {
        if (is_printable((char)s[i]) || s[i] == '\n' || s[i] == '\t')
            continue;
        if (s[i] < 0x80 || (s[i] == 0xc2 && s[i + 1] < 0xa0)) /* a control character */
            break;
    }
    return i;
}

/* Where the last SCREEN_ROWS_MAX lines of a text begin; 0 when it has no more than these. */
static size_t last_lines(const char *text, size_t len)
{
    for (size_t n = 0; n <= SCREEN_ROWS_MAX; n++) {
        const char *lf = memrchr(text, '\n', len);

        if (!lf)
            return 0;
        len = (size_t)(lf - text);
    }
    return len + 1;
}

/* The cursor is at the end of the last row. When the text from i on has more lines than can be
 * live, hands on those that would be pushed out in the end, after the rows that are live now.
 * Returns where the rest begins; *ret_looked_at is how far the text was looked at. */
static size_t pass_lines(struct screen *s, const struct span *text, size_t i, size_t *ret_looked_at)
{
    size_t plain = plain_prefix(text, i);
    size_t rest = i + last_lines(text->text + i, plain - i);
    const char *lf = memchr(text->text + i, '\n', rest - i);
    struct span passed;

    *ret_looked_at = plain;
    if (!lf)
        return i;
    while (text->text + i <= lf) /* this line completes the last row */
        i += put_next(s, text, i);
    screen_flush(s, span_src_at(text, i));
    passed = span_part(text, i, rest);
    span_sink_add(&s->out, &passed);
    screen_row(s, 0)->begin = span_src_at(text, rest);
    return rest;
}

void screen_text(struct screen *s, const struct span *text)
{
    size_t looked_at = 0;

    for (size_t i = 0; i < text->len && !s->error;) {
        if (i >= looked_at && text->len - i >= PASS_BYTES_MIN && span_is_verbatim(text) &&
            is_at_end(s))
            i = pass_lines(s, text, i, &looked_at);
        i += put_next(s, text, i);
    }
}
