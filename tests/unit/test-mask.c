/* Secrets in a stream: every byte of each, wherever the stream is cut, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/mask.h"

#define TEXT_MAX 20000

static struct mask mask;

static void set_secrets(const char *const *secrets)
{
    mask.n = 0;
    for (size_t i = 0; secrets[i]; i++)
        mask_add(&mask, secrets[i], strlen(secrets[i]));
}

/* A stream as its reader sees it. */
struct reader {
    struct mask_stream sides[2];
    int side;
    char text[TEXT_MAX];
    size_t n;
};

static void feed(struct reader *r, const char *data, size_t size)
{
    static char out[MASK_SECRET_MAX + TEXT_MAX];
    size_t n = mask_feed(&mask, &r->sides[r->side], &r->sides[!r->side], data, size, out);

    r->side = !r->side;
    memcpy(r->text + r->n, out, n);
    r->n += n;
}

static void finish(struct reader *r)
{
    memcpy(r->text + r->n, r->sides[r->side].held, r->sides[r->side].n_held);
    r->n += r->sides[r->side].n_held;
    r->text[r->n] = '\0';
}

struct row {
    const char *secrets[4];
    const char *text;
    const char *masked;
};

static const struct row rows[] = {
    {{"secret"}, "a secret!", "a ******!"},
    {{"secret"}, "secretsecret", "************"},
    {{"secret"}, "secre", "secre"},
    {{"secret"}, "secresecret", "secre******"},
    {{"secret"}, "ssecret secrets", "s****** ******s"},
    {{"secret"}, "", ""},
    {{"aaab"}, "aaaab aaaaaab aaa", "a**** aaa**** aaa"},
    {{"aaaa"}, "aaa aaaa aaaaa aaaaaaa", "aaa **** ***** *******"},
    {{"abab"}, "ababab abab aba", "****** **** aba"},
    {{"abcabcabd"}, "abcabcabcabd", "abc*********"},
    {{"abcd", "cdef"}, "abcdef abcd cdef bcde", "****** **** **** bcde"},
    {{"abcdef", "bcde"}, "abcdef bcdeg abcde", "****** ****g a****"},
    {{"abcdefgh", "defg"}, "abcdefg abcdefgh", "abc**** ********"},
    {{"xabab", "ababc"}, "xababc xabab ababc", "****** ***** *****"},
    {{"abcd", "abce", "abcf"}, "abcabceabcf abcd", "abc******** ****"},
    {{"li\nne", "\xff\xfe\xff\xfe"}, "li\nne \xff\xfe\xff\xfe\xff", "***** ****\xff"},
};

/* Cut in two, at every place; and in three. */
static void test_every_split(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t n = strlen(rows[i].text);

        set_secrets(rows[i].secrets);
        for (size_t first = 0; first <= n; first++) {
            for (size_t second = first; second <= n; second++) {
                struct reader r = {0};

                feed(&r, rows[i].text, first);
                feed(&r, rows[i].text + first, second - first);
                feed(&r, rows[i].text + second, n - second);
                finish(&r);
                assert_string_equal(r.text, rows[i].masked);
            }
        }
    }
}

static void test_byte_by_byte(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct reader r = {0};

        set_secrets(rows[i].secrets);
        for (const char *p = rows[i].text; *p; p++)
            feed(&r, p, 1);
        finish(&r);
        assert_string_equal(r.text, rows[i].masked);
    }
}

/* What is decided is given at once: only the beginning of a secret waits. */
static void test_nothing_waits_without_need(void **state)
{
    static const char *const secrets[] = {"secret", "cretin", NULL};
    static const struct {
        const char *data;
        size_t held;
    } steps[] = {{"hello", 0}, {" s", 1}, {"e", 2}, {"c", 3}, {"x", 0}, {"secre", 5},
                 {"t", 4},     {"i", 5},  {"n", 0}, {"s", 1}, {"s", 1}, {"\n", 0}};
    struct reader r = {0};

    set_secrets(secrets);
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        feed(&r, steps[i].data, strlen(steps[i].data));
        assert_int_equal(r.sides[r.side].n_held, steps[i].held);
    }
    assert_string_equal(r.text, "hello secx********ss\n");
}

static void test_largest(void **state)
{
    static char secret[MASK_SECRET_MAX + 1];
    static char text[3 * MASK_SECRET_MAX];
    const char *const secrets[] = {secret, NULL};
    static struct reader r;

    memset(secret, 'x', MASK_SECRET_MAX - 1);
    secret[MASK_SECRET_MAX - 1] = 'y';
    set_secrets(secrets);
    memset(text, 'x', sizeof(text)); /* never decided: the most is held all the time */
    feed(&r, text, sizeof(text));
    assert_int_equal(r.sides[r.side].n_held, MASK_SECRET_MAX - 1);
    feed(&r, "y", 1);
    finish(&r);
    assert_int_equal(r.n, sizeof(text) + 1);
    assert_int_equal(strspn(r.text, "x"), 2 * MASK_SECRET_MAX + 1);
    assert_int_equal(strspn(r.text + 2 * MASK_SECRET_MAX + 1, "*"), MASK_SECRET_MAX);
}

static void test_many(void **state)
{
    static char secrets[MASK_SECRETS_MAX][16];
    struct reader r = {0};

    mask.n = 0;
    for (size_t i = 0; i < MASK_SECRETS_MAX; i++) {
        (void)snprintf(secrets[i], sizeof(secrets[i]), "key-%02zu", i);
        mask_add(&mask, secrets[i], strlen(secrets[i]));
    }
    feed(&r, "key-00 key-63 key-64 ke", 23);
    feed(&r, "y-31", 4);
    finish(&r);
    assert_string_equal(r.text, "****** ****** key-64 ******");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_split),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_nothing_waits_without_need),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
