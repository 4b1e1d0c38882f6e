/* Head and tail within a limit: never more than it, exact numbers, where the cuts are, the forms of
 * the line between, gaps of the log. */
#include "test-text-common.h"
#include "text/limit.h"

#define PATH "/s/output.log"

static void assert_str(const struct text_result *r, const char *expected)
{
    assert_text(r, expected, strlen(expected));
}

static size_t units(const struct text_options *o, const char *s, size_t len)
{
    return o->limit_in_chars ? utf8_count(s, len) : len;
}

/* The line about what is missing, without its LF; NULL when there is none. */
static const char *find_line(const struct text_result *r, size_t *ret_len)
{
    const char *begin = memmem(r->text, r->len, "[… ", strlen("[… "));
    const char *end;

    if (!begin)
        return NULL;
    end = memchr(begin, '\n', r->len - (size_t)(begin - r->text));
    assert_non_null(end);
    *ret_len = (size_t)(end - begin);
    return begin;
}

static uint64_t read_number(const char *line)
{
    uint64_t n = 0;

    for (const char *s = line + strlen("[… "); *s != ' '; s++)
        if (*s != ',')
            n = n * 10 + (uint64_t)(*s - '0');
    return n;
}

/* For text that went through unchanged: prefix, number and suffix must fit together to the byte. */
static void check_verbatim(const struct text_result *r, const char *in, size_t in_len)
{
    size_t line_len = 0;
    const char *line = find_line(r, &line_len);
    size_t head_len, tail_len;

    if (r->omitted_bytes == 0) {
        assert_text(r, in, in_len);
        return;
    }
    head_len = (size_t)r->omitted_at;
    tail_len = in_len - head_len - (size_t)r->omitted_bytes;
    assert_memory_equal(r->text, in, head_len);
    assert_memory_equal(r->text + r->len - tail_len, in + in_len - tail_len, tail_len);
    if (line) {
        size_t added = head_len > 0 && in[head_len - 1] != '\n';

        assert_int_equal(read_number(line), r->omitted_bytes);
        assert_ptr_equal(line, r->text + head_len + added);
        assert_int_equal(r->len, head_len + added + line_len + 1 + tail_len);
    } else { /* a limit too small for the line: "…" at most */
        assert_true(r->len <= head_len + strlen("\n…\n") + tail_len);
    }
}

static void fill_random(uint32_t *seed, struct buf *b, size_t len)
{
    static const char *const pieces[] = {
        "a", "word ", "你", "é", "😀", "\n", "long line without end "};
    size_t kinds = 1 + random_below(seed, ARRAY_SIZE(pieces));

    while (b->len < len)
        buf_add_str(b, pieces[random_below(seed, kinds)]);
}

static const char *random_path(uint32_t *seed)
{
    static const char *const paths[] = {NULL, "/x", PATH,
                                        "/home/someone/.local/state/rein/jobs/3f9a1c2b/output.log"};

    return paths[random_below(seed, ARRAY_SIZE(paths))];
}

static void test_random_texts_and_limits(void **state)
{
    for (uint32_t round = 1; round <= 3000; round++) {
        uint32_t seed = round * 2654435761u;
        struct text_options o = {.render = TEXT_RAW,
                                 .limit = 1 + random_below(&seed, round % 2 ? 100 : 2000),
                                 .limit_in_chars = (int)random_below(&seed, 2)};
        size_t wanted = random_below(&seed, 1 + 4 * o.limit);
        auto_buf struct buf in = {0};
        struct text_result r;
        text *t = new_text(&o);

        buf_add(&in, "", 0);
        fill_random(&seed, &in, wanted);
        feed_pieces(t, in.data, in.len, 1 + random_below(&seed, 300), seed);
        r = finish_text(t, random_path(&seed));
        assert_true(units(&o, r.text, r.len) <= o.limit);
        assert_int_equal(r.omitted_bytes > 0, units(&o, in.data, in.len) > o.limit);
        assert_int_equal(r.cursor, in.len);
        check_verbatim(&r, in.data, in.len);
        text_result_done(&r);
    }
}

