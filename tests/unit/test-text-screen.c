/*
 * Rendering: what each control character and sequence does; a second screen, slow and simple, that
 * must agree about random output; and what happens at the bounds. What the scenarios ask for by
 * name is in test-text-scenarios.c.
 */
#include "test-text-common.h"
#include "text/row.h"
#include "text/screen.h"
#include "text/vt.h"

#define CSI "\033["

struct example {
    const char *in, *out;
};

static void check_examples(const struct example *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_clean(e[i].in, e[i].out);
}

static void test_control_characters(void **state)
{
    static const struct example examples[] = {
        {"", ""},
        {"a", "a"},
        {"a\n", "a\n"},
        {"a\n\n\nb", "a\n\n\nb"},
        {"\n\n", "\n\n"},
        {"a\r\nb\r\n", "a\nb\n"},
        {"a\r\r\nb", "a\nb"},
        {"abc\rX", "Xbc"},
        {"a  \n", "a  \n"},
        {"abc\b\bX\n", "aXc\n"},
        {"\b\bx\n", "x\n"},
        {"abc\b \b\n", "ab \n"},
        {"N\bNA\bAM\bME\bE\n", "NAME\n"},
        {"a\tb\n", "a\tb\n"},
        {"\tx\n", "\tx\n"},
        {"a\t\n", "a\t\n"},
        {"a\tb\rX\n", "X\tb\n"},
        {"a\tb\rXYZ\n", "XYZ     b\n"},        /* half a TAB is blanks */
        {"abcdefghij\r\tX\n", "abcdefghXj\n"}, /* over text a TAB only moves */
        {"abc\r\t\tX\n", "abc     \tX\n"},
        {"abc\r\tX\n", "abc     X\n"},
        {"a\vb\fc\n", "a\n b\n  c\n"},
        {"a\a\x01\x7f"
         "b\n",
         "ab\n"},
        {"a\xc2\x9b"
         "31mb\xc2\x85"
         "c\n",
         "a31mbc\n"}, /* C1 controls vanish, what follows stays */
        {"e\xcc\x81\bX\n", "X\n"},
        {"a" CSI "300C\xcc\x81\n", "a\n"}, /* nothing to combine with */
        {"ab\re\xcc\x81\n", "e\xcc\x81"
                            "b\n"},
        {"你好\rX\n", "X 好\n"},
        {"你好\b\bX\n", "你X\n"},
        {"你好\bX\n", "你 X\n"},
        {"你好世界\rabc\n", "abc 世界\n"},
        {"abcd\r你\n", "你cd\n"},
        {"abcd\ra你\n", "a你d\n"},
    };

    check_examples(examples, ARRAY_SIZE(examples));
}

static void test_nul_is_kept(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN};
    struct text_result r = show(&o, "a\0b\r\0\n", 6);

    assert_text(&r, "\0\0b\n", 4);
    text_result_done(&r);
}

static void test_moves(void **state)
{
    static const struct example examples[] = {
        {"ab\ncd\n" CSI "2AX\n", "Xb\ncd\n"},
        {"ab\ncd\n" CSI "AX\n", "ab\nXd\n"},
        {"ab\ncd\n" CSI "99AX\n", "Xb\ncd\n"},
        {"ab\ncd\n" CSI "2A" CSI "1BX", "ab\nXd\n"},
        {"ab\ncd" CSI "99BX\n", "ab\ncdX\n"}, /* not below the last line */
        {"ab\ncd" CSI "5EX\n", "ab\nXd\n"},
        {"ab\ncd\n" CSI "2FX\n", "Xb\ncd\n"},
        {"ab" CSI "3CX\n", "ab   X\n"},
        {"ab" CSI "0CX\n", "ab X\n"},
        {"abcd" CSI "2DX\n", "abXd\n"},
        {"abcd" CSI "99DX\n", "Xbcd\n"},
        {"abcd" CSI "2GX\n", "aXcd\n"},
        {"abcd" CSI "GX\n", "Xbcd\n"},
        {"abcd" CSI "3`X\n", "abXd\n"},
        {"ab" CSI "2aX\n", "ab  X\n"},
        {"ab\ncd\nef" CSI "1;2HX\n", "aX\ncd\nef"},
        {"ab\ncd\nef" CSI "HX\n", "Xb\ncd\nef"},
        {"ab\ncd\nef" CSI "2fX\n", "ab\nXd\nef"},
        {"ab\ncd\nef" CSI "2dX\n", "ab\ncdX\nef"},
        {CSI "3;3HX", "\n\n  X"}, /* lines that are not there are made */
        {"ab\ncd\n" CSI "1;1H" CSI "1eX\n", "ab\nXd\n"},
        {"ab" CSI "sXY" CSI "uZ\n", "abZY\n"},
        {"ab\0337XY\0338Z\n", "abZY\n"},
        {"ab\ncd\033MX\n", "abX\ncd"},
        {"ab\033DX\n", "ab\n  X\n"},
        {"ab\033EX\n", "ab\nX\n"},
        {"ab\ncd\n" CSI "2A" CSI "2Cxx\n", "abxx\ncd\n"},
        {"a\n\n\n" CSI "3Ab\nx\ny\n", "b\nx\ny\n"},
    };

    check_examples(examples, ARRAY_SIZE(examples));
}

