/*
 * What a path means to somebody who deletes, overwrites or changes it: the root, a home, a system
 * directory, the working directory, a disk.
 *
 * Lexical: nothing is looked up, no link is followed. It knows no program.
 */
#ifndef REIN_POLICY_PATHS_H
#define REIN_POLICY_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_TEXT_MAX                                                                              \
    4096 /* a longer one names nothing on this system; it is taken for unknown                     \
          */

enum path_kind {
    /* Where it is: exactly one of these. */
    PATH_INSIDE = 1 << 0,    /* in the working directory, reached without ".." */
    PATH_CWD_ALL = 1 << 1,   /* everything in the working directory */
    PATH_CWD = 1 << 2,       /* the working directory, or a folder that it is in */
    PATH_ROOT = 1 << 3,      /* the root, or everything in it */
    PATH_HOME = 1 << 4,      /* a home, the folder of homes, or everything in one */
    PATH_SYSTEM = 1 << 5,    /* a directory that the system needs, or everything in it */
    PATH_IN_SYSTEM = 1 << 6, /* something in such a directory */
    PATH_DISK = 1 << 7,      /* a block device */
    PATH_NOWHERE = 1 << 8,   /* /dev/null, a terminal, a descriptor */
    PATH_OUTSIDE = 1 << 9,   /* anything else */
    PATH_UNKNOWN = 1 << 10,  /* an expansion decides */

    /* What it is, beside where. */
    PATH_ACCOUNTS = 1 << 11, /* passwd, shadow, group, sudoers, PAM */
    PATH_KEYS = 1 << 12,     /* what lets somebody log in */
    PATH_SCHEDULE = 1 << 13, /* cron tables, units, start-up scripts */
    PATH_BOOT = 1 << 14,     /* kernels, modules, the loader's list of libraries */
    PATH_SYSRQ = 1 << 15,    /* where one byte stops the machine */
    PATH_LOGS = 1 << 16,     /* the system's logs */
    PATH_STARTUP = 1 << 17,  /* what a person's shells read when they start */
    PATH_NETWORK = 1 << 18,  /* what bash takes for a connection */
    PATH_POLICY = 1 << 19,   /* rein's own configuration and store: what the gate goes by */
};

struct path_place {
    const char *base; /* the request's working directory; NULL when unknown */
    const char *cwd;  /* where a relative path starts now; NULL when unknown */
    const char *home; /* NULL when unknown */
};

/* A bit of where, and those of what. glob: * ? [ stand for names. */
unsigned path_judge(const struct path_place *place, const char *text, bool glob);

/* An absolute path without ".", ".." and "//". */
struct path {
    size_t len;
    char text[2 * PATH_TEXT_MAX + 2];
};

/* false when it would be too long. cwd may be NULL: unknown. */
bool path_resolve(struct path *ret, const char *cwd, const char *text);

/* Whether a pattern with * ? [ fits a name; no character is special to it otherwise. */
bool glob_match(const char *pattern, size_t pattern_len, const char *name, size_t name_len);

#endif
