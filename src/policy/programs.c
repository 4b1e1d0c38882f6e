/* What programs do with their operands: the table of those that delete, write, move and change. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "judged.h"

enum deed { DELETES, WRITES, CHANGES };
enum which { ALL, LAST, ALL_BUT_FIRST };

/* The long names are those that GNU's versions know. */
#define RM_NAMES                                                                                   \
    "force interactive one-file-system no-preserve-root preserve-root recursive dir verbose help " \
    "version"
#define MODE_NAMES                                                                                 \
    "changes quiet silent verbose no-preserve-root preserve-root reference= recursive "            \
    "dereference no-dereference from= help version"
#define COPY_NAMES                                                                                 \
    "archive attributes-only backup copy-contents dereference force interactive link "             \
    "no-clobber no-dereference no-target-directory one-file-system parents preserve recursive "    \
    "remove-destination sparse= strip-trailing-slashes symbolic-link suffix= target-directory= "   \
    "update verbose debug group= owner= mode= directory compare strip help version"

static const struct row {
    const char *names;
    enum deed deed;
    enum which which;
    struct option_style style;
    const char *recursive; /* letters */
    bool moves;            /* what is not written to goes away */
    char only_with;        /* the letter of the option without which nothing is done */
} rows[] = {
    {"rm grm srm", DELETES, ALL, {NULL, RM_NAMES, false, false}, "rR", false, 0},
    {"del erase rd deltree trash trash-put",
     DELETES,
     ALL,
     {NULL, RM_NAMES, false, false},
     "rRs",
     false,
     0},
    {"rmdir",
     DELETES,
     ALL,
     {NULL, "ignore-fail-on-non-empty parents verbose help version", false, false},
     "",
     false,
     0},
    {"unlink", DELETES, ALL, {NULL, "help version", false, false}, "", false, 0},
    {"shred wipe",
     DELETES,
     ALL,
     {"ns", "force iterations= random-source= size= remove exact verbose zero help version", false,
      false},
     "r",
     false,
     0},
    {"truncate",
     DELETES,
     ALL,
     {"sr", "no-create io-blocks reference= size= help version", false, false},
     "",
     false,
     0},
    {"fallocate", WRITES, ALL, {"lo", "length= offset=", false, false}, "", false, 0},
    {"tee sponge",
     WRITES,
     ALL,
     {NULL, "append ignore-interrupts output-error help version", false, false},
     "",
     false,
     0},
    {"cp gcp", WRITES, LAST, {"St", COPY_NAMES, false, false}, "rRa", false, 0},
    {"mv gmv", WRITES, LAST, {"St", COPY_NAMES, false, false}, "", true, 0},
    {"install ginstall", WRITES, LAST, {"gmoSt", COPY_NAMES, false, false}, "", false, 0},
    {"ln", WRITES, LAST, {"St", COPY_NAMES, false, false}, "", false, 0},
    {"rsync",
     WRITES,
     LAST,
     {"efTBM",
      "rsh= exclude= include= files-from= filter= delete delete-before delete-after "
      "delete-excluded remove-source-files recursive archive",
      false, false},
     "ra",
     false,
     0},
    {"scp", WRITES, LAST, {"cFiJloPSX", NULL, false, false}, "r", false, 0},
    {"touch", WRITES, ALL, {"dtr", "date= reference= time=", false, false}, "", false, 0},
    {"mkdir", WRITES, ALL, {"m", "mode= parents verbose", false, false}, "", false, 0},
    {"mknod mkfifo", WRITES, ALL, {"m", "mode=", false, false}, "", false, 0},
    {"sed gsed",
     WRITES,
     ALL_BUT_FIRST,
     {"efl", "expression= file= in-place line-length=", false, false},
     "",
     false,
     'i'},
    {"patch",
     WRITES,
     ALL,
     {"piodD", "strip= input= output= directory=", false, false},
     "",
     false,
     0},
    {"chmod chown chgrp gchmod gchown",
     CHANGES,
     ALL_BUT_FIRST,
     {NULL, MODE_NAMES, false, false},
     "R",
     false,
     0},
    {"setfacl", CHANGES, ALL, {"mMxX", "modify= remove= recursive", false, false}, "R", false, 0},
    {"chattr", CHANGES, ALL, {"vp", NULL, false, false}, "R", false, 0},
    {"wipefs blkdiscard",
     WRITES,
     ALL,
     {"optlso", "offset= length= types=", false, false},
     "",
     false,
     0},
};