/* Much more text than the limit goes a way of its own, where old text is dropped. */
static void test_random_texts_far_beyond_the_limit(void **state)
{
    for (uint32_t round = 1; round <= 200; round++) {
        uint32_t seed = round * 2654435761u;
        struct text_options o = {.render = TEXT_RAW,
                                 .limit = 1 + random_below(&seed, 400),
                                 .limit_in_chars = (int)random_below(&seed, 2)};
        auto_buf struct buf in = {0};
        struct text_result r;

        fill_random(&seed, &in, 20000 + random_below(&seed, 5000));
        r = show_pieces(&o, in.data, in.len, round % 3 ? 1 + random_below(&seed, 5000) : 0, seed);
        assert_true(units(&o, r.text, r.len) <= o.limit);
        assert_true(r.omitted_bytes > 0);
        check_verbatim(&r, in.data, in.len);
        text_result_done(&r);
    }
}

static void test_exactly_the_limit_is_shown_whole(void **state)
{
    static const char in[] = "你好, world\nsecond line\n";

    for (int in_chars = 0; in_chars < 2; in_chars++) {
        struct text_options o = {.render = TEXT_RAW, .limit_in_chars = in_chars};
        size_t all = units(&(struct text_options){.limit_in_chars = in_chars}, in, strlen(in));
        struct text_result r;

        o.limit = all;
        r = show(&o, in, strlen(in));
        assert_text(&r, in, strlen(in));
        assert_int_equal(r.omitted_bytes, 0);
        text_result_done(&r);
        o.limit = all - 1;
        r = show(&o, in, strlen(in));
        assert_true(r.omitted_bytes > 0);
        text_result_done(&r);
    }
}

/* Rendered text that was not taken over byte for byte: what is before and after the cuts, rendered
 * alone, must be the head and the tail. */
static void test_offsets_of_rendered_text(void **state)
{
    static const char *const pieces[] = {
        "word ", "\r\n", "\n", "\033[31mred\033[0m", "你", "\033]0;title\a",
        "x\by",  "\a",   "\t", "e\xcc\x81",
    };

    for (uint32_t round = 1; round <= 600; round++) {
        uint32_t seed = round * 2654435761u;
        struct text_options o = {.render = round % 3 ? TEXT_CLEAN : TEXT_PLAIN,
                                 .limit = 100 + random_below(&seed, 400),
                                 .limit_in_chars = (int)random_below(&seed, 2)};
        struct text_options all = {.render = o.render};
        auto_buf struct buf in = {0};
        struct text_result r, head, tail;
        uint64_t end;

        for (size_t i = 0; i < 600; i++)
            buf_add_str(&in, pieces[random_below(&seed, ARRAY_SIZE(pieces))]);
        r = show_pieces(&o, in.data, in.len, 1000, seed);
        assert_true(units(&o, r.text, r.len) <= o.limit);
        assert_true(r.omitted_bytes > 0);
        end = (uint64_t)r.omitted_at + r.omitted_bytes;
        head = show_pieces(&all, in.data, (size_t)r.omitted_at, 0, 0);
        tail = show_pieces(&all, in.data + end, in.len - end, 0, 0);
        assert_true(r.len >= head.len + tail.len);
        assert_memory_equal(r.text, head.text, head.len);
        if (memcmp(r.text + r.len - tail.len, tail.text, tail.len) != 0)
            fail_msg("round %u: tail \"%s\" of \"%s\"", round, tail.text, r.text);
        text_result_done(&r);
        text_result_done(&head);
        text_result_done(&tail);
    }
}

