/*
 * A text for bash, dash or sh to its simple commands. It follows the shell's grammar closely enough
 * to find every command that could run, and runs nothing: what an expansion stands for is told only
 * where the text or the environment says it. Of a variable that is set more than once the last
 * value in the text counts; a loop's variable stands for all of its values.
 *
 * Time grows with the size of the text alone, and every nesting and number has a bound. It judges
 * no command.
 */
#ifndef REIN_POLICY_SCRIPT_PARSE_H
#define REIN_POLICY_SCRIPT_PARSE_H

#include "script-model.h"

struct script_setting {
    const char *const *env;       /* "NAME=VALUE"; NULL: unknown, so that no variable is empty */
    const char *cwd, *home;       /* NULL: unknown */
    const struct word *arguments; /* $1 and on */
    size_t n_arguments;
    bool arguments_known;
};

/* What cannot be read is told in (*ret)->failed. 0 or -ENOMEM. */
int script_parse(const char *text, const struct script_setting *setting, struct script **ret);

#endif
