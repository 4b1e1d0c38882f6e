/* The growable buffer: contents, growth, its bound, and that one check at the end is enough. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static int no_memory; /* makes realloc() fail */

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
    return no_memory ? NULL : __real_realloc(p, size);
}

static void test_starts_empty(void **state)
{
    auto_buf struct buf b = {0};

    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(buf_error(&b), 0);
}

static void test_appends_all_kinds(void **state)
{
    auto_buf struct buf b = {0};

    buf_add(&b, "ab\0c", 4);
    buf_add_str(&b, "-str-");
    buf_add_char(&b, '\0');
    buf_add_format(&b, "%d/%s", 42, "x");
    buf_add(&b, "", 0);
    buf_add_str(&b, "");
    assert_int_equal(buf_error(&b), 0);
    assert_int_equal(b.len, 14);
    assert_memory_equal(b.data,
                        "ab\0c-str-\0"
                        "42/x",
                        15); /* with the NUL behind it */
}

/* Appends byte after byte, and checks each time that the text is terminated. */
static void test_grows_and_stays_terminated(void **state)
{
    auto_buf struct buf b = {0};

    for (size_t i = 0; i < 10000; i++) {
        buf_add_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.len, i + 1);
        assert_true(b.allocated > b.len);
        assert_int_equal(b.data[b.len], '\0');
    }
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.data[i], 'a' + i % 26);
}

static void test_format_longer_than_any_guess(void **state)
{
    auto_buf struct buf b = {0};

    buf_add_str(&b, "x");
    buf_add_format(&b, "%70000d", 7);
    assert_int_equal(b.len, 70001);
    assert_int_equal(b.data[70000], '7');
    assert_int_equal(strlen(b.data), 70001);
}

static void test_reserve_makes_room(void **state)
{
    auto_buf struct buf b = {0};
    const char *data;

    assert_int_equal(buf_reserve(&b, 1000), 0);
    assert_true(b.allocated > 1000);
    data = b.data;
    for (int i = 0; i < 1000; i++)
        buf_add_char(&b, 'x');
    assert_ptr_equal(b.data, data);
}

static void test_bound_is_an_error_that_stays(void **state)
{
    auto_buf struct buf b = {0};

    buf_add_str(&b, "kept");
    assert_int_equal(buf_reserve(&b, BUF_SIZE_MAX - 4), -EFBIG);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), -EFBIG);
    buf_add_str(&b, "not added");
    buf_add_char(&b, 'x');
    buf_add_format(&b, "%d", 1);
    assert_int_equal(buf_error(&b), -EFBIG);
    assert_string_equal(b.data, "kept");
    assert_int_equal(b.len, 4);
}

static void test_no_memory_is_an_error_that_stays(void **state)
{
    auto_buf struct buf b = {0};

    buf_add_str(&b, "kept");
    no_memory = 1;
    buf_add_format(&b, "%1000d", 1);
    no_memory = 0;
    buf_add_str(&b, "not added");
    assert_int_equal(buf_error(&b), -ENOMEM);
    assert_string_equal(b.data, "kept");
    assert_null(buf_take(&b));
    assert_null(b.data); /* freed all the same */
    assert_int_equal(buf_error(&b), 0);
}

static void test_clear_keeps_memory_and_forgets_the_error(void **state)
{
    auto_buf struct buf b = {0};
    size_t allocated;

    buf_clear(&b);
    assert_null(b.data);
    buf_add_str(&b, "some text");
    (void)buf_reserve(&b, SIZE_MAX);
    allocated = b.allocated;
    buf_clear(&b);
    assert_int_equal(buf_error(&b), 0);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    assert_int_equal(b.allocated, allocated);
    buf_add_str(&b, "new");
    assert_string_equal(b.data, "new");
}

static void test_take_gives_the_text_away(void **state)
{
    auto_buf struct buf b = {0};
    char *text;

    buf_add_str(&b, "mine");
    text = buf_take(&b);
    assert_string_equal(text, "mine");
    free(text);
    assert_null(b.data);
    assert_int_equal(b.len, 0);

    text = buf_take(&b); /* of an empty one */
    assert_string_equal(text, "");
    free(text);
}

static void test_done_may_be_called_again(void **state)
{
    struct buf b = {0};

    buf_add_str(&b, "x");
    buf_done(&b);
    buf_done(&b);
    assert_null(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_empty),
        cmocka_unit_test(test_appends_all_kinds),
        cmocka_unit_test(test_grows_and_stays_terminated),
        cmocka_unit_test(test_format_longer_than_any_guess),
        cmocka_unit_test(test_reserve_makes_room),
        cmocka_unit_test(test_bound_is_an_error_that_stays),
        cmocka_unit_test(test_no_memory_is_an_error_that_stays),
        cmocka_unit_test(test_clear_keeps_memory_and_forgets_the_error),
        cmocka_unit_test(test_take_gives_the_text_away),
        cmocka_unit_test(test_done_may_be_called_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
