/*
 * The output of a job as text for a person or a pipe, piece by piece: the bytes as they are, or
 * rendered, or only the lines that match. What the log lost is told where it is, or counted.
 */
#ifndef REIN_CLI_PRINTER_H
#define REIN_CLI_PRINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "rein.h"
#include "tools/regex.h"

struct printer;

struct printer_options {
    bool as_it_is;            /* bytes; not with grep */
    int render;               /* enum text_render */
    int encoding;             /* enum text_encoding */
    const struct regex *grep; /* or NULL */
    bool tells_gaps;          /* in the text */
    const char *log_file;     /* named there; or NULL */
    bool at_start;            /* what comes is the beginning of the output */
    bool eager;               /* a prompt is shown although its line may go on */
};

/* NULL when there is no memory. Borrows what the options point to. */
struct printer *printer_new(const struct printer_options *options);
struct printer *printer_free(struct printer *p); /* always returns NULL */

/* A producer for struct pump; userdata is the printer. */
int printer_produce(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret);

/* What the log lost so far, and how many lines matched. */
uint64_t printer_lost(const struct printer *p);
uint64_t printer_matches(const struct printer *p);

/* Why printer_produce() failed, when it was the expression; or NULL. */
const struct rein_error *printer_error(const struct printer *p);

#endif
