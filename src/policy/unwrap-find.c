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
    size_t roots_from, roots_to;
    bool narrow;
};

static bool is_narrowing(const struct judged *j, size_t at)
{
    const char *word = j->words[at].text;
    const char *value = at + 1 < j->n ? j->words[at + 1].text : "";

    return list_has(narrowing, word, strlen(word)) && value[strspn(value, "*?.+")] != '\0';
}

static void read_find(const struct judged *j, struct find *ret)
{
    size_t at = 1;

    while (at < j->n && list_has("-H -L -P", j->words[at].text, strlen(j->words[at].text)))
        at++;
    ret->roots_from = at;
    while (at < j->n && !strchr("-(!", j->words[at].text[0]))
        at++;
    ret->roots_to = at;
    ret->narrow = false;
    for (; at < j->n; at++)
        ret->narrow |= is_narrowing(j, at);
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

static int add_found(const struct judged *j, const struct find *find, struct words *words)
{
    int r = 0;

    if (find->roots_from == find->roots_to)
        return add_found_in(words, ".", false, find->narrow);
    for (size_t i = find->roots_from; r == 0 && i < find->roots_to; i++)
        r = add_found_in(words, j->words[i].text, j->words[i].unknown, find->narrow);
    return r;
}

static int add_exec(struct judged *j, const struct find *find, size_t from, size_t to)
{
    struct inner *inner = add_inner(j, INNER_WORDS, j->words[from - 1].text);
    int r = 0;

    for (size_t i = from; inner && r == 0 && i < to; i++)
        r = strstr(j->words[i].text, "{}") && inner->words.n > 0
                ? add_found(j, find, &inner->words)
                : words_add_copy(&inner->words, &j->words[i]);
    return r;
}

static int add_delete(struct judged *j, const struct find *find)
{
    static const char *const words[] = {"rm", "-rf", "--"};
    struct inner *inner = add_inner(j, INNER_WORDS, "-delete");

    for (size_t i = 0; inner && i < ARRAY_SIZE(words); i++)
        if (words_add(&inner->words, strdup(words[i]), false, false) < 0)
            return -ENOMEM;
    return inner ? add_found(j, find, &inner->words) : 0;
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
    struct find find;
    int r = 0;

    read_find(j, &find);
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

static int add_input_words(struct judged *j, struct words *words)
{
    auto_free char *text = NULL;
    int r = known_input(j, &text);

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

/* "parallel command ::: values", else the values come over standard input. */
int unwrap_parallel(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    size_t end, before = j->n_inner;
    int r;

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
    r = add_inner_words(j, scan.at, end);
    for (size_t i = end + 1; r == 0 && j->n_inner > before && i < j->n; i++)
        r = words_add_copy(&j->inner[before].words, &j->words[i]);
    return r;
}
