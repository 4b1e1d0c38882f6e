/* From a result to an exit status. */
#include "exit-status.h"

#include <signal.h>

#include "tools/error-codes.h"

int exit_status_of(const struct rein_result *result)
{
    int code = result->exit_code;

    if (result->reason == REIN_REASON_TIMEOUT)
        return EXIT_STATUS_TIMEOUT;
    if (!result->has_exit_code || result->reason == REIN_REASON_LOST)
        return EXIT_STATUS_FAILED;
    if (code < 0)
        return EXIT_STATUS_SIGNAL - code;
    if (code == 0 && result->reason != REIN_REASON_EXIT)
        return EXIT_STATUS_SIGNAL + SIGKILL;
    return code;
}
