/*
 * From the bytes of a job to the text that is shown: decoding, rendering and limiting in one
 * object. Feed the bytes in pieces of any size, ask whether something will be missing, then take
 * the text; the result is the same however the bytes were cut. No I/O, and memory for the limit and
 * some bounded state (about a megabyte), not for the input.
 *
 * The output on its way while a job runs (events) needs no rendering: an eager decoder does that,
 * see decode.h.
 */
#ifndef REIN_TEXT_TEXT_H
#define REIN_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "encoding.h"

/* Larger limits count as this one. */
#define TEXT_LIMIT_MAX (128 * 1024 * 1024)

enum text_render {
    TEXT_CLEAN = 0, /* what a terminal would show in the end, see screen.h */
    TEXT_PLAIN,     /* escape sequences removed */
    TEXT_RAW,       /* decoded, nothing else */
    TEXT_RENDER_MAX
};

struct text_options {
    int render;   /* enum text_render */
    int encoding; /* enum text_encoding */
    size_t limit; /* what the text may have at most, the line about what is missing included; 0:
                     everything, which fails with -EFBIG where the text has 2 GiB */
    int limit_in_chars;
    int keep_end; /* what is too much is left out at the beginning: no head */
};

typedef struct text text;

struct text_result {
    char *text; /* valid UTF-8 of len bytes, NUL bytes possible, and a NUL after it; never NULL */
    size_t len;
    uint64_t omitted_bytes; /* of the log, between head and tail; 0: everything is shown */
    int64_t omitted_at;     /* offset in the log where that begins; -1: nowhere */
    uint64_t cursor;        /* offset after the last byte that was dealt with */
    const char *encoding;   /* "utf-8", "gbk", …; static */
};

/* first_offset: where in the log the first byte to be fed stands. -EINVAL for options that do not
 * exist, -ENOMEM. */
int text_new(const struct text_options *options, uint64_t first_offset, text **ret);

/* NULL is fine. Always returns NULL. */
text *text_free(text *t);

/* Failures are kept: text_finish() tells. */
void text_feed(text *t, const void *data, size_t len);

/* The log itself lost that many bytes here. */
void text_gap(text *t, uint64_t bytes);

/* That many bytes are there, but will not be fed: what is too much for the limit anyway. */
void text_skip(text *t, uint64_t bytes);

/* No more will be fed. With `more` the job goes on writing: a character or escape sequence that is
 * unfinished at the end is left for later, and the cursor stays before it (before a sequence of at
 * most 4 KiB). Otherwise such a character is U+FFFD and such a sequence nothing. */
void text_end(text *t, int more);

/* Will text_finish() leave something out? Whoever has the log only in memory can put it on the disk
 * first. Implies text_end(t, 0) where that was not called. */
int text_would_omit(text *t);

/* Gives the text, once. log_path is named where something is left out; may be NULL. 0, -ENOMEM,
 * -EFBIG, or -EINVAL the second time. Implies text_end(t, 0) where that was not called. */
int text_finish(text *t, const char *log_path, struct text_result *ret);

/* Frees what a result holds and zeroes it. A zeroed one is fine. */
void text_result_done(struct text_result *result);

#endif
