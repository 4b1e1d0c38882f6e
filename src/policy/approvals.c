/* The records, and how long each kind lasts. All changes are made with the lock held. */
#include "approvals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "base/time-util.h"
#include "digest.h"
#include "state-file.h"

#define FILE_NAME "approvals.json"
#define LIST_HINT "rein approvals lists them"

static const struct {
    const char *name;
    int seconds, seconds_of_session; /* how long a record counts; 0: for ever */
} statuses[] = {
    [APPROVAL_PENDING] = {"pending", APPROVAL_SECONDS, APPROVAL_SECONDS},
    [APPROVAL_ONCE] = {"approved", APPROVAL_SECONDS, APPROVAL_SECONDS},
    [APPROVAL_DENIED] = {"denied", APPROVAL_SECONDS, APPROVAL_SECONDS},
    [APPROVAL_ALWAYS] = {"always", 0, APPROVAL_SESSION_SECONDS},
};

/* ---- one record --------------------------------------------------------------------------- */

static enum approval status_of(const json_t *record)
{
    const char *name = json_string_value(json_object_get(record, "status"));

    for (size_t i = APPROVAL_PENDING; name && i < ARRAY_SIZE(statuses); i++)
        if (statuses[i].name && strcmp(name, statuses[i].name) == 0)
            return (enum approval)i;
    return APPROVAL_UNKNOWN;
}

static const char *session_of(const json_t *record)
{
    return json_string_value(json_object_get(record, "session"));
}

static const char *session_for(enum approval status, const char *session)
{
    return status == APPROVAL_ALWAYS ? session : NULL;
}

/* Milliseconds of the wall clock until which it counts; 0: for ever. */
static json_int_t expiry_of(const json_t *record)
{
    enum approval status = status_of(record);
    bool of_session = session_for(status, session_of(record)) != NULL;
    int seconds = of_session ? statuses[status].seconds_of_session : statuses[status].seconds;
    json_int_t since = json_integer_value(json_object_get(record, "since"));

    return seconds ? since + seconds * 1000LL : 0;
}

static json_int_t now_ms(void)
{
    return time_wall_ns() / NSEC_PER_MSEC;
}

/* A moment in the future began with a clock that was wrong. */
static bool counts(const json_t *record)
{
    json_int_t expiry = expiry_of(record), now = now_ms();

    if (status_of(record) == APPROVAL_UNKNOWN)
        return false;
    return expiry == 0 ||
           (now < expiry && json_integer_value(json_object_get(record, "since")) <= now);
}

static json_t *make_record(enum approval status, json_t *shown, const char *session)
{
    return json_pack("{s:s, s:s?, s:I, s:O}", "status", statuses[status].name, "session", session,
                     "since", now_ms(), "request", shown);
}

/* ---- all of them -------------------------------------------------------------------------- */

static int read_all(const char *dir, json_t **ret, struct rein_error **reterr)
{
    int r = state_file_read(dir, FILE_NAME, ret);

    if (r == -ENOENT || r == -ENOTDIR) {
        *ret = json_object();
        return *ret ? 0 : rein_oom(reterr);
    }
    if (r < 0)
        return state_file_fail(dir, FILE_NAME, r, reterr);
    return 0;
}

static void forget_old(json_t *all)
{
    const char *digest;
    json_t *record;
    void *next;

    json_object_foreach_safe(all, next, digest, record)
    {
        if (!counts(record))
            (void)json_object_del(all, digest);
    }
}

static int write_all(const char *dir, json_t *all, struct rein_error **reterr)
{
    int r;

    forget_old(all);
    r = state_file_write(dir, FILE_NAME, all);
    if (r < 0)
        return rein_fail(reterr, r, "internal", "approvals", "cannot write %s/%s: %s", dir,
                         FILE_NAME, strerror(-r));
    return 0;
}

static int put(json_t *all, const char *digest, json_t *take_record, struct rein_error **reterr)
{
    forget_old(all);
    if (json_object_size(all) >= APPROVALS_MAX && !json_object_get(all, digest)) {
        json_decref(take_record);
        return rein_fail_hint(reterr, -E2BIG, "limit_exceeded", "approvals", LIST_HINT,
                              "there are %d approvals, pending ones included", APPROVALS_MAX);
    }
    return json_object_set_new(all, digest, take_record) < 0 ? rein_oom(reterr) : 0;
}

