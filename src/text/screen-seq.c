/* Escape sequences that move the cursor or erase, as a table. */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "screen-internal.h"

#define TO_THE_END SIZE_MAX

static size_t param(const struct vt_csi *seq, size_t i)
{
    return i < seq->n_params ? seq->params[i] : 0;
}

/* Counts and positions: missing and 0 mean 1. */
static size_t count(const struct vt_csi *seq, size_t i)
{
    return MAX(param(seq, i), (size_t)1);
}

/* ---- moves ------------------------------------------------------------------------------- */

static void go_to_row(struct screen *s, size_t y, uint64_t end)
{
    y = MIN(y, MAX(s->n_rows, (size_t)SCREEN_MOVE_ROWS_MAX) - 1);
    while (s->n_rows <= y)
        screen_add_row(s, end);
    s->y = y;
    screen_bound_x(s);
}

static void go_to_column(struct screen *s, size_t x)
{
    s->x = x;
    screen_bound_x(s);
}

static void cursor_up(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    s->y -= MIN(s->y, count(seq, 0));
    screen_bound_x(s);
}

static void cursor_down(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    s->y = MIN(s->y + count(seq, 0), s->n_rows - 1);
    screen_bound_x(s);
}

static void cursor_right(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    go_to_column(s, s->x + count(seq, 0));
}

static void cursor_left(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    s->x -= MIN(s->x, count(seq, 0));
}

static void next_line(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    cursor_down(s, seq, end);
    s->x = 0;
}

static void previous_line(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    cursor_up(s, seq, end);
    s->x = 0;
}

static void to_column(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    go_to_column(s, count(seq, 0) - 1);
}

static void to_row(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    go_to_row(s, count(seq, 0) - 1, end);
}

static void to_position(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    go_to_row(s, count(seq, 0) - 1, end);
    go_to_column(s, count(seq, 1) - 1);
}

static void save_cursor(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    s->saved_y = s->y;
    s->saved_x = s->x;
}

static void restore_cursor(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    s->y = MIN(s->saved_y, s->n_rows - 1);
    go_to_column(s, s->saved_x);
}

/* ---- erasing ----------------------------------------------------------------------------- */

static void erase_in_row(struct screen *s, size_t y, size_t from, size_t to)
{
    struct row *row = screen_row(s, y);
    size_t cost = row_cost(row);

    screen_update(s, cost, row, row_erase(row, from, to));
}

static void erase_row(struct screen *s, size_t y)
{
    erase_in_row(s, y, 0, TO_THE_END);
    screen_row(s, y)->ended = 0;
}

static void erase_line(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    size_t kind = param(seq, 0);

    if (kind <= 2)
        erase_in_row(s, s->y, kind == 0 ? s->x : 0, kind == 1 ? s->x + 1 : TO_THE_END);
}

/* Rows that are erased at the end of the text are no lines of it. */
static void erase_display(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    size_t kind = param(seq, 0);

    if (kind > 2) /* 3: what has scrolled away */
        return;
    erase_line(s, seq, end);
    for (size_t y = 0; kind != 0 && y < s->y; y++)
        erase_row(s, y);
    if (kind != 1) {
        screen_drop_below(s, s->y);
        screen_row(s, s->y)->ended = 0;
    }
}

static void erase_characters(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    erase_in_row(s, s->y, s->x, s->x + count(seq, 0));
}

static void delete_characters(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    struct row *row = screen_row(s, s->y);
    size_t cost = row_cost(row);

    screen_update(s, cost, row, row_delete(row, s->x, count(seq, 0)));
}

static void insert_blanks(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    struct row *row = screen_row(s, s->y);
    size_t cost = row_cost(row);

    screen_update(s, cost, row, row_insert(row, s->x, MIN(count(seq, 0), (size_t)SCREEN_MOVE_MAX)));
}

static void reset(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    screen_drop_below(s, 0);
    erase_row(s, 0);
    s->y = s->x = 0;
}

/* ---- other ------------------------------------------------------------------------------- */

static void set_private_mode(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    for (size_t i = 0; i < seq->n_params; i++)
        if (seq->params[i] == 47 || seq->params[i] == 1047 || seq->params[i] == 1049) {
            screen_new_page(s, end);
            return;
        }
}

static void index_down(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    screen_down(s, end);
}

static void index_next_line(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    screen_line_feed(s, end);
}

typedef void (*action)(struct screen *s, const struct vt_csi *seq, uint64_t end);

static const struct {
    char mark, final;
    action act;
} csi_actions[] = {
    {0, '@', insert_blanks},      {0, 'A', cursor_up},
    {0, 'B', cursor_down},        {0, 'C', cursor_right},
    {0, 'D', cursor_left},        {0, 'E', next_line},
    {0, 'F', previous_line},      {0, 'G', to_column},
    {0, 'H', to_position},        {0, 'J', erase_display},
    {0, 'K', erase_line},         {0, 'P', delete_characters},
    {0, 'X', erase_characters},   {0, '`', to_column},
    {0, 'a', cursor_right},       {0, 'd', to_row},
    {0, 'e', cursor_down},        {0, 'f', to_position},
    {0, 's', save_cursor},        {0, 'u', restore_cursor},
    {'?', 'h', set_private_mode}, {'?', 'l', set_private_mode},
};

/* These take no parameters. */
static const struct {
    char final;
    action act;
} esc_actions[] = {
    {'7', save_cursor},     {'8', restore_cursor}, {'D', index_down},
    {'E', index_next_line}, {'M', cursor_up},      {'c', reset},
};

static void run_action(struct screen *s, action act, const struct vt_csi *seq, uint64_t end)
{
    if (s->error)
        return;
    act(s, seq, end);
    screen_bound_cost(s, end);
}

void screen_csi(struct screen *s, const struct vt_csi *seq, uint64_t end)
{
    for (size_t i = 0; i < ARRAY_SIZE(csi_actions); i++)
        if (csi_actions[i].mark == seq->mark && csi_actions[i].final == seq->final) {
            run_action(s, csi_actions[i].act, seq, end);
            return;
        }
}

void screen_esc(struct screen *s, char final, uint64_t end)
{
    static const struct vt_csi no_params;

    for (size_t i = 0; i < ARRAY_SIZE(esc_actions); i++)
        if (esc_actions[i].final == final) {
            run_action(s, esc_actions[i].act, &no_params, end);
            return;
        }
}