static void test_erasing(void **state)
{
    static const struct example examples[] = {
        {"abcd\r" CSI "Kx\n", "x\n"},
        {"abcd" CSI "2D" CSI "K\n", "ab\n"},
        {"abcd" CSI "2D" CSI "1KX\n", "  Xd\n"},
        {"abcd" CSI "2K\n", "\n"},
        {"abcd" CSI "2KX\n", "    X\n"},
        {"abcd" CSI "3K\n", "abcd\n"},
        {"a\nb\nc" CSI "2A\r" CSI "JX\n", "X\n"},
        {"a\nb\nc" CSI "2A\r" CSI "J", ""},
        {"a\nb\nc" CSI "1JX\n", "\n\n X\n"},
        {"a\nb\nc\n" CSI "2J" CSI "Hnew\n", "new\n"},
        {"a\nb\nc\n" CSI "H" CSI "2Jnew\n", "new\n"},
        {"a\nb" CSI "3J\n", "a\nb\n"},
        {"a\nb\033cnew\n", "new\n"},
        {"abcd" CSI "3D" CSI "2XZ\n", "aZ d\n"},
        {"abcd" CSI "2D" CSI "99X\n", "ab\n"},
        {"abcd" CSI "3D" CSI "2P\n", "ad\n"},
        {"abcd" CSI "3D" CSI "99P\n", "a\n"},
        {"abcd" CSI "3D" CSI "2@Z\n", "aZ bcd\n"},
        {"abcd" CSI "2@Z\n", "abcdZ\n"},
        {"你好" CSI "3D" CSI "XZ\n", " Z好\n"},
        {"你好" CSI "3D" CSI "P\n", " 好\n"},
        {"你好" CSI "3D" CSI "@\n", "   好\n"},
        {"ab   " CSI "2D" CSI "K\n", "ab \n"}, /* written spaces stay */
        {"ab" CSI "5CX\b" CSI "K\n", "ab\n"},  /* others do not */
        {"ab" CSI "5CX\b" CSI "KY\n", "ab     Y\n"},
    };

    check_examples(examples, ARRAY_SIZE(examples));
}

static void test_sequences_without_effect(void **state)
{
    static const struct example examples[] = {
        {"a" CSI "31mb" CSI "0m" CSI "mc\n", "abc\n"},
        {"a" CSI "38;2;1;2;3mb" CSI "4:3mc\n", "abc\n"},
        {"a" CSI "?25lb" CSI "?2004hc" CSI ">4;2md\n", "abcd\n"},
        {"a" CSI "?2Kb" CSI ">Ac\n", "abc\n"}, /* marked ones are not the plain ones */
        {"a" CSI "2 qb" CSI "!pc\n", "abc\n"},
        {"ab" CSI "2 Kc\033(Dd\n", "abcd\n"}, /* nor are those with intermediate bytes */
        {"a\033([31mb\n", "a31mb\n"},
        {"a\033(Bb\033)0c\033#8d\n", "abcd\n"},
        {"a\033=b\033>c\n", "abc\n"},
        {"a" CSI "5Sb" CSI "2Tc" CSI "6nd\n", "abcd\n"},
        {"a\033]0;title\ab\033]2;t\033\\c\n", "abc\n"},
        {"a\033]8;;http://x/\033\\link\033]8;;\033\\b\n", "alinkb\n"},
        {"a\033]0;"
         "\xe6\xa0\x87\xe9\xa2\x98\ab\n",
         "ab\n"},
        {"a\033P+q544e\033\\b\033_Gf=24;AAAA\033\\c\033^pm\033\\d\033Xsos\033\\e\n", "abcde\n"},
        {"a\033Pq#0\n#1\n\033\\b\n", "ab\n"}, /* a DCS may have lines */
    };

    check_examples(examples, ARRAY_SIZE(examples));
}

