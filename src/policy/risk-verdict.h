/* Between the judgement and its verdict: adding findings. What holds is not decided here. */
#ifndef REIN_POLICY_RISK_VERDICT_H
#define REIN_POLICY_RISK_VERDICT_H

#include "base/buf.h"
#include "risk-rules.h"

/* Takes words, also on failure. through may be NULL. 0 or -ENOMEM. */
int verdict_add(struct risk_verdict *verdict,
                const struct risk_rule *rule,
                const char *name,
                char *take_words,
                const char *through);

/* For people: quoted for a shell, at most RISK_SHOWN_MAX bytes and a sign that some are missing. */
char *quote_words(const struct word *words, size_t n);
void cut_text(struct buf *b, size_t max);

#endif