static void test_gbk_is_counted_in_the_log(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 300};
    auto_buf struct buf in = {0};
    struct text_result r;
    size_t line_len, head_chars, tail_chars;
    const char *line;

    for (int i = 0; i < 10000; i++)
        buf_add_str(&in, "\xc4\xe3");
    r = show(&o, in.data, in.len);
    line = find_line(&r, &line_len);
    assert_non_null(line);
    head_chars = (size_t)(line - r.text - 1) / 3;
    tail_chars = (r.len - (size_t)(line - r.text) - line_len - 1) / 3;
    assert_int_equal(r.omitted_at, head_chars * 2);
    assert_int_equal(r.omitted_bytes, in.len - 2 * head_chars - 2 * tail_chars);
    assert_true(r.len <= 300 && r.len > 290);
    text_result_done(&r);
}

/* A line that is cut after it was edited: the numbers still go up and fit into the log. */
static void test_edited_lines(void **state)
{
    size_t cut = 0;

    for (uint32_t round = 1; round <= 300; round++) {
        uint32_t seed = round * 2654435761u;
        struct text_options o = {.render = TEXT_CLEAN, .limit = 20 + random_below(&seed, 80)};
        auto_buf struct buf in = {0};
        struct text_result r;

        for (size_t i = 0; i < 60; i++)
            buf_add_format(&in, "%s%zu%s", random_below(&seed, 3) ? "\n" : "\r", i * 1000003,
                           i % 5 ? "\b\b\b\033[5Cxyz" : "\033[A\033[3P\033[2@更多");
        r = show(&o, in.data, in.len);
        assert_true(r.len <= o.limit);
        cut += r.omitted_bytes > 0;
        if (r.omitted_bytes > 0)
            assert_true((uint64_t)r.omitted_at + r.omitted_bytes <= in.len);
        text_result_done(&r);
    }
    assert_true(cut > 100);
}

/* A line that was made longer after the next one had begun: its end is where the next one begins.
 */
static void test_line_that_grew_later(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 100};
    auto_buf struct buf in = {0};
    struct text_result r;

    buf_add_str(&in, "ab\ncd\n\033[2A\033[2C");
    for (int i = 0; i < 300; i++)
        buf_add_char(&in, 'x');
    r = show(&o, in.data, in.len);
    assert_in_range(r.omitted_at, 1, 3);
    assert_true((uint64_t)r.omitted_at + r.omitted_bytes <= 4); /* 1 where it would be 0 */
    text_result_done(&r);
}

/* Lines that one sequence made have no bytes of their own, yet something is missing. */
static void test_something_missing_is_never_zero_bytes(void **state)
{
    struct text_options o = {.render = TEXT_CLEAN, .limit = 100};
    static const char in[] = "a\033[120;1Hb";
    struct text_result r = show(&o, in, strlen(in));

    assert_true(r.omitted_bytes > 0);
    assert_true((uint64_t)r.omitted_at + r.omitted_bytes <= strlen(in));
    text_result_done(&r);
}

/* ---- where the cuts are ------------------------------------------------------------------- */

static void test_cuts_at_line_ends(void **state)
{
    struct text_options o = {.render = TEXT_RAW, .limit = 1000};
    auto_buf struct buf in = {0};
    struct text_result r;
    const char *line;
    size_t line_len;

    for (int i = 0; i < 1000; i++)
        buf_add_format(&in, "line %d\n", i);
    r = show(&o, in.data, in.len);
    line = find_line(&r, &line_len);
    assert_int_equal(in.data[r.omitted_at - 1], '\n');
    assert_memory_equal(line + line_len + 1, "line ", 5);
    assert_int_equal(r.text[r.len - 1], '\n');
    assert_true(line - r.text > 200 && line - r.text <= 250); /* a quarter */
    assert_true(r.len > 980);
    text_result_done(&r);
}

static void test_last_line_without_newline(void **state)
{
    struct text_options o = {.render = TEXT_RAW, .limit = 200};
    auto_buf struct buf in = {0};
    struct text_result r;

    for (int i = 0; i < 100; i++)
        buf_add_format(&in, "line %d\n", i);
    buf_add_str(&in, "no newline");
    r = show(&o, in.data, in.len);
    assert_memory_equal(r.text + r.len - 10, "no newline", 10);
    text_result_done(&r);
}