static void test_broken_sequences(void **state)
{
    static const struct example examples[] = {
        {"a\033", "a"},
        {"a" CSI, "a"},
        {"a" CSI "12;3", "a"},
        {"a\033]0;never ends", "a"},
        {"a\033\nb\n", "a\nb\n"}, /* LF ends a sequence and counts */
        {"a" CSI "3\nb\n", "a\nb\n"},
        {"a\033]0;title\nb\n", "a\nb\n"},
        {"a\033_x\nb\n", "a\nb\n"},
        {"a" CSI "3"
         "\x18"
         "b\n",
         "ab\n"},
        {"a\033]0;t\x1a"
         "b\n",
         "ab\n"},
        {"a" CSI "3" CSI "31mb\n", "ab\n"},
        {"a" CSI "3你\n", "a你\n"},
        {"wxyz" CSI "2\bDA\n", "wAyz\n"}, /* a control is obeyed, and the sequence goes on */
    };

    check_examples(examples, ARRAY_SIZE(examples));
}

static void add_repeated(struct buf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_str(b, s);
}

/* Whole, byte by byte and in random pieces the same, as everywhere here. */
static struct text_result show_clean(const struct buf *in)
{
    struct text_options o = {.render = TEXT_CLEAN};

    assert_int_equal(buf_error(in), 0);
    return show(&o, in->data, in->len);
}

static size_t count_of(const struct text_result *r, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < r->len; i++)
        n += r->text[i] == c;
    return n;
}

static void test_sequence_of_any_length_ends(void **state)
{
    static const struct {
        const char *begin;
        size_t max;
    } kinds[] = {
        {CSI, VT_SEQUENCE_MAX},
        {"\033]", VT_STRING_MAX},
        {"\033P", VT_STRING_MAX},
        {"\033_", VT_STRING_MAX},
    };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        auto_buf struct buf in = {0};
        struct text_options o = {.render = TEXT_PLAIN};
        struct text_result r;

        buf_add_str(&in, kinds[i].begin);
        add_repeated(&in, "0", kinds[i].max);
        buf_add_str(&in, "seen");
        r = show_pieces(&o, in.data, in.len, 1000, 1);
        assert_text(&r, "seen", 4);
        text_result_done(&r);
    }
}

static void test_many_parameters(void **state)
{
    auto_buf struct buf in = {0};
    struct text_result r;

    buf_add_str(&in, "abcd" CSI "2");
    add_repeated(&in, ";9", 100);
    buf_add_str(&in, "DX" CSI);
    add_repeated(&in, ";", 200);
    buf_add_str(&in, "mY\n");
    r = show_clean(&in);
    assert_text(&r, "abXY\n", 5);
    text_result_done(&r);
}

static void test_plain_keeps_all_but_sequences(void **state)
{
    static const char in[] =
        "a\r\0337\033[31mb\b\tc\033[0m\a\v\n\033]0;t\a\x7f\xc2\x9bz\033[2Kq\033[3\r1m.";

    assert_shown(TEXT_PLAIN, in, strlen(in), "a\rb\b\tc\a\v\n\x7f\xc2\x9bzq\r.");
    assert_shown(TEXT_RAW, in, strlen(in), in);
}

/* A full-screen program: its last picture stays, below what was there before. */
static void test_alternate_screen_is_a_new_page(void **state)
{
    assert_clean("before" CSI "?1049h" CSI "2J" CSI "Hone\ntwo" CSI "HONE" CSI "?1049lafter\n",
                 "before\nONE\ntwo\nafter\n");
    assert_clean("a\n" CSI "?1049h" CSI "HX\n", "a\nX\n");
    assert_clean("a\n" CSI "?1049h" CSI "?1049l"
                 "b\n",
                 "a\nb\n");
    assert_clean("a\n" CSI "?25;47hb\n", "a\nb\n");
}

/* ---- a second screen ---------------------------------------------------------------------- */

/* Cells only, no ring, no bounds, no offsets. */
enum { MODEL_ROWS = 256, MODEL_COLUMNS = 1024, MODEL_REST = 0x110000, MODEL_BLANK };

struct model_row {
    uint32_t cells[MODEL_COLUMNS][2]; /* a character and one mark */
    size_t n;
    int ended;
};

struct model {
    struct model_row rows[MODEL_ROWS];
    size_t n, y, x, saved_y, saved_x;
};

static void model_blank(struct model_row *row, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        row->cells[i][0] = MODEL_BLANK;
        row->cells[i][1] = 0;
    }
}

