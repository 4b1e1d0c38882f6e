/* A function that calls itself, in the background or on both ends of a pipe: each call leaves more
 * than one behind. One that only calls itself is ordinary recursion. */
#include "fork-bomb.h"

#include <stdint.h>
#include <string.h>

#include "base/macro.h"

#define SELF "$0" /* what is read now, as a program */

static const char *called(const struct script_command *command)
{
    return command->words.n > 0 ? command->words.v[0].text : "";
}

static size_t find_function(const struct script *script, const char *name)
{
    for (size_t i = 0; i < script->n_functions; i++)
        if (strcmp(script->functions[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* Whether a function's own body calls another function. */
static bool calls(const struct script *script, size_t caller, size_t callee)
{
    struct command_range body = script->functions[caller].body;

    for (size_t i = body.from; i < body.to && i < script->n; i++)
        if (strcmp(called(&script->commands[i]), script->functions[callee].name) == 0)
            return true;
    return false;
}

/* It calls the function itself, or one that does. */
static bool comes_back(const struct script *script, const char *name, size_t function)
{
    size_t other;

    if (strcmp(name, script->functions[function].name) == 0)
        return true;
    other = find_function(script, name);
    return other != SIZE_MAX && other != function && calls(script, other, function);
}

static bool multiplies(size_t in_background, size_t in_pipes)
{
    return in_background > 0 || in_pipes > 1;
}

static bool is_piped(const struct script_command *command)
{
    return command->reads_pipe != PIPE_NONE || command->writes_pipe != PIPE_NONE;
}

static size_t find_in_function(const struct script *script, size_t function)
{
    struct command_range body = script->functions[function].body;
    size_t in_background = 0, in_pipes = 0;

    for (size_t i = body.from; i < body.to && i < script->n; i++) {
        const struct script_command *command = &script->commands[i];

        if (!*called(command) || !comes_back(script, called(command), function))
            continue;
        in_background += command->background;
        in_pipes += is_piped(command);
        if (multiplies(in_background, in_pipes))
            return i;
    }
    return SIZE_MAX;
}

static size_t find_in_whole(const struct script *script)
{
    size_t in_background = 0, in_pipes = 0;

    for (size_t i = 0; i < script->n; i++) {
        const struct script_command *command = &script->commands[i];

        if (strcmp(called(command), SELF) != 0)
            continue;
        in_background += command->background;
        in_pipes += is_piped(command);
        if (multiplies(in_background, in_pipes))
            return i;
    }
    return SIZE_MAX;
}

size_t script_fork_bomb(const struct script *script)
{
    for (size_t i = 0; i < script->n_functions; i++) {
        size_t found = find_in_function(script, i);

        if (found != SIZE_MAX)
            return found;
    }
    return find_in_whole(script);
}