/* ---- the line ----------------------------------------------------------------------------- */

static void check_line(size_t limit, uint64_t gap, const char *path, const char *expected)
{
    text *t = new_text(&(struct text_options){.render = TEXT_RAW, .limit = limit});
    auto_buf struct buf in = {0};
    struct text_result r;

    for (int i = 0; i < 1000; i++)
        buf_add_char(&in, 'x');
    feed_copy(t, in.data, in.len);
    text_gap(t, gap);
    feed_copy(t, in.data, in.len);
    r = finish_text(t, path);
    assert_true(limit == 0 || r.len <= limit);
    if (!memmem(r.text, r.len, expected, strlen(expected)))
        fail_msg("\"%s\" is not in \"%s\"", expected, r.text);
    text_result_done(&r);
}

static void test_forms_of_the_line(void **state)
{
    check_line(500, 0, "/p", "x\n[… 1,548 bytes omitted; full output: /p …]\nx");
    check_line(500, 0, NULL, "x\n[… 1,531 bytes omitted …]\nx");
    check_line(500, 999999, "/p", "; kept output: /p …]\nx");
    check_line(0, 1, "/p", "x\n[… 1 bytes omitted; kept output: /p …]\nx");
    check_line(0, 999, NULL, "x\n[… 999 bytes omitted …]\nx");
    check_line(0, 1000, NULL, "x\n[… 1,000 bytes omitted …]\nx");
    check_line(0, 123456789012, NULL, "x\n[… 123,456,789,012 bytes omitted …]\nx");
    check_line(500, 0, "/a\nb\x7f\xff", "full output: /a�b�� …]\n");
    check_line(80, 0, "/a/rather/long/path/that/takes/more/than/it/should/of/eighty/bytes",
               "x\n[… 1,951 bytes omitted …]\nx");
    check_line(30, 0, "/p", "x\n…\nx");
    check_line(10, 0, "/p", "x\n…\nx");
    check_line(5, 0, "/p", "xxxx");
    check_line(1, 0, "/p", "x");
}

/* ---- gaps of the log ---------------------------------------------------------------------- */

static struct text_result show_with_gap(const struct text_options *o,
                                        const struct buf *head,
                                        uint64_t gap,
                                        const struct buf *tail)
{
    text *t = new_text(o);

    feed_pieces(t, head->data, head->len, 50, 1);
    text_gap(t, gap);
    feed_pieces(t, tail->data, tail->len, 50, 2);
    return finish_text(t, PATH);
}

/* What one side does not need the other has; with or without dropping text. */
static void test_gap_is_the_place_of_the_cut(void **state)
{
    for (uint32_t round = 1; round <= 600; round++) {
        uint32_t seed = round * 2654435761u;
        struct text_options o = {.render = TEXT_RAW,
                                 .limit =
                                     random_below(&seed, 5) ? 100 + random_below(&seed, 900) : 0,
                                 .limit_in_chars = (int)random_below(&seed, 2)};
        auto_buf struct buf head = {0}, tail = {0};
        uint64_t gap = 1 + random_below(&seed, 100000), end;
        struct text_result r;
        size_t line_len, line_units, tail_begin;
        const char *line;

        buf_add(&head, "", 0);
        buf_add(&tail, "", 0);
        fill_random(&seed, &head, random_below(&seed, 3000));
        fill_random(&seed, &tail, random_below(&seed, 3000));
        r = show_with_gap(&o, &head, gap, &tail);
        assert_true(o.limit == 0 || units(&o, r.text, r.len) <= o.limit);
        assert_true(r.omitted_bytes >= gap);
        end = (uint64_t)r.omitted_at + r.omitted_bytes;
        assert_true((uint64_t)r.omitted_at <= head.len && end >= head.len + gap);
        line = find_line(&r, &line_len);
        assert_non_null(line);
        assert_int_equal(read_number(line), r.omitted_bytes);
        assert_memory_equal(r.text, head.data, (size_t)r.omitted_at);
        tail_begin = (size_t)(end - head.len - gap);
        assert_memory_equal(line + line_len + 1, tail.data + tail_begin, tail.len - tail_begin);
        line_units = units(&o, line, line_len) + 2;
        if (o.limit == 0 ||
            units(&o, head.data, head.len) + units(&o, tail.data, tail.len) + line_units + 5 <
                o.limit) /* 5: the number may be longer */
            assert_int_equal(r.omitted_bytes, gap);
        text_result_done(&r);
    }
}

