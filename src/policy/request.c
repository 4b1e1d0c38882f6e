#include "request.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json-write.h"
#include "base/macro.h"
#include "hide.h"
#include "job/secrets.h"

#define CUT "…"
#define HIDDEN "***"
#define REQUEST_LOOKED_AT_MAX (4 * REQUEST_SHOWN_MAX)

/* ---- exactly ------------------------------------------------------------------------------ */

/* With its length in front, so that no two rows of parts are the same bytes. */
static void add_exact(struct request *q, const void *data, size_t size)
{
    buf_add_format(&q->exact, "%zu:", size);
    buf_add(&q->exact, data, size);
}

static void add_exact_text(struct request *q, const char *text)
{
    if (text)
        add_exact(q, text, strlen(text));
    else
        buf_add_str(&q->exact, "-");
}

/* ---- for people --------------------------------------------------------------------------- */

json_t *request_json_text(const char *text)
{
    auto_buf struct buf written = {0};

    if (!text)
        return json_null();
    json_write_string(&written, text);
    return buf_error(&written) < 0 ? NULL
                                   : json_loadb(written.data, written.len, JSON_DECODE_ANY, NULL);
}

/* Secrets are hidden before the cut: half of one is no longer known. */
static json_t *shown_text(const struct request *q, const char *text, size_t size)
{
    auto_free char *hidden = strndup(text, MIN(size, (size_t)REQUEST_LOOKED_AT_MAX));
    auto_buf struct buf cut = {0};
    size_t len;

    if (!hidden || hide_secrets(q->secrets, q->env, hidden) < 0)
        return NULL;
    len = MIN(strlen(hidden), (size_t)REQUEST_SHOWN_MAX);
    while (len > 0 && len < size && ((unsigned char)hidden[len] & 0xc0) == 0x80)
        len--;
    buf_add(&cut, hidden, len);
    if (len < size)
        buf_add_str(&cut, CUT);
    if (buf_error(&cut) < 0)
        return NULL;
    return request_json_text(cut.data ? cut.data : "");
}

static json_t *shown_words(const struct request *q, const char *const *words)
{
    json_t *array = json_array();

    for (size_t i = 0; array && words[i]; i++) {
        json_t *word = i < REQUEST_SHOWN_WORDS_MAX ? shown_text(q, words[i], strlen(words[i]))
                                                   : json_string(CUT);

        if (json_array_append_new(array, word) < 0) {
            json_decref(array);
            return NULL;
        }
        if (i == REQUEST_SHOWN_WORDS_MAX)
            break;
    }
    return array;
}

static json_t *shown_env(const struct request *q, const char *const *entries)
{
    json_t *object = json_object();

    for (; object && *entries; entries++) {
        size_t len = strcspn(*entries, "=");
        const char *value = (*entries)[len] ? *entries + len + 1 : NULL;
        json_t *name = shown_text(q, *entries, len);
        int r = json_object_set_new(object, name ? json_string_value(name) : "",
                                    !value                   ? json_null()
                                    : secret_entry(*entries) ? json_string(HIDDEN)
                                                             : shown_text(q, value, strlen(value)));

        json_decref(name);
        if (r < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

void request_note(struct request *q, const char *key, json_t *take_value)
{
    if (!q->shown)
        q->shown = json_object();
    if (json_object_set_new(q->shown, key, take_value) < 0)
        q->failed = true;
}

void request_note_texts(struct request *q, const char *key, json_t *take_texts)
{
    json_t *shown = json_array();
    const char *text;
    size_t i;
    json_t *value;

    json_array_foreach(take_texts, i, value)
    {
        text = json_string_value(value);
        if (json_array_append_new(shown, shown_text(q, text, strlen(text))) < 0)
            q->failed = true;
    }
    json_decref(take_texts);
    request_note(q, key, shown);
}

/* ---- parts -------------------------------------------------------------------------------- */

void request_add_text(struct request *q, const char *key, const char *text)
{
    add_exact_text(q, key);
    add_exact_text(q, text);
    request_note(q, key, text ? shown_text(q, text, strlen(text)) : json_null());
}

static void add_exact_words(struct request *q, const char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    buf_add_format(&q->exact, "%s%zu[", words ? "" : "-", n);
    for (size_t i = 0; i < n; i++)
        add_exact_text(q, words[i]);
}

void request_add_words(struct request *q, const char *key, const char *const *words)
{
    add_exact_text(q, key);
    add_exact_words(q, words);
    request_note(q, key, words ? shown_words(q, words) : json_null());
}

void request_add_env(struct request *q, const char *key, const char *const *entries)
{
    static const char *const nothing[] = {NULL};

    add_exact_text(q, key);
    add_exact_words(q, entries ? entries : nothing);
    request_note(q, key, shown_env(q, entries ? entries : nothing));
}

void request_add_hidden(struct request *q, const char *key, const void *data, size_t size)
{
    char digest[DIGEST_TEXT_SIZE];

    digest_text(data, size, digest);
    add_exact_text(q, key);
    add_exact_text(q, digest);
}

void request_add_data(struct request *q, const char *key, const void *data, size_t size)
{
    request_add_hidden(q, key, data, size);
    request_note(q, key, shown_text(q, data, size));
}

int request_digest(const struct request *q, char ret[static DIGEST_TEXT_SIZE])
{
    if (q->failed || buf_error(&q->exact) < 0)
        return -ENOMEM;
    digest_text(q->exact.data ? q->exact.data : "", q->exact.len, ret);
    return 0;
}

void request_done(struct request *q)
{
    buf_done(&q->exact);
    json_decref(q->shown);
    q->shown = NULL;
}
