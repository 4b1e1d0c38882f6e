/* One request to its verdict: each command is read, listed, put to every rule, and opened. */
#include "risk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "base/strv.h"
#include "calls.h"
#include "fork-bomb.h"
#include "risk-verdict.h"
#include "script-parse.h"

#define NO_CWD                                                                                     \
    "/?/?" /* a working directory that nobody told: what stays in it is known all the same */

struct judgement {
    const struct risk_request *request;
    struct risk_verdict *verdict;
    const char *cwd;
    size_t judged, text, command_bytes;
};

/* Where a command or a script stands: how it was reached. */
struct surroundings {
    const struct script *script; /* NULL: the command was given as words */
    const struct script_command *origin;
    const char *folder; /* NULL: unknown */
    const char *through;
    const char *const *env;
    unsigned depth;
    bool guessed; /* it may not be a command at all: only the worst counts */
    bool elsewhere;
    bool called; /* in a function's body, with a call's arguments: calls in it are not followed */
};

static int add_too_much(struct judgement *judgement, const struct surroundings *where)
{
    return verdict_add(judgement->verdict, risk_rule_find("too-much"), "", strdup(""),
                       where->through);
}

/* Once it is, that has been told, and every loop ends. */
static bool is_exhausted(const struct judgement *judgement)
{
    return judgement->judged > RISK_JUDGED_MAX;
}

/* ---- the list of commands ----------------------------------------------------------------- */

static char **copy_texts(struct judgement *judgement, const struct word *words, size_t n)
{
    char **copy = calloc(n + 1, sizeof(*copy));

    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(words[i].text);
        if (!copy[i])
            return strv_free(copy);
        judgement->command_bytes += strlen(copy[i]);
    }
    return copy;
}

static int list_command(struct judgement *judgement,
                        const struct surroundings *where,
                        const struct word *words,
                        size_t n)
{
    struct risk_verdict *verdict = judgement->verdict;

    if (verdict->n_commands >= RISK_COMMANDS_MAX ||
        judgement->command_bytes > RISK_COMMAND_BYTES_MAX)
        return add_too_much(judgement, where);
    verdict->commands[verdict->n_commands] =
        copy_texts(judgement, words, MIN(n, (size_t)RISK_COMMAND_WORDS_MAX));
    if (!verdict->commands[verdict->n_commands])
        return -ENOMEM;
    verdict->n_commands++;
    return 0;
}

/* ---- one command -------------------------------------------------------------------------- */

static int judge_script(struct judgement *judgement,
                        const struct surroundings *where,
                        const char *text,
                        const struct words *arguments);

/* What a guess may say: a text in a program's code is no command before it is a bad one. */
static bool counts(const struct surroundings *where, const struct risk_rule *rule)
{
    return !where->guessed || rule->dangerous || rule->forbidden;
}

static int
apply_rules(struct judgement *judgement, const struct surroundings *where, const struct judged *j)
{
    const struct risk_rule *rule;
    int r = 0;

    for (size_t i = 0; r == 0 && (rule = risk_rule_at(i)); i++)
        if (counts(where, rule) && risk_rule_holds(rule, j))
            r = verdict_add(judgement->verdict, rule, j->program, quote_words(j->words, j->n),
                            where->through);
    judgement->verdict->opaque |= j->opaque != 0 && !where->guessed;
    return r;
}

static char *make_through(const char *through, const char *label)
{
    struct buf b = {0};

    if (through)
        buf_add_format(&b, "%s, ", through);
    buf_add_str(&b, label);
    cut_text(&b, RISK_SHOWN_MAX);
    return buf_take(&b);
}

static int judge_words(struct judgement *judgement,
                       const struct surroundings *where,
                       const struct word *words,
                       size_t n);

static int judge_inner(struct judgement *judgement,
                       const struct surroundings *where,
                       const struct inner *inner)
{
    auto_free char *through = make_through(where->through, inner->label);
    struct path folder;
    struct surroundings inside = *where;

    if (!through)
        return -ENOMEM;
    if (inner->folder)
        inside.folder = (where->folder || *inner->folder == '/') &&
                                path_resolve(&folder, where->folder, inner->folder)
                            ? folder.text
                            : NULL;
    inside.through = through;
    inside.depth++;
    inside.guessed |= inner->guessed;
    inside.elsewhere |= inner->elsewhere;
    if (inner->kind == INNER_SCRIPT)
        return judge_script(judgement, &inside, inner->script, &inner->words);
    return judge_words(judgement, &inside, inner->words.v, inner->words.n);
}

static int
judge_inners(struct judgement *judgement, const struct surroundings *where, const struct judged *j)
{
    int r = 0;

    if (j->more_inner)
        r = add_too_much(judgement, where);
    for (size_t i = 0; r == 0 && i < j->n_inner; i++)
        r = judge_inner(judgement, where, &j->inner[i]);
    return r;
}

/* The body of a function once more, with the arguments of one call. */
static int judge_call(struct judgement *judgement,
                      const struct surroundings *where,
                      const struct word *words,
                      size_t n)
{
    const struct script_function *function;
    struct surroundings inside = *where;
    int r = 0;

    if (!where->script || where->called)
        return 0;
    function = called_function(where->script, words, n);
    if (!function)
        return 0;
    inside.called = true;
    inside.depth++;
    for (size_t i = function->body.from;
         r >= 0 && i < function->body.to && i < where->script->n && !is_exhausted(judgement); i++) {
        auto_words struct words filled = {0};

        inside.origin = &where->script->commands[i];
        r = fill_arguments(&inside.origin->words, words, n, &filled);
        if (r > 0)
            r = judge_words(judgement, &inside, filled.v, filled.n);
    }
    return r;
}