static void test_gap_ends_lines_and_sequences(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN});
    struct text_result r;

    feed_copy(t, "one\ntwo\033[3", 10);
    text_gap(t, 50);
    feed_copy(t, "1mthree\033[5Ax\n", 13);
    r = finish_text(t, NULL);
    assert_str(&r, "one\ntwo\n[… 53 bytes omitted …]\n1mthreex\n");
    assert_int_equal(r.omitted_at, 7);
    text_result_done(&r);
}

static void test_gap_leaves_no_half_character(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_RAW});
    struct text_result r;

    feed_copy(t, "a你\xe4\xbd", 6);
    text_gap(t, 1000);
    feed_copy(t, "\xa0好\n", 5);
    r = finish_text(t, NULL);
    assert_str(&r, "a你\n[… 1,003 bytes omitted …]\n好\n");
    assert_string_equal(r.encoding, "utf-8");
    assert_int_equal(r.cursor, 1011);
    text_result_done(&r);
}

static void test_several_gaps_are_one(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_RAW, .limit = 1000});
    struct text_result r;

    feed_copy(t, "head\n", 5);
    text_gap(t, 10);
    feed_copy(t, "middle\n", 7);
    text_gap(t, 20);
    feed_copy(t, "tail\n", 5);
    r = finish_text(t, NULL);
    assert_str(&r, "head\n[… 37 bytes omitted …]\ntail\n");
    text_result_done(&r);
}

static void test_gap_at_the_edges(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN, .limit = 1000});
    struct text_result r;

    text_gap(t, 10);
    feed_copy(t, "tail\n", 5);
    r = finish_text(t, NULL);
    assert_str(&r, "[… 10 bytes omitted …]\ntail\n");
    assert_int_equal(r.omitted_at, 0);
    text_result_done(&r);

    t = new_text(&(struct text_options){.render = TEXT_CLEAN, .limit = 1000});
    feed_copy(t, "head", 4);
    text_gap(t, 10);
    r = finish_text(t, NULL);
    assert_str(&r, "head\n[… 10 bytes omitted …]\n");
    assert_int_equal(r.omitted_at, 4);
    assert_int_equal(r.cursor, 14);
    text_result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_texts_and_limits),
        cmocka_unit_test(test_random_texts_far_beyond_the_limit),
        cmocka_unit_test(test_exactly_the_limit_is_shown_whole),
        cmocka_unit_test(test_offsets_of_rendered_text),
        cmocka_unit_test(test_gbk_is_counted_in_the_log),
        cmocka_unit_test(test_edited_lines),
        cmocka_unit_test(test_line_that_grew_later),
        cmocka_unit_test(test_something_missing_is_never_zero_bytes),
        cmocka_unit_test(test_cuts_at_line_ends),
        cmocka_unit_test(test_last_line_without_newline),
        cmocka_unit_test(test_forms_of_the_line),
        cmocka_unit_test(test_gap_is_the_place_of_the_cut),
        cmocka_unit_test(test_gap_ends_lines_and_sequences),
        cmocka_unit_test(test_gap_leaves_no_half_character),
        cmocka_unit_test(test_several_gaps_are_one),
        cmocka_unit_test(test_gap_at_the_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
