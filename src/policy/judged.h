/*
 * One simple command on its way through the judgement: its words, where they came from, what is
 * known of it, and which commands are in it. Filled in by unwrap.c and programs.c, read by the
 * rules.
 */
#ifndef REIN_POLICY_JUDGED_H
#define REIN_POLICY_JUDGED_H

#include "paths.h"
#include "script-model.h"

#define PROGRAM_NAME_MAX 64 /* no table has a longer one */
#define INNER_MAX 64        /* commands that one command starts */
#define PIPES_FOLLOWED_MAX 16
#define CODE_LOOKED_AT_MAX                                                                         \
    (256 << 10) /* bytes of a program's text that phrases are looked for in */

/* What was not looked into. */
enum opaque {
    OPAQUE_NAME = 1 << 0,   /* which program it is */
    OPAQUE_SCRIPT = 1 << 1, /* what a shell is told to do */
    OPAQUE_INPUT = 1 << 2,  /* a program that comes over standard input */
    OPAQUE_CODE = 1 << 3,   /* code in a language that is not read */
    OPAQUE_REMOTE = 1 << 4, /* what runs on another machine */
};

enum inner_kind { INNER_WORDS, INNER_SCRIPT };

struct inner {
    enum inner_kind kind;
    struct words words; /* a command; with INNER_SCRIPT $1 and on */
    char *script;
    char *label;    /* what it was seen through */
    char *folder;   /* where it starts, when that is another one */
    bool elsewhere; /* in a file system or on a machine that is not this one */
    bool guessed;   /* a text in code: it may be no command at all */
};

struct judged {
    const struct word *words;
    size_t n;
    const struct script *script; /* NULL: given as words */
    const struct script_command *origin;
    struct path_place place;

    char program[PROGRAM_NAME_MAX]; /* without folder, in small letters; "" when too long */
    bool asks_only;                 /* --help or --version alone */
    bool recursive, forced;
    unsigned deletes, writes, changes, moves, reads; /* enum path_kind of all that it does so to */
    unsigned opaque;
    const char *code; /* text in a language that is not read; NULL: none */
    char *input_text; /* what comes over standard input, for those that look at it; it owns it */

    struct inner inner[INNER_MAX];
    size_t n_inner;
    bool more_inner;
};

/* The name and the facts. 0 or -ENOMEM. */
int judged_read(struct judged *j);
void judged_done(struct judged *j);

/* ---- programs.c ---- */
void judged_read_deeds(struct judged *j);
bool program_is(const struct judged *j, const char *names);
/* An option by letter or whole name; the name may be shortened as long as it has three letters. */
bool has_option(const struct judged *j, char letter, const char *name);
bool has_word(const struct judged *j, const char *word);    /* after the program */
const char *operand(const struct judged *j, size_t number); /* the number-th that is no option */

/* ---- input.c ---- */
/* What comes over standard input, when that is known. 0, 1 when it is, or -ENOMEM. */
int known_input(const struct judged *j, char **ret);
bool has_input(const struct judged *j); /* a pipe, a file, a text */
/* Whether one of a list of programs made the command's words, or feeds it, through others too. */
bool made_by_program(const struct judged *j, const char *names);
bool fed_by_program(const struct judged *j, const char *names);
bool range_has_program(const struct script *script, struct command_range range, const char *names);

/* ---- unwrap.c ---- */
int judged_unwrap(struct judged *j);

#endif