static void model_split(struct model_row *row, size_t column)
{
    size_t from = column;

    if (column >= row->n || row->cells[column][0] != MODEL_REST)
        return;
    while (row->cells[from][0] == MODEL_REST)
        from--;
    while (column < row->n && row->cells[column][0] == MODEL_REST)
        column++;
    model_blank(row, from, column);
}

static void model_trim(struct model_row *row)
{
    while (row->n > 0 && row->cells[row->n - 1][0] == MODEL_BLANK)
        row->n--;
}

static void model_write(struct model *m, uint32_t code, size_t width, uint32_t mark)
{
    struct model_row *row = &m->rows[m->y];

    if (m->x + width > row->n) {
        model_blank(row, row->n, m->x + width);
        row->n = m->x + width;
    }
    model_split(row, m->x);
    model_split(row, m->x + width);
    for (size_t i = 0; i < width; i++) {
        row->cells[m->x + i][0] = i ? MODEL_REST : code;
        row->cells[m->x + i][1] = i ? 0 : mark;
    }
    m->x += width;
}

static void model_erase(struct model_row *row, size_t from, size_t to)
{
    to = MIN(to, row->n);
    if (from >= to)
        return;
    model_split(row, from);
    model_split(row, to);
    model_blank(row, from, to);
    model_trim(row);
}

static void model_down(struct model *m)
{
    if (++m->y == m->n)
        memset(&m->rows[m->n++], 0, sizeof(m->rows[0]));
}

static void model_control(struct model *m, char c)
{
    switch (c) {
    case '\n':
        m->rows[m->y].ended = 1;
        model_down(m);
        m->x = 0;
        break;
    case '\r':
        m->x = 0;
        break;
    case '\b':
        m->x -= m->x > 0;
        break;
    case '\v':
        model_down(m);
        break;
    case '\t':
        if (m->x >= m->rows[m->y].n)
            model_write(m, '\t', 8 - m->x % 8, 0);
        else
            m->x += 8 - m->x % 8;
        break;
    default:
        break;
    }
}

static void model_shift(struct model *m, size_t n, int insert)
{
    struct model_row *row = &m->rows[m->y];
    size_t rest;

    if (m->x >= row->n)
        return;
    if (!insert)
        n = MIN(n, row->n - m->x);
    model_split(row, m->x);
    if (!insert)
        model_split(row, m->x + n);
    rest = row->n - m->x - (insert ? 0 : n);
    memmove(row->cells[m->x + (insert ? n : 0)], row->cells[m->x + (insert ? 0 : n)],
            rest * sizeof(row->cells[0]));
    if (insert) {
        row->n += n;
        model_blank(row, m->x, m->x + n);
    } else {
        row->n -= n;
        model_trim(row);
    }
}

static void model_erase_display(struct model *m, size_t kind)
{
    struct model_row *row = &m->rows[m->y];

    model_erase(row, kind == 0 ? m->x : 0, kind == 1 ? m->x + 1 : SIZE_MAX);
    for (size_t y = 0; kind > 0 && y < m->y; y++)
        m->rows[y].n = 0, m->rows[y].ended = 0;
    if (kind != 1) {
        m->n = m->y + 1;
        row->ended = 0;
    }
}

static void model_csi(struct model *m, char final, size_t n)
{
    struct model_row *row = &m->rows[m->y];
    size_t count = MAX(n, (size_t)1);

    switch (final) {
    case 'A':
        m->y -= MIN(m->y, count);
        break;
    case 'B':
        m->y = MIN(m->y + count, m->n - 1);
        break;
    case 'C':
        m->x += count;
        break;
    case 'D':
        m->x -= MIN(m->x, count);
        break;
    case 'G':
        m->x = count - 1;
        break;
    case 'H':
        while (m->n < count)
            memset(&m->rows[m->n++], 0, sizeof(m->rows[0]));
        m->y = count - 1;
        m->x = 0;
        break;
    case 'J':
        model_erase_display(m, n);
        break;
    case 'K':
        model_erase(row, n == 0 ? m->x : 0, n == 1 ? m->x + 1 : SIZE_MAX);
        break;
    case 'X':
        model_erase(row, m->x, m->x + count);
        break;
    case 'P':
        model_shift(m, count, 0);
        break;
    case '@':
        model_shift(m, count, 1);
        break;
    case 's':
        m->saved_y = m->y;
        m->saved_x = m->x;
        break;
    case 'u':
        m->y = MIN(m->saved_y, m->n - 1);
        m->x = m->saved_x;
        break;
    default:
        break;
    }
}

