/* Configuration files: lines of `key = value`, where a key is an option's long name. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "policy/policy-file.h"
#include "settings.h"

/* One file while it is read. */
struct reading {
    FILE *file;
    const char *path; /* kept by the settings */
    int line;         /* the one being looked at, from 1 */
    int too_long;     /* the first one that the parser's buffer cannot take, or 0 */
    unsigned verb;
    struct settings *settings;
    struct rein_error **reterr;
    int error;
};

/* Gives the parser its next line, and counts: it does not tell its handler where it is. */
static char *read_line(char *buf, int size, void *userdata)
{
    struct reading *r = userdata;

    if (r->too_long || !fgets(buf, size, r->file))
        return NULL;
    r->line++;
    if (!strchr(buf, '\n') && !feof(r->file)) {
        r->too_long = r->line;
        return NULL;
    }
    return buf;
}

static int refuse_key(struct reading *r, const char *key)
{
    struct suggestion near = {.typed = key, .typed_len = strlen(key)};
    char hint[64] = "keys are the long names of options: timeout = 60s";

    for (size_t i = 0; i < OPTION_MAX; i++)
        if (!(option_table[i].flags & OPTION_PER_CALL))
            suggest_consider(&near, option_table[i].name);
    if (near.best)
        (void)snprintf(hint, sizeof(hint), "did you mean %s?", near.best);
    return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config", hint,
                          "%s:%d: no such key '%s'", r->path, r->line, key);
}

static int apply_key(struct reading *r, const char *section, const char *key, const char *value)
{
    struct origin origin = {.source = SOURCE_FILE, .name = r->path, .line = r->line};
    const struct option *o = option_find(key, strlen(key), ~0u);
    const char *kept;

    if (strcmp(section, RULES_SECTION) == 0)
        return 0; /* the gate's, who reads them by itself */
    if (section[0] != '\0')
        return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config",
                              "keys stand before the only section, [" RULES_SECTION "]",
                              "%s:%d: no such section [%s]", r->path, r->line, section);
    if (!o || (o->flags & OPTION_PER_CALL))
        return refuse_key(r, key);
    if (!(o->verbs & r->verb))
        return 0;
    kept = settings_keep(r->settings, value, strlen(value));
    return kept ? options_set(r->settings, o, kept, &origin, r->reterr) : rein_oom(r->reterr);
}

/* The parser's callback. It goes on after a mistake, of which the first is told. */
static int handle_key(void *userdata, const char *section, const char *key, const char *value)
{
    struct reading *r = userdata;
    int error = apply_key(r, section, key, value);

    if (error < 0 && r->error == 0) {
        r->error = error;
        r->reterr = NULL;
    }
    return 1;
}

static int refuse_line(struct reading *r, int line, const char *what)
{
    return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config",
                          "a line is key = value, or a comment after #", "%s:%d: %s", r->path, line,
                          what);
}

static int read_file(struct reading *r)
{
    int bad_line;

    r->path = settings_keep(r->settings, r->path, strlen(r->path));
    if (!r->path)
        return rein_oom(r->reterr);
    bad_line = ini_parse_stream(read_line, r, handle_key, r);
    if (r->error)
        return r->error;
    if (ferror(r->file))
        return rein_fail(r->reterr, -EIO, "bad_request", "config", "cannot read %s", r->path);
    if (bad_line > 0)
        return refuse_line(r, bad_line, "not understood");
    if (r->too_long)
        return refuse_line(r, r->too_long, "the line is too long");
    return 0;
}

int settings_apply_file(const char *path,
                        unsigned verb,
                        struct settings *s,
                        struct rein_error **reterr)
{
    struct reading r = {.path = path, .verb = verb, .settings = s, .reterr = reterr};
    int result;

    r.file = fopen(path, "re");
    if (!r.file && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (!r.file)
        return rein_fail(reterr, -errno, "bad_request", "config", "cannot open %s: %s", path,
                         strerror(errno));
    result = read_file(&r);
    (void)fclose(r.file);
    return result;
}
