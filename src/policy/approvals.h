/*
 * What people have said about calls: `approvals.json`, an object of request digests to records.
 *
 *   pending    a call waits for an answer; its ID is the beginning of the digest
 *   approved   the same call runs once more, then the record is gone
 *   denied     the same call is refused
 *   always     the same call runs, in one session or in all
 *
 * The first three last APPROVAL_SECONDS each. A digest covers one request and no other, so nothing
 * here compares commands.
 */
#ifndef REIN_POLICY_APPROVALS_H
#define REIN_POLICY_APPROVALS_H

#include <jansson.h>

#include "rein.h"

#define APPROVAL_SECONDS 300
#define APPROVAL_SESSION_SECONDS (24 * 3600) /* "always" of a session */
#define APPROVALS_MAX 200                    /* records */
#define APPROVAL_ID_LENGTH 8                 /* digits */
#define APPROVAL_ID_SIZE (APPROVAL_ID_LENGTH + 1)

enum approval {
    APPROVAL_UNKNOWN, /* nobody has been asked */
    APPROVAL_PENDING,
    APPROVAL_ONCE,
    APPROVAL_DENIED,
    APPROVAL_SESSION,
    APPROVAL_ALWAYS,
};

/* What is known of a request; takes an approval for once. session: or NULL. *ret_reason is of a
 * denial, the caller's to free, or NULL. dir: the state directory, which may be missing. */
int approvals_take(const char *dir,
                   const char *digest,
                   const char *session,
                   enum approval *ret,
                   char **ret_reason,
                   struct rein_error **reterr);

/* Puts a question, unless it is there. */
int approvals_post(const char *dir,
                   const char *digest,
                   json_t *shown,
                   const char *session,
                   char ret_id[static APPROVAL_ID_SIZE],
                   struct rein_error **reterr);

/* Keeps "always", for one session or, NULL, for all. */
int approvals_keep(const char *dir,
                   const char *digest,
                   json_t *shown,
                   const char *session,
                   struct rein_error **reterr);

/* Answers a pending question; id: at least APPROVAL_ID_LENGTH digits of the digest. answer:
 * APPROVAL_ONCE, _SESSION (of the call's own session), _ALWAYS, or _DENIED, which also takes an
 * "always" back. reason: of a denial, or NULL. *ret_record: the record as it is now, a new
 * reference; may be NULL. "bad_request" for an ID that is unknown, ambiguous or too late. */
int approvals_answer(const char *dir,
                     const char *id,
                     enum approval answer,
                     const char *reason,
                     json_t **ret_record,
                     struct rein_error **reterr);

/* All records that still count, oldest first: objects with id, digest, status, session, created,
 * expires (ISO 8601, or null), request. *ret: an array, a new reference. */
int approvals_list(const char *dir, json_t **ret, struct rein_error **reterr);

#endif
