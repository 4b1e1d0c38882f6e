/*
 * Writes the table that turns GBK into Unicode as a C header: gen-gbk OUTPUT. It asks the iconv of
 * the machine that builds; the program made from it needs none. A pair that iconv does not know, or
 * that it does not give exactly one code point of the basic plane, is 0 in the table.
 */
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LEAD_MIN = 0x81, LEAD_MAX = 0xfe, TRAIL_MIN = 0x40, TRAIL_MAX = 0xfe };

/* GBK has almost 21,800 pairs; an iconv that knows far fewer would make a useless table. */
enum { PAIRS_MIN = 21000 };

static unsigned look_up(iconv_t cd, int lead, int trail)
{
    char in[2] = {(char)lead, (char)trail};
    unsigned char out[8];
    char *in_at = in, *out_at = (char *)out;
    size_t in_left = sizeof(in), out_left = sizeof(out);

    (void)iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &in_at, &in_left, &out_at, &out_left) != 0 || in_left != 0 ||
        out_left != sizeof(out) - 2)
        return 0;
    return (unsigned)out[0] << 8 | out[1];
}

/* Returns how many pairs have a code point. */
static int write_table(FILE *f, iconv_t cd)
{
    int pairs = 0;

    fprintf(f, "/* Made by gen-gbk; not to be edited. */\n#include <stdint.h>\n\n");
    fprintf(f, "#define GBK_LEAD_MIN 0x%x\n#define GBK_TRAIL_MIN 0x%x\n", LEAD_MIN, TRAIL_MIN);
    fprintf(f, "#define GBK_TRAIL_MAX 0x%x\n\n", TRAIL_MAX);
    fprintf(f, "static const uint16_t gbk_table[%d][%d] = {\n", LEAD_MAX - LEAD_MIN + 1,
            TRAIL_MAX - TRAIL_MIN + 1);
    for (int lead = LEAD_MIN; lead <= LEAD_MAX; lead++) {
        fprintf(f, "{");
        for (int trail = TRAIL_MIN; trail <= TRAIL_MAX; trail++) {
            unsigned code = look_up(cd, lead, trail);

            fprintf(f, "%u,%s", code, trail % 16 == 15 ? "\n" : "");
            pairs += code != 0;
        }
        fprintf(f, "},\n");
    }
    fprintf(f, "};\n");
    return pairs;
}

int main(int argc, char *argv[])
{
    iconv_t cd = iconv_open("UTF-16BE", "GBK");
    FILE *f;
    int pairs, failed;

    if (argc != 2 || cd == (iconv_t)-1) {
        fprintf(stderr, "gen-gbk: %s\n", argc != 2 ? "usage: gen-gbk OUTPUT" : strerror(errno));
        return 1;
    }
    f = fopen(argv[1], "we");
    if (!f) {
        fprintf(stderr, "gen-gbk: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    pairs = write_table(f, cd);
    (void)iconv_close(cd);
    failed = ferror(f);
    failed |= fclose(f) != 0;
    if (failed || pairs < PAIRS_MIN) {
        fprintf(stderr, "gen-gbk: %s: cannot write a table of %d pairs\n", argv[1], pairs);
        return 1;
    }
    return 0;
}
