/* Fenced blocks: which one counts, and what is inside. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/fence.h"

/* NULL: there is none. */
static void check(const char *text, const char *language, const char *expected)
{
    auto_buf struct buf b = {0};
    bool found = fence_find_last(text, strlen(text), language_find(language), &b);

    assert_int_equal(found, expected != NULL);
    if (expected)
        assert_string_equal(b.data ? b.data : "", expected);
}

static void test_the_last_one_counts(void **state)
{
    check("```python\na\n```\ntext\n```py\nb\n\nc\n```\nmore", "python", "b\n\nc\n");
    check("```python\na\n```\n```bash\nb\n```\n", "python", "a\n");
    check("```python\na\n```\n```bash\nb\n```\n", "bash", "b\n");
    check("```Python3 title=x\na\n```", "python", "a\n");
    check("``` python\na\n```", "python", "a\n");
    check("```python\n```\n", "python", "");
}

static void test_none(void **state)
{
    check("", "python", NULL);
    check("text", "python", NULL);
    check("```\na\n```\n", "python", NULL);
    check("```bash\n```python\na\n```\n", "python", NULL);
    check("``python\na\n``\n", "python", NULL);
    check("    ```python\n    a\n    ```\n", "python", NULL);
    check("```python `x`\na\n```\n", "python", NULL);
}

static void test_where_it_ends(void **state)
{
    check("````python\n```\na\n````\nb", "python", "```\na\n");
    check("~~~python\n```\na\n~~~\nb", "python", "```\na\n");
    check("```python\na\n``` x\nb\n`````  \nc", "python", "a\n``` x\nb\n");
    check("```python\na", "python", "a");
    check("```python\r\na\r\n```\r\nb", "python", "a\r\n");
}

static void test_indent(void **state)
{
    check("  ```python\n  if x:\n      y\n z\n  ```\n", "python", "if x:\n    y\nz\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_one_counts),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_where_it_ends),
        cmocka_unit_test(test_indent),
    };

    return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
