/*
 * Takes rendered text apart into lines, each with the place in the log that it was made from. A
 * line longer than LINES_LENGTH_MAX counts as several. What is done with lines is the caller's
 * business.
 */
#ifndef REIN_TOOLS_LINES_H
#define REIN_TOOLS_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "text/span.h"

#define LINES_LENGTH_MAX (256u << 10)

struct line {
    const char *text; /* without its end; a CR before LF belongs to the end */
    size_t len;
    const char *end;             /* "\n", "\r\n", or "" for an unfinished one */
    uint64_t src_begin, src_end; /* which bytes of the input; the end counts as part of it */
};

struct lines {
    /* A line is complete. A negative errno is kept, and no more lines are given. */
    int (*add)(void *userdata, const struct line *line);
    void *userdata;
    struct buf text; /* of the line that is not complete yet */
    uint64_t src_begin, src_end;
    int error;
};

void lines_done(struct lines *l);

/* For a span_sink, with the struct lines as its ctx. */
void lines_add_span(void *lines, const struct span *s);

/* The unfinished line as it is now. False when there is nothing of it. */
bool lines_unfinished(const struct lines *l, struct line *ret);

/* Hands the unfinished line on, if there is one. */
void lines_flush(struct lines *l);

/* 0, or the first failure. */
int lines_error(const struct lines *l);

#endif
