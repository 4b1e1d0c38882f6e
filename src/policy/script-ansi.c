/* $'…': quotes in which a backslash makes any character. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

static void add_code_point(struct word_build *b, unsigned long c)
{
    char utf8[4];
    size_t n = 0;

    if (c < 0x80) {
        utf8[n++] = (char)c;
    } else if (c < 0x800) {
        utf8[n++] = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        utf8[n++] = (char)(0xe0 | c >> 12);
        utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        utf8[n++] = (char)(0xf0 | (c >> 18 & 7));
        utf8[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        utf8[n++] = (char)(0x80 | (c & 0x3f));
    if (c > 0)
        build_add(b, utf8, n, MARK_QUOTED);
}

/* Up to max digits behind an escape. Gives how many there were. */
static size_t read_digits(const char *p, size_t max, int base, unsigned long *ret)
{
    char digits[9] = "";
    char *end;

    for (size_t i = 0; i < max && p[i]; i++)
        digits[i] = p[i];
    if (!strchr("0123456789abcdefABCDEF", digits[0]) || !digits[0])
        return 0;
    digits[1] = digits[1] == 'x' || digits[1] == 'X' ? '\0' : digits[1];
    *ret = strtoul(digits, &end, base);
    return (size_t)(end - digits);
}

static void read_ansi_escape(struct reader *r, struct word_build *b)
{
    static const char letters[] = "abeEfnrtv\\'\"?";
    static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    static const struct {
        char letter;
        unsigned char max;
    } numbers[] = {{'x', 2}, {'u', 4}, {'U', 8}};
    const char *p = r->text + r->at + 1;
    const char *letter = *p ? strchr(letters, *p) : NULL;
    unsigned long c = 0;
    size_t n = *p >= '0' && *p <= '7' ? read_digits(p, 3, 8, &c) : 0;

    for (size_t i = 0; i < ARRAY_SIZE(numbers) && n == 0; i++)
        if (*p == numbers[i].letter) {
            n = read_digits(p + 1, numbers[i].max, 16, &c);
            n += n > 0;
        }
    if (n > 0 && *p != 'u' && *p != 'U') {
        char byte = (char)c;

        build_add(b, &byte, byte != '\0', MARK_QUOTED);
    } else if (n > 0) {
        add_code_point(b, c);
    } else if (letter) {
        build_add(b, &values[letter - letters], 1, MARK_QUOTED);
        n = 1;
    } else if (*p == 'c' && p[1]) {
        char control = (char)(p[1] & 0x1f);

        build_add(b, &control, control != '\0', MARK_QUOTED);
        n = 2;
    } else {
        build_add(b, "\\", 1, MARK_QUOTED);
    }
    r->at += 1 + n;
}

void read_ansi_quoted(struct reader *r, struct word_build *b)
{
    b->quoted = true;
    r->at += 2;
    while (r->text[r->at] != '\'') {
        if (r->text[r->at] == '\0') {
            reader_fail(r, "a single quote that is not closed");
            return;
        }
        if (r->text[r->at] == '\\')
            read_ansi_escape(r, b);
        else
            build_add(b, r->text + r->at++, 1, MARK_QUOTED);
    }
    r->at++;
}
