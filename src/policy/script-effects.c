/* Built-in commands that change what the rest of a script means, and those whose output is plain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "paths.h"
#include "script-internal.h"

/* ---- printf ------------------------------------------------------------------------------- */

/* The character that an escape of printf stands for; 0 for those that are seldom used. */
static char unescape(char letter)
{
    static const char letters[] = "nt\\\"'", values[] = "\n\t\\\"'";
    const char *found = letter ? strchr(letters, letter) : NULL;

    return found ? values[found - letters] : '\0';
}

/* Only %s and the usual escapes; the format is not taken up again for more words. */
static bool add_formatted(struct buf *b, const struct word *words, size_t n)
{
    size_t next = 1;

    for (const char *p = n > 0 ? words[0].text : ""; *p; p++) {
        bool escape = *p == '\\', conversion = *p == '%';
        char c = escape ? unescape(p[1]) : *p;

        p += escape || conversion;
        if ((escape && !c) || (conversion && *p != 's'))
            return false;
        if (conversion)
            buf_add_str(b, next < n ? words[next++].text : "");
        else
            buf_add_char(b, c);
    }
    return next >= n;
}

/* ---- the folder --------------------------------------------------------------------------- */

/* Where a cd leads. NULL: unknown. The text belongs to the script. */
static const char *follow(struct reader *r, const char *target)
{
    struct script *script = r->found->script;
    struct path path;
    const char *from = r->found->folder;

    if (!target || (!from && *target != '/') || strcmp(target, "-") == 0 ||
        strv_length((const char *const *)script->folders) >= SCRIPT_FOLDERS_MAX ||
        !path_resolve(&path, from, target))
        return NULL;
    if (strv_add(&script->folders, path.text) < 0) {
        reader_oom(r);
        return NULL;
    }
    return script->folders[strv_length((const char *const *)script->folders) - 1];
}

static const struct word *first_operand(const struct word *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (words[i].text[0] != '-' || words[i].text[1] == '\0')
            return &words[i];
    return NULL;
}

static void change_folder(struct reader *r, const struct word *words, size_t n)
{
    const struct word *target = first_operand(words, n);

    if (target)
        r->found->folder = target->unknown || target->glob ? NULL : follow(r, target->text);
    else
        r->found->folder = follow(r, r->found->setting->home);
}

static void lose_folder(struct reader *r, const struct word *words, size_t n)
{
    r->found->folder = NULL;
}

/* ---- variables ---------------------------------------------------------------------------- */

static void forget_operands(struct reader *r, const struct word *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t len = name_length(words[i].text);

        if (len > 0)
            variable_forget(r, words[i].text, len);
    }
}

static bool all_known(const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (words[i].unknown || words[i].glob)
            return false;
    return true;
}

/* "printf -v name format …" */
static void set_formatted(struct reader *r, const struct word *words, size_t n)
{
    auto_buf struct buf b = {0};
    struct variable *v;
    size_t len = n > 2 && strcmp(words[1].text, "-v") == 0 ? name_length(words[2].text) : 0;

    if (len == 0)
        return;
    v = variable_set(r, words[2].text, len);
    if (!v)
        return;
    v->unknown = !all_known(words, n) || !add_formatted(&b, words + 3, n - 3);
    if (!v->unknown && words_add(&v->values, buf_take(&b), false, false) < 0)
        reader_oom(r);
}

static void unset_operands(struct reader *r, const struct word *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t len = name_length(words[i].text);
        struct variable *v = len > 0 ? variable_set(r, words[i].text, len) : NULL;

        if (v && words_add(&v->values, strdup(""), false, false) < 0)
            reader_oom(r);
    }
}

static void set_arguments(struct reader *r, const struct word *words, size_t n)
{
    size_t first = 1;
    struct variable *v;

    while (first < n && (words[first].text[0] == '-' || words[first].text[0] == '+') &&
           strcmp(words[first].text, "--") != 0)
        first++;
    first += first < n && strcmp(words[first].text, "--") == 0;
    if (first >= n)
        return;
    v = variable_set(r, "@", 1);
    for (size_t i = first; v && i < n; i++)
        if (words_add_copy(&v->values, &words[i]) < 0)
            reader_oom(r);
}

