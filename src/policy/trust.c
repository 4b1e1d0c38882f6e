/* The list is a JSON object of directories to the digests of their files. */
#include "trust.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "digest.h"
#include "state-file.h"

#define LIST_NAME "trusted.json"

char *trust_find_project(const char *dir)
{
    char *at = strdup(dir);

    while (at && at[0] == '/') {
        auto_free char *file = NULL;
        char *slash = strrchr(at, '/');

        if (asprintf(&file, "%s/%s", strcmp(at, "/") == 0 ? "" : at, PROJECT_FILE) < 0) {
            file = NULL;
            break;
        }
        if (access(file, F_OK) == 0)
            return at;
        if (at[1] == '\0')
            break;
        slash[slash == at] = '\0';
    }
    free(at);
    return NULL;
}

bool trust_holds(const char *state_dir, const char *dir, const char *text, size_t size)
{
    char digest[DIGEST_TEXT_SIZE];
    const char *trusted;
    json_t *list = NULL;
    bool holds;

    if (state_file_read(state_dir, LIST_NAME, &list) < 0)
        return false;
    digest_text(text, size, digest);
    trusted = json_string_value(json_object_get(list, dir));
    holds = trusted && strcmp(trusted, digest) == 0;
    json_decref(list);
    return holds;
}

/* ---- changing ----------------------------------------------------------------------------- */

static int read_list(const char *state_dir, json_t **ret, struct rein_error **reterr)
{
    int r = state_file_read(state_dir, LIST_NAME, ret);

    if (r == -ENOENT) {
        *ret = json_object();
        return *ret ? 0 : rein_oom(reterr);
    }
    if (r < 0)
        return state_file_fail(state_dir, LIST_NAME, r, reterr);
    return 0;
}

static int write_list(const char *state_dir, const json_t *list, struct rein_error **reterr)
{
    int r = state_file_write(state_dir, LIST_NAME, list);

    if (r < 0)
        return rein_fail(reterr, r, "internal", "trust", "cannot write %s/%s: %s", state_dir,
                         LIST_NAME, strerror(-r));
    return 0;
}

static int
set(const char *state_dir, const char *dir, const char *digest, struct rein_error **reterr)
{
    auto_close int lock = state_lock(state_dir, reterr);
    json_t *list = NULL;
    int r = lock < 0 ? lock : read_list(state_dir, &list, reterr);

    if (r == 0 && json_object_size(list) >= TRUST_MAX && !json_object_get(list, dir))
        r = rein_fail(reterr, -E2BIG, "limit_exceeded", "trust",
                      "more than %d directories are trusted", TRUST_MAX);
    if (r == 0 && json_object_set_new(list, dir, json_string(digest)) < 0)
        r = rein_fail(reterr, -EINVAL, "bad_request", "trust", "the name '%.200s' is not UTF-8",
                      dir);
    if (r == 0)
        r = write_list(state_dir, list, reterr);
    json_decref(list);
    return r;
}

int trust_add(const char *state_dir, const char *dir, struct rein_error **reterr)
{
    auto_free char *path = NULL, *text = NULL;
    char digest[DIGEST_TEXT_SIZE];
    size_t size = 0;
    int r;

    if (asprintf(&path, "%s/%s", dir, PROJECT_FILE) < 0) {
        path = NULL;
        return rein_oom(reterr);
    }
    r = state_read_text(path, &text, &size);
    if (r < 0)
        return rein_fail(reterr, r, "bad_request", "trust", "cannot read %s: %s", path,
                         strerror(-r));
    digest_text(text, size, digest);
    return set(state_dir, dir, digest, reterr);
}

int trust_remove(const char *state_dir, const char *dir, struct rein_error **reterr)
{
    auto_close int lock = state_lock(state_dir, reterr);
    json_t *list = NULL;
    int r = lock < 0 ? lock : read_list(state_dir, &list, reterr);

    if (r == 0 && json_object_del(list, dir) < 0)
        r = rein_fail(reterr, -ENOENT, "bad_request", "trust", "%s was not trusted", dir);
    if (r == 0)
        r = write_list(state_dir, list, reterr);
    json_decref(list);
    return r;
}
