/*
 * Leaves for jobs, made in the cgroup v2 directory in which this process is: rein-<pid>-<number>.
 * Where they cannot be made, which is the rule for ordinary users outside of a delegated group,
 * there are none, and jobs end by the means that work everywhere.
 *
 * A leaf changes nothing for those in it: it has no controllers, so they stay accounted where they
 * would be without it, and there are none where a job could notice, see cgroup_suits(). After its
 * job it serves the next one if it is as new. The first leaf of a context is an exception and goes
 * with its job, because most contexts have one job. When the owner of a job has gone, the
 * supervisor removes the leaf.
 *
 * A kept job's processes stay in their leaf. It goes when they have ended, by cgroup_sweep(), once
 * the process that made it has ended too. A process that is moved to another group while it has a
 * context keeps making leaves where it was.
 */
#ifndef REIN_JOB_CGROUP_H
#define REIN_JOB_CGROUP_H

#include <errno.h>

#include "base/cgroup-leaf.h"
#include "wire.h"

#define CGROUP_SPARES_MAX 8 /* leaves that wait for their next job */

struct cgroup_leaf {
    int fd;        /* -EBADF for none */
    int events_fd; /* unless disposable */
    char name[WIRE_LEAF_NAME_SIZE];
    int disposable; /* not for another job */
};

#define CGROUP_LEAF_UNSET                                                                          \
    {                                                                                              \
        .fd = -EBADF, .events_fd = -EBADF                                                          \
    }

struct cgroup {
    int parent_fd; /* where leaves are made; -EBADF until the first one */
    int unusable;  /* not here, or not any more */
    unsigned n_made;
    struct cgroup_leaf spares[CGROUP_SPARES_MAX];
    unsigned n_spares;
};

#define CGROUP_UNSET                                                                               \
    {                                                                                              \
        .parent_fd = -EBADF                                                                        \
    }

/* Fills *ret with a leaf that nobody is in, or leaves it unset. own_pidfd is of this process. */
void cgroup_take(struct cgroup *c, int own_pidfd, struct cgroup_leaf *ret);

/* Gives a leaf back after its job; an unset one is fine. What to do with it: */
enum cgroup_leaf_end {
    CGROUP_LEAF_REUSABLE, /* nobody is in it, and it was not killed */
    CGROUP_LEAF_EMPTY,    /* nobody is in it */
    CGROUP_LEAF_KEPT,     /* somebody may be in it and shall stay */
    CGROUP_LEAF_LOST,     /* nobody looks after what is in it: it ends */
};
void cgroup_give_back(struct cgroup *c, struct cgroup_leaf *take_leaf, enum cgroup_leaf_end end);

/* The job has ended. Removes a leaf that nobody is to use again, if that can be done at once. */
void cgroup_dispose(struct cgroup_leaf *leaf);

/* Removes leaves of processes that are no more, unless somebody is in them. */
void cgroup_sweep(struct cgroup *c);

/* Closes what is open; removes the spare leaves if they are this process's own. */
void cgroup_done(struct cgroup *c, int own);

/* True when it makes no difference to a job whether it is in this group or in a leaf below. One
 * that hands controllers on would give the leaf a share of its own, or may not have leaves at all.
 * And a limit set here binds in the leaf, too, but many a runtime that suits its heap and its
 * threads to the limit looks for it in its own group only. */
int cgroup_suits(int dir_fd);

/* One line of /proc/self/mountinfo, which is changed: if it is a cgroup v2 mount in which the group
 * own_path of /proc/self/cgroup can be seen, that directory's path in *ret, which is the caller's.
 * 1, 0 when it is another mount, or a negative errno. */
int cgroup_match_mount(char *line, const char *own_path, char **ret);

#endif
