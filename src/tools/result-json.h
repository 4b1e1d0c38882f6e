/*
 * The result object and the error object that every surface gives, as JSON. Always valid UTF-8:
 * what was not (arguments, names, paths) has U+FFFD in the place of broken bytes.
 *
 * The output shown in a result is made in two steps: result_text_read() reads a job's log and
 * renders it, result_json() puts it into the object. Where the bytes come from is behind struct
 * result_source, so that a job in the foreground, a log in the store and a test are the same.
 */
#ifndef REIN_TOOLS_RESULT_JSON_H
#define REIN_TOOLS_RESULT_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "base/macro.h"
#include "rein.h"
#include "text/text.h"

/* Bytes of output shown in a result when nothing else is asked for. */
#define RESULT_SHOW_DEFAULT (UINT64_C(64) << 10)

struct result_source {
    /* As rein_read_at(). */
    ssize_t (*read_at)(
        void *userdata, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece);
    /* Called when not everything is shown and result->log_file is NULL: puts the output on the
     * disk and fills *result anew. */
    int (*keep)(void *userdata, struct rein_result *result, struct rein_error **reterr);
    void *userdata;
};

/* The output of a job that is still held by a handle. */
struct result_source result_source_of_job(rein_job *job);

/* How output is to be shown. */
struct result_view {
    int render;     /* enum text_render */
    int encoding;   /* enum text_encoding */
    uint64_t limit; /* bytes of text, head and tail, of both streams together; 0: everything */
    bool in_chars;  /* limit counts characters */
    bool split;     /* the job has two streams */
    bool keep_end;  /* what is beyond the limit is left out at the beginning */
};

/* Which part of the output. */
struct result_range {
    uint64_t begin, end; /* offsets in the log; end: UINT64_MAX for all there is */
    uint64_t skip;       /* bytes after begin that are certainly beyond the limit; not read */
    bool more;           /* the job goes on writing: an unfinished character is left for later */
};

struct result_text {
    struct text_result streams[2]; /* output alone, or stdout and stderr */
    size_t n_streams;
    uint64_t omitted_bytes;
    uint64_t omitted_at; /* counts only with omitted_bytes */
    uint64_t cursor;
    const char *encoding; /* static storage */
    char **warnings;      /* more for the result; NULL-terminated, or NULL */
};

void result_text_done(struct result_text *shown);

/* Reads and renders all output of an ended job. *result may be filled anew on the way. */
int result_text_read(const struct result_source *source,
                     const struct result_view *view,
                     struct rein_result *result,
                     struct result_text *ret,
                     struct rein_error **reterr);

/* The same of a part of the output, of a job that may be running. */
int result_text_read_range(const struct result_source *source,
                           const struct result_view *view,
                           const struct result_range *range,
                           struct rein_result *result,
                           struct result_text *ret,
                           struct rein_error **reterr);

/* The text of a job about which nothing is to be shown. -ENOMEM. */
int result_text_empty(bool split, struct result_text *ret);

/* Appends a warning. 0 or -ENOMEM. */
int result_text_warn(struct result_text *shown, const char *format, ...) REIN_PRINTF(2, 3);

/* "utf-8", "gbk", …, "mixed": one word for both streams of a split job. */
const char *result_text_encoding(const struct result_text *shown);

/* A new reference, or NULL when there is no memory. */
json_t *result_json(const struct rein_result *result, const struct result_text *shown);
json_t *short_result_json(const struct rein_result *result); /* for lists: no output, no details */
#define STOP_ENDED_BEFORE "the job had ended before"
json_t *stop_json(const struct rein_result *result, const char *warning); /* warning: or NULL */

/* Has the job ended, with nothing of its tree alive that was to be ended? */
bool result_is_stopped(const struct rein_result *result);

json_t *error_json(const struct rein_error *error);

/* The object as one line with its newline; takes over the reference. NULL when there is no memory,
 * also for a NULL object. The caller frees it. */
char *json_line_take(json_t *take_object, size_t *ret_len);

/* A string from bytes that may not be UTF-8. NULL gives null. */
json_t *json_text(const char *bytes);

#define SIGNAL_NAME_SIZE 16

/* Writes "SIGTERM", "SIGRTMIN+3". Returns buf. */
const char *signal_name(int number, char buf[static SIGNAL_NAME_SIZE]);

#endif
