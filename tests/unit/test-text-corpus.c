/*
 * What `clean` makes of the output of real programs, recorded in tests/corpus, is what a terminal
 * shows in the end: libvterm's, as wide and as tall as the output needs, so that nothing wraps or
 * scrolls away. Blanks at the ends of lines and empty lines at the end cannot be seen, and do not
 * count.
 */
#include "test-text-common.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include <vterm.h>

#include "base/cleanup.h"

#define RECORDINGS_MIN 12
#define SUFFIX ".bin"
#define MARGIN 8 /* columns and rows beyond what is needed */

/* ---- the terminal ------------------------------------------------------------------------- */

/* Room for every line, as if no byte of it were invisible. */
static void measure(const struct buf *in, int *ret_rows, int *ret_columns)
{
    size_t rows = 1;
    size_t longest = 0;
    size_t line = 0;

    for (size_t i = 0; i < in->len; i++) {
        line = in->data[i] == '\n' || in->data[i] == '\r' ? 0 : line + 1;
        longest = MAX(longest, line);
        rows += in->data[i] == '\n';
    }
    *ret_rows = (int)rows + MARGIN;
    *ret_columns = (int)longest + MARGIN;
}

/* A terminal's driver makes a line feed go to the beginning of the next line. */
static void write_to_terminal(VTerm *vt, const struct buf *in)
{
    for (size_t i = 0; i < in->len; i++) {
        if (in->data[i] == '\n')
            (void)vterm_input_write(vt, "\r", 1);
        (void)vterm_input_write(vt, in->data + i, 1);
    }
}

static void trim(struct buf *b, char c, size_t begin)
{
    while (b->len > begin && b->data[b->len - 1] == c)
        b->len--;
}

static void add_row(struct buf *b, const VTermScreen *screen, int row, int columns)
{
    VTermRect rect = {.start_row = row, .end_row = row + 1, .end_col = columns};
    size_t size = (size_t)columns * 8;
    auto_free char *row_text = malloc(size);
    size_t begin = b->len;

    buf_add(b, row_text, vterm_screen_get_text(screen, row_text, size, rect));
    trim(b, ' ', begin);
    buf_add_char(b, '\n');
}

static void show_on_terminal(const struct buf *in, struct buf *ret)
{
    int rows, columns;
    VTerm *vt;
    VTermScreen *screen;

    measure(in, &rows, &columns);
    vt = vterm_new(rows, columns);
    vterm_set_utf8(vt, 1);
    screen = vterm_obtain_screen(vt);
    vterm_screen_reset(screen, 1);
    write_to_terminal(vt, in);
    for (int row = 0; row < rows; row++)
        add_row(ret, screen, row, columns);
    trim(ret, '\n', 0);
    vterm_free(vt);
}

/* ---- rein --------------------------------------------------------------------------------- */

static void show_clean(const struct buf *in, struct buf *ret)
{
    struct text_result r = show(&(struct text_options){.render = TEXT_CLEAN}, in->data, in->len);
    const char *line = r.text;
    const char *end = r.text + r.len;

    while (line < end) {
        const char *lf = memchr(line, '\n', (size_t)(end - line));
        size_t begin = ret->len;

        buf_add(ret, line, (size_t)((lf ? lf : end) - line));
        trim(ret, ' ', begin);
        buf_add_char(ret, '\n');
        line = lf ? lf + 1 : end;
    }
    trim(ret, '\n', 0);
    text_result_done(&r);
}

/* ---- the recordings ----------------------------------------------------------------------- */

static void read_recording(const char *directory, const char *name, struct buf *ret)
{
    char path[4096];
    char chunk[4096];
    size_t n;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    f = fopen(path, "rbe");
    assert_non_null(f);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buf_add(ret, chunk, n);
    (void)fclose(f);
    assert_int_equal(buf_error(ret), 0);
}

static void check_recording(const char *directory, const char *name)
{
    auto_buf struct buf in = {0};
    auto_buf struct buf expected = {0};
    auto_buf struct buf shown = {0};

    read_recording(directory, name, &in);
    assert_true(in.len > 0);
    show_on_terminal(&in, &expected);
    show_clean(&in, &shown);
    assert_true(expected.len > 0);
    if (shown.len != expected.len || memcmp(shown.data, expected.data, shown.len) != 0)
        fail_msg("%s: clean gives\n%.*s\na terminal shows\n%.*s", name, (int)shown.len, shown.data,
                 (int)expected.len, expected.data);
    print_message("%s: %zu bytes written, %zu seen\n", name, in.len, shown.len);
}

static void test_recordings(void **state)
{
    auto_free char *directory = NULL;
    struct dirent *entry;
    int n = 0;
    DIR *d;

    assert_true(asprintf(&directory, "%s/tests/corpus", getenv("REIN_SOURCE")) > 0);
    d = opendir(directory);
    assert_non_null(d);
    while ((entry = readdir(d))) {
        const char *dot = strrchr(entry->d_name, '.');

        if (!dot || strcmp(dot, SUFFIX) != 0)
            continue;
        check_recording(directory, entry->d_name);
        n++;
    }
    (void)closedir(d);
    assert_true(n >= RECORDINGS_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recordings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
