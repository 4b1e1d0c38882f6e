/* Reading INI files: which section and key is whose. */
#include "policy-file.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "job/spec-env.h"
#include "state-file.h"
#include "trust.h"

#define PLACE_SIZE 512

/* ---- the keys ----------------------------------------------------------------------------- */

static int set_approve(struct gate_settings *s, const char *value)
{
    return gate_mode_parse(value, &s->mode);
}

static int set_ask_level(struct gate_settings *s, const char *value)
{
    s->ask_level_given = true;
    return risk_level_parse(value, &s->ask_level);
}

static int set_audit(struct gate_settings *s, const char *value)
{
    return gate_audit_parse(value, &s->audit);
}

static const struct {
    const char *key, *variable, *values;
    int (*set)(struct gate_settings *s, const char *value);
} keys[] = {
    {"approve", "REIN_APPROVE", "ask, auto or never", set_approve},
    {"ask-level", "REIN_ASK_LEVEL", "low, medium, high or critical", set_ask_level},
    {"audit", "REIN_AUDIT", "on, required or off", set_audit},
};

static int set_key(struct gate_settings *s,
                   size_t i,
                   const char *value,
                   const char *place,
                   struct rein_error **reterr)
{
    if (keys[i].set(s, value) == 0)
        return 0;
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "config", keys[i].values,
                          "%s: '%.80s' is not one of its values", place, value);
}

/* ---- a file ------------------------------------------------------------------------------- */

struct reading {
    const char *text; /* what is still to be read */
    const char *path;
    int line;     /* the one being looked at, from 1 */
    int too_long; /* the first one that the parser's buffer cannot take, or 0 */
    bool is_project;
    struct policy *policy;
    struct rein_error **reterr;
    int error;
};

/* Gives the parser its next line, and counts: it does not tell its handler where it is. */
static char *read_line(char *buf, int size, void *userdata)
{
    struct reading *r = userdata;
    size_t len = strcspn(r->text, "\n");

    if (r->too_long || r->error < 0 || r->text[0] == '\0')
        return NULL;
    r->line++;
    len += r->text[len] == '\n';
    if (len >= (size_t)size) {
        r->too_long = r->line;
        return NULL;
    }
    memcpy(buf, r->text, len);
    buf[len] = '\0';
    r->text += len;
    return buf;
}

static int take_rule(struct reading *r, const char *key, const char *value)
{
    enum rule_verdict verdict = rule_verdict_find(key);

    if (verdict == RULE_NONE)
        return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config",
                              "rules begin with allow, ask or deny", "%s:%d: no such rule '%.80s'",
                              r->path, r->line, key);
    return rules_add(&r->policy->rules, verdict, value, r->path, r->line, r->reterr);
}

static int take_key(struct reading *r, const char *key, const char *value)
{
    char place[PLACE_SIZE];

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strcmp(key, keys[i].key) != 0)
            continue;
        (void)snprintf(place, sizeof(place), "%s:%d: %s", r->path, r->line, key);
        return set_key(&r->policy->settings, i, value, place, r->reterr);
    }
    return 0;
}

static int refuse_of_project(const struct reading *r, const char *section, const char *key)
{
    return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config",
                          "a project's file has rules and nothing else",
                          "%s:%d: %s%s%s%.80s is not in section [" RULES_SECTION "]", r->path,
                          r->line, section[0] ? "[" : "", section, section[0] ? "] " : "", key);
}

static int take_line(struct reading *r, const char *section, const char *key, const char *value)
{
    if (strcmp(section, RULES_SECTION) == 0)
        return take_rule(r, key, value);
    if (r->is_project)
        return refuse_of_project(r, section, key);
    return section[0] == '\0' ? take_key(r, key, value) : 0;
}

static int handle_key(void *userdata, const char *section, const char *key, const char *value)
{
    struct reading *r = userdata;

    if (r->error == 0)
        r->error = take_line(r, section, key, value);
    return 1;
}

static int refuse_line(const struct reading *r, int line, const char *what)
{
    return rein_fail_hint(r->reterr, -EINVAL, "bad_request", "config",
                          "a line is key = value, or a comment after #", "%s:%d: %s", r->path, line,
                          what);
}

int policy_parse(const char *text,
                 const char *path,
                 bool is_project,
                 struct policy *ret,
                 struct rein_error **reterr)
{
    struct reading r = {
        .text = text, .path = path, .is_project = is_project, .policy = ret, .reterr = reterr};
    int bad_line = ini_parse_stream(read_line, &r, handle_key, &r);

    if (r.error)
        return r.error;
    if (bad_line > 0)
        return refuse_line(&r, bad_line, "not understood");
    return r.too_long ? refuse_line(&r, r.too_long, "the line is too long") : 0;
}

/* ---- all sources -------------------------------------------------------------------------- */

static int load_file(const char *path, struct policy *ret, struct rein_error **reterr)
{
    auto_free char *text = NULL;
    size_t size = 0;
    int r = path ? state_read_text(path, &text, &size) : -ENOENT;

    if (r == -ENOENT || r == -ENOTDIR)
        return 0;
    if (r < 0)
        return rein_fail(reterr, r, "bad_request", "config", "cannot read %s: %s", path,
                         strerror(-r));
    return policy_parse(text, path, /* is_project= */ false, ret, reterr);
}

/* What is not trusted is not even parsed. The text that is judged is the text that counts. */
static int
load_project(const struct policy_sources *from, struct policy *ret, struct rein_error **reterr)
{
    auto_free char *path = NULL, *text = NULL;
    size_t size = 0;
    int r;

    ret->project_dir = from->cwd ? trust_find_project(from->cwd) : NULL;
    if (!ret->project_dir)
        return 0;
    if (asprintf(&path, "%s/" PROJECT_FILE, ret->project_dir) < 0) {
        path = NULL;
        return rein_oom(reterr);
    }
    r = state_read_text(path, &text, &size);
    ret->project_is_trusted = r == 0 && trust_holds(from->state_dir, ret->project_dir, text, size);
    if (!ret->project_is_trusted)
        return 0;
    return policy_parse(text, path, /* is_project= */ true, ret, reterr);
}

static int
load_variables(const char *const *variables, struct gate_settings *ret, struct rein_error **reterr)
{
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char *value = env_get(variables, keys[i].variable);
        int r = value && value[0] ? set_key(ret, i, value, keys[i].variable, reterr) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

int policy_load(const struct policy_sources *from, struct policy *ret, struct rein_error **reterr)
{
    int r;

    ret->settings = gate_settings_default();
    r = load_file(from->system_file, ret, reterr);
    if (r == 0)
        r = load_file(from->user_file, ret, reterr);
    if (r == 0)
        r = load_project(from, ret, reterr);
    if (r == 0)
        r = load_variables(from->variables, &ret->settings, reterr);
    return r;
}

void policy_done(struct policy *policy)
{
    rules_done(&policy->rules);
    free(policy->project_dir);
    *policy = (struct policy){0};
}
