/*
 * Commands from arbitrary bytes to a verdict: no crash, no undefined behaviour, within the bounds,
 * and the verdict says what its findings say. A first byte of 'w' makes it words, split at line
 * ends; anything else a script.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "policy/risk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static char **split_lines(const char *text)
{
    char **words = NULL;

    while (*text && strv_length((const char *const *)words) < 1000) {
        size_t len = strcspn(text, "\n");

        require(strv_add_take(&words, strndup(text, len)) == 0);
        text += len + (text[len] == '\n');
    }
    return words;
}

static void check(const struct risk_verdict *v)
{
    enum risk_level level = RISK_LOW;
    bool dangerous = false, forbidden = false;

    require(v->n_findings <= RISK_FINDINGS_MAX && v->n_commands <= RISK_COMMANDS_MAX);
    for (size_t i = 0; i < v->n_findings; i++) {
        const struct risk_finding *f = &v->findings[i];

        require(f->rule && f->reason && f->name && f->words);
        require(strlen(f->words) <= RISK_SHOWN_MAX + 8);
        level = f->level > level ? f->level : level;
        dangerous |= f->dangerous;
        forbidden |= f->forbidden;
    }
    require(v->level == level && v->forbidden == forbidden);
    require(v->dangerous == dangerous || v->n_findings == RISK_FINDINGS_MAX);
    for (size_t i = 0; i < v->n_commands; i++)
        require(v->commands[i] && v->commands[i][0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const env[] = {"HOME=/home/u", "A=x y", "B=", "C=*", NULL};
    struct risk_request request = {.cwd = "/w", .home = "/home/u", .env = env};
    auto_free char *text = calloc(1, size + 1);
    auto_strv char **words = NULL;
    struct risk_verdict verdict;

    require(text != NULL);
    memcpy(text, data, size);
    if (*text == 'w') {
        words = split_lines(text + 1);
        request.argv = (const char *const *)words;
    } else {
        request.script = text;
    }
    require(risk_judge(&request, &verdict) == 0);
    check(&verdict);
    risk_verdict_done(&verdict);
    return 0;
}
