/* Findings: made from a rule and what it is about, kept in order, bounded. */
#include "risk-verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strv.h"

static const char *const level_names[] = {"low", "medium", "high", "critical"};

const char *risk_level_name(enum risk_level level)
{
    return level_names[level];
}

int risk_level_parse(const char *text, enum risk_level *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
        if (strcmp(text, level_names[i]) == 0) {
            *ret = (enum risk_level)i;
            return 0;
        }
    return -EINVAL;
}

static void add_quoted(struct buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    size_t len = strnlen(word, RISK_SHOWN_MAX);

    if (len > 0 && strspn(word, plain) >= len) {
        buf_add(b, word, len);
        return;
    }
    buf_add_char(b, '\'');
    for (size_t i = 0; i < len; i++) {
        if (word[i] == '\'')
            buf_add_str(b, "'\\''");
        else
            buf_add_char(b, word[i]);
    }
    buf_add_char(b, '\'');
}

/* Takes a half character off the end. */
void cut_text(struct buf *b, size_t max)
{
    if (b->len <= max)
        return;
    b->len = max;
    while (b->len > 0 && ((unsigned char)b->data[b->len] & 0xc0) == 0x80)
        b->len--;
    b->data[b->len] = '\0';
    buf_add_str(b, "…");
}

char *quote_words(const struct word *words, size_t n)
{
    struct buf b = {0};

    for (size_t i = 0; i < n && b.len < RISK_SHOWN_MAX; i++) {
        if (i > 0)
            buf_add_char(&b, ' ');
        add_quoted(&b, words[i].text);
    }
    cut_text(&b, RISK_SHOWN_MAX);
    return buf_take(&b);
}

static void finding_done(struct risk_finding *finding)
{
    free(finding->name);
    free(finding->words);
    free(finding->through);
}

static bool is_worse(const struct risk_finding *a, const struct risk_finding *b)
{
    if (a->forbidden != b->forbidden)
        return a->forbidden;
    if (a->level != b->level)
        return a->level > b->level;
    return a->dangerous && !b->dangerous;
}

static bool is_known(const struct risk_verdict *verdict, const struct risk_finding *finding)
{
    for (size_t i = 0; i < verdict->n_findings; i++)
        if (verdict->findings[i].rule == finding->rule &&
            strcmp(verdict->findings[i].words, finding->words) == 0)
            return true;
    return false;
}

/* In its place by how bad it is; when there are too many the last one goes. Takes it. */
static int insert(struct risk_verdict *verdict, struct risk_finding *take_finding)
{
    size_t at = verdict->n_findings;

    if (!take_finding->name || !take_finding->words) {
        finding_done(take_finding);
        return -ENOMEM;
    }
    while (at > 0 && is_worse(take_finding, &verdict->findings[at - 1]))
        at--;
    if (at == RISK_FINDINGS_MAX || is_known(verdict, take_finding)) {
        finding_done(take_finding);
        return 0;
    }
    if (verdict->n_findings == RISK_FINDINGS_MAX)
        finding_done(&verdict->findings[--verdict->n_findings]);
    memmove(&verdict->findings[at + 1], &verdict->findings[at],
            (verdict->n_findings - at) * sizeof(*verdict->findings));
    verdict->findings[at] = *take_finding;
    verdict->n_findings++;
    return 0;
}

int verdict_add(struct risk_verdict *verdict,
                const struct risk_rule *rule,
                const char *name,
                char *take_words,
                const char *through)
{
    struct risk_finding finding = {
        .rule = rule->id,
        .level = rule->level,
        .dangerous = rule->dangerous,
        .forbidden = rule->forbidden,
        .reason = rule->reason,
        .name = strdup(name),
        .words = take_words,
    };

    if (str_copy(&finding.through, through) < 0) {
        finding_done(&finding);
        return -ENOMEM;
    }
    verdict->level = MAX(verdict->level, rule->level);
    verdict->dangerous |= rule->dangerous;
    verdict->forbidden |= rule->forbidden;
    verdict->opaque |= rule->opaque;
    return insert(verdict, &finding);
}

void risk_verdict_done(struct risk_verdict *verdict)
{
    for (size_t i = 0; i < verdict->n_findings; i++)
        finding_done(&verdict->findings[i]);
    for (size_t i = 0; i < verdict->n_commands; i++)
        strv_free(verdict->commands[i]);
    free(verdict->findings);
    free(verdict->commands);
    *verdict = (struct risk_verdict){0};
}
