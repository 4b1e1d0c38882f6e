/* What a script's variables stand for: what the text has set so far, else the environment. */
#include <stdlib.h>
#include <string.h>

#include "script-internal.h"

static struct variable *find_set(struct found *found, const char *name, size_t len)
{
    for (size_t i = 0; i < found->n_variables; i++)
        if (strncmp(found->variables[i].name, name, len) == 0 &&
            found->variables[i].name[len] == '\0')
            return &found->variables[i];
    return NULL;
}

/* The variable without a value, to be filled. NULL: there are too many, or no memory. */
struct variable *variable_set(struct reader *r, const char *name, size_t len)
{
    struct found *found = r->found;
    struct variable *v = find_set(found, name, len);

    if (!v && found->n_variables < SCRIPT_VARIABLES_MAX) {
        char *copy = strndup(name, len);

        if (!copy) {
            reader_oom(r);
            return NULL;
        }
        v = &found->variables[found->n_variables++];
        v->name = copy;
    }
    if (!v) {
        found->variables_lost = true;
        return NULL;
    }
    words_done(&v->values);
    v->unknown = false;
    v->made_by = (struct command_range){0};
    return v;
}

void variable_forget(struct reader *r, const char *name, size_t len)
{
    struct variable *v = variable_set(r, name, len);

    if (v)
        v->unknown = true;
}

/* What a shell sets by itself. NULL: nothing of that name. */
static const char *find_built_in(const struct found *found, const char *name, size_t len)
{
    if (len == 3 && strncmp(name, "IFS", 3) == 0)
        return " \t\n";
    if (len == 3 && strncmp(name, "PWD", 3) == 0)
        return found->folder;
    if (len == 4 && strncmp(name, "HOME", 4) == 0)
        return found->setting->home;
    return NULL;
}

static const char *find_environment(const struct found *found, const char *name, size_t len)
{
    const char *const *env = found->setting->env;

    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

/* Set by a shell to what cannot be told. */
static bool is_changing(const char *name, size_t len)
{
    static const char *const names[] = {"RANDOM", "SECONDS", "LINENO",       "OLDPWD", "UID",
                                        "EUID",   "PPID",    "BASHPID",      "REPLY",  "HOSTNAME",
                                        "OSTYPE", "SHLVL",   "EPOCHSECONDS", "PWD",    "HOME"};

    if (len == 1 && strchr("?#-$!_", *name))
        return true;
    if (len >= 4 && strncmp(name, "BASH", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == len && strncmp(name, names[i], len) == 0)
            return true;
    return false;
}

static const struct variable *
find_argument(struct reader *r, const char *name, size_t len, struct variable *scratch)
{
    const struct script_setting *setting = r->found->setting;
    size_t number = len < 6 ? (size_t)strtoul(name, NULL, 10) : SIZE_MAX;
    bool all = *name == '@' || *name == '*';
    const struct variable *set = find_set(r->found, "@", 1);
    const struct word *words = set ? set->values.v : setting->arguments;
    size_t n = set ? set->values.n : setting->n_arguments;

    scratch->unknown = (set ? set->unknown : !setting->arguments_known) || r->found->function > 0;
    if (scratch->unknown || (!all && number == 0)) {
        scratch->unknown = true;
        return scratch;
    }
    for (size_t i = 0; i < n; i++) {
        if (!all && i + 1 != number)
            continue;
        scratch->unknown |= words[i].unknown;
        if (words_add_copy(&scratch->values, &words[i]) < 0)
            reader_oom(r);
    }
    return scratch;
}

const struct variable *
variable_find(struct reader *r, const char *name, size_t len, struct variable *scratch)
{
    const struct variable *v;
    const char *value;

    if (*name == '@' || *name == '*' || (*name >= '0' && *name <= '9'))
        return find_argument(r, name, len, scratch);
    v = find_set(r->found, name, len);
    if (v)
        return v;
    value = find_built_in(r->found, name, len);
    if (!value)
        value = find_environment(r->found, name, len);
    if (value) {
        if (words_add(&scratch->values, strdup(value), false, false) < 0)
            reader_oom(r);
        return scratch;
    }
    scratch->unknown = is_changing(name, len);
    return scratch->unknown ? scratch : NULL;
}

/* Those with one known value, for the scripts that this one starts. */
static int keep_environment(struct found *found)
{
    for (size_t i = 0; i < found->n_variables; i++) {
        const struct variable *v = &found->variables[i];
        struct buf b = {0};

        if (v->unknown || v->values.n != 1 || name_length(v->name) == 0)
            continue;
        buf_add_format(&b, "%s=%s", v->name, v->values.v[0].text);
        if (strv_add_take(&found->script->env, buf_take(&b)) < 0)
            return -1;
    }
    return 0;
}

void variables_done(struct found *found)
{
    if (!found->error && keep_environment(found) < 0)
        found->error = -ENOMEM;
    for (size_t i = 0; i < found->n_variables; i++) {
        free(found->variables[i].name);
        words_done(&found->variables[i].values);
    }
    found->n_variables = 0;
}
