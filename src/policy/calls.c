/* Only words that are one parameter and nothing else, "$1" or "$@", and those that begin with one.
 */
#include "calls.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"

const struct script_function *
called_function(const struct script *script, const struct word *words, size_t n)
{
    if (n == 0 || words[0].unknown)
        return NULL;
    for (size_t i = 0; i < script->n_functions; i++)
        if (strcmp(script->functions[i].name, words[0].text) == 0)
            return &script->functions[i];
    return NULL;
}

/* The length of "$1", "${1}", "$@" or "$*" at text; *ret_number 0 for all. 0: it is none. */
static size_t parameter(const char *text, size_t *ret_number)
{
    size_t braces = text[0] == '$' && text[1] == '{';
    char c = text[0] == '$' ? text[1 + braces] : '\0';

    if (!c || (!strchr("@*", c) && (c < '1' || c > '9')) || (braces && text[3] != '}'))
        return 0;
    *ret_number = strchr("@*", c) ? 0 : (size_t)(c - '0');
    return 2 + 2 * braces;
}

static int add_joined(struct words *words, const struct word *value, const char *rest)
{
    struct buf b = {0};

    buf_add_str(&b, value->text);
    buf_add_str(&b, rest);
    return words_add(words, buf_take(&b), value->unknown || strchr(rest, '$'), value->glob);
}

static int fill_word(const struct word *word, const struct word *call, size_t n, struct words *ret)
{
    size_t number = 0, len = word->unknown ? parameter(word->text, &number) : 0;
    int r = 0;

    if (len == 0)
        return words_add_copy(ret, word);
    if (number > 0)
        return number < n ? add_joined(ret, &call[number], word->text + len) : 0;
    for (size_t i = 1; r == 0 && i < n; i++)
        r = add_joined(ret, &call[i], i + 1 == n ? word->text + len : "");
    return r;
}

int fill_arguments(const struct words *command,
                   const struct word *call,
                   size_t n,
                   struct words *ret)
{
    bool changed = false;
    size_t number;
    int r = 0;

    for (size_t i = 0; i < command->n; i++)
        changed |= command->v[i].unknown && parameter(command->v[i].text, &number) > 0;
    for (size_t i = 0; changed && r == 0 && i < command->n && ret->n < SCRIPT_WORDS_MAX; i++)
        r = fill_word(&command->v[i], call, n, ret);
    return r < 0 ? r : changed;
}
