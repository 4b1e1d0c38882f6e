/* The table of error codes. */
#include "error-codes.h"

#include <string.h>

#include "base/macro.h"

/* JSON-RPC: -32602 and -32603 have their standard meaning. The range below -32019 belongs to the
 * Model Context Protocol, so that everything a caller cannot mend by other arguments is -32000. */
#define JSONRPC_INVALID_PARAMS (-32602)
#define JSONRPC_INTERNAL (-32603)
#define JSONRPC_REFUSED (-32000)

static const struct error_code table[] = {
    {.name = "bad_request",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_USAGE,
     .http_status = 400,
     .jsonrpc_code = JSONRPC_INVALID_PARAMS},
    {.name = "command_not_found",
     .run_exit = EXIT_STATUS_NOT_FOUND,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 422,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "not_executable",
     .run_exit = EXIT_STATUS_NOT_EXECUTABLE,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 422,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "bad_cwd",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 422,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "spawn_failed",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 500,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "shell_syntax",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 422,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "dangerous_command",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 403,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "forbidden_command",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 403,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "approval_denied",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 403,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "approval_required",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 403,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "no_such_job",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_NOTHING,
     .http_status = 404,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "job_ended",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_NOTHING,
     .http_status = 409,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "sandbox_unavailable",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 503,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "limit_exceeded",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 422,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "timeout",
     .run_exit = EXIT_STATUS_FAILED, /* a job's own deadline is a result, not this */
     .verb_exit = EXIT_STATUS_TIMEOUT,
     .http_status = 504,
     .jsonrpc_code = JSONRPC_REFUSED},
    {.name = "internal",
     .run_exit = EXIT_STATUS_FAILED,
     .verb_exit = EXIT_STATUS_FAILED,
     .http_status = 500,
     .jsonrpc_code = JSONRPC_INTERNAL},
};

const struct error_code *error_code_table(size_t *ret_count)
{
    *ret_count = ARRAY_SIZE(table);
    return table;
}

const struct error_code *error_code_find(const char *name)
{
    const struct error_code *last = &table[ARRAY_SIZE(table) - 1];

    for (const struct error_code *row = table; name && row < last; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return last; /* "internal" */
}
