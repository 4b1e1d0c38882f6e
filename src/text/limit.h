/*
 * Keeps the head and the tail of a text within a limit and puts a line between them that tells how
 * much is missing:
 *
 *     [… 1,234,567 bytes omitted; full output: PATH …]
 *
 * "kept output" instead of "full output" when the log itself lost bytes; without a path only
 * "[… N bytes omitted …]". It owns where to cut and how many bytes of the log are between the cuts,
 * and needs memory for the limit, not for the text.
 *
 * The head gets a quarter, the tail the rest of what the line leaves; what one does not need the
 * other has. Cuts are moved to an end of a line where one lies within half of that part, else they
 * are between characters, with the combining ones that belong to them. The result never exceeds the
 * limit, the line and its line feeds included. When the line would take more than three quarters of
 * the limit it goes without its path, then it is a mere "…", then it is left out.
 *
 * A gap in the log is always told where it is, whether or not the text needs cutting; then that is
 * the place of the cut. (After several gaps what is between the first and the last counts as
 * omitted. A log has one.)
 */
#ifndef REIN_TEXT_LIMIT_H
#define REIN_TEXT_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "map.h"
#include "span.h"

#define LIMIT_MAX (128 * 1024 * 1024) /* larger limits count as this */
#define LIMIT_JOINED_MAX 16           /* combining characters that a cut goes out of the way of */

/* A stretch of the text, and where it came from. */
struct limit_part {
    struct buf text;
    struct map map;
};

struct limiter {
    size_t limit; /* in bytes, or characters; 0: none */
    int in_chars;
    size_t size;            /* bytes that text within the limit can have; SIZE_MAX without limit */
    struct limit_part head; /* the first `size` bytes, up to a gap */
    struct limit_part tail; /* what came last after that */
    int head_is_full;
    int dropped;  /* bytes between head and tail were let go */
    int gap;      /* the log lost bytes */
    int keep_end; /* no head, where a cut is needed; may be set after limiter_init() */
};

/* What is missing, as input offsets; both 0 when nothing is. */
struct limit_omitted {
    uint64_t begin, end;
};

void limiter_init(struct limiter *l, size_t limit, int in_chars);
void limiter_done(struct limiter *l);
void limiter_add(struct limiter *l, const struct span *s);

/* Bytes are missing in the log between what was and what will be added. */
void limiter_gap(struct limiter *l);

/* Bytes between what was and what will be added are left out by the caller's choice. */
void limiter_skip(struct limiter *l);

/* Will anything be missing? */
int limiter_omits(const struct limiter *l);

/* Puts the text together in *ret. The input began at 0 and went to `end`. path may be NULL. 0,
 * -ENOMEM, or -EFBIG when there is no limit and the text is too large for a buffer. Nothing may be
 * added afterwards. */
int limiter_finish(struct limiter *l,
                   uint64_t end,
                   const char *path,
                   struct buf *ret,
                   struct limit_omitted *ret_omitted);

/* Appends the line about so many missing bytes, without a LF. kept: the log itself lost them. path
 * may be NULL. */
void limit_add_line(struct buf *b, uint64_t bytes, const char *path, int kept);

#endif
