/*
 * Going through the log of a job: forward over a range, and backward to where the last lines begin.
 * Bytes are what the job wrote; nothing is decoded here. Memory is one chunk, and what is read is
 * what is asked for: the last lines of a large log cost as much as those of a small one.
 */
#ifndef REIN_TOOLS_LOG_WALK_H
#define REIN_TOOLS_LOG_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "result-json.h"

#define LOG_CHUNK (64u << 10)

/* What is called on the way; 0 to go on, 1 to stop there, or a negative errno. */
struct log_visitor {
    int (*bytes)(void *userdata, int stream, uint64_t offset, const char *data, size_t len);
    int (*gap)(void *userdata, uint64_t offset, uint64_t bytes); /* the log lost them */
    void *userdata;
};

/* Visits what the log has of [begin, end). *ret_at, which may be NULL, is where it stopped: behind
 * the last bytes or gap that was visited. 1 when a visitor stopped it, else 0 or a negative errno.
 */
int log_walk(const struct result_source *source,
             uint64_t begin,
             uint64_t end,
             const struct log_visitor *visitor,
             uint64_t *ret_at);

/* Split jobs: a stream counts its own bytes, and what the log lost, from `begin` on. Finds where in
 * the log its byte number `bytes` is, or how many it has before an offset. */
int log_find_stream_byte(const struct result_source *source,
                         uint64_t begin,
                         int stream,
                         uint64_t bytes,
                         uint64_t *ret_offset);
int log_count_stream_bytes(const struct result_source *source,
                           uint64_t begin,
                           uint64_t end,
                           int stream,
                           uint64_t *ret_bytes);

/* Where the last `lines` lines of the log begin that end at result->output_bytes. An unfinished
 * last line counts. What the log lost between two lines counts as no line. */
int log_find_last_lines(const struct result_source *source,
                        const struct rein_result *result,
                        uint64_t lines,
                        uint64_t *ret_begin);

#endif
