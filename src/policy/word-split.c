/* One pass over the text, with a function for each kind of quote. */
#include "word-split.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "shell-syntax.h"

#define BLANKS " \t"
#define FIRST_WORDS 16

struct splitting {
    const char *text;
    size_t at;
    const char *const *env;
    struct buf word;
    bool in_word; /* also with nothing in it yet: '' is a word */
    char **words; /* counted, so that many of them are not looked through for each new one */
    size_t n, allocated;
    struct rein_error **reterr;
};

/* ---- variables ---------------------------------------------------------------------------- */

static const char *find_variable(const char *const *env, const char *name, size_t len)
{
    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

static bool is_name_character(char c, bool first)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

static size_t name_length(const char *text)
{
    size_t n = 0;

    while (is_name_character(text[n], n == 0))
        n++;
    return n;
}

/* Adds what stands for the "$" at text, and gives the length of what it stands for. */
static size_t expand_variable(struct buf *b, const char *text, const char *const *env)
{
    bool braces = text[1] == '{';
    const char *name = text + 1 + braces;
    size_t len = name_length(name);
    const char *value = len > 0 ? find_variable(env, name, len) : NULL;

    if (!value || (braces && name[len] != '}')) {
        buf_add_char(b, '$');
        return 1;
    }
    buf_add_str(b, value);
    return 1 + len + 2 * (size_t)braces;
}

/* The same for a "~" at the beginning of a word. */
static size_t expand_tilde(struct buf *b, const char *text, const char *const *env)
{
    const char *home = find_variable(env, "HOME", strlen("HOME"));
    bool alone = text[1] == '\0' || strchr("/" BLANKS "\n", text[1]);

    buf_add_str(b, alone && home ? home : "~");
    return 1;
}

char *path_expand(const char *path, const char *const *env)
{
    struct buf b = {0};

    if (*path == '~')
        path += expand_tilde(&b, path, env);
    while (*path) {
        if (*path == '$')
            path += expand_variable(&b, path, env);
        else
            buf_add_char(&b, *path++);
    }
    return buf_take(&b);
}

/* ---- quotes ------------------------------------------------------------------------------- */

static int refuse_open(const struct splitting *s, const char *what)
{
    return rein_fail_hint(s->reterr, -EINVAL, "bad_request", "command",
                          "close it, or give the words as an array", "No closing %s in the command",
                          what);
}

static int take_single_quotes(struct splitting *s)
{
    const char *begin = s->text + s->at + 1;
    const char *end = strchr(begin, '\'');

    if (!end)
        return refuse_open(s, "quotation");
    buf_add(&s->word, begin, (size_t)(end - begin));
    s->at = (size_t)(end - s->text) + 1;
    return 0;
}

/* Behind a backslash; a newline there joins two lines. */
static int take_escaped(struct splitting *s, bool in_double_quotes)
{
    char c = s->text[s->at + 1];

    if (c == '\0')
        return refuse_open(s, "character after the last backslash");
    if (in_double_quotes && !strchr("$`\"\\\n", c))
        buf_add_char(&s->word, '\\');
    if (c != '\n')
        buf_add_char(&s->word, c);
    s->at += 2;
    return 0;
}

static int refuse_token(const struct splitting *s, bool in_double_quotes)
{
    size_t len = shell_token_length(s->text + s->at, in_double_quotes);

    return len > 0 ? shell_syntax_refuse(s->text, s->at, len, s->reterr) : 0;
}

static int take_double_quotes(struct splitting *s)
{
    int r = 0;

    s->at++;
    while (r == 0 && s->text[s->at] != '"') {
        char c = s->text[s->at];

        if (c == '\0')
            return refuse_open(s, "quotation");
        r = refuse_token(s, /* in_double_quotes= */ true);
        if (r < 0)
            break;
        if (c == '\\')
            r = take_escaped(s, /* in_double_quotes= */ true);
        else if (c == '$')
            s->at += expand_variable(&s->word, s->text + s->at, s->env);
        else
            buf_add_char(&s->word, s->text[s->at++]);
    }
    s->at++;
    return r;
}

/* ---- words -------------------------------------------------------------------------------- */

static int grow(struct splitting *s)
{
    size_t allocated = s->allocated ? 2 * s->allocated : FIRST_WORDS;
    char **words = reallocarray(s->words, allocated, sizeof(*words));

    if (!words)
        return rein_oom(s->reterr);
    words[s->n] = NULL;
    s->words = words;
    s->allocated = allocated;
    return 0;
}

static int end_word(struct splitting *s)
{
    char *word;

    if (!s->in_word)
        return 0;
    s->in_word = false;
    if (s->n + 1 >= s->allocated && grow(s) < 0)
        return -ENOMEM;
    word = buf_take(&s->word);
    if (!word)
        return rein_oom(s->reterr);
    s->words[s->n++] = word;
    s->words[s->n] = NULL;
    return 0;
}

static int take_one(struct splitting *s)
{
    char c = s->text[s->at];
    bool first = !s->in_word;

    if (strchr(BLANKS, c)) {
        s->at++;
        return end_word(s);
    }
    if (c == '\\' && s->text[s->at + 1] == '\n') {
        s->at += 2;
        return 0;
    }
    s->in_word = true;
    if (c == '\'')
        return take_single_quotes(s);
    if (c == '"')
        return take_double_quotes(s);
    if (c == '\\')
        return take_escaped(s, /* in_double_quotes= */ false);
    if (refuse_token(s, /* in_double_quotes= */ false) < 0)
        return -EINVAL;
    if (c == '$')
        s->at += expand_variable(&s->word, s->text + s->at, s->env);
    else if (c == '~' && first)
        s->at += expand_tilde(&s->word, s->text + s->at, s->env);
    else
        buf_add_char(&s->word, s->text[s->at++]);
    return 0;
}

/* The inside of a text that is one quoted word with a blank in it; NULL when it is not. */
static char *inside_of_quotes(const char *text)
{
    char quote = *text;
    size_t at = 1;

    if (quote != '\'' && quote != '"')
        return NULL;
    while (text[at] && text[at] != quote)
        at += quote == '"' && text[at] == '\\' && text[at + 1] ? 2 : 1;
    if (!text[at] || text[at + 1] || !memchr(text, ' ', at))
        return NULL;
    return strndup(text + 1, at - 1);
}

/* Without the blanks and line ends around it: a last newline chains nothing. */
static char *trimmed(const char *text)
{
    size_t len;

    text += strspn(text, BLANKS "\n");
    len = strlen(text);
    while (len > 0 && strchr(BLANKS "\n", text[len - 1]) && (len < 2 || text[len - 2] != '\\'))
        len--;
    return strndup(text, len);
}

static int split(const char *text, const char *const *env, char ***ret, struct rein_error **reterr)
{
    struct splitting s = {.text = text, .env = env, .reterr = reterr};
    int r = 0;

    while (r == 0 && text[s.at])
        r = take_one(&s);
    if (r == 0)
        r = end_word(&s);
    if (r == 0 && !s.words)
        r = rein_fail(reterr, -EINVAL, "bad_request", "command", "Empty command");
    buf_done(&s.word);
    if (r < 0) {
        s.words = strv_free(s.words);
        return r;
    }
    *ret = s.words;
    return 0;
}

int words_split(const char *command,
                const char *const *env,
                char ***ret,
                struct rein_error **reterr)
{
    auto_free char *text = trimmed(command);
    auto_free char *inside = text ? inside_of_quotes(text) : NULL;

    if (!text)
        return rein_oom(reterr);
    return split(inside ? inside : text, env, ret, reterr);
}
