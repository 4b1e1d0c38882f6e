/* The acceptance scenarios about text, at the level of bytes in and text out. Each test carries the
 * id of its scenario. */
#include "test-text-common.h"

static void add_repeated(struct buf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add_str(b, s);
}

static size_t count_of(const char *s, size_t len, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += s[i] == c;
    return n;
}

static int has(const struct text_result *r, const char *s)
{
    return memmem(r->text, r->len, s, strlen(s)) != NULL;
}

static void test_b12_one_long_line_with_its_newline(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 1024};
    auto_buf struct buf in = {0};
    struct text_result r;
    const char *line;
    size_t shown;

    add_repeated(&in, "X", 300000);
    buf_add_char(&in, '\n');
    r = show_pieces(&o, in.data, in.len, 65536, 1);
    shown = count_of(r.text, r.len, 'X');
    line = strstr(r.text, "\n[… ");
    assert_non_null(line);
    assert_true(r.len <= 1024);
    assert_true(count_of(r.text, (size_t)(line - r.text), 'X') > 100);
    assert_true(count_of(line, strlen(line), 'X') > 100);
    assert_in_range(shown + r.omitted_bytes, 300000, 300001);
    text_result_done(&r);
}

static void test_d1_the_error_is_at_the_end(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 20000};
    auto_buf struct buf in = {0};
    struct text_result r;
    static const char end[] = "FATAL: real error\n";

    for (int i = 1; i <= 100000; i++)
        buf_add_format(&in, "%d\n", i);
    buf_add_str(&in, end);
    r = show_pieces(&o, in.data, in.len, 65536, 1);
    assert_memory_equal(r.text, "1\n2\n", 4);
    assert_memory_equal(r.text + r.len - strlen(end), end, strlen(end));
    assert_true(has(&r, " bytes omitted; full output: /s/output.log …]\n"));
    assert_true(r.len <= 20000);
    text_result_done(&r);
}

static void test_d4_one_huge_line(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN, .limit = 16384});
    struct text_result r;
    char piece[50000];

    memset(piece, 'x', sizeof(piece));
    for (int i = 0; i < 1000; i++)
        text_feed(t, piece, sizeof(piece));
    r = finish_text(t, "/s/output.log");
    assert_true(r.len <= 16384);
    assert_true(has(&r, " bytes omitted; "));
    assert_int_equal(r.cursor, 50000000);
    text_result_done(&r);
}

static void test_d5_binary_output(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 1 << 20};
    char in[100000];
    uint32_t seed = 5;
    struct text_result r;

    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (char)next_random(&seed);
    memcpy(in + sizeof(in) - 6, "\nend\0", 6);
    r = show(&o, in, sizeof(in));                       /* checks that it is UTF-8 */
    assert_non_null(memmem(r.text, r.len, "end\0", 5)); /* wherever moves have put it */
    assert_null(memchr(r.text, '\033', r.len));
    assert_string_equal(r.encoding, "binary");
    text_result_done(&r);
}

static void test_e1_progress_bar(void **state)
{
    auto_buf struct buf in = {0};
    struct text_options raw = {.render = TEXT_RAW};
    struct text_result r;

    for (int i = 0; i <= 100; i++)
        buf_add_format(&in, "\rprogress %3d%%", i);
    buf_add_char(&in, '\n');
    assert_clean(in.data, "progress 100%\n");
    r = show(&raw, in.data, in.len);
    assert_text(&r, in.data, in.len);
    text_result_done(&r);
}

static void test_e2_a_carriage_return_overwrites(void **state)
{
    assert_clean("Wo\rWork\rWorking\n", "Working\n");
    assert_clean("abc\rX\n", "Xbc\n");
    assert_clean("abc\rX", "Xbc");
    assert_clean("one\r\ntwo\r\n", "one\ntwo\n");
}

static void test_e3_all_kinds_of_sequences_vanish(void **state)
{
    assert_clean("\033[?25l\033[2K\033[1Gok\033[?25h\033]0;title\007\033]8;;http://x\033\\link"
                 "\033]8;;\033\\\n",
                 "oklink\n");
}

static void test_e4_redraw_of_several_lines(void **state)
{
    auto_buf struct buf in = {0};

    assert_clean("a: 0%\nb: 0%\n\033[2Aa: 100%\nb: 100%\n", "a: 100%\nb: 100%\n");
    for (int i = 0; i <= 100; i++)
        buf_add_format(&in, "%s\033[2Ka: %d%%\n\033[2Kb: %d%%\n\033[2Kc: %d%%\n",
                       i ? "\033[3A" : "", i, i, i);
    assert_clean(in.data, "a: 100%\nb: 100%\nc: 100%\n");
}

static void test_e5_no_width_no_wrapping(void **state)
{
    auto_buf struct buf in = {0};

    add_repeated(&in, "x", 3000);
    buf_add_char(&in, '\n');
    assert_clean(in.data, in.data);
}

static void test_f1_a_character_arrives_in_two_pieces(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN});
    struct text_result r;

    feed_copy(t, "cleanup \xe2", 9);
    feed_copy(t, "\x80\x94 end", 6);
    r = finish_text(t, NULL);
    assert_text(&r, "cleanup — end", strlen("cleanup — end"));
    assert_string_equal(r.encoding, "utf-8");
    text_result_done(&r);
}

static void test_f2_many_wide_characters(void **state)
{
    auto_buf struct buf in = {0};
    size_t limits[] = {1 << 20, 1000, 999, 998, 997};

    add_repeated(&in, "你", 50000);
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        struct text_options o = {.render = TEXT_CLEAN, .limit = limits[i]};
        struct text_result r = show_pieces(&o, in.data, in.len, 65536, 1);

        if (i == 0)
            assert_text(&r, in.data, in.len);
        assert_true(r.len <= limits[i]);
        assert_false(has(&r, UTF8_REPLACEMENT_TEXT));
        text_result_done(&r);
    }
}