/* Options of any program whose value is a file that it writes. */
static const struct output_option {
    const char *names;
    char letter;
    const char *name;
} output_options[] = {
    {"curl", 'o', "output"},
    {"wget", 'O', "output-document"},
    {"wget", 'P', "directory-prefix"},
    {"sort", 'o', "output"},
    {"gcc cc clang g++ ld", 'o', ""},
    {"tar bsdtar", 'C', "directory"},
    {"cp mv install ln", 't', "target-directory"},
    {"unzip", 'd', ""},
    {"openssl", 0, "out"},
    {"curl", 'D', "dump-header"},
    {"curl", 'c', "cookie-jar"},
    {"wget", 'o', "output-file"},
};

/* ---- names and options -------------------------------------------------------------------- */

bool program_is(const struct judged *j, const char *names)
{
    return j->program[0] && list_has(names, j->program, strlen(j->program));
}

static void read_name(struct judged *j)
{
    const char *text = j->n > 0 ? j->words[0].text : "";
    const char *slash = strrchr(text, '/');
    size_t len;

    text = slash ? slash + 1 : text;
    len = strlen(text);
    if (len > 4 && strcasecmp(text + len - 4, ".exe") == 0)
        len -= 4;
    for (size_t i = 0; i < len && len < sizeof(j->program); i++)
        j->program[i] = (char)tolower((unsigned char)text[i]);
    if (j->n > 0 && (j->words[0].unknown || j->words[0].glob))
        j->opaque |= OPAQUE_NAME;
}

static bool is_long_option(const char *word, const char *name)
{
    size_t len = strcspn(word, "=");

    return len >= 2 + MIN((size_t)3, strlen(name)) && strncmp(word, "--", 2) == 0 &&
           strncmp(word + 2, name, len - 2) == 0;
}

bool has_option(const struct judged *j, char letter, const char *name)
{
    for (size_t i = 1; i < j->n; i++) {
        const char *word = j->words[i].text;

        if (strcmp(word, "--") == 0)
            return false;
        if (word[0] != '-')
            continue;
        if (word[1] != '-' && letter && strchr(word + 1, letter))
            return true;
        if (name && *name && is_long_option(word, name))
            return true;
    }
    return false;
}

bool has_word(const struct judged *j, const char *word)
{
    for (size_t i = 1; i < j->n; i++)
        if (strcmp(j->words[i].text, word) == 0)
            return true;
    return false;
}

const char *operand(const struct judged *j, size_t number)
{
    for (size_t i = 1; i < j->n; i++)
        if (j->words[i].text[0] != '-' && number-- == 0)
            return j->words[i].text;
    return NULL;
}

/* ---- deeds -------------------------------------------------------------------------------- */

static unsigned judge_word(const struct judged *j, const struct word *word)
{
    unsigned bits = word->text[0] ? path_judge(&j->place, word->text, word->glob) : PATH_NOWHERE;

    /* What is known of it may be bad enough; it is never good enough. */
    return word->unknown ? (bits & ~(unsigned)PATH_INSIDE) | PATH_UNKNOWN : bits;
}

/* "host:path", as rsync and scp have it. */
static bool is_remote_path(const struct judged *j, const char *text)
{
    const char *colon = strchr(text, ':');

    return program_is(j, "scp rsync") && colon && !memchr(text, '/', (size_t)(colon - text));
}

static void add_deed(struct judged *j, enum deed deed, const struct word *word)
{
    unsigned bits = is_remote_path(j, word->text) ? PATH_OUTSIDE : judge_word(j, word);

    if (deed == DELETES)
        j->deletes |= bits;
    else if (deed == CHANGES)
        j->changes |= bits;
    else
        j->writes |= bits;
}

/* What the first operand would be, a script or a mode, stands in an option. */
static bool first_is_file(const struct judged *j)
{
    if (program_is(j, "sed gsed"))
        return has_option(j, 'e', "expression") || has_option(j, 'f', "file");
    return has_option(j, 0, "reference");
}

static void
add_operand(struct judged *j, const struct row *row, size_t word, size_t number, bool last)
{
    if (row->which == ALL_BUT_FIRST && number == 0 && !first_is_file(j))
        return;
    if (row->which == LAST && !last) {
        if (row->moves)
            j->moves |= judge_word(j, &j->words[word]);
        return;
    }
    add_deed(j, row->deed, &j->words[word]);
}

