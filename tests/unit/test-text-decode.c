/* Decoding: which encoding a line is read in, what stands for broken bytes, pieces, gaps, events.
 */
#include "test-text-common.h"
#include "text/decode.h"

struct decoded {
    struct decoder d;
    struct buf text;
    uint64_t src; /* spans must come in order, and their offsets within what was fed */
};

static void collect(void *ctx, const struct span *s)
{
    struct decoded *c = ctx;

    assert_true(s->len > 0);
    assert_int_equal(utf8_valid_prefix(s->text, s->len), s->len);
    assert_true(s->src >= c->src);
    assert_int_equal(s->len % s->text_step, 0);
    c->src = span_src_at(s, s->len);
    assert_true(c->src <= c->d.offset + DECODE_LINE_MAX); /* `offset` is added after the call */
    buf_add(&c->text, s->text, s->len);
}

static struct decoded *decoded_new(enum text_encoding encoding, int eager)
{
    struct decoded *c = calloc(1, sizeof(*c));

    assert_non_null(c);
    decoder_init(&c->d, encoding, eager, /* at_start= */ 1,
                 (struct span_sink){.add = collect, .ctx = c});
    buf_add(&c->text, "", 0);
    return c;
}

static void decoded_free(struct decoded *c)
{
    buf_done(&c->text);
    free(c);
}

/* Feeds a copy of exactly that size. */
static void feed(struct decoded *c, const void *data, size_t len)
{
    void *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    memcpy(copy, data, len);
    decoder_feed(&c->d, copy, len);
    free(copy);
}

static void feed_str(struct decoded *c, const char *s)
{
    feed(c, s, strlen(s));
}

static void expect(const struct decoded *c, const char *expected)
{
    assert_int_equal(buf_error(&c->text), 0);
    if (c->text.len != strlen(expected) || memcmp(c->text.data, expected, c->text.len) != 0)
        fail_msg("got \"%.*s\", expected \"%s\"", (int)c->text.len, c->text.data, expected);
}

/* Decodes in pieces of that many bytes; also compares the encoding. */
static void check_pieces(enum text_encoding encoding,
                         const char *in,
                         size_t len,
                         size_t piece,
                         const char *out,
                         size_t out_len,
                         const char *name)
{
    struct decoded *c = decoded_new(encoding, /* eager= */ 0);

    for (size_t i = 0; i < len; i += MIN(piece, len - i))
        feed(c, in + i, MIN(piece, len - i));
    decoder_end(&c->d, /* more= */ 0);
    if (c->text.len != out_len || memcmp(c->text.data, out, out_len) != 0)
        fail_msg("got \"%.*s\", expected \"%.*s\"", (int)c->text.len, c->text.data, (int)out_len,
                 out);
    assert_string_equal(decoder_encoding(&c->d), name);
    assert_int_equal(decoder_offset(&c->d), len);
    decoded_free(c);
}