static void model_show(const struct model *m, struct buf *out)
{
    size_t n = m->n;

    while (n > 0 && !m->rows[n - 1].ended && m->rows[n - 1].n == 0)
        n--;
    for (size_t y = 0; y < n; y++) {
        const struct model_row *row = &m->rows[y];
        size_t columns = row->n;
        char s[UTF8_LEN_MAX];

        while (columns > 0 && row->cells[columns - 1][0] == MODEL_BLANK)
            columns--;
        for (size_t x = 0; x < columns; x++) {
            if (row->cells[x][0] == MODEL_REST)
                continue;
            buf_add(out, s, utf8_put(row->cells[x][0] == MODEL_BLANK ? ' ' : row->cells[x][0], s));
            if (row->cells[x][1])
                buf_add(out, s, utf8_put(row->cells[x][1], s));
        }
        if (row->ended || y + 1 < n)
            buf_add_char(out, '\n');
    }
}

/* One random step: adds it to the input and does it on the model. */
static void random_step(uint32_t *seed, struct model *m, struct buf *in)
{
    static const char finals[] = "AAABCDGHJKKXP@sum";
    static const char controls[] = "\n\n\n\r\r\b\t\v\a";
    static const struct {
        const char *s;
        uint32_t code, mark;
        size_t width;
    } others[] = {
        {"你", 0x4f60, 0, 2},
        {"好", 0x597d, 0, 2},
        {"é", 0xe9, 0, 1},
        {"e\xcc\x81", 'e', 0x301, 1},
        {"你\xcc\x81", 0x4f60, 0x301, 2},
        {"😀", 0x1f600, 0, 2},
    };
    size_t kind = random_below(seed, 10);

    if (kind < 4) {
        for (size_t n = 1 + random_below(seed, 12); n > 0; n--) {
            char c = (char)('a' + random_below(seed, 26));

            buf_add_char(in, c);
            model_write(m, (unsigned char)c, 1, 0);
        }
    } else if (kind < 5) {
        size_t i = random_below(seed, ARRAY_SIZE(others));

        buf_add_str(in, others[i].s);
        model_write(m, others[i].code, others[i].width, others[i].mark);
    } else if (kind < 8) {
        char c = controls[random_below(seed, sizeof(controls) - 1)];

        buf_add_char(in, c);
        model_control(m, c);
    } else {
        char final = finals[random_below(seed, sizeof(finals) - 1)];
        size_t n = random_below(seed, final == 'J' || final == 'K' ? 3 : 7);

        buf_add_format(in, CSI "%zu%c", n, final);
        model_csi(m, final, n);
    }
}

