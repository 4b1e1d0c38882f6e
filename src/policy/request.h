/*
 * What a call asks for, twice: exactly, for a digest that fits no other call; and as people see it,
 * in the question, in the record of a pending approval and in the audit trail: valid text, long
 * parts cut, secrets hidden.
 */
#ifndef REIN_POLICY_REQUEST_H
#define REIN_POLICY_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "digest.h"

#define REQUEST_SHOWN_MAX 4096      /* bytes of one text that are shown */
#define REQUEST_SHOWN_WORDS_MAX 256 /* words of a command that are shown */

struct request {
    const char *const *secrets; /* values that are hidden in what is shown; or NULL */
    const char *const *env;     /* so are those in it that look like secrets; or NULL */
    struct buf exact;
    json_t *shown; /* an object */
    bool failed;   /* no memory */
};

/* Each adds one part. Failures are remembered. NULL is a part that is not there, which differs from
 * an empty one. */
void request_add_text(struct request *q, const char *key, const char *text);
void request_add_words(struct request *q, const char *key, const char *const *words);
/* "NAME=VALUE" or "NAME"; shown as an object. */
void request_add_env(struct request *q, const char *key, const char *const *entries);
/* Of any size: the digest has its digest, and its beginning is shown. */
void request_add_data(struct request *q, const char *key, const void *data, size_t size);
/* The same, and nothing of it is shown. */
void request_add_hidden(struct request *q, const char *key, const void *data, size_t size);
/* Texts, an array, taken over: shown, with secrets hidden, and no part of what was asked for. */
void request_note_texts(struct request *q, const char *key, json_t *take_texts);
/* Shown, and no part of what was asked for. Takes over the value. */
void request_note(struct request *q, const char *key, json_t *take_value);

/* A JSON string of any bytes; null of NULL. NULL when there is no memory. */
json_t *request_json_text(const char *text);

/* 0 or -ENOMEM, also when a part could not be added. */
int request_digest(const struct request *q, char ret[static DIGEST_TEXT_SIZE]);
void request_done(struct request *q);

#endif
