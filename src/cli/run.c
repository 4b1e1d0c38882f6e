/* rein run: a command. */
#include "execute.h"
#include "job-spec.h"
#include "verbs.h"

int verb_run(struct call *call, struct rein_error **reterr)
{
    struct execution what = {.argv = call->line.rest};
    int r = job_spec_check_command(call, reterr);

    return r < 0 ? r : execute(&call->settings, &what, reterr);
}
