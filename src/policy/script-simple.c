/* A simple command: assignments, words, redirections; and the redirections of compound ones. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "script-internal.h"

/* ---- redirections ------------------------------------------------------------------------- */

enum operation { TO_FILE, FROM_FILE, TO_DESCRIPTOR, HERE_STRING, HERE_DOCUMENT, HERE_TABS };

/* Of two that begin alike the longer one stands first. */
static const struct operator
{
    const char *token;
    enum operation operation;
}
operators[] = {
    {"<<<", HERE_STRING}, {"<<-", HERE_TABS}, {"<<", HERE_DOCUMENT}, {"<&", TO_DESCRIPTOR},
    {"<>", TO_FILE},      {"<", FROM_FILE},   {"&>>", TO_FILE},      {"&>", TO_FILE},
    {">>", TO_FILE},      {">|", TO_FILE},    {">&", TO_DESCRIPTOR}, {">", TO_FILE},
};

/* The length of "2" or "{name}" before an operator. */
static size_t descriptor_length(const char *p)
{
    size_t n = strspn(p, "0123456789");

    if (*p == '{') {
        n = 1 + name_length(p + 1);
        n = n > 1 && p[n] == '}' ? n + 1 : 0;
    }
    return p[n] == '<' || p[n] == '>' ? n : 0;
}

static const struct operator* find_operator(const char *p)
{
    for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
        if (strncmp(p, operators[i].token, strlen(operators[i].token)) == 0)
            return &operators[i];
    return NULL;
}

static bool is_process_substitution(const char *p)
{
    return (*p == '<' || *p == '>') && p[1] == '(';
}

static void add_here_string(struct reader *r, struct script_command *command)
{
    struct word nothing = {0};
    struct words *texts = &r->found->script->texts;
    size_t text = texts->n;

    read_word(r, texts, WORD_WHOLE);
    if (reader_stopped(r) || texts->n != text + 1)
        return;
    if (command_add_redirect(command, REDIRECT_TEXT, &nothing) < 0)
        reader_oom(r);
    else
        command->redirects[command->n_redirects - 1].text = text;
}

/* "2>&1" and "<&-" name no file. */
static bool is_descriptor(const struct word *target)
{
    return target->unknown || target->text[strspn(target->text, "0123456789-")] == '\0';
}

static void add_file(struct reader *r, struct script_command *command, enum operation operation)
{
    auto_words struct words targets = {0};

    if (is_process_substitution(r->text + r->at))
        read_process_substitution(r, &targets);
    else
        read_word(r, &targets, WORD_PLAIN);
    for (size_t i = 0; i < targets.n; i++) {
        struct word target = targets.v[i];
        enum redirect_kind kind = operation == FROM_FILE ? REDIRECT_READ : REDIRECT_WRITE;

        if (operation == TO_DESCRIPTOR && is_descriptor(&target))
            continue;
        targets.v[i].text = NULL;
        if (command_add_redirect(command, kind, &target) < 0)
            reader_oom(r);
    }
}

static void read_redirect(struct reader *r, struct script_command *command)
{
    const struct operator* op;

    if (command->n_redirects >= SCRIPT_WORDS_MAX) {
        reader_fail(r, "more redirections than are looked at");
        return;
    }
    r->at += descriptor_length(r->text + r->at);
    op = find_operator(r->text + r->at);
    if (!op)
        return;
    r->at += strlen(op->token);
    skip_blanks(r);
    if (op->operation == HERE_DOCUMENT || op->operation == HERE_TABS)
        here_document_begin(r, command, op->operation == HERE_TABS);
    else if (op->operation == HERE_STRING)
        add_here_string(r, command);
    else if (ends_word(r->text[r->at]) && !is_process_substitution(r->text + r->at))
        reader_fail(r, "a redirection without a file");
    else
        add_file(r, command, op->operation);
}

static bool at_redirect(const struct reader *r)
{
    const char *p = r->text + r->at;

    return !is_process_substitution(p) && find_operator(p + descriptor_length(p));
}

/* ---- assignments -------------------------------------------------------------------------- */

/* The length of "NAME=", "NAME+=", "NAME[…]=" at p; 0 when it is no assignment. */
static size_t assignment_length(const char *p)
{
    size_t n = name_length(p);

    if (n > 0 && p[n] == '[') {
        size_t subscript = strcspn(p + n, "] \t\n");

        n += p[n + subscript] == ']' ? subscript + 1 : 0;
    }
    if (n > 0 && p[n] == '+' && p[n + 1] == '=')
        n++;
    return n > 0 && p[n] == '=' ? n + 1 : 0;
}

static void read_array(struct reader *r, struct words *values)
{
    r->at++;
    for (;;) {
        size_t before;

        skip_blanks(r);
        before = r->at;
        if (r->text[r->at] == ')') {
            r->at++;
            return;
        }
        if (r->text[r->at] == '\n')
            take_newline(r);
        else if (r->text[r->at] == '#')
            r->at += strcspn(r->text + r->at, "\n");
        else
            read_word(r, values, WORD_PLAIN);
        if (r->at == before)
            reader_fail(r, "an array that is not closed");
        if (reader_stopped(r))
            return;
    }
}

