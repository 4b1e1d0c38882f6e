/*
 * The tools: JSON in, JSON out, the same for the command line, the Model Context Protocol, HTTP and
 * bindings, which all are thin. One row a tool; the schemas come from its table of arguments.
 *
 * A call blocks its thread until it is answered. Contexts of different threads are independent.
 */
#ifndef REIN_TOOLS_TOOL_H
#define REIN_TOOLS_TOOL_H

#include <jansson.h>
#include <stdbool.h>

#include "arguments.h"
#include "policy/gate.h"
#include "rein.h"

#define TOOL_CODE_TIMEOUT_MAX_S 600

struct tool_call;

struct tool {
    const char *name;
    const char *title;
    const char *description;
    const struct argument *arguments;
    const char *output_schema; /* JSON */
    bool read_only, destructive, idempotent, open_world;
    bool starts_jobs;
    int (*run)(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
    /* More keys for the error object; or NULL. 0 or a negative errno. */
    int (*complete_error)(json_t *error);
};

/* All tools, in the order in which they are listed. */
const struct tool *tool_table(size_t *ret_count);
const struct tool *tool_find(const char *name); /* or NULL */

/* As tools/list of the Model Context Protocol has it: name, title, description, inputSchema,
 * outputSchema, annotations. NULL when there is no memory. */
json_t *tool_describe(const struct tool *tool);

/* Who calls. All borrowed. */
struct tool_context {
    rein *rein;
    const char *session;         /* only its jobs are seen, and new ones belong to it; or NULL */
    bool detached;               /* jobs of the background outlive this process */
    int stop_fd;                 /* readable: the caller has had enough: a job in the foreground is
                                    stopped, a wait is broken off; or -EBADF */
    int64_t code_timeout_max_ns; /* ceiling of code_run; 0: TOOL_CODE_TIMEOUT_MAX_S */
    const char *prelude;         /* of code_run: NULL: the built-in one; "none"; or a file */

    /* As in struct rein_tool_options. */
    int (*look)(void *userdata);
    int look_ms;
    void *look_userdata;
    const char *const *secrets;       /* names of variables, of all jobs; or NULL */
    const char *const *env_keep;      /* likewise */
    int env_profile;                  /* enum rein_env_profile, of all jobs */
    const struct gate_settings *gate; /* NULL: as configuration files and variables have it */
    struct gate_asker asker;          /* .ask may be NULL */
};

/* Gets what a job in the foreground does while it runs; either may be NULL. A negative result ends
 * the job: there is nobody any more to tell. */
struct tool_sink {
    int (*started)(void *userdata, const rein_job *job);
    /* size 0: the end of a stream */
    int (*output)(void *userdata, const void *data, size_t size, const struct rein_piece *piece);
    void *userdata;
};

/* Calls a tool with an object of arguments; NULL is an empty one. sink may be NULL. *ret_answer is
 * a new reference: 0: the result; 1: an error object; -ENOMEM: there is none. */
int tool_call(const struct tool_context *context,
              const char *name,
              json_t *arguments,
              const struct tool_sink *sink,
              json_t **ret_answer);

/* The same with arguments as text. */
int tool_call_text(const struct tool_context *context,
                   const char *name,
                   const char *text,
                   size_t len,
                   const struct tool_sink *sink,
                   json_t **ret_answer);

#endif
