/* Looks through the audit trail: does each line follow from the one before, and is the end there?
 *
 * A digest speaks of the line before the one that carries it, so a line that was changed is found
 * at the next one, or by the head. After the first fault only one thing is still looked for: what
 * seemed to be missing may stand further down. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit-files.h"
#include "base/cleanup.h"
#include "base/error.h"

#define WHAT_CHANGED "was changed"
#define WHAT_MISSING "lines before it are missing"
#define WHAT_ORDER "lines are out of order"
#define WHAT_END "the end is missing: lines were cut off behind this one"
#define WHAT_BEGINNING "the beginning is missing: lines before this one were taken away"
#define WHAT_HEAD "is missing or was changed: whether the end is there cannot be said"

/* 1, or 0 when there is no trail; or a negative errno. */
static int open_to_read(const char *state_dir, int *ret_fd, struct rein_error **reterr)
{
    struct rein_error *error = NULL;
    int r = audit_open(state_dir, /* make= */ 0, ret_fd, &error);

    if (r < 0 && r != -ENOENT && reterr)
        *reterr = TAKE_PTR(error);
    error = rein_error_free(error);
    return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

struct checking {
    struct audit_report *report;
    struct audit_head head;
    struct audit_link chain;       /* the newest line that followed */
    struct audit_link before;      /* the chain without the newest line of the file */
    struct audit_place at;         /* of the newest line of the file */
    char digest[DIGEST_TEXT_SIZE]; /* its digest */
    int is_odd;                    /* it is none of the trail's: torn, or changed */
    uint64_t missing;              /* with WHAT_MISSING: the number that did not come */
};

static void note(struct checking *c, const struct audit_place *at, const char *what)
{
    struct audit_report *report = c->report;

    if (report->what)
        return;
    report->what = what;
    (void)audit_name(at->file, report->file);
    report->line = at->line;
}

static int same_digest(const char *a, const char *b)
{
    return memcmp(a, b, DIGEST_TEXT_SIZE) == 0;
}

/* ---- one line ----------------------------------------------------------------------------- */

/* A line says so when the one before it was torn: it knows that one's digest, but has its number,
 * or, where nothing but the newline was missing, the next. */
static int repairs(const struct checking *c, const json_t *line, const struct audit_link *previous)
{
    return json_is_true(json_object_get(line, "repaired")) && c->at.line > 0 &&
           same_digest(previous->digest, c->digest) &&
           (previous->seq == c->before.seq || previous->seq == c->chain.seq);
}

/* The oldest line that is kept may be any up to the one that the head names. */
static int may_begin(const struct checking *c, const struct audit_link *previous)
{
    if (previous->seq == 0)
        return same_digest(previous->digest, c->chain.digest);
    return c->head.is_there && previous->seq < c->head.first;
}

static int follows(const struct checking *c, const struct audit_link *previous)
{
    if (c->report->lines == 0)
        return may_begin(c, previous);
    return previous->seq == c->chain.seq && same_digest(previous->digest, c->chain.digest);
}

/* The head knows what the line of its number has to be. */
static void compare_with_head(struct checking *c)
{
    if (c->head.is_there && c->chain.seq == c->head.last.seq &&
        !same_digest(c->chain.digest, c->head.last.digest))
        note(c, &c->at, WHAT_CHANGED);
}

/* A line that does not follow. With the right number it accuses the one before; with that one's
 * digest, itself. */
static void
note_break(struct checking *c, const struct audit_place *at, const struct audit_link *previous)
{
    if (c->report->lines == 0)
        note(c, at, previous->seq == 0 ? WHAT_CHANGED : WHAT_BEGINNING);
    else if (previous->seq == c->chain.seq)
        note(c, &c->at, WHAT_CHANGED);
    else if (same_digest(previous->digest, c->chain.digest))
        note(c, at, WHAT_CHANGED);
    else
        note(c, at, previous->seq > c->chain.seq ? WHAT_MISSING : WHAT_ORDER);
    c->missing = c->chain.seq + 1;
}

static void accept(struct checking *c, const struct audit_link *previous, const char *digest)
{
    c->before = c->chain;
    c->chain.seq = previous->seq + 1;
    memcpy(c->chain.digest, digest, sizeof(c->chain.digest));
    c->report->lines++;
    c->is_odd = 0;
}

/* The line before was torn, and does not count. */
static void accept_repair(struct checking *c, const struct audit_link *previous, const char *digest)
{
    if (!c->is_odd && previous->seq == c->before.seq)
        c->report->lines--;
    c->report->torn++;
    accept(c, previous, digest);
}

static void check_line(struct checking *c,
                       const struct audit_place *at,
                       const json_t *line,
                       const struct audit_link *previous,
                       const char *digest)
{
    if (line && repairs(c, line, previous)) {
        accept_repair(c, previous, digest);
        return;
    }
    if (c->is_odd) { /* and nobody says that it was torn */
        note(c, &c->at, WHAT_CHANGED);
        return;
    }
    compare_with_head(c);
    if (!line) {
        c->before = c->chain;
        c->is_odd = 1;
    } else if (follows(c, previous)) {
        accept(c, previous, digest);
    } else {
        note_break(c, at, previous);
    }
}

static int check_any(void *to, const struct audit_place *at, const char *text, size_t len)
{
    struct checking *c = to;
    struct audit_link previous;
    char digest[DIGEST_TEXT_SIZE];
    json_t *line = audit_parse(text, len, &previous);

    c->report->files += at->line == 1;
    digest_text(text, len, digest);
    if (!c->report->what)
        check_line(c, at, line, &previous, digest);
    else if (line && strcmp(c->report->what, WHAT_MISSING) == 0 && previous.seq + 1 == c->missing)
        c->report->what = WHAT_ORDER; /* it stands further down */
    c->at = *at;
    memcpy(c->digest, digest, sizeof(c->digest));
    json_decref(line);
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void check_end(struct checking *c)
{
    if (c->report->what)
        return;
    if (!c->is_odd)
        compare_with_head(c);
    else if (c->at.is_torn && c->at.file == 0) /* the next line will say so */
        c->report->torn++;
    else
        note(c, &c->at, WHAT_CHANGED);
    if (c->head.is_there && c->chain.seq < c->head.last.seq)
        note(c, &c->at, WHAT_END);
    if (!c->head.is_there && c->chain.seq > 1) {
        note(c, &c->at, WHAT_HEAD);
        (void)snprintf(c->report->file, sizeof(c->report->file), "head");
        c->report->line = 0;
    }
}

int audit_verify(const char *state_dir, struct audit_report *ret, struct rein_error **reterr)
{
    struct checking c = {.report = ret};
    auto_close int dir_fd = -EBADF;
    int r = open_to_read(state_dir, &dir_fd, reterr);

    *ret = (struct audit_report){0};
    audit_link_none(&c.chain);
    c.before = c.chain;
    if (r <= 0)
        return r;
    r = audit_read_head(dir_fd, &c.head, reterr);
    if (r == 0)
        r = audit_walk(dir_fd, check_any, &c, reterr);
    if (r == 0)
        check_end(&c);
    return r;
}

/* ---- for people --------------------------------------------------------------------------- */

struct reading {
    int (*take)(void *to, json_t *line);
    void *to;
};

static int read_any(void *to, const struct audit_place *at, const char *text, size_t len)
{
    const struct reading *reading = to;
    struct audit_link previous;
    json_t *line = audit_parse(text, len, &previous);
    int r = reading->take(reading->to, line);

    (void)at;
    json_decref(line);
    return r;
}

int audit_read(const char *state_dir,
               int (*take)(void *to, json_t *line),
               void *to,
               struct rein_error **reterr)
{
    struct reading reading = {take, to};
    auto_close int dir_fd = -EBADF;
    int r = open_to_read(state_dir, &dir_fd, reterr);

    return r <= 0 ? r : audit_walk(dir_fd, read_any, &reading, reterr);
}
