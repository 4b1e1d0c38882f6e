/* Texts in quotes within code that starts programs: each may be a command. os.system("rm x") is one
 * text, ["rm", "-r", "x"] is one in pieces. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "unwrap.h"

/* Reads a text in quotes at p into b, and gives what is behind it. NULL: it is not closed. */
static const char *read_literal(const char *p, const char *end, struct buf *b)
{
    char quote = *p++;

    for (; p < end && *p != quote; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        buf_add_char(b, *p);
    }
    return p < end ? p + 1 : NULL;
}

/* Whether only a comma and blanks are between two texts. */
static const char *next_piece(const char *p, const char *end)
{
    const char *comma = p;

    while (comma < end && strchr(" \t\n", *comma))
        comma++;
    if (comma >= end || *comma != ',')
        return NULL;
    for (comma++; comma < end && strchr(" \t\n", *comma); comma++)
        ;
    return comma < end && strchr("'\"`", *comma) ? comma : NULL;
}

static int add_guess(struct judged *j, struct buf *b)
{
    size_t before = j->n_inner;
    int r = buf_error(b) < 0 ? -ENOMEM : 0;

    if (r == 0 && b->len > 0)
        r = add_inner_script(j, b->data, "code");
    if (j->n_inner > before)
        j->inner[j->n_inner - 1].guessed = true;
    buf_clear(b);
    return r;
}

int unwrap_literals(struct judged *j)
{
    auto_buf struct buf b = {0};
    const char *p = j->code;
    const char *end = p ? p + strnlen(p, CODE_LOOKED_AT_MAX) : NULL;
    int r = 0;

    while (r == 0 && p && (p += strcspn(p, "'\"`")) < end) {
        const char *piece = p;

        while (piece && (p = read_literal(piece, end, &b))) {
            piece = next_piece(p, end);
            if (piece)
                buf_add_char(&b, ' ');
        }
        if (p)
            r = add_guess(j, &b);
    }
    return r;
}