static int judge_words(struct judgement *judgement,
                       const struct surroundings *where,
                       const struct word *words,
                       size_t n)
{
    struct judged *j;
    int r;

    judgement->judged++;
    if (where->depth > RISK_DEPTH_MAX || is_exhausted(judgement))
        return add_too_much(judgement, where);
    j = calloc(1, sizeof(*j));
    if (!j)
        return -ENOMEM;
    j->words = words;
    j->n = n;
    j->script = where->script;
    j->origin = where->origin;
    j->place = (struct path_place){
        .base = where->elsewhere ? NO_CWD : judgement->cwd,
        .cwd = where->elsewhere ? NO_CWD : where->folder,
        .home = judgement->request->home,
    };
    r = n > 0 && !where->guessed ? list_command(judgement, where, words, n) : 0;
    if (r == 0)
        r = judged_read(j);
    if (r == 0)
        r = apply_rules(judgement, where, j);
    if (r == 0)
        r = judge_inners(judgement, where, j);
    if (r == 0)
        r = judge_call(judgement, where, words, n);
    judged_done(j);
    free(j);
    return r;
}

/* ---- a script ----------------------------------------------------------------------------- */

static int report_failure(struct judgement *judgement,
                          const struct surroundings *where,
                          const struct script *script,
                          const char *text)
{
    struct buf b = {0};
    size_t at = MIN(script->failed_at, strlen(text)), characters = 1;

    for (size_t i = 0; i < at; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    buf_add_format(&b, "%s, at character %zu", script->failed, characters);
    return verdict_add(judgement->verdict, risk_rule_find("unreadable-script"), "", buf_take(&b),
                       where->through);
}

static int report_fork_bomb(struct judgement *judgement,
                            const struct surroundings *where,
                            const struct script *script)
{
    size_t found = script_fork_bomb(script);
    const struct words *words;

    if (found == SIZE_MAX)
        return 0;
    words = &script->commands[found].words;
    return verdict_add(judgement->verdict, risk_rule_find("fork-bomb"), words->v[0].text,
                       quote_words(words->v, words->n), where->through);
}

static int judge_commands(struct judgement *judgement,
                          const struct surroundings *where,
                          const struct script *script)
{
    struct surroundings inside = *where;
    int r = 0;

    inside.script = script;
    for (size_t i = 0; r == 0 && i < script->n && !is_exhausted(judgement); i++) {
        const struct script_command *command = &script->commands[i];

        inside.origin = command;
        inside.folder = command->folder;
        r = judge_words(judgement, &inside, command->words.v, command->words.n);
    }
    return r;
}

/* What a script sets is in the environment of those that it starts. */
static char **merge_environment(char **set, const char *const *env)
{
    char **merged =
        calloc(strv_length((const char *const *)set) + strv_length(env) + 1, sizeof(*merged));
    size_t n = 0;

    for (size_t i = 0; merged && set && set[i]; i++)
        merged[n++] = set[i];
    for (size_t i = 0; merged && env && env[i]; i++)
        merged[n++] = (char *)(uintptr_t)env[i];
    return merged;
}

static int judge_parsed(struct judgement *judgement,
                        const struct surroundings *where,
                        const struct script *script,
                        const char *text)
{
    struct surroundings inside = *where;
    auto_free char **env = merge_environment(script->env, where->env);
    int r;

    if (!env)
        return -ENOMEM;
    inside.env = where->env || script->env ? (const char *const *)env : NULL;
    r = judge_commands(judgement, &inside, script);
    if (r == 0)
        r = report_fork_bomb(judgement, &inside, script);
    if (r == 0 && script->failed && !where->guessed)
        r = report_failure(judgement, &inside, script, text);
    return r;
}

static int judge_script(struct judgement *judgement,
                        const struct surroundings *where,
                        const char *text,
                        const struct words *arguments)
{
    auto_(script_freep) struct script *script = NULL;
    struct script_setting setting = {
        .env = where->env,
        .cwd = where->elsewhere ? NULL : where->folder,
        .home = judgement->request->home,
        .arguments = arguments ? arguments->v : NULL,
        .n_arguments = arguments ? arguments->n : 0,
        .arguments_known = arguments && where->through,
    };
    int r;

    judgement->text += strlen(text);
    if (where->depth > RISK_DEPTH_MAX || judgement->text > RISK_TEXT_MAX)
        return add_too_much(judgement, where);
    r = script_parse(text, &setting, &script);
    return r < 0 ? r : judge_parsed(judgement, where, script, text);
}

/* ---- the request -------------------------------------------------------------------------- */

static int
judge_argv(struct judgement *judgement, const struct surroundings *where, const char *const *argv)
{
    auto_words struct words words = {0};

    /* Globs were not expanded and will not be; who writes them means them all the same. */
    for (; argv && *argv; argv++)
        if (words_add(&words, strdup(*argv), false, strpbrk(*argv, "*?[") != NULL) < 0)
            return -ENOMEM;
    if (words.n > 0)
        words.v[0].glob = false;
    return words.n > 0 ? judge_words(judgement, where, words.v, words.n) : 0;
}

int risk_judge(const struct risk_request *request, struct risk_verdict *ret)
{
    struct judgement judgement = {
        .request = request,
        .verdict = ret,
        .cwd = request->cwd ? request->cwd : NO_CWD,
    };
    struct surroundings where = {.folder = judgement.cwd, .env = request->env};

    *ret = (struct risk_verdict){
        .findings = calloc(RISK_FINDINGS_MAX, sizeof(*ret->findings)),
        .commands = calloc(RISK_COMMANDS_MAX, sizeof(*ret->commands)),
    };
    if (!ret->findings || !ret->commands)
        return -ENOMEM;
    if (!request->script)
        return judge_argv(&judgement, &where, request->argv);
    return judge_script(&judgement, &where, request->script, NULL);
}