/* Joined to the variable's last value, as "+=" does; an array's are appended. */
static void append_values(struct reader *r, struct variable *v, struct words *values, bool array)
{
    for (size_t i = 0; i < values->n; i++) {
        struct buf joined = {0};

        v->unknown |= values->v[i].unknown;
        if (array || v->values.n == 0) {
            if (words_add_copy(&v->values, &values->v[i]) < 0)
                reader_oom(r);
            continue;
        }
        r->found->expanded += strlen(v->values.v[v->values.n - 1].text);
        if (r->found->expanded > SCRIPT_EXPANSION_MAX) {
            v->unknown = true;
            return;
        }
        buf_add_str(&joined, v->values.v[v->values.n - 1].text);
        buf_add_str(&joined, values->v[i].text);
        free(v->values.v[v->values.n - 1].text);
        v->values.v[v->values.n - 1].text = buf_take(&joined);
        if (!v->values.v[v->values.n - 1].text) {
            v->values.n--;
            reader_oom(r);
        }
    }
}

static void store(struct reader *r, const char *name, size_t len, struct words *values, bool array)
{
    size_t name_len = name_length(name);
    bool append = name[len - 2] == '+', element = name[name_len] == '[';
    struct variable scratch = {0};
    const struct variable *old =
        append || element ? variable_find(r, name, name_len, &scratch) : NULL;
    struct variable *v = old && old != &scratch ? NULL : variable_set(r, name, name_len);

    if (old && old != &scratch) /* it is in the table already */
        v = &r->found->variables[old - r->found->variables];
    if (v && values->n > 0)
        v->made_by = values->v[0].made_by;
    if (v)
        append_values(r, v, values, array || element);
    words_done(&scratch.values);
}

static void read_assignment(struct reader *r, size_t len)
{
    auto_words struct words values = {0};
    const char *name = r->text + r->at;
    bool array;

    r->at += len;
    array = r->text[r->at] == '(';
    if (array)
        read_array(r, &values);
    else
        read_word(r, &values, WORD_WHOLE);
    if (!reader_stopped(r))
        store(r, name, len, &values, array);
}

/* ---- words -------------------------------------------------------------------------------- */

static bool declares(const struct words *words)
{
    static const char *const names[] = {"export", "local", "declare", "readonly", "typeset"};

    for (size_t i = 0; words->n > 0 && i < ARRAY_SIZE(names); i++)
        if (strcmp(words->v[0].text, names[i]) == 0)
            return true;
    return false;
}

/* The words of a "[[", through its "]]". */
static void read_test(struct reader *r, struct words *words)
{
    while (!reader_stopped(r)) {
        size_t before;

        skip_blanks(r);
        before = r->at;
        if (strncmp(r->text + r->at, "]]", 2) == 0 && ends_word(r->text[r->at + 2])) {
            r->at += 2;
            return;
        }
        if (r->text[r->at] == '\n')
            take_newline(r);
        else
            read_word(r, words, WORD_TEST);
        if (r->at == before)
            reader_fail(r, "a [[ that is not closed");
    }
}

/* false at what ends the command. */
static bool read_one(struct reader *r, struct script_command *command)
{
    const char *p;
    size_t assignment;

    skip_blanks(r);
    p = r->text + r->at;
    assignment = command->words.n == 0 || declares(&command->words) ? assignment_length(p) : 0;
    if (is_process_substitution(p)) {
        read_process_substitution(r, &command->words);
    } else if (at_redirect(r)) {
        read_redirect(r, command);
    } else if (ends_word(*p) || *p == '#') {
        return false;
    } else if (assignment > 0) {
        read_assignment(r, assignment);
    } else if (command->words.n == 0 && strncmp(p, "[[", 2) == 0 && ends_word(p[2])) {
        r->at += 2;
        if (words_add(&command->words, strdup("[["), false, false) < 0)
            reader_oom(r);
        read_test(r, &command->words);
    } else {
        read_word(r, &command->words, WORD_PLAIN);
    }
    return !reader_stopped(r);
}

static void keep(struct reader *r, struct script_command *command)
{
    struct found *found = r->found;

    if (reader_stopped(r)) {
        script_command_done(command);
        return;
    }
    if (found->script->n >= SCRIPT_COMMANDS_MAX ||
        found->script->n_words + command->words.n > SCRIPT_WORDS_MAX) {
        reader_fail(r, "more commands than are looked at");
        script_command_done(command);
        return;
    }
    command_effects(r, command);
    if (script_add_command(found->script, command) < 0)
        reader_oom(r);
}

static struct script_command new_command(const struct reader *r)
{
    return (struct script_command){
        .at = r->origin + r->at,
        .folder = r->found->folder,
        .function = r->found->function,
    };
}

void read_simple_command(struct reader *r)
{
    struct script_command command = new_command(r);
    size_t from = r->at;

    while (read_one(r, &command))
        ;
    if (r->at == from && !reader_stopped(r))
        reader_fail(r, "something where a command should be");
    keep(r, &command);
}

static bool gives_input(const struct script_command *command)
{
    for (size_t i = 0; i < command->n_redirects; i++)
        if (command->redirects[i].kind != REDIRECT_WRITE)
            return true;
    return false;
}

/* They count as a command without words, which feeds the group where it gives it a text. */
void read_redirects_of_group(struct reader *r, size_t from)
{
    struct script_command command = new_command(r);
    struct script *script = r->found->script;
    struct command_range feeds = {script->n, script->n + 1};
    size_t pipe = PIPE_NONE;

    skip_blanks(r);
    while (!reader_stopped(r) && at_redirect(r)) {
        read_redirect(r, &command);
        skip_blanks(r);
    }
    if (command.n_redirects == 0 || reader_stopped(r)) {
        script_command_done(&command);
        return;
    }
    if (gives_input(&command) && script_add_pipe(script, feeds, &pipe) < 0)
        reader_oom(r);
    for (size_t i = from; i < script->n; i++)
        if (script->commands[i].reads_pipe == PIPE_NONE)
            script->commands[i].reads_pipe = pipe;
    keep(r, &command);
}
