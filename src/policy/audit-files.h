/* The files of the audit trail, for those who write it and those who look through it. */
#ifndef REIN_POLICY_AUDIT_FILES_H
#define REIN_POLICY_AUDIT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "audit.h"
#include "digest.h"

/* A place in the chain: a line's number and digest. Number 0 is before the first. */
struct audit_link {
    uint64_t seq;
    char digest[DIGEST_TEXT_SIZE];
};

struct audit_head {
    struct audit_link last;
    uint64_t first; /* number of the oldest line that is kept */
    int is_there;   /* and can be understood; else all else is as before the first line */
};

void audit_link_none(struct audit_link *ret);

/* "audit.jsonl" for number 0, "audit.3.jsonl" for 3. Returns buf. */
const char *audit_name(unsigned number, char buf[static AUDIT_NAME_SIZE]);
int audit_has_file(int dir_fd, unsigned number);

/* Opens the trail's directory and locks it, to write (make: it is made where it is missing) or to
 * read. The lock lasts as long as the descriptor. -ENOENT: there is no trail, or no store. */
int audit_open(const char *state_dir, int make, int *ret_fd, struct rein_error **reterr);

int audit_read_head(int dir_fd, struct audit_head *ret, struct rein_error **reterr);
int audit_write_head(int dir_fd, const struct audit_head *head, struct rein_error **reterr);

/* Reads number and previous digest out of a line. NULL when it is none of the trail; else the
 * object, a new reference. */
json_t *audit_parse(const char *line, size_t len, struct audit_link *ret_previous);

/* A line where it stands. */
struct audit_place {
    unsigned file; /* its number */
    uint64_t line; /* from 1 */
    int is_torn;   /* the file ends in the middle of it */
};

/* Gives each line, without its newline, to take: the oldest first. Ends at a negative errno. */
int audit_walk(int dir_fd,
               int (*take)(void *to, const struct audit_place *at, const char *line, size_t len),
               void *to,
               struct rein_error **reterr);

/* What cannot be done with a file of the trail. errnum: negative. */
int audit_fail(struct rein_error **reterr, int errnum, const char *what, const char *name);

#endif
