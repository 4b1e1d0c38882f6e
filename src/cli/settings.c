/* The order of the sources, and the two that need no file: variables and the command line. */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"

#define PREFIX "REIN_"

/* All sources are applied, whatever is wrong with one of them, so that the caller knows in which
 * format to tell it. The first mistake is the one that is told. */
struct loading {
    struct settings *settings;
    unsigned verb;
    struct rein_error **reterr; /* NULL after the first mistake */
    int error;
};

static void note_result(struct loading *l, int result)
{
    if (result >= 0 || l->error < 0)
        return;
    l->error = result;
    l->reterr = NULL;
}

const char *settings_keep(struct settings *s, const char *text, size_t len)
{
    char *copy = strndup(text, len);

    return strv_add_take(&s->owned, copy) < 0 ? NULL : copy;
}

/* ---- variables ---------------------------------------------------------------------------- */

/* The option that a variable is for, "REIN_CPU_TIME=…". NULL: none of this verb's. */
static const struct option *option_of_variable(const char *variable, unsigned verb)
{
    char name[OPTION_SPELLING_SIZE];
    size_t len = strcspn(variable, "=");
    const struct option *o;

    if (strncmp(variable, PREFIX, strlen(PREFIX)) != 0 || variable[len] != '=')
        return NULL;
    variable += strlen(PREFIX);
    len -= strlen(PREFIX);
    if (len >= sizeof(name))
        return NULL;
    for (size_t i = 0; i < len; i++) {
        char c = variable[i];

        if (c >= 'a' && c <= 'z')
            return NULL;
        name[i] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    o = option_find(name, len, verb);
    return o && !(o->flags & OPTION_PER_CALL) ? o : NULL;
}

/* Applies the lines of a variable as values of an option that may be given several times. */
static int apply_lines(struct settings *s,
                       const struct option *o,
                       const char *lines,
                       const struct origin *origin,
                       struct rein_error **reterr)
{
    for (;;) {
        size_t len = strcspn(lines, "\n");

        if (len > 0) {
            const char *value = settings_keep(s, lines, len);
            int r = value ? options_set(s, o, value, origin, reterr) : rein_oom(reterr);

            if (r < 0)
                return r;
        }
        if (lines[len] == '\0')
            return 0;
        lines += len + 1;
    }
}

static int apply_variable(struct settings *s,
                          const struct option *o,
                          const char *value,
                          struct rein_error **reterr)
{
    char name[OPTION_SPELLING_SIZE];
    struct origin origin = {.source = SOURCE_VARIABLE};

    option_variable(o, name);
    origin.name = settings_keep(s, name, strlen(name));
    if (!origin.name)
        return rein_oom(reterr);
    if (option_is_repeatable(o))
        return apply_lines(s, o, value, &origin, reterr);
    return options_set(s, o, value, &origin, reterr);
}

/* In the order of the table, not of the environment, which says nothing. An empty variable counts
 * as none. */
static void apply_variables(struct loading *l, const char *const *variables)
{
    const char *values[OPTION_MAX] = {0};

    for (const char *const *v = variables; v && *v; v++) {
        const struct option *o = option_of_variable(*v, l->verb);

        if (o)
            values[o - option_table] = strchr(*v, '=') + 1;
    }
    for (size_t i = 0; i < OPTION_MAX; i++)
        if (values[i] && values[i][0] != '\0')
            note_result(l, apply_variable(l->settings, &option_table[i], values[i], l->reterr));
}

/* ---- command line, and all together ------------------------------------------------------- */

static void apply_line(struct loading *l, const struct command_line *line)
{
    static const struct origin flag = {.source = SOURCE_FLAG};

    for (size_t i = 0; i < line->n_uses; i++)
        note_result(l, options_set(l->settings, line->uses[i].option, line->uses[i].value, &flag,
                                   l->reterr));
}

int settings_load(const struct settings_sources *from,
                  unsigned verb,
                  struct settings *s,
                  struct rein_error **reterr)
{
    struct loading l = {.settings = s, .verb = verb, .reterr = reterr};

    if (from->system_file)
        note_result(&l, settings_apply_file(from->system_file, verb, s, l.reterr));
    if (from->user_file)
        note_result(&l, settings_apply_file(from->user_file, verb, s, l.reterr));
    apply_variables(&l, from->variables);
    apply_line(&l, from->line);
    return l.error;
}
