/* Column widths: what everybody agrees about, and the C library's opinion. */
#include <locale.h>
#include <wchar.h>

#include "test-text-common.h"
#include "text/width.h"

static void test_well_known(void **state)
{
    static const struct {
        uint32_t code;
        int width;
    } cases[] = {
        {'a', 1},     {0, 1},       {0xa0, 1},    {0xad, 1},    {0xe9, 1},     {0x2ff, 1},
        {0x300, 0},   {0x301, 0},   {0x36f, 0},   {0x370, 1},   {0x430, 1},    {0x5d0, 1},
        {0x1100, 2},  {0x1161, 0},  {0x200b, 0},  {0x200d, 0},  {0x2014, 1},   {0x2026, 1},
        {0x2500, 1},  {0x2588, 1},  {0x2714, 1},  {0x2705, 2},  {0x3000, 2},   {0x3042, 2},
        {0x4dff, 1},  {0x4e00, 2},  {0x4f60, 2},  {0x9fff, 2},  {0xac00, 2},   {0xfe0f, 0},
        {0xfeff, 0},  {0xff01, 2},  {0xff61, 1},  {0xfffd, 1},  {0x1f600, 2},  {0x1f4a9, 2},
        {0x20000, 2}, {0xe0100, 0}, {0xe01ef, 0}, {0xf0000, 1}, {0x10ffff, 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (width_of(cases[i].code) != cases[i].width)
            fail_msg("U+%04X", cases[i].code);
}

/* The C library knows another version of Unicode and treats a few characters in its own way; where
 * it disagrees about more, one of the two is broken. */
static void test_nearly_as_the_c_library(void **state)
{
    unsigned known = 0, different = 0;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    for (uint32_t code = 0xa0; code < 0x40000; code++) {
        int width = wcwidth((wchar_t)code);

        if (width < 0)
            continue;
        known++;
        different += width != width_of(code);
    }
    if (known < 100000 || different > 1000)
        fail_msg("%u of %u different", different, known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_known),
        cmocka_unit_test(test_nearly_as_the_c_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
