/* find, fd, xargs and parallel: a command is given more words than stand in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "command-options.h"
#include "unwrap.h"

/* ---- find --------------------------------------------------------------------------------- */

/* Tests that leave most of a folder alone. */
static const char narrowing[] =
    "-name -iname -path -ipath -wholename -regex -iregex -lname -ilname -mtime -mmin -atime -amin "
    "-ctime -cmin -newer -size -empty -samefile -inum -links -perm";

struct find {
    const struct word *words;
    size_t n;
    size_t roots_from, roots_to;
    bool narrow;
};

/* A test that is turned round leaves little alone, and so does one that all names pass. */
static bool is_narrowing(const struct find *find, size_t at)
{
    const char *before = find->words[at - 1].text;
    const char *word = find->words[at].text;
    const char *value = at + 1 < find->n ? find->words[at + 1].text : "";

    return list_has(narrowing, word, strlen(word)) && strcmp(before, "!") != 0 &&
           strcmp(before, "-not") != 0 && value[strspn(value, "*?.+")] != '\0';
}

static struct find read_find(const struct word *words, size_t n)
{
    struct find find = {.words = words, .n = n};
    size_t at = 1, depth = 0;
    bool either = false;

    while (at < n && list_has("-H -L -P", words[at].text, strlen(words[at].text)))
        at++;
    find.roots_from = at;
    while (at < n && !strchr("-(!", words[at].text[0]))
        at++;
    find.roots_to = at;
    for (; at < n; at++) {
        depth += strcmp(words[at].text, "(") == 0;
        depth -= depth > 0 && strcmp(words[at].text, ")") == 0;
        either |= depth == 0 && list_has("-o -or ,", words[at].text, strlen(words[at].text));
        find.narrow |= is_narrowing(&find, at);
    }
    find.narrow &= !either; /* what a test leaves alone, the other side may take */
    return find;
}

/* Stands for what find finds in a root: everything in it, or something. */
static int add_found_in(struct words *words, const char *root, bool unknown, bool narrow)
{
    struct buf b = {0};

    buf_add_str(&b, root);
    if (b.len > 0 && b.data[b.len - 1] != '/')
        buf_add_char(&b, '/');
    buf_add_str(&b, narrow ? "found" : "*");
    return words_add(words, buf_take(&b), unknown, !narrow);
}

static int add_found(const struct find *find, struct words *words)
{
    int r = 0;

    if (find->roots_from == find->roots_to)
        return add_found_in(words, ".", false, find->narrow);
    for (size_t i = find->roots_from; r == 0 && i < find->roots_to; i++)
        if (words->n < WRAPPER_WORDS_MAX)
            r = add_found_in(words, find->words[i].text, find->words[i].unknown, find->narrow);
    return r;
}

static int add_exec(struct judged *j, const struct find *find, size_t from, size_t to)
{
    struct inner *inner = add_inner(j, INNER_WORDS, j->words[from - 1].text);
    int r = 0;

    if (!inner)
        return failed_to_add(j);
    for (size_t i = from; r == 0 && i < to && inner->words.n < WRAPPER_WORDS_MAX; i++)
        r = strstr(j->words[i].text, "{}") && inner->words.n > 0
                ? add_found(find, &inner->words)
                : words_add_copy(&inner->words, &j->words[i]);
    j->more_inner |= inner->words.n >= WRAPPER_WORDS_MAX;
    return r;
}

static int add_delete(struct judged *j, const struct find *find)
{
    static const char *const words[] = {"rm", "-rf", "--"};
    struct inner *inner = add_inner(j, INNER_WORDS, "-delete");

    if (!inner)
        return failed_to_add(j);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (words_add(&inner->words, strdup(words[i]), false, false) < 0)
            return -ENOMEM;
    return add_found(find, &inner->words);
}

static size_t find_end_of_exec(const struct judged *j, size_t from)
{
    while (from < j->n && strcmp(j->words[from].text, ";") != 0 &&
           (strcmp(j->words[from].text, "+") != 0 || strcmp(j->words[from - 1].text, "{}") != 0))
        from++;
    return from;
}

