/* What the options of `rein output` ask for, for its two ways: all at once, and following. */
#ifndef REIN_CLI_SHOW_H
#define REIN_CLI_SHOW_H

#include "options.h"
#include "printer.h"
#include "tools/output-query.h"

struct show {
    const struct settings *settings;
    rein_job *job;
    struct rein_result result;
    struct regex *grep; /* or NULL */
    uint64_t begin;     /* of show_find_begin() */
};

/* The answer to the query that the options are. */
int show_query(struct show *show,
               struct result_text *ret,
               uint64_t *ret_matches,
               struct rein_error **reterr);

/* Sets show->begin: where --since and -n let the text begin. */
int show_find_begin(struct show *show, struct rein_error **reterr);

/* The printer that the options ask for. NULL and *reterr when there is no memory. */
struct printer *show_printer(const struct show *show, struct rein_error **reterr);

/* Turns a failure of printer_produce() into an error. Returns a negative errno. */
int show_printer_error(const struct printer *p, int err, struct rein_error **reterr);

/* Tells on standard error what a text could not tell. Gives the exit status. */
int show_finish_text(const struct show *show, const struct printer *p);

#endif
