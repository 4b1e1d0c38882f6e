/* Shells and other interpreters: a script in an option, in an operand, or over standard input. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "risk-rules.h"
#include "unwrap.h"

/* ---- shells ------------------------------------------------------------------------------- */

static int add_arguments(struct judged *j, size_t from)
{
    struct inner *inner = &j->inner[j->n_inner - 1];

    for (size_t i = from; i < j->n && i - from < WRAPPER_WORDS_MAX; i++)
        if (words_add_copy(&inner->words, &j->words[i]) < 0)
            return -ENOMEM;
    return 0;
}

/* words[at] is the text, the next one $0. */
static int add_script_word(struct judged *j, size_t at)
{
    size_t before = j->n_inner;
    int r;

    if (at >= j->n)
        return 0;
    if (j->words[at].unknown)
        j->opaque |= OPAQUE_SCRIPT;
    r = add_inner_script(j, j->words[at].text, "-c");
    return r < 0 || j->n_inner == before ? r : add_arguments(j, at + 2);
}

static int add_script_of_input(struct judged *j)
{
    auto_free char *text = NULL;
    int r = known_input(j, &text);

    if (r < 0)
        return r;
    if (r > 0)
        return add_inner_script(j, text, NULL);
    if (has_input(j))
        j->opaque |= OPAQUE_INPUT;
    return 0;
}

static bool is_standard_input(const char *text)
{
    return strcmp(text, "-") == 0 || strcmp(text, "/dev/stdin") == 0 ||
           strcmp(text, "/dev/fd/0") == 0 || strcmp(text, "/proc/self/fd/0") == 0;
}

int unwrap_source(struct judged *j, const struct wrapper *wrapper)
{
    return j->n > 1 && is_standard_input(j->words[1].text) ? add_script_of_input(j) : 0;
}

int unwrap_shell(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    bool command = false, input = false;

    options_begin(&scan, j->words, j->n, wrapper_style(wrapper));
    do {
        while (options_next(&scan, &option)) {
            command |= option.kind == OPTION_SHORT && option.letter == 'c';
            command |= option_is_long(&option, "command");
            input |= option.kind == OPTION_SHORT && option.letter == 's';
        }
        /* "+x" switches an option off. */
    } while (scan.at < j->n && j->words[scan.at].text[0] == '+' && scan.at++);
    if (command)
        return add_script_word(j, scan.at);
    if (scan.at >= j->n || input || is_standard_input(j->words[scan.at].text))
        return add_script_of_input(j);
    if (j->words[scan.at].unknown && j->words[scan.at].made_by.to > 0)
        j->opaque |= OPAQUE_SCRIPT;
    return 0;
}

/* ---- other interpreters ------------------------------------------------------------------- */

static const struct language {
    const char *names;
    const char *letters; /* options whose value is code */
    const char *others;  /* options that name something else to run */
    bool operand;        /* without them the first operand is code */
} languages[] = {
    {"python pypy", "c", "m", false},
    {"perl", "eE", "", false},
    {"ruby", "e", "", false},
    {"node nodejs bun deno", "ep", "", false},
    {"php", "rR", "", false},
    {"lua luajit osascript rscript julia elixir expect tclsh pwsh powershell", "ec", "", false},
    {"awk gawk mawk nawk", "", "f", true},
};

static const struct language *find_language(const struct judged *j)
{
    size_t len = strlen(j->program);

    while (len > 0 && strchr("0123456789.", j->program[len - 1]))
        len--;
    for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
        if (list_has(languages[i].names, j->program, len))
            return &languages[i];
    return NULL;
}

static int take_code_of_input(struct judged *j)
{
    auto_free char *text = NULL;
    int r = known_input(j, &text);

    if (r < 0)
        return r;
    if (r > 0) {
        j->opaque |= OPAQUE_CODE;
        j->input_text = TAKE_PTR(text);
        j->code = j->input_text;
    } else if (has_input(j)) {
        j->opaque |= OPAQUE_INPUT;
    }
    return 0;
}

