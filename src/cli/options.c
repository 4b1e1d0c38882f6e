/* Splits a command line by the option table: syntax only, no value is looked at. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "base/suggest.h"

/* The state of a scan. The first mistake is told, and the scan goes on. */
struct scan {
    unsigned verb;
    unsigned flags;
    const char *const *next; /* what has not been looked at */
    struct command_line *cl;
    struct option_use *uses; /* go to cl at the end */
    size_t n_uses, uses_allocated;
    struct rein_error **reterr;
    int error;
};

/* Where a mistake is to be told: nowhere after the first one. */
static struct rein_error **mistake(const struct scan *s)
{
    return s->error ? NULL : s->reterr;
}

static void note_error(struct scan *s, int error)
{
    if (!s->error)
        s->error = error;
}

/* Makes room for one more use. 0 or -ENOMEM. */
static int reserve_use(struct scan *s)
{
    size_t want = MAX((size_t)8, s->uses_allocated * 2);
    struct option_use *grown;

    if (s->n_uses < s->uses_allocated)
        return 0;
    grown = reallocarray(s->uses, want, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    s->uses = grown;
    s->uses_allocated = want;
    return 0;
}

static void add_use(struct scan *s, const struct option *o, const char *value)
{
    if (reserve_use(s) < 0)
        note_error(s, rein_oom(mistake(s)));
    else
        s->uses[s->n_uses++] = (struct option_use){.option = o, .value = value};
}

static void note_unknown_long(struct scan *s, const char *name, size_t len)
{
    struct suggestion near = {.typed = name, .typed_len = len};
    char hint[64] = HELP_HINT;

    for (size_t i = 0; i < OPTION_MAX; i++)
        if ((option_table[i].verbs & s->verb) && option_table[i].kind != KIND_LATER)
            suggest_consider(&near, option_table[i].name);
    if (near.best)
        (void)snprintf(hint, sizeof(hint), "did you mean --%s?", near.best);
    note_error(s, rein_fail_hint(mistake(s), -EINVAL, "bad_request", "options", hint,
                                 "--%.*s: no such option", (int)len, name));
}

static void note_unknown_short(struct scan *s, char c)
{
    note_error(s, rein_fail_hint(mistake(s), -EINVAL, "bad_request", "options", HELP_HINT,
                                 "-%c: no such option", c));
}

/* Takes the value of o: what is attached to it, else the next argument. */
static void take_value(struct scan *s, const struct option *o, const char *attached)
{
    char spelling[OPTION_SPELLING_SIZE];

    if (!attached && *s->next)
        attached = *s->next++;
    if (attached)
        add_use(s, o, attached);
    else
        note_error(s, rein_fail(mistake(s), -EINVAL, "bad_request", "options", "%s: %s is missing",
                                option_spell(o, spelling), o->arg));
}

/* "name", "name=VALUE", after the dashes */
static void scan_long(struct scan *s, const char *name)
{
    const char *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *o = option_find(name, len, s->verb);

    if (!o)
        note_unknown_long(s, name, len);
    else if (option_takes_value(o))
        take_value(s, o, equals ? equals + 1 : NULL);
    else if (equals)
        note_error(s, rein_fail(mistake(s), -EINVAL, "bad_request", "options",
                                "--%s: takes no value", o->name));
    else
        add_use(s, o, NULL);
}

/* "t5", "t", "hC/tmp", after the dash: flags, and at the end at most one option with a value */
static void scan_cluster(struct scan *s, const char *letters)
{
    for (const char *p = letters; *p; p++) {
        const struct option *o = option_find_short(*p, s->verb);

        if (!o) {
            note_unknown_short(s, *p);
            return;
        }
        if (option_takes_value(o)) {
            take_value(s, o, p[1] ? p + 1 : NULL);
            return;
        }
        add_use(s, o, NULL);
    }
}

static bool is_long(const char *arg)
{
    return arg[0] == '-' && arg[1] == '-' && arg[2] != '\0';
}

static bool is_cluster(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0' && arg[1] != '-';
}

/* Looks at the next argument. False when it ends the options. */
static bool scan_next(struct scan *s)
{
    const char *arg = *s->next;

    if (strcmp(arg, "--") == 0) {
        s->next++;
        return false;
    }
    if (is_long(arg) || is_cluster(arg)) {
        s->next++;
        if (is_long(arg))
            scan_long(s, arg + 2);
        else
            scan_cluster(s, arg + 1);
        return true;
    }
    if (!(s->flags & OPERANDS_ANYWHERE))
        return false;
    s->next++;
    s->cl->operands[s->cl->n_operands++] = arg;
    return true;
}

int options_scan(unsigned verb,
                 unsigned flags,
                 const char *const *argv,
                 struct command_line *cl,
                 struct rein_error **reterr)
{
    struct scan s = {.verb = verb, .flags = flags, .next = argv, .cl = cl, .reterr = reterr};

    if (flags & OPERANDS_ANYWHERE) {
        size_t n = strv_length(argv);

        cl->rest = argv + n;
        cl->operands = calloc(n + 1, sizeof(*cl->operands));
        if (!cl->operands)
            return rein_oom(reterr);
    }
    while (*s.next && scan_next(&s))
        ;
    cl->uses = s.uses;
    cl->n_uses = s.n_uses;
    cl->rest = s.next;
    return s.error;
}

void command_line_done(struct command_line *cl)
{
    free(cl->uses);
    free(cl->operands);
    memset(cl, 0, sizeof(*cl));
}
