/*
 * The audit trail: a file of JSON lines in the store, one for each decision and each end of a job.
 * Each line carries the digest of the one before, so that a line that was changed, taken out or
 * moved shows; the newest one's digest stands in a file beside it, so that a cut end shows, too.
 *
 *   $REIN_STATE/audit/audit.jsonl      the newest lines
 *                     audit.1.jsonl    the ones before, and so on: the chain goes through all files
 *                     head             number and digest of the newest line, number of the oldest
 *
 * A help against mistakes and careless hands: who can write all of these files can forge them all.
 *
 * What a line says is its caller's business; nothing here knows of decisions, jobs or secrets.
 */
#ifndef REIN_POLICY_AUDIT_H
#define REIN_POLICY_AUDIT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "rein.h"

#define AUDIT_FILE_BYTES_DEFAULT (UINT64_C(8) << 20)
#define AUDIT_FILES_DEFAULT 8u     /* full ones, beside the newest */
#define AUDIT_FILES_MAX 100u       /* of those */
#define AUDIT_LINE_MAX (16u << 20) /* above any command line that the kernel takes, escaped */
#define AUDIT_LOCK_WAIT_MS 2000

/* Zero in a field is the default. */
struct audit_limits {
    uint64_t file_bytes; /* a file that would grow beyond it is put aside */
    unsigned files;      /* how many of those are kept */
};

/* Appends a line of the object's members, which may not be named seq, time, previous, repaired or
 * head_missing; fields is borrowed. limits may be NULL. What cannot be written is "limit_exceeded"
 * where there is no room for it, else "internal". */
int audit_append(const char *state_dir,
                 json_t *fields,
                 const struct audit_limits *limits,
                 struct rein_error **reterr);

#define AUDIT_NAME_SIZE 32

struct audit_report {
    unsigned files;
    uint64_t lines;
    uint64_t torn; /* lines that a crash or a full disk cut off: no fault */
    /* The first fault; what is NULL when there is none. */
    const char *what;
    char file[AUDIT_NAME_SIZE];
    uint64_t line; /* from 1; 0 for the file as a whole */
};

/* Looks through the whole trail. 0 with a report of what was found, or a negative errno when it
 * could not be read. A trail that does not exist is whole. */
int audit_verify(const char *state_dir, struct audit_report *ret, struct rein_error **reterr);

/* Gives each line to take, the oldest first: line is borrowed, and NULL for one that is no JSON
 * object. Ends at the first negative errno that take gives, and returns it. */
int audit_read(const char *state_dir,
               int (*take)(void *to, json_t *line),
               void *to,
               struct rein_error **reterr);

#endif