static void test_f3_gbk(void **state)
{
    int encodings[] = {TEXT_ENC_AUTO, TEXT_ENC_GBK};

    for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
        struct text_options o = {.render = TEXT_CLEAN, .encoding = encodings[i]};
        struct text_result r = show(&o, "\xc4\xe3\xba\xc3\n", 5);

        assert_text(&r, "你好\n", 7);
        assert_string_equal(r.encoding, "gbk");
        text_result_done(&r);
    }
}

/* Each character of two bytes, which all make sense as GBK, too: valid UTF-8 is UTF-8. */
static void test_f3_valid_utf8_is_never_gbk(void **state)
{
    for (uint32_t code = 0xa0; code < 0x800; code++) {
        struct text_options o = {.render = TEXT_RAW};
        char s[2 * UTF8_LEN_MAX];
        size_t len = utf8_put(code, s);
        struct text_result r;

        len += utf8_put(code, s + len);
        r = show_pieces(&o, s, len, 1, code);
        assert_text(&r, s, len);
        assert_string_equal(r.encoding, "utf-8");
        text_result_done(&r);
    }
}

static void test_f4_no_locale(void **state)
{
    assert_clean("你\n", "你\n"); /* the locale of a C program is "C" unless it asks for another */
}

static void test_f5_utf16(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN};
    struct text_result r = show(&o, "\xff\xfeh\0i\0", 6);

    assert_text(&r, "hi", 2);
    assert_string_equal(r.encoding, "utf-16le");
    text_result_done(&r);
}

/* ---- the object itself -------------------------------------------------------------------- */

static void test_options_are_checked(void **state)
{
    static const struct text_options bad[] = {
        {.render = -1},
        {.render = TEXT_RENDER_MAX},
        {.encoding = -1},
        {.encoding = TEXT_ENC_MAX},
    };
    text *t = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(text_new(&bad[i], 0, &t), -EINVAL);
    assert_int_equal(text_new(NULL, 0, &t), -EINVAL);
    assert_null(t);
}

static void test_null_is_harmless(void **state)
{
    struct text_result r = {0};

    text_feed(NULL, "x", 1);
    text_gap(NULL, 1);
    text_end(NULL, 0);
    assert_int_equal(text_would_omit(NULL), 0);
    assert_int_equal(text_finish(NULL, NULL, &r), -EINVAL);
    assert_null(text_free(NULL));
    text_result_done(NULL);
    text_result_done(&r);
}

static void test_nothing_counts_after_the_end(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN});
    struct text_result r;

    feed_copy(t, "a\n", 2);
    text_feed(t, NULL, 0);
    text_end(t, 0);
    feed_copy(t, "b\n", 2);
    text_gap(t, 5);
    assert_int_equal(text_would_omit(t), 0);
    assert_int_equal(text_finish(t, NULL, &r), 0);
    assert_text(&r, "a\n", 2);
    text_result_done(&r);
    assert_int_equal(text_finish(t, NULL, &r), -EINVAL);
    text_free(t);
}

static void test_offsets_begin_where_the_caller_says(void **state)
{
    struct text_options o = {.render = TEXT_RAW, .limit = 100};
    auto_buf struct buf in = {0};
    text *t = NULL;
    struct text_result r;

    add_repeated(&in, "x", 1000);
    assert_int_equal(text_new(&o, 5000, &t), 0);
    feed_copy(t, in.data, in.len);
    r = finish_text(t, NULL);
    assert_in_range(r.omitted_at, 5001, 5100);
    assert_int_equal(r.cursor, 6000);
    text_result_done(&r);
}

static void test_encoding_names(void **state)
{
    static const struct {
        const char *in, *name;
    } cases[] = {
        {"", "utf-8"},
        {"a\n", "utf-8"},
        {"你\n", "utf-8"},
        {"\xc4\xe3\n", "gbk"},
        {"你\n\xc4\xe3\n", "mixed"},
        {"\xff\n", "mixed"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct text_options o = {.render = TEXT_CLEAN};
        struct text_result r = show(&o, cases[i].in, strlen(cases[i].in));

        assert_string_equal(r.encoding, cases[i].name);
        text_result_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b12_one_long_line_with_its_newline),
        cmocka_unit_test(test_d1_the_error_is_at_the_end),
        cmocka_unit_test(test_d4_one_huge_line),
        cmocka_unit_test(test_d5_binary_output),
        cmocka_unit_test(test_e1_progress_bar),
        cmocka_unit_test(test_e2_a_carriage_return_overwrites),
        cmocka_unit_test(test_e3_all_kinds_of_sequences_vanish),
        cmocka_unit_test(test_e4_redraw_of_several_lines),
        cmocka_unit_test(test_e5_no_width_no_wrapping),
        cmocka_unit_test(test_f1_a_character_arrives_in_two_pieces),
        cmocka_unit_test(test_f2_many_wide_characters),
        cmocka_unit_test(test_f3_gbk),
        cmocka_unit_test(test_f3_valid_utf8_is_never_gbk),
        cmocka_unit_test(test_f4_no_locale),
        cmocka_unit_test(test_f5_utf16),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_null_is_harmless),
        cmocka_unit_test(test_nothing_counts_after_the_end),
        cmocka_unit_test(test_offsets_begin_where_the_caller_says),
        cmocka_unit_test(test_encoding_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
