/*
 * A leaf: a cgroup v2 directory that holds the processes of one job and nobody else's, so that the
 * kernel can end all of them at once. Ending and removing one, for the library and for the
 * supervisor; who makes it is job/cgroup.h. leaf_fd is the directory (O_PATH will do), name its
 * name in the directory above.
 *
 * A leaf is an addition to the ways of ending a tree that work everywhere: whatever fails here
 * fails without a word.
 */
#ifndef REIN_BASE_CGROUP_LEAF_H
#define REIN_BASE_CGROUP_LEAF_H

#define CGROUP_LEAF_NAME_SIZE 32
#define CGROUP_LEAF_WAIT_MS 1000 /* for processes that were killed to be gone */

/* Sends SIGKILL to all that is in it and below it; what forks meanwhile does not get away. The leaf
 * is no good for another job afterwards: kernels since 6.14 (and older ones that got the same
 * change) compare how often the group of the new process and the group of its parent were killed,
 * and kill a process at birth that is cloned into a group where this differs. */
void cgroup_leaf_kill(int leaf_fd);

/* Opens what the kernel tells about it, for the next function. The descriptor or a negative errno.
 */
int cgroup_leaf_open_events(int leaf_fd);

/* True when nothing is in it, or below it, and it is not frozen: as when it was made. */
int cgroup_leaf_is_unused(int leaf_fd, int events_fd);

/* Removes it with all groups that its processes made in it. While somebody is in it, waits at most
 * timeout_ms, then gives up with -EBUSY. 0 or a negative errno. */
int cgroup_leaf_remove(int leaf_fd, const char *name, int timeout_ms);

#endif
