/* rein run: a command. */
#include <errno.h>

#include "base/error.h"
#include "base/strv.h"
#include "execute.h"
#include "verbs.h"

int verb_run(struct call *call, struct rein_error **reterr)
{
    struct execution what = {.argv = call->line.rest};
    size_t n = strv_length(what.argv);

    if (n == 0)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "rein run [OPTIONS] [--] COMMAND [ARG...]",
                              "run: COMMAND is missing");
    if (call->settings.shell && n != 1)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "put the script into quotes", "--shell: takes one string, not %zu",
                              n);
    return execute(&call->settings, &what, reterr);
}
