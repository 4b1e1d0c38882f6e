/* Where each character of a stored text came from, against one number a character. */
#include "test-text-common.h"
#include "text/map.h"

#define TEXT_MAX 4096

/* A text with the input range of each of its characters, kept in the simplest way. */
struct model {
    struct map map;
    char text[TEXT_MAX];
    size_t len;
    size_t at[TEXT_MAX]; /* where character i begins */
    uint64_t begin[TEXT_MAX], end[TEXT_MAX];
    size_t n;
};

/* Adds n characters of text_len bytes for src_len bytes each, as one span. */
static void add(struct model *m, size_t n, size_t text_len, uint64_t src, uint64_t src_len)
{
    struct span s = {.text = m->text + m->len,
                     .len = n * text_len,
                     .src = src,
                     .text_step = text_len == src_len ? 1 : text_len,
                     .src_step = text_len == src_len ? 1 : src_len};

    map_add(&m->map, m->len, &s);
    for (size_t i = 0; i < n; i++) {
        m->at[m->n] = m->len;
        m->begin[m->n] = src + i * src_len;
        m->end[m->n] = src + (i + 1) * src_len;
        m->len += text_len;
        m->n++;
    }
}

static void check(const struct model *m, size_t first)
{
    size_t base = first < m->n ? m->at[first] : m->len;

    assert_int_equal(m->map.error, 0);
    for (size_t i = first; i < m->n; i++) {
        size_t next = i + 1 < m->n ? m->at[i + 1] : m->len;

        assert_int_equal(map_begin(&m->map, m->at[i] - base), m->begin[i]);
        assert_int_equal(map_end(&m->map, next - base), m->end[i]);
    }
}

/* Characters of all kinds, with removed bytes between some of them; then the front is dropped. */
static void test_random_texts(void **state)
{
    for (uint32_t round = 1; round < 300; round++) {
        static struct model m;
        uint32_t seed = round * 2654435761u;
        uint64_t src = random_below(&seed, 100);
        size_t dropped;

        memset(&m, 0, sizeof(m));
        for (size_t i = random_below(&seed, 60); i > 0; i--) {
            size_t n = 1 + random_below(&seed, 5);
            size_t text_len = 1 + random_below(&seed, 4);
            uint64_t src_len = random_below(&seed, 5);

            src += random_below(&seed, 3) ? 0 : random_below(&seed, 20);
            add(&m, n, text_len, src, src_len);
            src += n * src_len;
        }
        check(&m, 0);
        dropped = random_below(&seed, m.n + 1);
        map_drop(&m.map, dropped < m.n ? m.at[dropped] : m.len);
        check(&m, dropped);
        map_done(&m.map);
    }
}

static void test_ordinary_text_is_one_run(void **state)
{
    static struct model m;

    for (size_t i = 0; i < 1000; i++)
        add(&m, 1, 1, i, 1);
    assert_int_equal(m.map.n, 1);
    add(&m, 1, 3, 1000, 3); /* taken over as it is, too */
    assert_int_equal(m.map.n, 1);
    add(&m, 1, 3, 1003, 2);
    add(&m, 1, 3, 1005, 2);
    assert_int_equal(m.map.n, 2);
    add(&m, 1, 3, 1008, 2); /* one byte was removed before it */
    assert_int_equal(m.map.n, 3);
    check(&m, 0);
    map_done(&m.map);
}

static void test_append_joins_runs(void **state)
{
    struct map a = {0}, b = {0};
    struct span first = {.len = 5, .src = 0, .text_step = 1, .src_step = 1};
    struct span second = {.len = 5, .src = 5, .text_step = 1, .src_step = 1};
    struct span third = {.len = 5, .src = 20, .text_step = 1, .src_step = 1};

    map_add(&a, 0, &first);
    map_add(&b, 0, &second);
    map_add(&b, 5, &third);
    map_append(&a, 5, &b);
    assert_int_equal(a.n, 2);
    assert_int_equal(map_begin(&a, 9), 9);
    assert_int_equal(map_end(&a, 10), 10);
    assert_int_equal(map_begin(&a, 10), 20);
    assert_int_equal(map_end(&a, 15), 25);
    map_done(&a);
    map_done(&b);
}

static void test_spans_give_the_text_back(void **state)
{
    static const char shown[] = "abc\xef\xbf\xbd\xef\xbf\xbdz";
    struct map m = {0};
    struct span parts[] = {
        {.text = shown, .len = 3, .src = 7, .text_step = 1, .src_step = 1},
        {.text = shown + 3, .len = 6, .src = 10, .text_step = 3, .src_step = 1},
        {.text = shown + 9, .len = 1, .src = 12, .text_step = 1, .src_step = 1},
    };
    size_t pos = 0;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        map_add(&m, pos, &parts[i]);
        pos += parts[i].len;
    }
    assert_int_equal(m.n, ARRAY_SIZE(parts));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct span s = map_span(&m, i, shown, pos);

        assert_ptr_equal(s.text, parts[i].text);
        assert_int_equal(s.len, parts[i].len);
        assert_int_equal(s.src, parts[i].src);
        assert_int_equal(s.src_step, parts[i].src_step);
    }
    map_done(&m);
}

/* ---- collecting characters ---------------------------------------------------------------- */

static void note_span(void *ctx, const struct span *s)
{
    buf_add_format(ctx, "%.*s@%d*%d/%d ", (int)s->len, s->text, (int)s->src, (int)s->text_step,
                   (int)s->src_step);
}

static void test_batch_makes_as_few_spans_as_possible(void **state)
{
    auto_buf struct buf notes = {0};
    struct span_batch b;

    span_batch_init(&b, (struct span_sink){.add = note_span, .ctx = &notes});
    span_batch_add(&b, "a", 1, 0, 1);
    span_batch_add(&b, "é", 2, 1, 2); /* as long as in the input: no other step */
    span_batch_add(&b, "b", 1, 4, 1); /* something is left out before it */
    span_batch_add(&b, "你", 3, 5, 2);
    span_batch_add(&b, "好", 3, 7, 2);
    span_batch_flush(&b);
    span_batch_flush(&b);
    assert_string_equal(notes.data, "aé@0*1/1 b@4*1/1 你好@5*3/2 ");
}

static void test_batch_of_any_length(void **state)
{
    auto_buf struct buf notes = {0};
    struct span_batch b;

    span_batch_init(&b, (struct span_sink){.add = note_span, .ctx = &notes});
    for (uint64_t i = 0; i < 10 * SPAN_BATCH_SIZE; i++)
        span_batch_add(&b, "你", 3, i, 1);
    span_batch_flush(&b);
    assert_in_range(notes.len, 30 * SPAN_BATCH_SIZE, 31 * SPAN_BATCH_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_ordinary_text_is_one_run),
        cmocka_unit_test(test_append_joins_runs),
        cmocka_unit_test(test_spans_give_the_text_back),
        cmocka_unit_test(test_batch_makes_as_few_spans_as_possible),
        cmocka_unit_test(test_batch_of_any_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
