/* Judges the values of options and stores them. One setter for each kind of option. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/parse-util.h"
#include "base/strv.h"
#include "options.h"

#define PLACE_SIZE 512

/* One value on its way into the settings. */
struct assignment {
    struct settings *settings;
    const struct option *option;
    const char *value;      /* NULL only for a flag */
    char place[PLACE_SIZE]; /* how a message begins */
    struct rein_error **reterr;
};

/* "--timeout", "REIN_TIMEOUT" or "FILE:3: timeout" */
static void describe_place(const struct option *o, const struct origin *origin, char *buf)
{
    char spelling[OPTION_SPELLING_SIZE];

    if (origin->source == SOURCE_FILE)
        (void)snprintf(buf, PLACE_SIZE, "%s:%d: %s", origin->name, origin->line, o->name);
    else if (origin->source == SOURCE_VARIABLE)
        (void)snprintf(buf, PLACE_SIZE, "%s", origin->name);
    else
        (void)snprintf(buf, PLACE_SIZE, "%s", option_spell(o, spelling));
}

static void *field_of(const struct assignment *a)
{
    return (char *)a->settings + a->option->offset;
}

/* "PLACE: 'VALUE' what" */
static int refuse(const struct assignment *a, int err, const char *what, const char *hint)
{
    if (hint)
        return rein_fail_hint(a->reterr, err, "bad_request", "options", hint, "%s: '%s' %s",
                              a->place, a->value, what);
    return rein_fail(a->reterr, err, "bad_request", "options", "%s: '%s' %s", a->place, a->value,
                     what);
}

static int parse_bool(const struct assignment *a, bool *ret)
{
    static const struct choice words[] = {{"1", 1}, {"yes", 1}, {"true", 1},  {"on", 1},
                                          {"0", 0}, {"no", 0},  {"false", 0}, {"off", 0}};

    if (!a->value) {
        *ret = true;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcmp(a->value, words[i].name) == 0) {
            *ret = words[i].value;
            return 0;
        }
    }
    return refuse(a, -EINVAL, "is neither yes nor no", "use 1, yes, true, 0, no or false");
}

static int set_flag(const struct assignment *a)
{
    return parse_bool(a, field_of(a));
}

/* --json and --jsonl share one field: switching one off leaves the other alone. */
static int set_format(const struct assignment *a)
{
    int *format = field_of(a);
    bool on;
    int r = parse_bool(a, &on);

    if (r < 0)
        return r;
    if (on)
        *format = a->option->format;
    else if (*format == a->option->format)
        *format = FORMAT_TEXT;
    return 0;
}

static int set_duration(const struct assignment *a)
{
    const char *reason = "";
    int r = parse_duration(a->value, field_of(a), &reason);

    return r < 0 ? refuse(a, r, reason, NULL) : 0;
}

static int set_number(const struct assignment *a, uint64_t number)
{
    char what[64];

    if (number < a->option->min) {
        (void)snprintf(what, sizeof(what), "is too small (at least %llu)",
                       (unsigned long long)a->option->min);
        return refuse(a, -ERANGE, what, NULL);
    }
    *(uint64_t *)field_of(a) = number;
    return 0;
}

static int set_size(const struct assignment *a)
{
    const char *reason = "";
    uint64_t bytes;
    int r = parse_size(a->value, &bytes, &reason);

    return r < 0 ? refuse(a, r, reason, NULL) : set_number(a, bytes);
}

static int set_count(const struct assignment *a)
{
    const char *reason = "";
    uint64_t number;
    int r = parse_uint64(a->value, 0, UINT64_MAX, &number, &reason);

    return r < 0 ? refuse(a, r, reason, NULL) : set_number(a, number);
}

static int set_choice(const struct assignment *a)
{
    char hint[64];

    for (const struct choice *c = a->option->choices; c->name; c++) {
        if (strcmp(a->value, c->name) == 0) {
            *(int *)field_of(a) = c->value;
            return 0;
        }
    }
    (void)snprintf(hint, sizeof(hint), "use %s", a->option->arg);
    return refuse(a, -EINVAL, "is not one of its values", hint);
}

static int set_string(const struct assignment *a)
{
    *(const char **)field_of(a) = a->value;
    return 0;
}

static int set_variable(const struct assignment *a)
{
    bool name_only = a->option != &option_table[OPT_ENV];

    if (a->value[0] == '\0' || a->value[0] == '=')
        return refuse(a, -EINVAL, "does not begin with a name", NULL);
    if (name_only && strchr(a->value, '='))
        return refuse(a, -EINVAL, "is not a name", "--env NAME=VALUE sets a value");
    if (strv_add(field_of(a), a->value) < 0)
        return rein_oom(a->reterr);
    return 0;
}

static int set_fd(const struct assignment *a)
{
    struct settings *s = a->settings;
    const char *reason = "";
    uint64_t fd;

    if (parse_uint64(a->value, PASS_FD_MIN, PASS_FD_MAX, &fd, &reason) < 0)
        return refuse(a, -EINVAL, "is not a descriptor from 3 to 1023", NULL);
    if (s->n_pass_fds == ARRAY_SIZE(s->pass_fds))
        return refuse(a, -E2BIG, "is one descriptor too many (at most 64)", NULL);
    s->pass_fds[s->n_pass_fds++] = (int)fd;
    return 0;
}

static int refuse_later(const struct assignment *a)
{
    bool on = true;
    int r = 0;

    if (!option_takes_value(a->option))
        r = parse_bool(a, &on);
    else if (a->option->same_as_now)
        on = strcmp(a->value, a->option->same_as_now) != 0;
    if (r < 0 || !on)
        return r;
    return rein_fail(a->reterr, -ENOTSUP, "bad_request", "options",
                     "%s: not supported by this version", a->place);
}

static int (*const setters[])(const struct assignment *) = {
    [KIND_FLAG] = set_flag,      [KIND_FORMAT] = set_format,     [KIND_DURATION] = set_duration,
    [KIND_SIZE] = set_size,      [KIND_COUNT] = set_count,       [KIND_CHOICE] = set_choice,
    [KIND_STRING] = set_string,  [KIND_VARIABLE] = set_variable, [KIND_FD] = set_fd,
    [KIND_LATER] = refuse_later,
};

static int keep_repeated(const struct assignment *a, const struct origin *origin)
{
    struct settings *s = a->settings;
    struct repeated_value *grown = reallocarray(s->repeated, s->n_repeated + 1, sizeof(*grown));

    if (!grown)
        return rein_oom(a->reterr);
    s->repeated = grown;
    s->repeated[s->n_repeated++] = (struct repeated_value){
        .id = (enum option_id)(a->option - option_table), .text = a->value, .origin = *origin};
    return 0;
}

int options_set(struct settings *s,
                const struct option *o,
                const char *value,
                const struct origin *origin,
                struct rein_error **reterr)
{
    struct assignment a = {.settings = s, .option = o, .value = value, .reterr = reterr};
    size_t id = (size_t)(o - option_table);
    int r;

    assert(id < OPTION_MAX);
    assert(value || !option_takes_value(o));

    describe_place(o, origin, a.place);
    r = setters[o->kind](&a);
    if (r == 0 && option_is_repeatable(o))
        r = keep_repeated(&a, origin);
    if (r < 0)
        return r;
    s->origins[id] = *origin;
    s->texts[id] = value;
    return 0;
}

void settings_done(struct settings *s)
{
    s->env = strv_free(s->env);
    s->env_keep = strv_free(s->env_keep);
    s->secrets = strv_free(s->secrets);
    free(s->repeated);
    s->repeated = NULL;
    s->owned = strv_free(s->owned);
}
