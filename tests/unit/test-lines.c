/* Rendered text to lines, however it is cut into spans. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "tools/lines.h"

struct seen {
    struct buf text; /* "[begin-end]TEXT|" for each line, "\\r" and "\\n" for its end */
    size_t n;
    size_t longest;
    int fail_at;
};

static int see(void *userdata, const struct line *line)
{
    struct seen *s = userdata;

    if (s->fail_at && (int)s->n + 1 == s->fail_at)
        return -EIO;
    s->n++;
    s->longest = MAX(s->longest, line->len);
    buf_add_format(&s->text, "[%d-%d]", (int)line->src_begin, (int)line->src_end);
    if (line->len < 100)
        buf_add(&s->text, line->text, line->len);
    for (const char *p = line->end; *p; p++)
        buf_add_str(&s->text, *p == '\r' ? "\\r" : "\\n");
    buf_add_char(&s->text, '|');
    return 0;
}

static void feed(struct lines *l, const char *text, size_t len, size_t step)
{
    for (size_t at = 0; at < len; at += step) {
        struct span s = {.text = text + at,
                         .len = MIN(step, len - at),
                         .src = 100 + at,
                         .src_step = 1,
                         .text_step = 1};

        lines_add_span(l, &s);
    }
}

static void test_ends(void **state)
{
    static const char text[] = "one\n\r\ntwo\r\n\nx\ry\nrest";

    for (size_t step = 1; step < sizeof(text); step++) {
        struct seen seen = {0};
        struct lines l = {.add = see, .userdata = &seen};
        struct line rest;

        feed(&l, text, strlen(text), step);
        assert_true(lines_unfinished(&l, &rest));
        assert_int_equal(rest.len, 4);
        assert_memory_equal(rest.text, "rest", 4);
        assert_int_equal(rest.src_begin, 100 + strlen(text) - 4);
        lines_flush(&l);
        assert_false(lines_unfinished(&l, &rest));
        lines_flush(&l); /* nothing more */
        assert_string_equal(seen.text.data, "[100-104]one\\n|[104-106]\\r\\n|[106-111]two\\r\\n|"
                                            "[111-112]\\n|[112-116]x\ry\\n|[116-120]rest|");
        assert_int_equal(lines_error(&l), 0);
        lines_done(&l);
        buf_done(&seen.text);
    }
}

static void test_long_lines_are_several(void **state)
{
    size_t len = LINES_LENGTH_MAX * 2 + 10;
    char *text = malloc(len);
    struct seen seen = {0};
    struct lines l = {.add = see, .userdata = &seen};

    memset(text, 'x', len);
    text[len - 1] = '\n';
    feed(&l, text, len, 1000);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.longest, LINES_LENGTH_MAX);
    assert_int_equal(lines_error(&l), 0);
    lines_done(&l);
    buf_done(&seen.text);
    free(text);
}

/* A cut is between characters. */
static void test_long_lines_of_wide_characters(void **state)
{
    struct seen seen = {0};
    struct lines l = {.add = see, .userdata = &seen};
    size_t n = LINES_LENGTH_MAX / 3 + 5;

    for (size_t i = 0; i < n; i++)
        lines_add_span(
            &l, &(struct span){
                    .text = "\xe4\xbd\xa0", .len = 3, .src = i * 2, .src_step = 2, .text_step = 3});
    lines_flush(&l);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.longest % 3, 0);
    lines_done(&l);
    buf_done(&seen.text);
}

static void test_failure_is_kept(void **state)
{
    struct seen seen = {.fail_at = 2};
    struct lines l = {.add = see, .userdata = &seen};

    feed(&l, "a\nb\nc\n", 6, 6);
    assert_int_equal(lines_error(&l), -EIO);
    assert_int_equal(seen.n, 1);
    lines_done(&l);
    buf_done(&seen.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_long_lines_are_several),
        cmocka_unit_test(test_long_lines_of_wide_characters),
        cmocka_unit_test(test_failure_is_kept),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
