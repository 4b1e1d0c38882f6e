/* SHA-256, against the examples of FIPS 180-4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/digest.h"

static void test_examples(void **state)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char digest[DIGEST_TEXT_SIZE];

        digest_text(rows[i].text, strlen(rows[i].text), digest);
        assert_string_equal(digest, rows[i].digest);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
