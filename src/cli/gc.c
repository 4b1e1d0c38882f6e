/* rein gc: forgets finished jobs that are too old, too many or too large together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "jobs.h"
#include "print.h"

static int tell(const struct settings *s, size_t removed, struct rein_error **reterr)
{
    char line[64];
    int n;

    if (s->format != FORMAT_TEXT)
        return print_json_line(
            json_pack("{s:b, s:I}", "success", 1, "removed", (json_int_t)removed), reterr);
    n = snprintf(line, sizeof(line), "%zu %s forgotten\n", removed, removed == 1 ? "job" : "jobs");
    return print_text(line, (size_t)n, reterr);
}

int verb_gc(struct call *call, struct rein_error **reterr)
{
    size_t removed = 0;
    rein *r;
    int status;

    if (operand_at(call, 0))
        return rein_fail(reterr, -EINVAL, "bad_request", "options",
                         "gc: '%s' is one argument too many", operand_at(call, 0));
    r = rein_open(NULL, reterr);
    if (!r)
        return -EINVAL;
    status = rein_gc(r, &removed);
    if (status < 0)
        status = rein_fail(reterr, status, "internal", "gc", "cannot tidy the store up: %s",
                           strerror(-status));
    else
        status = tell(&call->settings, removed, reterr);
    r = rein_free(r);
    return status;
}
