/* What a command of a script reads, and which programs it comes from. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "command-options.h"
#include "judged.h"
#include "script-internal.h"

#define RANGE_LOOKED_AT_MAX 512 /* of the commands that feed another */
#define WORDS_LOOKED_AT_MAX 64  /* of those of a command that others made */

bool has_input(const struct judged *j)
{
    const struct script_command *origin = j->origin;

    for (size_t i = 0; origin && i < origin->n_redirects; i++)
        if (origin->redirects[i].kind != REDIRECT_WRITE)
            return true;
    return origin && origin->reads_pipe != PIPE_NONE;
}

static const struct word *own_text(const struct script *script,
                                   const struct script_command *command)
{
    for (size_t i = command->n_redirects; i-- > 0;)
        if (command->redirects[i].kind == REDIRECT_TEXT)
            return &script->texts.v[command->redirects[i].text];
    return NULL;
}

/* What a feeder passes on: 1 when it is known, 0 when not, or -ENOMEM. */
static int output_of(const struct script *script, size_t index, char **ret)
{
    const struct script_command *command = &script->commands[index];
    const struct word *text = own_text(script, command);
    bool passes = command->words.n == 0 ||
                  (command->words.n == 1 && !strcmp(command->words.v[0].text, "cat"));

    if (!text || !passes)
        return known_output(script, (struct command_range){index, index + 1}, ret);
    if (text->unknown)
        return 0;
    *ret = strdup(text->text);
    return *ret ? 1 : -ENOMEM;
}

int known_input(const struct judged *j, char **ret)
{
    const struct word *text = j->origin ? own_text(j->script, j->origin) : NULL;
    struct command_range feeds;
    auto_buf struct buf all = {0};

    if (text && text->unknown)
        return 0;
    if (text) {
        *ret = strdup(text->text);
        return *ret ? 1 : -ENOMEM;
    }
    if (!j->origin || j->origin->reads_pipe == PIPE_NONE)
        return 0;
    feeds = j->script->pipes[j->origin->reads_pipe];
    for (size_t i = feeds.from; i < feeds.to && i < j->script->n; i++) {
        auto_free char *output = NULL;
        int r = output_of(j->script, i, &output);

        if (r <= 0)
            return r;
        buf_add_str(&all, output);
        buf_add_char(&all, '\n');
    }
    *ret = buf_take(&all);
    return *ret ? 1 : -ENOMEM;
}

static bool command_is(const struct script_command *command, const char *names)
{
    const char *text = command->words.n > 0 ? command->words.v[0].text : "";
    const char *slash = strrchr(text, '/');

    /* Wrappers are passed by: any word may be the program. */
    if (list_has(names, slash ? slash + 1 : text, strlen(slash ? slash + 1 : text)))
        return true;
    for (size_t i = 1; i < command->words.n && i < 8; i++)
        if (list_has("sudo env nice timeout nohup doas busybox command exec", text, strlen(text)) &&
            list_has(names, command->words.v[i].text, strlen(command->words.v[i].text)))
            return true;
    return false;
}

bool range_has_program(const struct script *script, struct command_range range, const char *names)
{
    size_t end = MIN(MIN(range.to, script->n), range.from + RANGE_LOOKED_AT_MAX);

    for (size_t i = range.from; i < end; i++)
        if (command_is(&script->commands[i], names))
            return true;
    return false;
}

bool made_by_program(const struct judged *j, const char *names)
{
    for (size_t i = 0; j->script && i < j->n && i < WORDS_LOOKED_AT_MAX; i++)
        if (range_has_program(j->script, j->words[i].made_by, names))
            return true;
    return false;
}

/* Only the first command of a feeding range is followed further up: it is the one that reads. */
bool fed_by_program(const struct judged *j, const char *names)
{
    const struct script_command *command = j->origin;

    for (size_t i = 0; command && i < command->n_redirects; i++) {
        const struct redirect *redirect = &command->redirects[i];
        const struct word *from = redirect->kind == REDIRECT_TEXT
                                      ? &j->script->texts.v[redirect->text]
                                      : &redirect->target;

        if (range_has_program(j->script, from->made_by, names))
            return true;
    }
    for (size_t i = 0; command && command->reads_pipe != PIPE_NONE && i < PIPES_FOLLOWED_MAX; i++) {
        struct command_range feeds = j->script->pipes[command->reads_pipe];

        if (range_has_program(j->script, feeds, names))
            return true;
        command = feeds.from < j->script->n ? &j->script->commands[feeds.from] : NULL;
    }
    return false;
}
