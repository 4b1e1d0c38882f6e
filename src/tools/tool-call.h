/* What the tools' own files share: the call, and the steps of those that start jobs. */
#ifndef REIN_TOOLS_TOOL_CALL_H
#define REIN_TOOLS_TOOL_CALL_H

#include <stdbool.h>

#include "job-gate.h"
#include "patience.h"
#include "result-json.h"
#include "tool.h"

struct code_files;

struct tool_call {
    const struct tool *tool;
    const struct tool_context *context;
    const struct tool_sink *sink; /* or NULL */
    struct arguments arguments;
    struct job_gate gate;
    char **warnings; /* more for the answer */
};

/* For one wait of the call. */
struct patience call_patience(const struct tool_call *call);

/* Appends a warning. 0 or -ENOMEM. */
int call_warn(struct tool_call *call, const char *format, ...) REIN_PRINTF(2, 3);

/* Adds the call's warnings to an answer that has some. 0 or -ENOMEM with *reterr. */
int call_add_warnings(const struct tool_call *call, json_t *answer, struct rein_error **reterr);

/* Sets a key; takes over the value, NULL is a lack of memory. 0 or -ENOMEM with *reterr. */
int answer_set(json_t *answer, const char *key, json_t *take_value, struct rein_error **reterr);

/* ---- rows ---------------------------------------------------------------------------------- */

extern const struct argument code_run_arguments[], execute_command_arguments[],
    get_command_output_arguments[], stop_command_arguments[], list_commands_arguments[],
    wait_command_arguments[], send_input_arguments[];

int code_run(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int execute_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int get_command_output(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int stop_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int list_commands(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int wait_command(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);
int send_input(struct tool_call *call, json_t **ret_answer, struct rein_error **reterr);

int code_run_complete_error(json_t *error);
int execute_command_complete_error(json_t *error);

/* ---- starting jobs -------------------------------------------------------------------------- */

/* Arguments that both tools for starting have, between the brackets of a table. */
#define RUN_ARGUMENTS_COMMON                                                                       \
    {.name = "cwd",                                                                                \
     .types = ARGUMENT_STRING,                                                                     \
     .help = "working directory; ~ and $NAME are replaced; a missing one is an error"},            \
        {.name = "env",                                                                            \
         .types = ARGUMENT_OBJECT,                                                                 \
         .schema = "{\"additionalProperties\": {\"type\": \"string\"}}",                           \
         .help = "variables, added to the caller's environment: an object of names to strings"},   \
        {.name = "stdin",                                                                          \
         .types = ARGUMENT_STRING | ARGUMENT_BOOLEAN,                                              \
         .flags = ARGUMENT_TAKES_NUL,                                                              \
         .help =                                                                                   \
             "text for the standard input, which ends after it; true, in the background only: a "  \
             "pipe for send_input; without it the input is empty"},                                \
        {.name = "run_in_background",                                                              \
         .types = ARGUMENT_BOOLEAN,                                                                \
         .fallback = "false",                                                                      \
         .help =                                                                                   \
             "start and answer at once with a process_id for get_command_output, wait_command "    \
             "and stop_command; for servers, watchers and whatever takes long"},                   \
        {.name = "sandbox",                                                                        \
         .types = ARGUMENT_STRING,                                                                 \
         .choices = sandbox_levels,                                                                \
         .help = "level of isolation; this version has off only"},                                 \
    {                                                                                              \
        .name = "net", .types = ARGUMENT_STRING, .help = "network; this version has host only"     \
    }

#define TIMEOUT_MAX_S 9e9 /* what nanoseconds in 63 bits can hold */

extern const char *const sandbox_levels[];

/* A job that is about to be started. */
struct job_request {
    struct rein_spec spec;
    char **env;
    char *cwd;
    const char *input; /* text for stdin_fd, borrowed */
    size_t input_size;
    int stdin_fd;
    bool in_background;
};

#define JOB_REQUEST_UNSET                                                                          \
    {                                                                                              \
        .stdin_fd = -EBADF                                                                         \
    }

/* Fills in all but what is to be executed. *ret is to be given to job_request_done() in any case.
 */
int job_request_make(struct tool_call *call, struct job_request *ret, struct rein_error **reterr);
void job_request_done(struct job_request *request);

/* Has the gate judge a job that is ready to be started; code is NULL for a command. 0: start it. */
int call_judge(struct tool_call *call,
               const struct job_request *request,
               const struct rein_code *code,
               const struct code_files *files,
               struct rein_error **reterr);

/* Follows a job in the foreground to its end, passes its output on, and fills *ret. */
int call_follow(struct tool_call *call,
                rein_job *job,
                struct rein_result *ret,
                struct rein_error **reterr);

/* The result object of an ended job, within max_output_size; *result may be filled anew. */
int call_result(struct tool_call *call,
                rein_job *job,
                struct rein_result *result,
                json_t **ret,
                struct rein_error **reterr);

/* Puts a line of its own behind a text of the answer. */
int answer_add_line(json_t *answer, const char *key, const char *line, struct rein_error **reterr);

#endif
