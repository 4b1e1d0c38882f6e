/*
 * The rules that people write: ordered, each allows, asks or denies what fits its pattern. The
 * first one that fits counts.
 *
 * A pattern is a prefix of a command, word by word: `git push` fits `git push origin main`. In a
 * word `*`, `?` and `[…]` stand for others as in file names; quotes keep a blank in a word.
 * `tool:NAME` in front, or alone, is about that tool only.
 *
 * Pure: where rules come from is not known here (policy-file.h).
 */
#ifndef REIN_POLICY_RULES_H
#define REIN_POLICY_RULES_H

#include <stddef.h>

#include "rein.h"

#define RULES_MAX 1024

enum rule_verdict { RULE_NONE, RULE_ALLOW, RULE_ASK, RULE_DENY };

struct rule {
    enum rule_verdict verdict;
    char *tool;   /* NULL: any */
    char **words; /* NULL: any command, and calls without one */
    char *text;   /* as written: "deny = npm publish" */
    char *file;
    int line;
};

struct rules {
    struct rule *list;
    size_t n;
};

/* "allow", "ask" or "deny"; RULE_NONE for another word. */
enum rule_verdict rule_verdict_find(const char *word);
const char *rule_verdict_name(enum rule_verdict verdict);

/* Appends a rule. "bad_request" for a pattern that is none, "limit_exceeded" after RULES_MAX. */
int rules_add(struct rules *rules,
              enum rule_verdict verdict,
              const char *pattern,
              const char *file,
              int line,
              struct rein_error **reterr);
void rules_done(struct rules *rules);

/* The first rule that fits a command, or NULL. argv: NULL for a call without a command, which only
 * rules without words fit.
 *
 * A rule that denies or asks takes `/bin/rm` for `rm`, too; one that allows does not take `./rm`
 * for it. */
const struct rule *rules_find(const struct rules *rules, const char *tool, const char *const *argv);

/* What rules say of a call that consists of several commands. whole: the command that is executed,
 * or NULL for a script. parts: all simple commands in it, also what others would start. Denied if a
 * part is, else asked if a part is; allowed only if the whole is, or every part of a script. The
 * rule that decided is in *ret, or NULL. */
enum rule_verdict rules_judge(const struct rules *rules,
                              const char *tool,
                              const char *const *whole,
                              char **const *parts,
                              size_t n_parts,
                              const struct rule **ret);

#endif