static void test_tables(void **state)
{
#define S(literal) literal, sizeof(literal) - 1
    static const struct {
        enum text_encoding encoding;
        const char *in;
        size_t in_len;
        const char *out;
        size_t out_len;
        const char *name;
    } cases[] = {
        {TEXT_ENC_AUTO, S(""), S(""), "utf-8"},
        {TEXT_ENC_AUTO, S("plain\n"), S("plain\n"), "utf-8"},
        {TEXT_ENC_AUTO, S("\xe4\xbd\xa0\n"), S("你\n"), "utf-8"},
        {TEXT_ENC_AUTO, S("\xc4\xe3\xba\xc3\n"), S("你好\n"), "gbk"},
        {TEXT_ENC_AUTO, S("\xc4\xe3\xba\xc3"), S("你好"), "gbk"},
        {TEXT_ENC_AUTO, S("a\n\xc4\xe3\xba\xc3 b\nc\n"), S("a\n你好 b\nc\n"), "gbk"},
        {TEXT_ENC_AUTO, S("\xe4\xbd\xa0\n\xc4\xe3\n"), S("你\n你\n"), "mixed"},
        /* whole and strict: one broken byte makes the line UTF-8 with U+FFFD */
        {TEXT_ENC_AUTO, S("\xc4\xe3\xff\n"), S("���\n"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\n\xc4\xe3\n"), S("�\n你\n"), "mixed"},
        {TEXT_ENC_AUTO, S("caf\xe9\n"), S("caf�\n"), "mixed"},
        {TEXT_ENC_AUTO, S("a\0b\n"), S("a\0b\n"), "binary"},
        {TEXT_ENC_AUTO, S("\xc4\xe3\0\n"), S("你\0\n"), "binary"},
        {TEXT_ENC_AUTO, S("\xf0\x9f\x98\x80\n"), S("😀\n"), "utf-8"},
        {TEXT_ENC_AUTO, S("\xef\xbb\xbfx\n"), S("\xef\xbb\xbfx\n"), "utf-8"},
        /* cut off at the very end: UTF-8 where that is likely, GBK where the pair is all there is
         */
        {TEXT_ENC_AUTO, S("cleanup \xe2"), S("cleanup �"), "mixed"},
        {TEXT_ENC_AUTO, S("你好\xe4\xbd"), S("你好�"), "mixed"},
        {TEXT_ENC_AUTO, S("x\xe4\xbd"), S("x浣"), "gbk"},
        {TEXT_ENC_AUTO, S("你好\xe4\xbd\n"), S("浣犲ソ浣\n"), "gbk"},

        {TEXT_ENC_UTF8, S("\xc4\xe3\xba\xc3\n"), S("���\n"), "mixed"},
        {TEXT_ENC_UTF8, S("你\xe4\xbd"), S("你�"), "mixed"},
        {TEXT_ENC_UTF8, S("\xff\xfeh\0"), S("��h\0"), "binary"},
        {TEXT_ENC_UTF8, S("你\n"), S("你\n"), "utf-8"},

        {TEXT_ENC_GBK, S("\xc4\xe3\xba\xc3\n"), S("你好\n"), "gbk"},
        {TEXT_ENC_GBK, S("plain"), S("plain"), "gbk"},
        {TEXT_ENC_GBK, S("\xc4\n\xc4"), S("�\n�"), "mixed"},
        {TEXT_ENC_GBK, S("\xff\x80\xc4\xe3\""), S("��你\""), "mixed"},
        {TEXT_ENC_GBK, S("\xc4\"\xc4\xe3"), S("�\"你"), "mixed"},

        {TEXT_ENC_AUTO, S("\xff\xfeh\0i\0"), S("hi"), "utf-16le"},
        {TEXT_ENC_AUTO, S("\xfe\xff\0h\0i"), S("hi"), "utf-16be"},
        {TEXT_ENC_AUTO, S("\xff\xfe"), S(""), "utf-16le"},
        {TEXT_ENC_AUTO, S("\xff\xfe`O}Y\n\0"), S("你好\n"), "utf-16le"},
        {TEXT_ENC_AUTO, S("\xff\xfe\x3d\xd8\x00\xde"), S("😀"), "utf-16le"},
        {TEXT_ENC_AUTO, S("\xfe\xff\xd8\x3d\xde\x00"), S("😀"), "utf-16be"},
        {TEXT_ENC_AUTO, S("\xff\xfe\x00\xdex\0"), S("�x"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\xfe\x3d\xd8x\0"), S("�x"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\xfe\x3d\xd8"), S("�"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\xfex\0y"), S("x�"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\xfe\0\0"), S("\0"), "utf-16le"},
        {TEXT_ENC_AUTO, S("\xff"), S("�"), "mixed"},
        {TEXT_ENC_AUTO, S("\xff\xff\xfeh\0"), S("���h\0"), "binary"},
        {TEXT_ENC_AUTO, S("\xfe\xfe"), S("��"), "mixed"},
        {TEXT_ENC_AUTO, S("a\xff\xfeh\0"), S("a��h\0"), "binary"},
    };
#undef S

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t piece = 1; piece <= 8; piece++)
            check_pieces(cases[i].encoding, cases[i].in, cases[i].in_len, piece, cases[i].out,
                         cases[i].out_len, cases[i].name);
}

/* A byte order mark counts only where the output begins. */
static void test_no_mark_in_the_middle(void **state)
{
    struct decoded *c = calloc(1, sizeof(*c));

    assert_non_null(c);
    decoder_init(&c->d, TEXT_ENC_AUTO,
                 /* eager= */ 0,
                 /* at_start= */ 0, (struct span_sink){.add = collect, .ctx = c});
    feed(c, "\xff\xfeh", 3);
    decoder_end(&c->d, 0);
    expect(c, "��h");
    decoded_free(c);
}

/* A line that never ends is judged every DECODE_LINE_MAX bytes; no character is split there. */
static void test_endless_line(void **state)
{
    static const struct {
        const char *unit, *text, *name;
    } cases[] = {
        {"x", "x", "utf-8"},
        {"你", "你", "utf-8"},
        {"😀", "😀", "utf-8"},
        {"\xc4\xe3", "你", "gbk"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t shift = 0; shift < 4; shift++) {
            struct decoded *c = decoded_new(TEXT_ENC_AUTO, 0);
            size_t n = 3 * DECODE_LINE_MAX / strlen(cases[i].unit);
            auto_buf struct buf in = {0}, out = {0};

            for (size_t k = 0; k < shift; k++) {
                buf_add_char(&in, 'a');
                buf_add_char(&out, 'a');
            }
            for (size_t k = 0; k < n; k++) {
                buf_add_str(&in, cases[i].unit);
                buf_add_str(&out, cases[i].text);
            }
            for (size_t k = 0; k < in.len; k += 1000) {
                feed(c, in.data + k, MIN((size_t)1000, in.len - k));
                assert_true(c->d.n_pending < DECODE_LINE_MAX);
            }
            decoder_end(&c->d, 0);
            expect(c, out.data);
            assert_string_equal(decoder_encoding(&c->d), cases[i].name);
            decoded_free(c);
        }
}

/* Beyond the bound each part of the line has its own encoding. */
static void test_long_line_is_judged_in_parts(void **state)
{
    struct decoded *c = decoded_new(TEXT_ENC_AUTO, 0);
    auto_buf struct buf out = {0};

    for (size_t i = 0; i < DECODE_LINE_MAX; i++) {
        feed(c, "x", 1);
        buf_add_char(&out, 'x');
    }
    expect(c, out.data);
    feed_str(c, "\xc4\xe3\n");
    buf_add_str(&out, "你\n");
    expect(c, out.data);
    decoded_free(c);
}

static void random_bytes(uint32_t *seed, char *s, size_t len)
{
    static const char *const pieces[] = {
        "a",        "bc ",  "\n",   "\n",       "你",   "é",  "😀",     "\xc4\xe3",
        "\xba\xc3", "\xff", "\xe4", "\xe4\xbd", "\x80", "\r", "\x1b[", "\xf0\x9f",
    };

    while (len > 0) {
        const char *p = pieces[random_below(seed, ARRAY_SIZE(pieces))];
        size_t n = MIN(strlen(p), len);

        memcpy(s, p, n);
        s += n;
        len -= n;
    }
}

/* However the bytes are cut, the text is the same. */
static void test_pieces_make_no_difference(void **state)
{
    for (uint32_t round = 1; round <= 400; round++) {
        uint32_t seed = round * 2654435761u;
        enum text_encoding encoding = (enum text_encoding)random_below(&seed, TEXT_ENC_MAX);
        char in[200];
        size_t len = random_below(&seed, sizeof(in));
        struct decoded *whole = decoded_new(encoding, 0);

        random_bytes(&seed, in, len);
        if (len >= 2 && random_below(&seed, 4) == 0)
            memcpy(in, "\xff\xfe", 2);
        feed(whole, in, len);
        decoder_end(&whole->d, 0);
        for (size_t piece = 1; piece <= 16; piece *= 2)
            check_pieces(encoding, in, len, piece, whole->text.data, whole->text.len,
                         decoder_encoding(&whole->d));
        decoded_free(whole);
    }
}

/* ---- a job that goes on ------------------------------------------------------------------- */

static void test_more_holds_an_unfinished_character(void **state)
{
    static const struct {
        enum text_encoding encoding;
        const char *in, *out;
        size_t held;
    } cases[] = {
        {TEXT_ENC_AUTO, "cleanup \xe2\x80", "cleanup ", 2}, {TEXT_ENC_AUTO, "a\nb", "a\nb", 0},
        {TEXT_ENC_AUTO, "\xc4\xe3\xba", "你", 1},           {TEXT_ENC_AUTO, "\xff\xf0\x9f", "�", 2},
        {TEXT_ENC_UTF8, "你\xf0\x9f\x98", "你", 3},         {TEXT_ENC_GBK, "\xc4\xe3\xba", "你", 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct decoded *c = decoded_new(cases[i].encoding, 0);

        feed_str(c, cases[i].in);
        decoder_end(&c->d, /* more= */ 1);
        expect(c, cases[i].out);
        assert_int_equal(decoder_offset(&c->d), strlen(cases[i].in) - cases[i].held);
        decoded_free(c);
    }
}

/* ---- gaps --------------------------------------------------------------------------------- */

static void test_gap_leaves_half_characters_out(void **state)
{
    static const struct {
        enum text_encoding encoding;
        const char *before, *after, *out;
    } cases[] = {
        {TEXT_ENC_AUTO, "a你\xe4\xbd", "\xa0好\n", "a你好\n"},
        {TEXT_ENC_AUTO, "\xf0\x9f", "\x98\x80!\n", "!\n"},
        {TEXT_ENC_AUTO, "\xf0", "\x9f\x98\x80!", "!"},
        {TEXT_ENC_AUTO, "x", "y\n", "xy\n"},
        {TEXT_ENC_AUTO, "\xc4\xe3\xba", "\xc3\xc4\xe3\n", "你你\n"}, /* GBK from the second byte */
        {TEXT_ENC_AUTO, "", "\xc4\xe3\xba\xc3\n", "你好\n"},         /* GBK from the first */
        {TEXT_ENC_AUTO, "", "\x80\x80\x80\x80 x\n", "� x\n"},        /* no end of a character */
        {TEXT_ENC_AUTO, "", "\xa0\xff\n\xa0\n", "�\n�\n"},           /* only right after the gap */
        {TEXT_ENC_AUTO, "", "ok\n\xa0!\n", "ok\n�!\n"},
        {TEXT_ENC_UTF8, "a\xe4", "\xbd\xa0 b", "a b"},
        {TEXT_ENC_GBK, "\xc4\xe3\xba", "x", "你x"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct decoded *c = decoded_new(cases[i].encoding, 0);

        feed_str(c, cases[i].before);
        decoder_gap(&c->d, 1000);
        feed_str(c, cases[i].after);
        decoder_end(&c->d, 0);
        expect(c, cases[i].out);
        assert_int_equal(decoder_offset(&c->d),
                         strlen(cases[i].before) + 1000 + strlen(cases[i].after));
        decoded_free(c);
    }
}

static void test_gap_in_utf16_keeps_the_units_apart(void **state)
{
    for (uint64_t gap = 100; gap < 102; gap++) {
        struct decoded *c = decoded_new(TEXT_ENC_AUTO, 0);

        feed(c, "\xff\xfe\x60\x4f\x3d\xd8", 6); /* the last one is half of a pair */
        decoder_gap(&c->d, gap);
        if (gap % 2)
            feed(c, "\0", 1);
        feed(c, "\x00\xdeh\0i\0", 6); /* the other half of a pair, then text */
        decoder_end(&c->d, 0);
        expect(c, "你hi");
        assert_string_equal(decoder_encoding(&c->d), "utf-16le");
        decoded_free(c);
    }
}

static void test_no_mark_after_a_gap(void **state)
{
    struct decoded *c = decoded_new(TEXT_ENC_AUTO, 0);

    decoder_gap(&c->d, 10);
    feed(c, "\xff\xfeh\n", 4);
    expect(c, "��h\n");
    decoded_free(c);
}

/* ---- events ------------------------------------------------------------------------------- */

/* Each step: what arrives, and all of the text that is out then. */
static void check_eager(enum text_encoding encoding, const char *const (*steps)[2], const char *end)
{
    struct decoded *c = decoded_new(encoding, /* eager= */ 1);

    for (; (*steps)[0]; steps++) {
        feed_str(c, (*steps)[0]);
        expect(c, (*steps)[1]);
    }
    decoder_end(&c->d, 0);
    expect(c, end);
    decoded_free(c);
}

static void test_f1_eager_text_does_not_wait_for_its_line(void **state)
{
    static const char *const steps[][2] = {
        {"cleanup \xe2", "cleanup "},
        {"\x80\x94 end", "cleanup — end"},
        {NULL},
    };
    static const char *const prompt[][2] = {{"a > ", "a > "}, {">>> ", "a > >>> "}, {NULL}};

    check_eager(TEXT_ENC_AUTO, steps, "cleanup — end");
    check_eager(TEXT_ENC_AUTO, prompt, "a > >>> ");
}

static void test_eager_rest_of_a_line_may_be_gbk(void **state)
{
    static const char *const steps[][2] = {
        {"result: ", "result: "},
        {"\xc4", "result: "},
        {"\xe3\xba", "result: "}, /* no UTF-8 any more: the rest waits for its end */
        {"\xc3 ok", "result: "},
        {"\nnext", "result: 你好 ok\nnext"},
        {NULL},
    };
    static const char *const whole[][2] = {{"\xc4\xe3\xba\xc3\n", "你好\n"}, {NULL}};
    static const char *const broken[][2] = {
        {"ok ", "ok "}, {"but \xff", "ok "}, {"\xc4", "ok "}, {"\n", "ok but ��\n"}, {NULL},
    };
    static const char *const unfinished[][2] = {{"\xc4\xe3\xba\xc3", ""}, {NULL}};

    check_eager(TEXT_ENC_AUTO, steps, "result: 你好 ok\nnext");
    check_eager(TEXT_ENC_AUTO, whole, "你好\n");
    check_eager(TEXT_ENC_AUTO, broken, "ok but ��\n");
    check_eager(TEXT_ENC_AUTO, unfinished, "你好");
}

static void test_eager_declared_encodings(void **state)
{
    static const char *const gbk[][2] = {{"\xc4\xe3\xba", "你"}, {"\xc3", "你好"}, {NULL}};
    static const char *const utf8[][2] = {{"\xe4\xbd", ""}, {"\xa0\xff", "你�"}, {NULL}};

    check_eager(TEXT_ENC_GBK, gbk, "你好");
    check_eager(TEXT_ENC_UTF8, utf8, "你�");
}

static void test_eager_utf16_and_ends(void **state)
{
    struct decoded *c = decoded_new(TEXT_ENC_AUTO, 1);

    feed(c, "\xff", 1);
    expect(c, "");
    feed(c, "\xfeh", 2);
    expect(c, "");
    feed(c, "\0i\0", 3);
    expect(c, "hi");
    assert_int_equal(decoder_offset(&c->d), 6);
    decoded_free(c);

    c = decoded_new(TEXT_ENC_AUTO, 1);
    feed_str(c, "\xe4\xbd");
    assert_int_equal(decoder_offset(&c->d), 0);
    decoder_end(&c->d, 0);
    expect(c, "浣");
    decoded_free(c);
}

/* Lines that arrive whole give what the ordinary decoder gives. */
static void test_eager_whole_lines_as_ordinary(void **state)
{
    for (uint32_t round = 1; round <= 300; round++) {
        uint32_t seed = round * 2654435761u;
        char in[300];
        size_t len = 1 + random_below(&seed, sizeof(in) - 1), begin = 0;
        struct decoded *a = decoded_new(TEXT_ENC_AUTO, 0);
        struct decoded *b = decoded_new(TEXT_ENC_AUTO, 1);

        random_bytes(&seed, in, len);
        in[len - 1] = '\n';
        feed(a, in, len);
        decoder_end(&a->d, 0);
        for (size_t i = 0; i < len; i++)
            if (in[i] == '\n') {
                feed(b, in + begin, i + 1 - begin);
                begin = i + 1;
            }
        expect(b, a->text.data);
        assert_string_equal(decoder_encoding(&a->d), decoder_encoding(&b->d));
        decoded_free(a);
        decoded_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_no_mark_in_the_middle),
        cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_long_line_is_judged_in_parts),
        cmocka_unit_test(test_pieces_make_no_difference),
        cmocka_unit_test(test_more_holds_an_unfinished_character),
        cmocka_unit_test(test_gap_leaves_half_characters_out),
        cmocka_unit_test(test_gap_in_utf16_keeps_the_units_apart),
        cmocka_unit_test(test_no_mark_after_a_gap),
        cmocka_unit_test(test_f1_eager_text_does_not_wait_for_its_line),
        cmocka_unit_test(test_eager_rest_of_a_line_may_be_gbk),
        cmocka_unit_test(test_eager_declared_encodings),
        cmocka_unit_test(test_eager_utf16_and_ends),
        cmocka_unit_test(test_eager_whole_lines_as_ordinary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
