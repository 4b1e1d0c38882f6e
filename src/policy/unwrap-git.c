/* git starts other programs where its configuration or some of its commands say so. */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "unwrap.h"

/* Keys whose value is a command. */
static bool is_command_key(const char *key, size_t len)
{
    static const char *const ends[] = {"pager",    "editor",  "sshcommand",  "fsmonitor",
                                       "textconv", ".cmd",    ".clean",      ".smudge",
                                       ".process", "askpass", "proxycommand"};

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        size_t n = strlen(ends[i]);

        if (len >= n && strncasecmp(key + len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

static int add_setting(struct judged *j, const char *key, size_t len, const char *value)
{
    if (value[0] == '!')
        return add_inner_script(j, value + 1, "alias");
    return is_command_key(key, len) ? add_inner_script(j, value, "-c") : 0;
}

static int add_pair(struct judged *j, const char *pair)
{
    const char *equals = strchr(pair, '=');

    return equals ? add_setting(j, pair, (size_t)(equals - pair), equals + 1) : 0;
}

/* "git config [options] key value" */
static int add_config(struct judged *j, size_t at)
{
    const char *key = NULL;

    for (at++; at < j->n; at++) {
        const char *word = j->words[at].text;

        if (word[0] == '-' || (!key && strcmp(word, "set") == 0))
            continue;
        if (key)
            return add_setting(j, key, strlen(key), word);
        key = word;
    }
    return 0;
}

/* Values of options that are scripts: rebase --exec, filter-branch --…-filter, difftool --extcmd.
 */
static int add_scripts(struct judged *j, size_t at)
{
    int r = 0;

    for (; r == 0 && at < j->n; at++) {
        const char *word = j->words[at].text;
        const char *equals = strchr(word, '=');
        bool takes = strcmp(word, "-x") == 0 || strncmp(word, "--exec", 6) == 0 ||
                     strncmp(word, "--extcmd", 8) == 0 || strstr(word, "-filter");

        if (takes && equals)
            r = add_inner_script(j, equals + 1, "--exec");
        else if (takes && at + 1 < j->n)
            r = add_inner_script(j, j->words[++at].text, "--exec");
    }
    return r;
}

static int add_command(struct judged *j, size_t at)
{
    const char *name = at < j->n ? j->words[at].text : "";
    const char *next = at + 1 < j->n ? j->words[at + 1].text : "";

    if (strcmp(name, "config") == 0)
        return add_config(j, at);
    if (strcmp(name, "bisect") == 0 && strcmp(next, "run") == 0)
        return add_inner_words(j, at + 2, j->n);
    if (strcmp(name, "submodule") == 0 && strcmp(next, "foreach") == 0) {
        for (at += 2; at < j->n && j->words[at].text[0] == '-'; at++)
            ;
        return add_inner_joined(j, at, j->n, "submodule foreach");
    }
    if (list_has("rebase filter-branch difftool", name, strlen(name)) && *name)
        return add_scripts(j, at + 1);
    return 0;
}

int unwrap_git(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    int r = 0;

    options_begin(&scan, j->words, j->n, wrapper_style(wrapper));
    while (r == 0 && options_next(&scan, &option))
        if (option.kind == OPTION_SHORT && option.letter == 'c' && option.value)
            r = add_pair(j, option.value);
    return r < 0 ? r : add_command(j, scan.at);
}
