/* One option at a time. */
#include "command-options.h"

#include <string.h>

void options_begin(struct option_scan *scan,
                   const struct word *words,
                   size_t n,
                   const struct option_style *style)
{
    *scan = (struct option_scan){.words = words, .n = n, .at = n > 0, .style = style};
}

/* The next name of a list, without the "=" of one that takes a value. */
static const char *next_name(const char **list, size_t *ret_len, bool *ret_value)
{
    const char *name = *list + strspn(*list, " ");
    size_t len = strcspn(name, " ");

    *list = name + len;
    *ret_value = len > 0 && name[len - 1] == '=';
    *ret_len = len - *ret_value;
    return len > 0 ? name : NULL;
}

/* Looked for as a piece of text: the lists are long, and asked for every command. */
bool list_has(const char *list, const char *word, size_t len)
{
    const char *end = list ? list + strlen(list) : NULL;
    const char *found = list;

    while (len > 0 && found && (found = memmem(found, (size_t)(end - found), word, len))) {
        if ((found == list || found[-1] == ' ') && strchr(" =", found[len]))
            return true;
        found += len;
    }
    return false;
}

/* Puts the whole name in the place of its beginning. true when it takes a value. */
static bool complete_name(const char *list, struct option *option)
{
    const char *name, *found = NULL;
    size_t len, found_len = 0, matches = 0;
    bool value, found_value = false;

    while (list && (name = next_name(&list, &len, &value))) {
        if (len < option->name_len || strncmp(name, option->name, option->name_len) != 0)
            continue;
        if (len == option->name_len)
            return value;
        matches++;
        found = name;
        found_len = len;
        found_value = value;
    }
    if (matches != 1)
        return false;
    option->name = found;
    option->name_len = found_len;
    return found_value;
}

static void take_next_word(struct option_scan *scan, struct option *ret)
{
    if (scan->at >= scan->n)
        return;
    ret->word = scan->at;
    ret->value = scan->words[scan->at++].text;
}

static void read_long(struct option_scan *scan, const char *name, struct option *ret)
{
    const char *equals = strchr(name, '=');

    ret->kind = OPTION_LONG;
    ret->name = name;
    ret->name_len = equals ? (size_t)(equals - name) : strlen(name);
    if (complete_name(scan->style->long_names, ret) && !equals)
        take_next_word(scan, ret);
    else if (equals)
        ret->value = equals + 1;
}

static void read_short(struct option_scan *scan, struct option *ret)
{
    const char *values = scan->style->short_values;

    ret->kind = OPTION_SHORT;
    ret->word = scan->at - 1;
    ret->letter = *scan->cluster++;
    if (values && strchr(values, ret->letter)) {
        if (*scan->cluster)
            ret->value = scan->cluster;
        else
            take_next_word(scan, ret);
        scan->cluster = NULL;
    } else if (*scan->cluster == '\0') {
        scan->cluster = NULL;
    }
}

bool options_next(struct option_scan *scan, struct option *ret)
{
    const char *word;

    *ret = (struct option){.kind = OPTION_END};
    if (scan->cluster) {
        read_short(scan, ret);
        return true;
    }
    if (scan->at >= scan->n)
        return false;
    word = scan->words[scan->at].text;
    if (!scan->operands_only && strcmp(word, "--") == 0) {
        scan->operands_only = true;
        scan->at++;
        return scan->style->stop_at_operand ? false : options_next(scan, ret);
    }
    if (scan->operands_only || word[0] != '-' || word[1] == '\0') {
        if (scan->style->stop_at_operand)
            return false;
        ret->kind = OPTION_OPERAND;
        ret->word = scan->at++;
        ret->value = word;
        return true;
    }
    ret->word = scan->at++;
    if (word[1] == '-' || scan->style->single_dash) {
        read_long(scan, word + 1 + (word[1] == '-'), ret);
    } else {
        scan->cluster = word + 1;
        read_short(scan, ret);
    }
    return true;
}

bool option_is_long(const struct option *option, const char *name)
{
    return option->kind == OPTION_LONG && option->name_len == strlen(name) &&
           strncmp(option->name, name, option->name_len) == 0;
}