static void test_random_output_as_the_second_screen(void **state)
{
    static struct model m;

    for (uint32_t round = 1; round <= 2000; round++) {
        uint32_t seed = round * 2654435761u;
        auto_buf struct buf in = {0}, out = {0};
        struct text_options o = {.render = TEXT_CLEAN};
        struct text_result r;

        memset(&m, 0, sizeof(m));
        m.n = 1;
        buf_add(&out, "", 0);
        for (size_t i = random_below(&seed, 60); i > 0; i--)
            random_step(&seed, &m, &in);
        model_show(&m, &out);
        r = show_pieces(&o, in.data, in.len, 20, seed);
        assert_text(&r, out.data, out.len);
        text_result_done(&r);
    }
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* Whole lines in one piece take another way than the same lines byte by byte; show() compares. */
static void test_many_lines_in_any_pieces(void **state)
{
    static const char *const lines[] = {
        "\n",   "y\n",   "some words\n",         "a\tb\n",      "你好\n",
        "  \n", "a\r\n", "\033[31mred\033[0m\n", "e\xcc\x81\n", "a\xc2\x85z\n",
    };

    for (uint32_t round = 1; round <= 20; round++) {
        uint32_t seed = round * 2654435761u;
        size_t kinds = 1 + random_below(&seed, ARRAY_SIZE(lines));
        auto_buf struct buf in = {0};
        struct text_result r;

        for (size_t i = 1000 + random_below(&seed, 3000); i > 0; i--) {
            buf_add_str(&in, lines[random_below(&seed, kinds)]);
            if (random_below(&seed, 500) == 0)
                buf_add_format(&in, "%zu", i);
            if (round > 10 && random_below(&seed, 700) == 0)
                buf_add_format(&in, CSI "%zuAup\r\n", random_below(&seed, 600));
            if (round > 15 && random_below(&seed, 700) == 0)
                buf_add_str(&in, i % 2 ? CSI "s" : CSI "u");
        }
        r = show_clean(&in);
        text_result_done(&r);
    }
}

/* Many lines at once are looked at before they are taken over. */
static void test_controls_among_many_lines(void **state)
{
    static const struct example controls[] = {
        {"a\xc2\x85z\n", "az\n"},
        {"a\x7fz\n", "az\n"},
        {"a\az\n", "az\n"},
        {"a\rz\n", "z\n"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
        auto_buf struct buf in = {0}, out = {0};
        struct text_result r;

        add_repeated(&in, "é\n", 3000);
        add_repeated(&out, "é\n", 3000);
        buf_add_str(&in, controls[i].in);
        buf_add_str(&out, controls[i].out);
        add_repeated(&in, "é\n", 3000);
        add_repeated(&out, "é\n", 3000);
        r = show_clean(&in);
        assert_text(&r, out.data, out.len);
        text_result_done(&r);
    }
}

static void test_lines_pass_unchanged(void **state)
{
    auto_buf struct buf in = {0};
    struct text_result r;

    for (size_t i = 0; i < 5000; i++)
        buf_add_format(&in, "line %zu\t你\n", i);
    r = show_clean(&in);
    assert_text(&r, in.data, in.len);
    assert_int_equal(r.cursor, in.len);
    text_result_done(&r);
}

/* Where nothing is removed, each span begins where the one before it ended. */
static void check_contiguous(void *ctx, const struct span *s)
{
    uint64_t *end = ctx;

    assert_int_equal(s->src, *end);
    *end = span_src_at(s, s->len);
}

static void test_offsets_of_lines_are_contiguous(void **state)
{
    static struct screen screen;
    uint64_t end = 0;

    screen_init(&screen, (struct span_sink){.add = check_contiguous, .ctx = &end});
    for (uint32_t round = 1; round <= 50; round++) {
        uint32_t seed = round * 2654435761u;
        auto_buf struct buf in = {0};
        struct span s = {.src_step = 1, .text_step = 1};

        for (size_t i = random_below(&seed, 6000); i > 0; i--)
            buf_add_char(&in, "\n\nab"[random_below(&seed, 4)]);
        s.text = in.data;
        s.len = in.len;
        s.src = round == 1 ? 0 : end;
        screen_text(&screen, &s);
        screen_flush(&screen, s.src + s.len);
        assert_int_equal(end, s.src + s.len);
    }
    screen_done(&screen);
}

static void test_saved_cursor_that_has_gone(void **state)
{
    auto_buf struct buf in = {0}, out = {0};
    struct text_result r;

    buf_add_str(&in, "first" CSI "s\n");
    buf_add_str(&out, "first\n");
    for (int i = 1; i <= 2000; i++) {
        buf_add_format(&in, "%d\n", i);
        buf_add_format(&out, i == 2000 - SCREEN_ROWS_MAX + 2 ? "X490\n" : "%d\n", i);
    }
    buf_add_str(&in, CSI "uX");
    r = show_clean(&in);
    assert_text(&r, out.data, out.len);
    text_result_done(&r);
}

static void test_newest_rows_can_change(void **state)
{
    auto_buf struct buf in = {0}, out = {0};
    struct text_result r;

    for (int i = 1; i <= 600; i++) {
        buf_add_format(&in, "%d\n", i);
        /* the line after the last one is live, too */
        buf_add_format(&out, i == 600 - SCREEN_ROWS_MAX + 2 ? "X0\n" : "%d\n", i);
    }
    buf_add_str(&in, CSI "9999AX");
    r = show_clean(&in);
    assert_text(&r, out.data, out.len);
    text_result_done(&r);
}

static void test_long_line_can_change_up_to_the_bound(void **state)
{
    for (size_t extra = 0; extra < 2; extra++) {
        auto_buf struct buf in = {0};
        struct text_result r;

        add_repeated(&in, "x", ROW_COLUMNS_MAX + extra);
        buf_add_str(&in, "\rDone\n");
        r = show_clean(&in);
        assert_int_equal(r.len, ROW_COLUMNS_MAX + 1 + (extra ? 4 : 0));
        assert_int_equal(count_of(&r, 'x'), ROW_COLUMNS_MAX - (extra ? 0 : 4));
        assert_memory_equal(r.text + (extra ? ROW_COLUMNS_MAX : 0), "Done", 4);
        text_result_done(&r);
    }
}

static void test_edited_line_becomes_too_long(void **state)
{
    auto_buf struct buf in = {0}, out = {0};
    struct text_result r;

    buf_add_str(&in, "top\nab\rX");
    add_repeated(&in, "y", ROW_COLUMNS_MAX + 100);
    buf_add_str(&in, "\rQ\n");
    buf_add_str(&out, "top\nX");
    add_repeated(&out, "y", ROW_COLUMNS_MAX - 1);
    buf_add_str(&out, "Q");
    add_repeated(&out, "y", 100);
    buf_add_str(&out, "\n");
    r = show_clean(&in);
    assert_text(&r, out.data, out.len);
    text_result_done(&r);
}

static void test_nothing_is_inserted_beyond_the_bound(void **state)
{
    auto_buf struct buf in = {0}, out = {0};
    struct text_result r;

    add_repeated(&in, "x", ROW_COLUMNS_MAX);
    buf_add_str(&in, CSI "3D" CSI "5@Y\n");
    add_repeated(&out, "x", ROW_COLUMNS_MAX - 3);
    buf_add_str(&out, "Yxx\n");
    r = show_clean(&in);
    assert_text(&r, out.data, out.len);
    text_result_done(&r);
}

/* A TAB over the end of the line, and the bound is between the end and the cursor. */
static void test_blanks_count_for_the_bound(void **state)
{
    auto_buf struct buf in = {0}, out = {0};
    struct text_result r;

    add_repeated(&in, "x", ROW_COLUMNS_MAX - 4);
    add_repeated(&out, "x", ROW_COLUMNS_MAX - 4);
    buf_add_str(&in, "\b\tY\rQ\n");
    buf_add_str(&out, "Q\n");
    r = show_clean(&in);
    assert_text(&r, out.data, out.len);
    text_result_done(&r);
}

static void test_endless_lines_lose_nothing(void **state)
{
    static const char *const units[] = {"x", "你", "e\xcc\x81", "\xcc\x81", "\t", "\xef\xbb\xbf"};

    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        auto_buf struct buf in = {0};
        struct text_options o = {.render = TEXT_CLEAN};
        struct text_result whole, r;

        add_repeated(&in, units[i], 200000 / strlen(units[i]));
        buf_add_char(&in, '\n');
        whole = show_pieces(&o, in.data, in.len, 0, 0);
        assert_text(&whole, in.data, in.len);
        r = show_pieces(&o, in.data, in.len, 3000, 1);
        assert_same_result(&r, &whole);
        text_result_done(&r);
        text_result_done(&whole);
    }
}

/* Wide rows are let go before there are SCREEN_ROWS_MAX of them. */
static void test_wide_rows_are_let_go(void **state)
{
    auto_buf struct buf in = {0};
    struct text_result r;
    size_t begin;

    for (int i = 0; i < 100; i++) {
        buf_add_format(&in, "%03d", i);
        add_repeated(&in, "x", ROW_COLUMNS_MAX - 10);
        buf_add_char(&in, '\n');
    }
    buf_add_str(&in, CSI "9999AY");
    r = show_clean(&in);
    begin = (size_t)(strchr(r.text, 'Y') - r.text);
    assert_int_equal(count_of(&r, '\n'), 100);
    /* what lies below the Y is about SCREEN_COST_MAX */
    assert_in_range(r.len - begin, SCREEN_COST_MAX - 3 * ROW_COLUMNS_MAX, SCREEN_COST_MAX);
    text_result_done(&r);
}

/* Rows that are filled from the last one up, until they are too large and nothing above them can be
 * let go: then all of them are. */
static void test_too_much_below_the_cursor(void **state)
{
    size_t n = SCREEN_COST_MAX / row_cost_of_cells(404) + 1;
    auto_buf struct buf in = {0};
    struct text_result r;

    add_repeated(&in, "\n", 200);
    for (size_t i = n; i > 0; i--) {
        buf_add_format(&in, CSI "A\r%03zu:", i - 1);
        add_repeated(&in, "x", 400);
    }
    buf_add_str(&in, "end" CSI "99AY\n");
    r = show_clean(&in);
    assert_int_equal(count_of(&r, 'x'), n * 400);
    assert_true(strstr(r.text, "000:x") < strstr(r.text, "001:x")); /* it was begun in its place */
    assert_memory_equal(r.text + r.len - 6, "xendY\n", 6);          /* and ended below all */
    text_result_done(&r);
}

/* A few bytes must not become a long line, many times over. */
static void test_moves_are_bounded(void **state)
{
    static const char *const moves[] = {
        CSI "9999CX\n", CSI "9999GX\n", CSI "1;9999HX", CSI "999999999999CX", "X\r" CSI "9999@Y",
    };

    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        struct text_options o = {.render = TEXT_CLEAN};
        struct text_result r = show(&o, moves[i], strlen(moves[i]));

        assert_in_range(r.len, SCREEN_MOVE_MAX, SCREEN_MOVE_MAX + 3);
        text_result_done(&r);
    }
}