/* ---- a call ------------------------------------------------------------------------------- */

/* What a record says to a call of a session. */
static enum approval meaning_of(const json_t *record, const char *session)
{
    const char *only = session_of(record);

    if (!record || !counts(record))
        return APPROVAL_UNKNOWN;
    if (status_of(record) != APPROVAL_ALWAYS)
        return status_of(record);
    if (!only)
        return APPROVAL_ALWAYS;
    return session && strcmp(session, only) == 0 ? APPROVAL_SESSION : APPROVAL_UNKNOWN;
}

/* Whoever removes the record has the approval. */
static int
take_once(const char *dir, const char *digest, enum approval *ret, struct rein_error **reterr)
{
    auto_close int lock = state_lock(dir, reterr);
    json_t *all = NULL;
    int r = lock < 0 ? lock : read_all(dir, &all, reterr);

    *ret = APPROVAL_UNKNOWN;
    if (r == 0 && meaning_of(json_object_get(all, digest), NULL) == APPROVAL_ONCE) {
        (void)json_object_del(all, digest);
        r = write_all(dir, all, reterr);
        if (r == 0)
            *ret = APPROVAL_ONCE;
    }
    json_decref(all);
    return r;
}

int approvals_take(const char *dir,
                   const char *digest,
                   const char *session,
                   enum approval *ret,
                   char **ret_reason,
                   struct rein_error **reterr)
{
    const json_t *record;
    json_t *all;
    int r = read_all(dir, &all, reterr);

    if (r < 0)
        return r;
    record = json_object_get(all, digest);
    *ret = meaning_of(record, session);
    if (str_copy(ret_reason, json_string_value(json_object_get(record, "reason"))) < 0)
        r = rein_oom(reterr);
    json_decref(all);
    return r == 0 && *ret == APPROVAL_ONCE ? take_once(dir, digest, ret, reterr) : r;
}

int approvals_post(const char *dir,
                   const char *digest,
                   json_t *shown,
                   const char *session,
                   char ret_id[static APPROVAL_ID_SIZE],
                   struct rein_error **reterr)
{
    auto_close int lock = state_lock(dir, reterr);
    json_t *all = NULL;
    int r = lock < 0 ? lock : read_all(dir, &all, reterr);

    (void)snprintf(ret_id, APPROVAL_ID_SIZE, "%.*s", APPROVAL_ID_LENGTH, digest);
    if (r == 0 && meaning_of(json_object_get(all, digest), session) != APPROVAL_PENDING) {
        r = put(all, digest, make_record(APPROVAL_PENDING, shown, session), reterr);
        if (r == 0)
            r = write_all(dir, all, reterr);
    }
    json_decref(all);
    return r;
}

int approvals_keep(const char *dir,
                   const char *digest,
                   json_t *shown,
                   const char *session,
                   struct rein_error **reterr)
{
    auto_close int lock = state_lock(dir, reterr);
    json_t *all = NULL;
    int r = lock < 0 ? lock : read_all(dir, &all, reterr);

    if (r == 0)
        r = put(all, digest, make_record(APPROVAL_ALWAYS, shown, session), reterr);
    if (r == 0)
        r = write_all(dir, all, reterr);
    json_decref(all);
    return r;
}

/* ---- an answer ---------------------------------------------------------------------------- */

/* Old ones, too, so that an answer that is too late is told so. */
static int find(json_t *all, const char *id, const char **ret_digest, struct rein_error **reterr)
{
    const char *digest;
    json_t *record;

    *ret_digest = NULL;
    if (strlen(id) < APPROVAL_ID_LENGTH)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "approvals", LIST_HINT,
                              "'%.80s' is no ID of an approval, which has %d digits", id,
                              APPROVAL_ID_LENGTH);
    json_object_foreach(all, digest, record)
    {
        if (strncmp(digest, id, strlen(id)) != 0)
            continue;
        if (*ret_digest)
            return rein_fail_hint(reterr, -EINVAL, "bad_request", "approvals",
                                  "give more digits; " LIST_HINT " with --json",
                                  "'%.80s' fits several approvals", id);
        *ret_digest = digest;
    }
    if (!*ret_digest)
        return rein_fail_hint(reterr, -ENOENT, "bad_request", "approvals", LIST_HINT,
                              "there is no approval '%.80s'", id);
    return 0;
}

