/*
 * Memory: when there is none, -ENOMEM and nothing else; and how much is needed at most, which must
 * not depend on the size of the input. All allocations go through the functions below.
 */
#include <errno.h>
#include <malloc.h>

#include "test-text-common.h"

static struct {
    long countdown; /* the allocation that fails when it reaches 0; negative: none */
    size_t in_use, peak;
} memory = {.countdown = -1};

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void __wrap_free(void *p);

static int may_allocate(void)
{
    return memory.countdown < 0 || memory.countdown-- > 0;
}

static void *count(void *p)
{
    memory.in_use += malloc_usable_size(p);
    memory.peak = MAX(memory.peak, memory.in_use);
    return p;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? count(__real_malloc(size)) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
    if (!may_allocate())
        return NULL;
    memory.in_use -= malloc_usable_size(p);
    return count(__real_realloc(p, size));
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return __wrap_realloc(p, n * size);
}

void __wrap_free(void *p)
{
    memory.in_use -= malloc_usable_size(p);
    __real_free(p);
}

/* ---- no memory ---------------------------------------------------------------------------- */

#define COLUMNS_80                                                                                 \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789"

/* Each way in which a line becomes cells, and cells become more. */
static const char sample[] = "plain\n你好\n\xc4\xe3\n\xff\xff\033[31mred\033[0m\r\ttab\n"
                             "a\rb" COLUMNS_80 "\na\b你\b" COLUMNS_80 COLUMNS_80 "你\n"
                             "abc\033[2D\033[Xd\nabc\033[2D\033[Pd\nabc\033[2D\033[@d\n"
                             "abc\033[2D\033[500@\033[20;5Hfar\033[1K\033[Cé\n"
                             "a\r你\033[500C你\ne\xcc\x81\xcc\x81\n\033[?1049hpage\n";

/* Everything once, until something fails. */
static int run_once(const struct text_options *o, int with_gap, int rounds)
{
    text *t = NULL;
    struct text_result r = {0};
    int result = text_new(o, 0, &t);

    if (result < 0)
        return result;
    for (int i = 0; i < rounds; i++) {
        text_feed(t, sample, sizeof(sample));
        if (with_gap && i == 1)
            text_gap(t, 100);
    }
    (void)text_would_omit(t);
    result = text_finish(t, "/s/output.log", &r);
    if (result == 0)
        assert_int_equal(r.len > 0, rounds > 0);
    text_result_done(&r);
    text_free(t);
    return result;
}

static void check_each_failure(const struct text_options *o, int with_gap, int rounds)
{
    size_t before = memory.in_use;
    int r = -ENOMEM;
    long n;

    /* Each of the first, then ever fewer: the later ones are more of the same. */
    for (n = 0; r == -ENOMEM; n += 1 + n / 32) {
        memory.countdown = n;
        r = run_once(o, with_gap, rounds);
        memory.countdown = -1;
        assert_int_equal(memory.in_use, before);
    }
    assert_int_equal(r, 0);
    assert_true(n > 2);
}

static void test_each_allocation_may_fail(void **state)
{
    for (int render = 0; render < TEXT_RENDER_MAX; render++)
        for (int kind = 0; kind < 4; kind++) {
            struct text_options o = {.render = render, .limit = kind % 2 ? 300 : 0};

            check_each_failure(&o, /* with_gap= */ kind / 2, /* rounds= */ 3);
            check_each_failure(&o, /* with_gap= */ 0, /* rounds= */ 0);
        }
}

/* ---- bounded memory ----------------------------------------------------------------------- */

#define FEED_BYTES MIB
#define PEAK_MAX (3 * MIB)
#define GROWTH_MAX                                                                                 \
    (64 * KIB) /* in the last quarter; what grows with the input has 256 KiB more                  \
                */

static void check_memory(const struct text_options *o, const char *unit, size_t unit_len)
{
    char piece[4000];
    size_t len = 0, peak_before = 0;
    text *t;
    struct text_result r;

    while (len + unit_len <= sizeof(piece)) {
        memcpy(piece + len, unit, unit_len);
        len += unit_len;
    }
    memory.peak = memory.in_use;
    t = new_text(o);
    for (size_t fed = 0; fed < FEED_BYTES; fed += len) {
        if (fed < FEED_BYTES / 4 * 3)
            peak_before = memory.peak;
        text_feed(t, piece, len);
    }
    assert_int_equal(text_finish(t, NULL, &r), 0);
    assert_true(r.len <= o->limit);
    text_result_done(&r);
    text_free(t);
    if (memory.peak > PEAK_MAX || memory.peak > peak_before + GROWTH_MAX)
        fail_msg("%zu and then %zu bytes for \"%s\"", peak_before, memory.peak, unit);
}

static void test_memory_does_not_grow_with_the_input(void **state)
{
    static const char *const units[] = {
        "y\n",
        "x",
        "你",
        "\xc4\xe3",
        "\xff",
        "\t",
        "e\xcc\x81",
        "\xcc\x81",
        "\r",
        "\n",
        "a\r",
        "\033[31mx",
        "\033",
        "\033]",
        "\033P",
        "\033[1;1;1;",
        "\033[Ax",
        "\033[A\033[999Cx",
        "\033[999Cx\n",
        "\033[999;999Hx\033[H",
        "\033[9999@",
        "x\033[999@\033[D",
        "\v",
        "x\v",
        "\033[Bx\033[999G你\033[A",
        "\033[31mx\033[32m\n",
        "\xff\xc4\xe3 \n",
        "\033[2J\033[500Hx",
        "\033[?1049hx",
        "x\033[A\033[A\033[999C\033[J\n\n\n",
    };

    for (int render = 0; render < TEXT_RENDER_MAX; render++) {
        struct text_options o = {.render = render, .limit = 16384};

        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
            check_memory(&o, units[i], strlen(units[i]));
        check_memory(&o, "\0", 1);
    }
}

/* Sequences alone turn many lines into what needs far more memory than their text. */
static void test_edits_alone_are_bounded(void **state)
{
    text *t = new_text(&(struct text_options){.render = TEXT_CLEAN, .limit = 16384});
    struct text_result r;
    char line[400];

    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    memory.peak = memory.in_use;
    for (int i = 0; i < 512; i++)
        text_feed(t, line, sizeof(line));
    text_feed(t, "\033[3C", 4);
    for (int i = 0; i < 512; i++)
        text_feed(t, "\033[A\033[X", 6);
    assert_int_equal(text_finish(t, NULL, &r), 0);
    text_result_done(&r);
    text_free(t);
    assert_true(memory.peak <= PEAK_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_memory_does_not_grow_with_the_input),
        cmocka_unit_test(test_edits_alone_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
