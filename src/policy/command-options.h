/*
 * The words behind a program's name, read as getopt_long() would: clusters, values, "--", long
 * names and what is unambiguously the beginning of one.
 *
 * How a program reads its options is the caller's to say. Nothing is judged here.
 */
#ifndef REIN_POLICY_COMMAND_OPTIONS_H
#define REIN_POLICY_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "script-model.h"

struct option_style {
    const char *short_values; /* letters that take a value; NULL: none */
    const char *long_names; /* those that may be shortened, or take a value ("name="); by blanks */
    bool stop_at_operand;   /* the first operand ends the options: the rest is another command */
    bool single_dash;       /* "-name" is a long name, as find and openssl have it */
};

enum option_kind { OPTION_END, OPTION_SHORT, OPTION_LONG, OPTION_OPERAND };

struct option {
    enum option_kind kind;
    char letter;      /* of a short one */
    const char *name; /* of a long one: the whole name where it is known; not terminated */
    size_t name_len;
    const char *value; /* NULL: none */
    size_t word;       /* which word it stands in; that of the value where this is one of its own */
};

struct option_scan {
    const struct word *words;
    size_t n;
    size_t at; /* the next word */
    const struct option_style *style;
    const char *cluster; /* the rest of "-abc" */
    bool operands_only;
};

/* words[0] is the program. */
void options_begin(struct option_scan *scan,
                   const struct word *words,
                   size_t n,
                   const struct option_style *style);

/* false at the end; then scan->at is the first word that was not read. */
bool options_next(struct option_scan *scan, struct option *ret);

bool option_is_long(const struct option *option, const char *name);

/* Whether a word is in a list of words separated by blanks. */
bool list_has(const char *list, const char *word, size_t len);

#endif
