/* Vectors of strings: NULL is an empty one everywhere, and running out of memory loses nothing. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strv.h"

static int calls_left = -1; /* allocations until one fails; negative: none fails */

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

static int fails_now(void)
{
    if (calls_left < 0)
        return 0;
    return calls_left-- == 0;
}

/* Fresh memory is anything but zero. */
void *__wrap_realloc(void *p, size_t size)
{
    size_t old_size = p ? malloc_usable_size(p) : 0;
    char *grown = fails_now() ? NULL : __real_realloc(p, size);

    if (grown && size > old_size)
        memset(grown + old_size, 0xa5, size - old_size);
    return grown;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : __real_calloc(n, size);
}

char *__wrap_strdup(const char *s)
{
    return fails_now() ? NULL : __real_strdup(s);
}

static const char *const abc[] = {"a", "", "ccc", NULL};

static void test_length(void **state)
{
    const char *const empty[] = {NULL};

    assert_int_equal(strv_length(NULL), 0);
    assert_int_equal(strv_length(empty), 0);
    assert_int_equal(strv_length(abc), 3);
}

static void test_copy_is_deep(void **state)
{
    auto_strv char **copy = strv_copy(abc);

    assert_non_null(copy);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(copy[i], abc[i]);
        assert_ptr_not_equal(copy[i], abc[i]);
    }
    assert_null(copy[3]);
}

static void test_copy_of_nothing_is_empty(void **state)
{
    auto_strv char **copy = strv_copy(NULL);

    assert_non_null(copy);
    assert_null(copy[0]);
}

static void test_add(void **state)
{
    auto_strv char **v = NULL;
    char text[] = "own copy";

    assert_int_equal(strv_add(&v, text), 0);
    text[0] = 'X';
    assert_int_equal(strv_add(&v, "second"), 0);
    assert_int_equal(strv_add_take(&v, strdup("third")), 0);
    assert_string_equal(v[0], "own copy");
    assert_string_equal(v[1], "second");
    assert_string_equal(v[2], "third");
    assert_null(v[3]);
}

/* What the n-th allocation's failure leaves is the vector as it was; a leak is the sanitizers' to
 * find. */
static void test_add_without_memory(void **state)
{
    for (int n = 0; n < 2; n++) {
        auto_strv char **v = strv_copy(abc);

        calls_left = n;
        assert_int_equal(strv_add(&v, "new"), -ENOMEM);
        calls_left = -1;
        assert_int_equal(strv_length((const char *const *)v), 3);
        assert_string_equal(v[2], "ccc");
    }
}

static void test_add_of_a_failed_copy(void **state)
{
    auto_strv char **v = NULL;

    assert_int_equal(strv_add_take(&v, NULL), -ENOMEM);
    assert_null(v);
}

static void test_copy_without_memory(void **state)
{
    for (int n = 0; n < 4; n++) {
        calls_left = n;
        assert_null(strv_copy(abc));
    }
    calls_left = -1;
}

static void test_free_takes_nothing(void **state)
{
    assert_null(strv_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_copy_is_deep),
        cmocka_unit_test(test_copy_of_nothing_is_empty),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_without_memory),
        cmocka_unit_test(test_add_of_a_failed_copy),
        cmocka_unit_test(test_copy_without_memory),
        cmocka_unit_test(test_free_takes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
