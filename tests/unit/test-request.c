/* Requests: no two have one digest, and what people see of them is short and valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/request.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef void build(struct request *q);

static char *digest_of(build *make)
{
    static char digests[4][DIGEST_TEXT_SIZE];
    static unsigned next;
    char *digest = digests[next++ % 4];
    struct request q = {0};

    make(&q);
    assert_int_equal(request_digest(&q, digest), 0);
    request_done(&q);
    return digest;
}

/* clang-format off */
static void base(struct request *q)     { request_add_words(q, "command", WORDS("a", "bc")); }
static void moved(struct request *q)    { request_add_words(q, "command", WORDS("ab", "c")); }
static void joined(struct request *q)   { request_add_words(q, "command", WORDS("a bc")); }
static void other_key(struct request *q){ request_add_words(q, "script", WORDS("a", "bc")); }
static void broken_a(struct request *q) { request_add_words(q, "command", WORDS("\xff")); }
static void broken_b(struct request *q) { request_add_words(q, "command", WORDS("\xfe")); }
static void no_text(struct request *q)  { request_add_text(q, "cwd", NULL); }
static void empty(struct request *q)    { request_add_text(q, "cwd", ""); }
static void env(struct request *q)      { request_add_env(q, "env", WORDS("A=1")); }
static void env_other(struct request *q){ request_add_env(q, "env", WORDS("A=2")); }
static void no_env(struct request *q)   { request_add_env(q, "env", NULL); }
static void data_a(struct request *q)   { request_add_data(q, "code", "a\0b", 3); }
static void data_b(struct request *q)   { request_add_data(q, "code", "a\0c", 3); }
static void two(struct request *q)      { request_add_text(q, "a", "1:b"); request_add_text(q, "c", ""); }
static void two_other(struct request *q){ request_add_text(q, "a", "1"); request_add_text(q, "b1:c", ""); }
static void noted(struct request *q)    { base(q); request_note(q, "risk", json_string("high")); }
/* clang-format on */

static void test_what_differs_has_another_digest(void **state)
{
    static build *const all[] = {base,     moved,   joined, other_key, broken_a,
                                 broken_b, no_text, empty,  env,       env_other,
                                 no_env,   data_a,  data_b, two,       two_other};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(digest_of(all[i]), digest_of(all[k]));
}

static void test_the_same_has_the_same(void **state)
{
    assert_string_equal(digest_of(base), digest_of(base));
    assert_string_equal(digest_of(base), digest_of(noted)); /* a note is no part of it */
}

static void test_shown(void **state)
{
    static char longer[3 * REQUEST_SHOWN_MAX];
    struct request q = {0};
    char digest[DIGEST_TEXT_SIZE];
    const char *text;

    memset(longer, 'x', sizeof(longer) - 1);
    memcpy(longer + REQUEST_SHOWN_MAX - 1, "\xe4\xbd\xa0", 3); /* across the cut */
    request_add_text(&q, "script", longer);
    request_add_words(&q, "command", WORDS("a", "\xff"));
    request_add_env(&q, "env", WORDS("A=1", "B"));
    request_add_hidden(&q, "stdin", "secret", 6);
    assert_int_equal(request_digest(&q, digest), 0);
    text = json_string_value(json_object_get(q.shown, "script"));
    assert_int_equal(strlen(text), REQUEST_SHOWN_MAX - 1 + strlen("…"));
    assert_string_equal(json_string_value(json_array_get(json_object_get(q.shown, "command"), 1)),
                        "\xef\xbf\xbd");
    assert_string_equal(json_string_value(json_object_get(json_object_get(q.shown, "env"), "A")),
                        "1");
    assert_true(json_is_null(json_object_get(json_object_get(q.shown, "env"), "B")));
    assert_null(json_object_get(q.shown, "stdin"));
    request_done(&q);
}

static void test_many_words_are_cut(void **state)
{
    const char *words[REQUEST_SHOWN_WORDS_MAX + 10] = {NULL};
    struct request q = {0};

    for (size_t i = 0; i < REQUEST_SHOWN_WORDS_MAX + 9; i++)
        words[i] = "w";
    request_add_words(&q, "command", words);
    assert_int_equal(json_array_size(json_object_get(q.shown, "command")),
                     REQUEST_SHOWN_WORDS_MAX + 1);
    request_done(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_differs_has_another_digest),
        cmocka_unit_test(test_the_same_has_the_same),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_many_words_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