int unwrap_find(struct judged *j, const struct wrapper *wrapper)
{
    static const char starting[] = "-exec -execdir -ok -okdir -x -X --exec --exec-batch";
    struct find find = read_find(j->words, j->n);
    int r = 0;

    if (program_is(j, "fd fdfind")) /* its operands are a pattern and folders */
        find = (struct find){0};
    for (size_t i = find.roots_to; r == 0 && i < j->n; i++) {
        const char *word = j->words[i].text;

        if (strcmp(word, "-delete") == 0) {
            r = add_delete(j, &find);
        } else if (i > 0 && list_has(starting, word, strlen(word)) && i + 1 < j->n) {
            size_t end = find_end_of_exec(j, i + 1);
            bool listed = program_is(j, "fd fdfind") && j->n_inner < INNER_MAX;

            r = add_exec(j, &find, i + 1, end);
            if (r == 0 && listed)
                r = words_add(&j->inner[j->n_inner - 1].words, strdup("{}"), true, false);
            i = end;
        }
    }
    return r;
}

/* ---- xargs -------------------------------------------------------------------------------- */

/* Each word of what is read, as one of the command's. */
static int add_read_words(struct words *words, char *text)
{
    char *rest = NULL;

    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (words->n >= WRAPPER_WORDS_MAX)
            break;
        if (words_add(words, strdup(word), false, false) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* The find that alone feeds it; NULL: something else does. */
static const struct words *feeding_find(const struct judged *j)
{
    struct command_range feeds;
    const struct words *words;

    if (!j->origin || j->origin->reads_pipe == PIPE_NONE)
        return NULL;
    feeds = j->script->pipes[j->origin->reads_pipe];
    if (feeds.to != feeds.from + 1 || feeds.from >= j->script->n)
        return NULL;
    words = &j->script->commands[feeds.from].words;
    return words->n > 0 && strcmp(words->v[0].text, "find") == 0 ? words : NULL;
}

static int add_input_words(struct judged *j, struct words *words)
{
    auto_free char *text = NULL;
    const struct words *finder = feeding_find(j);
    struct find find;
    int r;

    if (finder) {
        find = read_find(finder->v, finder->n);
        return add_found(&find, words);
    }
    r = known_input(j, &text);
    if (r > 0)
        return add_read_words(words, text);
    return r < 0 ? r : words_add(words, strdup("{}"), true, false);
}

static int add_xargs(struct judged *j, size_t from)
{
    size_t before = j->n_inner;
    int r = add_inner_words(j, from, j->n);

    return r < 0 || j->n_inner == before ? r : add_input_words(j, &j->inner[before].words);
}

int unwrap_xargs(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;

    options_begin(&scan, j->words, j->n, wrapper_style(wrapper));
    while (options_next(&scan, &option))
        ;
    return add_xargs(j, scan.at);
}

/* The command as a shell gets it: the values in the place of "{}", else behind it. */
static int add_parallel(struct judged *j, size_t from, size_t end)
{
    auto_buf struct buf values = {0};
    auto_buf struct buf b = {0};
    bool placed = false;

    for (size_t i = end + 1; i < j->n && i - end <= WRAPPER_WORDS_MAX; i++)
        buf_add_format(&values, " %s", j->words[i].text);
    for (size_t i = from; i < end && b.len < SCRIPT_EXPANSION_MAX; i++) {
        const char *text = j->words[i].text;
        const char *place = values.len > 0 ? strstr(text, "{}") : NULL;

        buf_add(&b, text, place ? (size_t)(place - text) : strlen(text));
        if (place)
            buf_add_format(&b, "%s%s", values.data, place + 2);
        placed |= place != NULL;
        buf_add_char(&b, ' ');
    }
    if (!placed && values.len > 0)
        buf_add_str(&b, values.data);
    if (buf_error(&b) < 0 || buf_error(&values) < 0)
        return -ENOMEM;
    return add_inner_script(j, b.data, NULL);
}

/* "parallel command ::: values", else the values come over standard input. */
int unwrap_parallel(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    size_t end;

    options_begin(&scan, j->words, j->n, wrapper_style(wrapper));
    while (options_next(&scan, &option))
        ;
    for (end = scan.at; end < j->n && strncmp(j->words[end].text, ":::", 3) != 0; end++)
        ;
    if (end == j->n)
        return add_xargs(j, scan.at);
    if (end == scan.at) { /* the values are commands */
        for (size_t i = end + 1; i < j->n; i++)
            if (add_inner_script(j, j->words[i].text, NULL) < 0)
                return -ENOMEM;
        return 0;
    }
    return add_parallel(j, scan.at, end);
}
