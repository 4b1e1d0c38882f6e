/* Collects ended children: the main process, and whatever came back to this subreaper. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/macro.h"
#include "supervisor.h"

static int64_t to_us(struct timeval tv)
{
    return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

static void add_usage(struct supervisor *s, const struct rusage *usage)
{
    s->user_us += to_us(usage->ru_utime);
    s->system_us += to_us(usage->ru_stime);
    s->max_rss_bytes = MAX(s->max_rss_bytes, (uint64_t)usage->ru_maxrss * KIB);
}

size_t reap_children(struct supervisor *s)
{
    for (size_t n = 0;; n++) {
        struct rusage usage;
        int status;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);

        if (pid <= 0) {
            s->tree_empty = pid < 0; /* ECHILD: no child, so no descendant either */
            return n;
        }
        add_usage(s, &usage);
        if (pid == s->main_pid) {
            s->main_ended = 1;
            s->wait_status = status;
        }
    }
}
