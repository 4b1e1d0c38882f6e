/* Growing arrays and their ends. */
#include "script-model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* Room for one more. *v and *allocated change together, or not at all. */
static int make_room(void *v, size_t n, size_t *allocated, size_t size)
{
    void **array = v;
    size_t want = MAX((size_t)8, *allocated * 2);
    void *grown;

    if (n < *allocated)
        return 0;
    grown = reallocarray(*array, want, size);
    if (!grown)
        return -ENOMEM;
    *array = grown;
    *allocated = want;
    return 0;
}

int words_add(struct words *words, char *take_text, bool unknown, bool glob)
{
    if (!take_text || make_room(&words->v, words->n, &words->allocated, sizeof(*words->v)) < 0) {
        free(take_text);
        return -ENOMEM;
    }
    words->v[words->n++] = (struct word){.text = take_text, .unknown = unknown, .glob = glob};
    return 0;
}

int words_add_copy(struct words *words, const struct word *word)
{
    int r = words_add(words, strdup(word->text), word->unknown, word->glob);

    if (r == 0)
        words->v[words->n - 1].made_by = word->made_by;
    return r;
}

void words_done(struct words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->v[i].text);
    free(words->v);
    *words = (struct words){0};
}

void script_command_done(struct script_command *command)
{
    words_done(&command->words);
    for (size_t i = 0; i < command->n_redirects; i++)
        free(command->redirects[i].target.text);
    free(command->redirects);
    *command = (struct script_command){0};
}

int command_add_redirect(struct script_command *command,
                         enum redirect_kind kind,
                         struct word *take_target)
{
    struct redirect *grown =
        reallocarray(command->redirects, command->n_redirects + 1, sizeof(*grown));

    if (!grown) {
        free(take_target->text);
        return -ENOMEM;
    }
    grown[command->n_redirects++] = (struct redirect){.kind = kind, .target = *take_target};
    command->redirects = grown;
    *take_target = (struct word){0};
    return 0;
}

struct script *script_new(void)
{
    struct script *script = calloc(1, sizeof(*script));

    if (script)
        script->n_pipes = PIPE_NONE + 1;
    return script;
}

struct script *script_free(struct script *script)
{
    if (!script)
        return NULL;
    for (size_t i = 0; i < script->n; i++)
        script_command_done(&script->commands[i]);
    for (size_t i = 0; i < script->n_functions; i++)
        free(script->functions[i].name);
    free(script->commands);
    free(script->pipes);
    strv_free(script->folders);
    strv_free(script->env);
    words_done(&script->texts);
    free(script);
    return NULL;
}

int script_add_command(struct script *script, struct script_command *take_command)
{
    if (make_room(&script->commands, script->n, &script->allocated, sizeof(*script->commands)) <
        0) {
        script_command_done(take_command);
        return -ENOMEM;
    }
    script->n_words += take_command->words.n;
    script->commands[script->n++] = *take_command;
    *take_command = (struct script_command){0};
    return 0;
}

int script_add_pipe(struct script *script, struct command_range feeds, size_t *ret)
{
    if (make_room(&script->pipes, script->n_pipes, &script->pipes_allocated,
                  sizeof(*script->pipes)) < 0)
        return -ENOMEM;
    script->pipes[script->n_pipes] = feeds;
    *ret = script->n_pipes++;
    return 0;
}
