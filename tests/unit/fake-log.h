/* A log that a test makes up: pieces, gaps, two streams, failures. */
#ifndef REIN_TESTS_FAKE_LOG_H
#define REIN_TESTS_FAKE_LOG_H

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "tools/result-json.h"

struct part {
    int stream;
    const char *bytes; /* NULL: lost by the log */
    size_t size;
};

/* Parts follow each other; what one call gives is within one of them, and at most `step` bytes. */
struct fake_log {
    const struct part *parts;
    size_t n_parts;
    size_t step;
    int keep_error; /* what keep() fails with */
    int keeps;      /* how often it was called */
    int reads;      /* the same of fake_read_at() */
};

static inline ssize_t
fake_read_at(void *userdata, uint64_t offset, void *buf, size_t size, struct rein_piece *ret_piece)
{
    struct fake_log *log = userdata;
    uint64_t begin = 0;

    log->reads++;
    *ret_piece = (struct rein_piece){.cursor = offset};
    for (size_t i = 0; i < log->n_parts; i++) {
        const struct part *part = &log->parts[i];
        uint64_t end = begin + part->size;

        if (offset < end && !part->bytes) {
            ret_piece->skipped_bytes += end - offset;
            ret_piece->cursor = offset = end;
        } else if (offset < end) {
            size_t n = MIN(MIN(size, log->step), (size_t)(end - offset));

            memcpy(buf, part->bytes + (offset - begin), n);
            ret_piece->stream = part->stream;
            ret_piece->cursor = offset + n;
            return (ssize_t)n;
        }
        begin = end;
    }
    return 0;
}

static inline int fake_keep(void *userdata, struct rein_result *result, struct rein_error **reterr)
{
    struct fake_log *log = userdata;

    log->keeps++;
    if (log->keep_error)
        return rein_fail(reterr, log->keep_error, "internal", "keep", "no room");
    result->log_file = strdup("/log");
    return 0;
}

#define PART(stream_, text_)                                                                       \
    {                                                                                              \
        .stream = (stream_), .bytes = (text_), .size = sizeof(text_) - 1                           \
    }
#define LOST(size_)                                                                                \
    {                                                                                              \
        .size = (size_)                                                                            \
    }

/* All that was written, and where the first gap is, as rein_wait() tells it. */
static inline void fake_measure(const struct fake_log *log, struct rein_result *ret)
{
    for (size_t i = 0; i < log->n_parts; i++) {
        const struct part *part = &log->parts[i];

        ret->split = ret->split || part->stream != REIN_STREAM_OUTPUT;
        if (!part->bytes) {
            ret->gap_begin = ret->output_bytes;
            ret->gap_end = ret->output_bytes + part->size;
        }
        ret->output_bytes += part->size;
    }
}

#endif