static void lose_arguments(struct reader *r, const struct word *words, size_t n)
{
    variable_forget(r, "@", 1);
}

static void lose_variables(struct reader *r, const struct word *words, size_t n)
{
    r->found->variables_lost = true;
}

static const struct effect {
    const char *name;
    void (*apply)(struct reader *r, const struct word *words, size_t n);
} effects[] = {
    {"cd", change_folder},        {"pushd", change_folder},     {"popd", lose_folder},
    {"read", forget_operands},    {"mapfile", forget_operands}, {"readarray", forget_operands},
    {"getopts", forget_operands}, {"let", forget_operands},     {"printf", set_formatted},
    {"unset", unset_operands},    {"set", set_arguments},       {"shift", lose_arguments},
    {"source", lose_variables},   {".", lose_variables},        {"eval", lose_variables},
};

void command_effects(struct reader *r, const struct script_command *command)
{
    const struct word *words = command->words.v;
    size_t n = command->words.n;

    while (n > 1 && (!strcmp(words->text, "command") || !strcmp(words->text, "builtin"))) {
        words++;
        n--;
    }
    for (size_t i = 0; n > 0 && i < ARRAY_SIZE(effects); i++)
        if (strcmp(words->text, effects[i].name) == 0)
            effects[i].apply(r, words, n);
}

/* ---- output ------------------------------------------------------------------------------- */

static bool print_operands(struct buf *b, const struct script_command *command)
{
    size_t first = 1;

    while (first < command->words.n && strcmp(command->words.v[first].text, "-n") == 0)
        first++;
    for (size_t i = first; i < command->words.n; i++) {
        if (strchr(command->words.v[i].text, '\\')) /* shells differ in what echo makes of it */
            return false;
        if (i > first)
            buf_add_char(b, ' ');
        buf_add_str(b, command->words.v[i].text);
    }
    return true;
}

static bool print_format(struct buf *b, const struct script_command *command)
{
    return add_formatted(b, command->words.v + 1, command->words.n - 1);
}

static bool print_last(struct buf *b, const struct script_command *command)
{
    if (command->words.n < 2)
        return false;
    buf_add_str(b, command->words.v[command->words.n - 1].text);
    return true;
}

static bool print_parent(struct buf *b, const struct script_command *command)
{
    const char *path = command->words.n == 2 ? command->words.v[1].text : "";
    const char *slash = strrchr(path, '/');

    if (!*path || (slash && !slash[1]))
        return false;
    if (slash)
        buf_add(b, path, slash == path ? 1 : (size_t)(slash - path));
    else
        buf_add_char(b, '.');
    return true;
}

static bool print_folder(struct buf *b, const struct script_command *command)
{
    if (command->folder)
        buf_add_str(b, command->folder);
    return command->folder != NULL;
}

static const struct printing {
    const char *name;
    bool (*print)(struct buf *b, const struct script_command *command);
} printing[] = {
    {"echo", print_operands}, {"printf", print_format}, {"pwd", print_folder},
    {"which", print_last},    {"command", print_last},  {"type", print_last},
    {"realpath", print_last}, {"readlink", print_last}, {"dirname", print_parent},
};

int known_output(const struct script *script, struct command_range range, char **ret)
{
    const struct script_command *command;
    auto_buf struct buf b = {0};
    bool known = false;

    if (range.to != range.from + 1 || range.to > script->n)
        return 0;
    command = &script->commands[range.from];
    if (command->n_redirects > 0 || command->words.n == 0 ||
        !all_known(command->words.v, command->words.n))
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(printing) && !known; i++)
        known = strcmp(command->words.v[0].text, printing[i].name) == 0 &&
                printing[i].print(&b, command);
    if (!known)
        return 0;
    *ret = buf_take(&b);
    return *ret ? 1 : -ENOMEM;
}
