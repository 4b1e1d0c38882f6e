/*
 * The descendants of the calling process, found through /proc and signalled through pidfds.
 *
 * The caller must be a subreaper: then whatever its descendants do (new session, double fork), they
 * stay its descendants, and "no children" (ECHILD from wait) means that the tree is empty. Nothing
 * is ever signalled by pid alone.
 */
#ifndef REIN_SUPERVISOR_TREE_H
#define REIN_SUPERVISOR_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/wire.h"

#define TREE_MAX                                                                                   \
    8192 /* processes looked at in one pass; what is beyond waits for the next pass                \
          */

/* Sends a signal to every living descendant, parents before their children. With terminate also
 * SIGCONT, and a second look for what was born meanwhile. Returns how many were signalled. */
size_t tree_signal(int signo, int terminate, uint32_t fallbacks);

/* Names living descendants. Returns how many there are; fills at most max of them. */
size_t tree_list(struct wire_left *left, size_t max, size_t *ret_named, uint32_t fallbacks);

/* Calls visit with every descendant there is at this moment, until one call does not give 0, and
 * gives what that gave. visit must not use this file's other functions on descendants. */
int tree_each(int (*visit)(pid_t pid, void *arg), void *arg, uint32_t fallbacks);

/* Opens /proc/PID/LEAF, close-on-exec. A descriptor or -1 with errno. */
int tree_open_proc(pid_t pid, const char *leaf, int flags);

/* Calls visit with each entry of a directory whose name is a number, until one call does not give
 * 0, and gives what that gave; or a negative errno. */
int tree_each_number(int dir_fd, int (*visit)(int dir_fd, const char *name, void *arg), void *arg);

#endif
