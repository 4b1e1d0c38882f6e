/*
 * What a text for a shell says, as a list of its simple commands: words as far as they are known
 * without running anything, redirections, who feeds whom, and which function they belong to. And
 * the bounds within which that is found out.
 *
 * The owner of these structs. It knows neither the grammar nor what a program does.
 */
#ifndef REIN_POLICY_SCRIPT_MODEL_H
#define REIN_POLICY_SCRIPT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/strv.h"

#define SCRIPT_COMMANDS_MAX 10000      /* simple commands of one text */
#define SCRIPT_WORDS_MAX 65536         /* words of one text, those that expansions make included */
#define SCRIPT_DEPTH_MAX 100           /* compound commands and substitutions within each other */
#define SCRIPT_EXPANSION_MAX (1 << 20) /* bytes that all expansions together may add */
#define SCRIPT_VARIABLES_MAX 256
#define SCRIPT_FOLDERS_MAX 256 /* that cd is followed through */
#define SCRIPT_FUNCTIONS_MAX 256
#define SCRIPT_BRACES_MAX 256 /* words that one {a,b} makes */

/* A range of commands, by index. Empty when to is not above from. */
struct command_range {
    size_t from, to;
};

struct word {
    char *text;                   /* where a part is unknown, its source stands for it */
    bool unknown;                 /* an expansion decides */
    bool glob;                    /* * ? [ stand for names */
    struct command_range made_by; /* the commands of its substitutions */
};

struct words {
    struct word *v;
    size_t n, allocated;
};

/* Takes text, also on failure. 0 or -ENOMEM. */
int words_add(struct words *words, char *take_text, bool unknown, bool glob);
int words_add_copy(struct words *words, const struct word *word);
void words_done(struct words *words);
#define auto_words auto_(words_done)

enum redirect_kind { REDIRECT_READ, REDIRECT_WRITE, REDIRECT_TEXT };

struct redirect {
    enum redirect_kind kind;
    struct word target; /* the path; empty with REDIRECT_TEXT */
    size_t text;        /* with REDIRECT_TEXT: which of the script's texts */
};

#define PIPE_NONE 0

struct script_command {
    struct words words; /* empty: only assignments or redirections */
    struct redirect *redirects;
    size_t n_redirects;
    size_t at;         /* its place in the text */
    size_t reads_pipe; /* PIPE_NONE, or an index into the script's pipes */
    size_t writes_pipe;
    const char *folder; /* belongs to the script; NULL when unknown */
    size_t function;    /* 1 + index of the function that it is in, else 0 */
    bool background;
};

struct script_function {
    char *name;
    struct command_range body;
};

struct script {
    struct script_command *commands;
    size_t n, allocated, n_words;
    struct command_range *pipes; /* who feeds each */
    size_t n_pipes, pipes_allocated;
    struct script_function functions[SCRIPT_FUNCTIONS_MAX];
    size_t n_functions;
    char **folders;
    struct words texts; /* here-documents and here-strings */
    char **env;         /* "NAME=VALUE": what it sets to something known */
    const char *failed; /* why it could not be read to its end; what was found before it counts */
    size_t failed_at;
};

struct script *script_new(void);
struct script *script_free(struct script *script);
DEFINE_FREEP(struct script, script_free)

/* Appends. Takes what it is given, also on failure. 0 or -ENOMEM. */
int script_add_command(struct script *script, struct script_command *take_command);
int command_add_redirect(struct script_command *command,
                         enum redirect_kind kind,
                         struct word *take_target);
void script_command_done(struct script_command *command);

/* *ret is the new pipe, which the range feeds. 0 or -ENOMEM. */
int script_add_pipe(struct script *script, struct command_range feeds, size_t *ret);

#endif
