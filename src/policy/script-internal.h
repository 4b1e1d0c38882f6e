/*
 * Between the files of the script parser only: the state of one reading. A nested text (backticks,
 * a here-document) has a reader of its own, and all share what they find.
 */
#ifndef REIN_POLICY_SCRIPT_INTERNAL_H
#define REIN_POLICY_SCRIPT_INTERNAL_H

#include "base/buf.h"
#include "script-parse.h"

struct variable {
    char *name;
    struct words values; /* more than one: an array, or a loop's variable */
    bool unknown;
    struct command_range made_by;
};

struct here_document {
    size_t text; /* which of the script's texts it becomes */
    char *delimiter;
    bool literal, strip_tabs;
};

struct found {
    const struct script_setting *setting;
    struct script *script;
    struct variable variables[SCRIPT_VARIABLES_MAX];
    size_t n_variables;
    bool variables_lost; /* something may have set others */
    const char *folder;
    size_t function; /* 1 + index, of what is read now */
    size_t depth;
    size_t expanded;
    int error;
};

#define HERE_DOCUMENTS_MAX 64 /* that one line begins */

struct reader {
    const char *text;
    size_t at;
    size_t origin; /* where the text stands in the whole one, for messages */
    struct found *found;
    struct here_document pending[HERE_DOCUMENTS_MAX];
    size_t n_pending;
};

/* What a character of a word is, kept beside it. */
enum mark { MARK_QUOTED = 'q', MARK_ACTIVE = 'a', MARK_UNKNOWN = '?' };

struct word_build {
    struct buf text, marks;
    bool quoted; /* it is a word even when nothing is in it */
    bool whole;  /* expansions do not split it, braces do not multiply it */
    struct command_range made_by;
    struct words *out;
};

enum word_mode {
    WORD_PLAIN,
    WORD_WHOLE, /* one word whatever is in it: an assignment's value, a here-string */
    WORD_TEST,  /* within [[ ]], where < > ( ) | & are ordinary */
};

/* ---- script-parse.c ---- */
bool reader_stopped(const struct reader *r);
void reader_fail(struct reader *r, const char *why); /* the first one counts */
void reader_oom(struct reader *r);
bool reader_enter(struct reader *r); /* one level deeper; false when that is too deep */
void reader_leave(struct reader *r);
void read_list(struct reader *r); /* up to what closes it, which is left */
/* Through the ")" of a list that runs beside the rest. Gives the commands of it. */
struct command_range read_parentheses(struct reader *r);
void take_newline(struct reader *r);
void skip_lines(struct reader *r); /* blanks, line ends and comments */
bool at_keyword(const struct reader *r, const char *keyword);
bool take_keyword(struct reader *r, const char *keyword);
void expect_keyword(struct reader *r, const char *keyword, const char *why);

/* ---- script-compound.c ---- */
void read_command(struct reader *r);

/* ---- script-simple.c ---- */
void read_simple_command(struct reader *r);
void read_redirects_of_group(struct reader *r, size_t from); /* of the commands from there on */

/* ---- script-words.c ---- */
bool is_blank(char c);
bool ends_word(char c);
size_t name_length(const char *text);
void skip_blanks(struct reader *r);
void read_word(struct reader *r, struct words *out, enum word_mode mode);
void read_double_quoted(struct reader *r, struct word_build *b, char end);
void read_single_quoted(struct reader *r, struct word_build *b);
void read_process_substitution(struct reader *r, struct words *out);

/* ---- script-build.c ---- */
void build_add(struct word_build *b, const char *text, size_t len, enum mark mark);
void build_add_value(struct reader *r, struct word_build *b, const struct word *value, bool quoted);
void build_add_range(struct word_build *b, struct command_range range);
void build_end_word(struct reader *r, struct word_build *b);
void build_done(struct reader *r, struct word_build *b);

/* ---- script-expand.c ---- */
void read_dollar(struct reader *r, struct word_build *b, bool quoted);
void read_backticks(struct reader *r, struct word_build *b, bool quoted);
bool is_arithmetic(const char *text); /* at "((" */
void pass_arithmetic(struct reader *r);

/* ---- script-variables.c ---- */
struct variable *variable_set(struct reader *r, const char *name, size_t len);
void variable_forget(struct reader *r, const char *name, size_t len);
/* NULL: unset. Otherwise a variable, or value filled with what the environment has. */
const struct variable *
variable_find(struct reader *r, const char *name, size_t len, struct variable *scratch);
void variables_done(struct found *found);

/* ---- script-effects.c ---- */
void command_effects(struct reader *r, const struct script_command *command);
/* What a substitution's only command prints: 1 where that is plain, 0 where not, or -ENOMEM. */
int known_output(const struct script *script, struct command_range range, char **ret);

/* ---- script-ansi.c ---- */
void read_ansi_quoted(struct reader *r, struct word_build *b); /* at "$'" */

/* ---- script-here.c ---- */
void here_document_begin(struct reader *r, struct script_command *command, bool strip_tabs);
void here_documents_read(struct reader *r);
void here_documents_drop(struct reader *r);

#endif