static int
check_answer(const json_t *record, const char *id, enum approval answer, struct rein_error **reterr)
{
    enum approval status = status_of(record);

    if (status == APPROVAL_ALWAYS && answer == APPROVAL_DENIED)
        return 0;
    if (!counts(record))
        return rein_fail_hint(reterr, -ETIME, "bad_request", "approvals",
                              "the call has to be made again", "%.80s: no answer came within %d s",
                              id, APPROVAL_SECONDS);
    if (status != APPROVAL_PENDING)
        return rein_fail_hint(reterr, -EALREADY, "bad_request", "approvals", LIST_HINT,
                              "%.80s has been answered: %s", id, statuses[status].name);
    if (answer == APPROVAL_SESSION && !session_of(record))
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "approvals",
                              "--always stores it for all", "%.80s belongs to no session", id);
    return 0;
}

static int
change(json_t *record, enum approval answer, const char *reason, struct rein_error **reterr)
{
    enum approval status = answer == APPROVAL_SESSION ? APPROVAL_ALWAYS : answer;
    int r = json_object_set_new(record, "status", json_string(statuses[status].name)) |
            json_object_set_new(record, "since", json_integer(now_ms()));

    if (answer == APPROVAL_ALWAYS)
        r |= json_object_set_new(record, "session", json_null());
    if (reason)
        r |= json_object_set_new(record, "reason", json_string(reason));
    return r ? rein_fail(reterr, -EINVAL, "bad_request", "approvals", "the reason is not UTF-8")
             : 0;
}

static int answer_in(json_t *all,
                     const char *id,
                     enum approval answer,
                     const char *reason,
                     json_t **ret_record,
                     struct rein_error **reterr)
{
    const char *digest;
    json_t *record;
    bool withdraws;
    int r = find(all, id, &digest, reterr);

    if (r < 0)
        return r;
    record = json_object_get(all, digest);
    r = check_answer(record, id, answer, reterr);
    if (r < 0)
        return r;
    withdraws = status_of(record) == APPROVAL_ALWAYS;
    r = change(record, answer, reason, reterr);
    if (r == 0 && ret_record)
        *ret_record = json_incref(record);
    if (r == 0 && withdraws) /* it asks again, rather than being refused */
        (void)json_object_del(all, digest);
    return r;
}

int approvals_answer(const char *dir,
                     const char *id,
                     enum approval answer,
                     const char *reason,
                     json_t **ret_record,
                     struct rein_error **reterr)
{
    auto_close int lock = state_lock(dir, reterr);
    json_t *all = NULL;
    int r = lock < 0 ? lock : read_all(dir, &all, reterr);

    if (r == 0)
        r = answer_in(all, id, answer, reason, ret_record, reterr);
    if (r == 0)
        r = write_all(dir, all, reterr);
    json_decref(all);
    return r;
}

/* ---- the list ----------------------------------------------------------------------------- */

static json_t *iso(json_int_t ms)
{
    char text[TIME_ISO_SIZE];

    time_format_iso(ms * NSEC_PER_MSEC, text);
    return json_string(text);
}

static json_t *describe(const char *digest, const json_t *record)
{
    json_int_t expiry = expiry_of(record);
    char id[APPROVAL_ID_SIZE];

    (void)snprintf(id, sizeof(id), "%.*s", APPROVAL_ID_LENGTH, digest);
    return json_pack(
        "{s:s, s:s, s:s, s:O?, s:o, s:o, s:O?}", "id", id, "digest", digest, "status",
        statuses[status_of(record)].name, "session", json_object_get(record, "session"), "since",
        iso(json_integer_value(json_object_get(record, "since"))), "expires",
        expiry ? iso(expiry) : json_null(), "request", json_object_get(record, "request"));
}

int approvals_list(const char *dir, json_t **ret, struct rein_error **reterr)
{
    json_t *all, *list = json_array(), *record;
    const char *digest;
    int r = read_all(dir, &all, reterr);

    if (r < 0) {
        json_decref(list);
        return r;
    }
    json_object_foreach(all, digest, record)
    {
        if (r == 0 && counts(record) && json_array_append_new(list, describe(digest, record)) < 0)
            r = rein_oom(reterr);
    }
    json_decref(all);
    if (r < 0)
        json_decref(list);
    else
        *ret = list;
    return r;
}