int unwrap_code(struct judged *j, const struct wrapper *wrapper)
{
    const struct language *language = find_language(j);
    struct option_scan scan;
    struct option option;
    bool other = false;

    options_begin(&scan, j->words, j->n, wrapper_style(wrapper));
    while (language && options_next(&scan, &option)) {
        bool letter = option.kind == OPTION_SHORT && option.letter;

        if ((letter && strchr(language->letters, option.letter)) ||
            option_is_long(&option, "eval") || option_is_long(&option, "print") ||
            option_is_long(&option, "run")) {
            j->opaque |= OPAQUE_CODE;
            j->code = option.value;
        }
        other |= letter && strchr(language->others, option.letter);
        if (other || j->code)
            return 0; /* what follows is for the code */
    }
    if (!language || other)
        return 0;
    if (language->operand) {
        /* awk's programs seldom do more than print. */
        j->code = scan.at < j->n ? j->words[scan.at].text : NULL;
        j->opaque |= j->code && code_runs(j) ? OPAQUE_CODE : 0U;
        return 0;
    }
    if (scan.at < j->n && strcmp(j->words[scan.at].text, "eval") == 0 && program_is(j, "deno")) {
        j->opaque |= OPAQUE_CODE;
        j->code = scan.at + 1 < j->n ? j->words[scan.at + 1].text : NULL;
        return 0;
    }
    return scan.at >= j->n || is_standard_input(j->words[scan.at].text) ? take_code_of_input(j) : 0;
}

/* ---- options of other programs ------------------------------------------------------------ */

static const struct script_option {
    const char *names;
    char letter;
    const char *name;
    const char *prefix; /* what a value that is a command begins with; "" for all */
} script_options[] = {
    {"su runuser script flock", 'c', "command", ""},
    {"tar bsdtar gtar", 0, "to-command", ""},
    {"tar bsdtar gtar", 'I', "use-compress-program", ""},
    {"tar bsdtar gtar", 0, "checkpoint-action", "exec="},
    {"rsync", 'e', "rsh", ""},
    {"ssh scp sftp", 'o', "", "ProxyCommand="},
    {"ssh scp sftp", 'o', "", "LocalCommand="},
    {"man", 'P', "pager", ""},
    {"vim vi nvim ex view", 'c', "", "!"},
    {"vim vi nvim ex view", 'c', "", ":!"},
    {"psql mysql mariadb", 'c', "command", "\\!"},
    {"mysql mariadb", 'e', "execute", "\\!"},
    {"npm npx", 'c', "call", ""},
    {"zip", 0, "unzip-command", ""},
    {"gdb", 0, "eval-command", "shell "},
    {"gdb", 0, "eval-command", "!"},
    {"split", 0, "filter", ""},
    {"sort", 0, "compress-program", ""},
};

static int add_value(struct judged *j, const struct script_option *o, const char *value)
{
    size_t len = strlen(o->prefix);

    return strncasecmp(value, o->prefix, len) == 0 ? add_inner_script(j, value + len, NULL) : 0;
}

static int add_values(struct judged *j, const struct script_option *o)
{
    size_t len = strlen(o->name);

    for (size_t i = 1; i < j->n; i++) {
        const char *word = j->words[i].text;
        const char *value = NULL;
        size_t name = word[0] == '-' && word[1] == '-' ? strcspn(word + 2, "=") : 0;
        int r;

        if (name >= MIN((size_t)3, len) && name > 0 && strncmp(word + 2, o->name, name) == 0)
            value = strchr(word, '=');
        else if (word[0] == '-' && word[1] != '-' && o->letter)
            value = strchr(word, o->letter);
        else
            continue;
        if (!value && name == 0)
            continue;
        if (value && value[1])
            value++;
        else
            value = i + 1 < j->n ? j->words[++i].text : "";
        r = add_value(j, o, value);
        if (r < 0)
            return r;
    }
    return 0;
}

int unwrap_option_values(struct judged *j)
{
    for (size_t i = 0; i < ARRAY_SIZE(script_options); i++)
        if (program_is(j, script_options[i].names) && add_values(j, &script_options[i]) < 0)
            return -ENOMEM;
    return 0;
}