/* From a long line the cursor cannot take its column into a short one. */
static void test_column_is_bounded_by_the_row(void **state)
{
    auto_buf struct buf in = {0};
    struct text_result r;

    buf_add_str(&in, "\n");
    add_repeated(&in, "x", 10000);
    buf_add_str(&in, CSI "AY" CSI "B" CSI "999CZ\vW\n");
    r = show_clean(&in);
    assert_int_equal((size_t)(strchr(r.text, 'Y') - r.text), SCREEN_MOVE_MAX);
    text_result_done(&r);
}

static void test_rows_made_by_a_move_are_bounded(void **state)
{
    auto_buf struct buf in = {0};
    struct text_result r;

    buf_add_str(&in, CSI "9999HX");
    r = show_clean(&in);
    assert_int_equal(r.len, SCREEN_MOVE_ROWS_MAX);
    text_result_done(&r);
}

/* ---- pages -------------------------------------------------------------------------------- */

static void test_more_leaves_an_unfinished_sequence(void **state)
{
    static const struct {
        const char *in, *out;
        size_t cursor;
    } cases[] = {
        {"ab" CSI "31", "ab", 2},  {"ab\033]0;ti", "ab", 2}, {"ab" CSI "31mc", "abc", 8},
        {"a\n\xe4\xbd", "a\n", 2}, {"a\033\xe4", "a", 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        text *t = new_text(&(struct text_options){.render = TEXT_CLEAN});
        struct text_result r;

        feed_copy(t, cases[i].in, strlen(cases[i].in));
        text_end(t, /* more= */ 1);
        r = finish_text(t, NULL);
        assert_text(&r, cases[i].out, strlen(cases[i].out));
        assert_int_equal(r.cursor, cases[i].cursor);
        text_result_done(&r);
    }
}

/* A string that has no end yet may not keep a reader at the same place for ever. */
static void test_more_does_not_wait_for_a_long_string(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN});
    auto_buf struct buf in = {0};
    struct text_result r;

    buf_add_str(&in, "ab\033P");
    add_repeated(&in, "x", 5000);
    feed_copy(t, in.data, in.len);
    text_end(t, /* more= */ 1);
    r = finish_text(t, NULL);
    assert_text(&r, "ab", 2);
    assert_int_equal(r.cursor, in.len);
    text_result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_nul_is_kept),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_erasing),
        cmocka_unit_test(test_sequences_without_effect),
        cmocka_unit_test(test_broken_sequences),
        cmocka_unit_test(test_sequence_of_any_length_ends),
        cmocka_unit_test(test_many_parameters),
        cmocka_unit_test(test_plain_keeps_all_but_sequences),
        cmocka_unit_test(test_alternate_screen_is_a_new_page),
        cmocka_unit_test(test_random_output_as_the_second_screen),
        cmocka_unit_test(test_many_lines_in_any_pieces),
        cmocka_unit_test(test_controls_among_many_lines),
        cmocka_unit_test(test_lines_pass_unchanged),
        cmocka_unit_test(test_offsets_of_lines_are_contiguous),
        cmocka_unit_test(test_saved_cursor_that_has_gone),
        cmocka_unit_test(test_newest_rows_can_change),
        cmocka_unit_test(test_long_line_can_change_up_to_the_bound),
        cmocka_unit_test(test_edited_line_becomes_too_long),
        cmocka_unit_test(test_nothing_is_inserted_beyond_the_bound),
        cmocka_unit_test(test_blanks_count_for_the_bound),
        cmocka_unit_test(test_endless_lines_lose_nothing),
        cmocka_unit_test(test_wide_rows_are_let_go),
        cmocka_unit_test(test_too_much_below_the_cursor),
        cmocka_unit_test(test_moves_are_bounded),
        cmocka_unit_test(test_column_is_bounded_by_the_row),
        cmocka_unit_test(test_rows_made_by_a_move_are_bounded),
        cmocka_unit_test(test_more_leaves_an_unfinished_sequence),
        cmocka_unit_test(test_more_does_not_wait_for_a_long_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
