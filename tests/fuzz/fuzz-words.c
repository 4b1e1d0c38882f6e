/*
 * Commands from arbitrary bytes: no crash, no undefined behaviour; what is taken has words, and a
 * command without anything special is the same when its words are put together again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "policy/word-split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Single quotes take everything, so that words come back as they were. */
static void check_quoted(char **words, const char *const *env)
{
    auto_buf struct buf b = {0};
    auto_strv char **again = NULL;

    for (char **word = words; *word; word++) {
        buf_add_str(&b, "'");
        for (const char *p = *word; *p; p++) {
            if (*p == '\'')
                buf_add_str(&b, "'\\''");
            else
                buf_add_char(&b, *p);
        }
        buf_add_str(&b, "' ''");
        buf_add_str(&b, word[1] ? " " : "");
    }
    require(buf_error(&b) == 0 && words_split(b.data, env, &again, NULL) == 0);
    require(strv_length((const char *const *)again) == 2 * strv_length((const char *const *)words));
    for (size_t i = 0; words[i]; i++)
        require(strcmp(words[i], again[2 * i]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const env[] = {"HOME=/home", "A=x y", "B=", NULL};
    auto_free char *text = calloc(1, size + 1);
    auto_free char *path = NULL;
    auto_error struct rein_error *error = NULL;
    auto_strv char **words = NULL;
    int r;

    require(text != NULL);
    memcpy(text, data, size);
    path = path_expand(text, env);
    require(path != NULL);
    r = words_split(text, env, &words, &error);
    require(r == 0 ? words && words[0] && !error : !words && error);
    if (r == 0)
        check_quoted(words, env);
    return 0;
}
