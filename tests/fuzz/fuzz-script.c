/*
 * Texts for a shell from arbitrary bytes: no crash, no undefined behaviour, within the bounds, and
 * every index that a script holds stays in it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/script-parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_command(const struct script *script, const struct script_command *command)
{
    require(command->reads_pipe < script->n_pipes && command->writes_pipe < script->n_pipes);
    require(command->function <= script->n_functions);
    for (size_t i = 0; i < command->words.n; i++)
        require(command->words.v[i].text && command->words.v[i].made_by.to <= script->n);
    for (size_t i = 0; i < command->n_redirects; i++)
        require(command->redirects[i].kind == REDIRECT_TEXT
                    ? command->redirects[i].text < script->texts.n
                    : command->redirects[i].target.text != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const env[] = {"HOME=/home/u", "A=x y", "B=", "C=*", NULL};
    struct script_setting setting = {.env = env, .cwd = "/w", .home = "/home/u"};
    auto_(script_freep) struct script *script = NULL;
    auto_free char *text = calloc(1, size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    require(script_parse(text, &setting, &script) == 0);
    require(script->n <= SCRIPT_COMMANDS_MAX && script->n_words <= SCRIPT_WORDS_MAX);
    require(!script->failed || script->failed_at <= strlen(text));
    for (size_t i = 0; i < script->n; i++)
        check_command(script, &script->commands[i]);
    return 0;
}
