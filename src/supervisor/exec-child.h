/* The child side of a start: what happens between clone and exec. */
#ifndef REIN_SUPERVISOR_EXEC_CHILD_H
#define REIN_SUPERVISOR_EXEC_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "job/wire.h"

struct plan;

/* All that the child needs, ready before the clone. It shares memory with its parent, which is
 * suspended until the exec: the failing step comes back in the two last fields. */
struct exec_child {
    const struct plan *plan;
    pid_t parent;                   /* whose end is the child's; 0: nobody's */
    const struct rlimit *file_size; /* to be put back */
    int stdio[3];                   /* what becomes 0, 1 and 2; 0 itself for /dev/null */
    volatile int began;
    volatile int step; /* enum wire_step */
    volatile int errnum;
};

/* Runs on the child's own stack and does not come back. */
int exec_child_main(void *arg);

#endif
