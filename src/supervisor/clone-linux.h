/* Starts a child inside a cgroup. */
#ifndef REIN_SUPERVISOR_CLONE_LINUX_H
#define REIN_SUPERVISOR_CLONE_LINUX_H

#include <stddef.h>
#include <sys/types.h>

/* As clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD): runs child_main(arg), which must not return, on
 * the given stack, while this process waits for its exec or exit; but as a member of the cgroup.
 * The pid, or a negative errno: whatever it is, clone() without a group may still work. */
pid_t clone_into_cgroup(int cgroup_fd,
                        int (*child_main)(void *arg),
                        void *arg,
                        void *stack,
                        size_t stack_size,
                        int *ret_pidfd);

#endif