static void read_row_option(struct judged *j, const struct row *row, const struct option *option)
{
    if (option->kind == OPTION_SHORT) {
        j->recursive |= strchr(row->recursive, option->letter) && option->letter;
        j->forced |= option->letter == 'f';
    }
    j->recursive |= option_is_long(option, "recursive") || option_is_long(option, "archive");
    j->forced |= option_is_long(option, "force");
}

/* The last operand is told apart by being the one after which no other comes. */
static void read_row(struct judged *j, const struct row *row)
{
    struct option_scan scan;
    struct option option;
    size_t number = 0, previous = 0;

    options_begin(&scan, j->words, j->n, &row->style);
    while (options_next(&scan, &option)) {
        if (option.kind != OPTION_OPERAND) {
            read_row_option(j, row, &option);
            continue;
        }
        if (previous > 0)
            add_operand(j, row, previous, number++, false);
        previous = option.word;
    }
    if (previous > 0 && (row->which != LAST || number > 0))
        add_operand(j, row, previous, number, true);
}

static void read_output_options(struct judged *j, const struct output_option *o)
{
    size_t len = strlen(o->name);

    for (size_t i = 1; i < j->n; i++) {
        const char *word = j->words[i].text;
        bool long_one = len > 0 && is_long_option(word, o->name);
        const char *cluster =
            word[0] == '-' && word[1] != '-' && o->letter ? strchr(word + 1, o->letter) : NULL;
        struct word value = j->words[i];

        if (!long_one && !cluster)
            continue;
        value.text = strchr(word, '=');
        if (cluster)
            value.text = strchr(word, o->letter);
        if (value.text && value.text[1])
            value.text++;
        else if (i + 1 < j->n)
            value = j->words[i + 1];
        else
            continue;
        if (strcmp(value.text, "-") != 0)
            add_deed(j, WRITES, &value);
    }
}

/* dd's operands have names. */
static void read_dd(struct judged *j)
{
    for (size_t i = 1; i < j->n; i++) {
        struct word value = j->words[i];

        if (strncmp(value.text, "of=", 3) != 0)
            continue;
        value.text += 3;
        add_deed(j, WRITES, &value);
    }
}

/* tar's --remove-files and zip's -m take away what they have packed. */
static void read_packers(struct judged *j)
{
    bool removes = program_is(j, "tar bsdtar gtar")
                       ? has_option(j, 0, "remove-files")
                       : program_is(j, "zip") && has_option(j, 'm', "move");

    for (size_t i = 1; removes && i < j->n; i++)
        if (j->words[i].text[0] != '-')
            add_deed(j, DELETES, &j->words[i]);
    j->recursive |= removes;
}

static void read_redirects(struct judged *j)
{
    const struct script_command *origin = j->origin;

    for (size_t i = 0; origin && i < origin->n_redirects; i++) {
        const struct redirect *redirect = &origin->redirects[i];

        if (redirect->kind == REDIRECT_WRITE)
            j->writes |= judge_word(j, &redirect->target);
        else if (redirect->kind == REDIRECT_READ)
            j->reads |= judge_word(j, &redirect->target);
    }
}

/* rsync empties where it writes, and takes away what it has read. */
static void read_rsync(struct judged *j)
{
    if (has_option(j, 0, "delete") || has_option(j, 0, "del") ||
        has_option(j, 0, "remove-source-files")) {
        j->deletes |= j->writes;
        j->recursive = true;
    }
}

void judged_read_deeds(struct judged *j)
{
    read_name(j);
    j->asks_only = j->n == 2 && (has_word(j, "--help") || has_word(j, "--version"));
    if (!j->asks_only) {
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
            if (program_is(j, rows[i].names) &&
                (!rows[i].only_with || has_option(j, rows[i].only_with, "in-place")))
                read_row(j, &rows[i]);
        for (size_t i = 0; i < ARRAY_SIZE(output_options); i++)
            if (program_is(j, output_options[i].names))
                read_output_options(j, &output_options[i]);
        if (program_is(j, "dd"))
            read_dd(j);
        if (program_is(j, "rsync"))
            read_rsync(j);
        read_packers(j);
    }
    read_redirects(j);
}

void judged_done(struct judged *j)
{
    for (size_t i = 0; i < j->n_inner; i++) {
        words_done(&j->inner[i].words);
        free(j->inner[i].script);
        free(j->inner[i].label);
        free(j->inner[i].folder);
    }
    j->n_inner = 0;
    free(j->input_text);
    j->input_text = NULL;
}

int judged_read(struct judged *j)
{
    judged_read_deeds(j);
    return judged_unwrap(j);
}
