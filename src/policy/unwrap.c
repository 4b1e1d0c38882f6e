/* The table of wrappers, and those that are given a command as the rest of their words. */
#include "unwrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macro.h"
#include "command-options.h"
#include "risk-rules.h"

enum wrapper_flag {
    ASSIGNMENTS = 1 << 0, /* NAME=VALUE may stand before the command */
    TWICE = 1 << 1,       /* options stand behind the skipped operand, too */
    ELSEWHERE = 1 << 2,   /* the command sees other files */
};

struct wrapper {
    const char *names;
    int (*unwrap)(struct judged *j, const struct wrapper *wrapper);
    struct option_style style;
    unsigned skip; /* operands before the command */
    unsigned flags;
};

static int unwrap_words(struct judged *j, const struct wrapper *wrapper);
static int unwrap_joined(struct judged *j, const struct wrapper *wrapper);
static int unwrap_named(struct judged *j, const struct wrapper *wrapper);
static int unwrap_input(struct judged *j, const struct wrapper *wrapper);
static int unwrap_remote(struct judged *j, const struct wrapper *wrapper);
static int unwrap_lookup(struct judged *j, const struct wrapper *wrapper);
static int unwrap_container(struct judged *j, const struct wrapper *wrapper);
static int unwrap_verb(struct judged *j, const struct wrapper *wrapper);

#define PLAIN(values, names)                                                                       \
    {                                                                                              \
        values, names, true, false                                                                 \
    }

static const struct wrapper wrappers[] = {
    {"env genv", unwrap_words, PLAIN("uCS", "unset= chdir= split-string= ignore-environment"), 0,
     ASSIGNMENTS},
    {"nice", unwrap_words, PLAIN("n", "adjustment="), 0, 0},
    {"nohup setsid exec builtin unbuffer catchsegv dbus-run-session fakeroot proxychains "
     "proxychains4 tsocks torsocks ltrace valgrind eatmydata firejail",
     unwrap_words, PLAIN("a", NULL), 0, 0},
    {"command", unwrap_lookup, PLAIN(NULL, NULL), 0, 0},
    {"timeout gtimeout", unwrap_words,
     PLAIN("ks", "kill-after= signal= foreground preserve-status"), 1, 0},
    {"sudo", unwrap_words,
     PLAIN("ugpCcDRrThU",
           "user= group= prompt= chdir= chroot= host= role= type= close-from= other-user= "
           "command-timeout="),
     0, ASSIGNMENTS},
    {"doas", unwrap_words, PLAIN("Cu", NULL), 0, 0},
    {"pkexec", unwrap_words, PLAIN("u", "user="), 0, 0},
    {"runuser su", unwrap_words,
     PLAIN("ugGcsw", "user= group= supp-group= command= shell= whitelist-environment="), 0, 0},
    {"stdbuf", unwrap_words, PLAIN("ioe", "input= output= error="), 0, 0},
    {"ionice", unwrap_words, PLAIN("cnpPu", "class= classdata= pid= pgid= uid="), 0, 0},
    {"chrt taskset setarch perf", unwrap_words, PLAIN("TPD", NULL), 1, TWICE},
    {"linux32 linux64 i386 x86_64 uname26", unwrap_words, PLAIN(NULL, NULL), 0, 0},
    {"prlimit choom cgexec numactl systemd-inhibit", unwrap_words, PLAIN("npgCmNil", NULL), 0, 0},
    {"systemd-run", unwrap_words,
     PLAIN("pMHEu",
           "unit= property= description= slice= uid= gid= nice= working-directory= setenv= "
           "machine= host="),
     0, 0},
    {"chroot", unwrap_words, PLAIN(NULL, "userspec= groups= skip-chdir"), 1, ELSEWHERE},
    {"unshare", unwrap_words,
     PLAIN("SGRw", "root= wd= setuid= setgid= propagation= map-user= map-group="), 0, 0},
    {"nsenter", unwrap_words, PLAIN("tSGrw", "target= setuid= setgid= root= wd="), 0, 0},
    {"strace", unwrap_words, PLAIN("eoapsuPEIbOSUX", "output= trace= user="), 0, 0},
    {"time gtime", unwrap_words, PLAIN("fo", "format= output="), 0, 0},
    {"flock", unwrap_words, PLAIN("wEc", "timeout= conflict-exit-code= command="), 1, 0},
    {"busybox toybox sshpass", unwrap_words, PLAIN("pfe", NULL), 0, 0},
    {"xvfb-run", unwrap_words, PLAIN("nsefpw", "server-num= server-args= error-file="), 0, 0},
    {"rein", unwrap_words,
     PLAIN("tCe",
           "timeout= grace= cwd= env= env-profile= session= stdin= sandbox= net= ro= rw= hide= "
           "name= memory= procs="),
     1, TWICE},
    {"uv poetry pipenv hatch pdm rye conda mamba micromamba", unwrap_verb,
     PLAIN("npCf",
           "name= prefix= directory= project= with= python= env-file= extra= group= package= "
           "with-requirements= with-editable="),
     1, TWICE},
    {"npm pnpm yarn bundle", unwrap_verb, PLAIN("pCw", "package= prefix= workspace= filter="), 1,
     TWICE},
    {"direnv", unwrap_verb, PLAIN(NULL, NULL), 2, 0},
    {"npx pnpx bunx uvx", unwrap_words, PLAIN("pc", "package= call= from= with= python="), 0, 0},
    {"setpriv", unwrap_words,
     PLAIN(NULL,
           "reuid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= "
           "selinux-label= apparmor-profile="),
     0, 0},
    {"faketime", unwrap_words, PLAIN("p", "pid-file="), 1, 0},
    {"eval", unwrap_joined, PLAIN(NULL, NULL), 0, 0},
    {"source .", unwrap_source, PLAIN(NULL, NULL), 0, 0},
    {"watch", unwrap_joined, PLAIN("n", "interval="), 0, 0},
    {"trap", unwrap_named, PLAIN("lp", NULL), 0, 0},
    {"alias", unwrap_named, PLAIN(NULL, NULL), 0, ASSIGNMENTS},
    {"hyperfine", unwrap_named, {"wrmMpcs", "warmup= runs= prepare= cleanup=", false, false}, 0, 0},
    {"screen", unwrap_words, PLAIN("ceHhpStTX", NULL), 0, 0},
    {"tmux", unwrap_joined, PLAIN("LSfscteTp", NULL), 1, TWICE},
    {"docker podman nerdctl docker-compose kubectl", unwrap_container,
     PLAIN("euwnc", "env= user= workdir= env-file= namespace= container= index="), 1, 0},
    {"at batch", unwrap_input, PLAIN(NULL, NULL), 0, 0},
    {"ssh rsh", unwrap_remote, PLAIN("BbcDEeFIiJLlmOopQRSWw", NULL), 1, TWICE | ELSEWHERE},
    {"xargs gxargs", unwrap_xargs,
     PLAIN("adEILnPs",
           "arg-file= delimiter= max-args= max-procs= max-chars= null no-run-if-empty replace "
           "verbose interactive exit"),
     0, 0},
    {"parallel", unwrap_parallel, PLAIN("aCdDEIjLNnPsUX", "jobs= arg-file= colsep= delimiter="), 0,
     0},
    {"find gfind bfs", unwrap_find, PLAIN(NULL, NULL), 0, 0},
    {"fd fdfind", unwrap_find, PLAIN(NULL, NULL), 0, 0},
    {"git", unwrap_git, PLAIN("cC", "git-dir= work-tree= namespace= config-env="), 0, 0},
    {"sh bash dash zsh ksh ash mksh rbash yash posh fish csh tcsh", unwrap_shell,
     PLAIN("oO", "rcfile= init-file= norc noprofile login posix"), 0, 0},
    {"python pypy", unwrap_code, PLAIN("cmWX", NULL), 0, 0},
    {"perl", unwrap_code, PLAIN("eEM", NULL), 0, 0},
    {"ruby", unwrap_code, PLAIN("erI", NULL), 0, 0},
    {"node nodejs bun deno", unwrap_code, PLAIN("epr", "eval= print= require= import="), 0, 0},
    {"php", unwrap_code, PLAIN("rdcR", "run="), 0, 0},
    {"lua luajit osascript rscript julia elixir expect tclsh pwsh powershell", unwrap_code,
     PLAIN("ec", "eval= command="), 0, 0},
    {"awk gawk mawk nawk", unwrap_code, PLAIN("fvF", "file= field-separator= assign="), 0, 0},
};

const char *wrapper_names(size_t row)
{
    return row < ARRAY_SIZE(wrappers) ? wrappers[row].names : NULL;
}

/* ---- adding ------------------------------------------------------------------------------- */

static char *make_label(const struct judged *j, const char *detail)
{
    struct buf b = {0};

    buf_add_str(&b, j->program);
    if (detail && *detail)
        buf_add_format(&b, " %s", detail);
    return buf_take(&b);
}

struct inner *add_inner(struct judged *j, enum inner_kind kind, const char *detail)
{
    char *label;

    if (j->n_inner >= INNER_MAX) {
        j->more_inner = true;
        return NULL;
    }
    label = make_label(j, detail);
    if (!label)
        return NULL;
    j->inner[j->n_inner] = (struct inner){.kind = kind, .label = label};
    return &j->inner[j->n_inner++];
}

int failed_to_add(const struct judged *j)
{
    return j->more_inner ? 0 : -ENOMEM;
}

int add_inner_words(struct judged *j, size_t from, size_t to)
{
    struct inner *inner;

    if (from >= to)
        return 0;
    inner = add_inner(j, INNER_WORDS, NULL);
    if (!inner)
        return failed_to_add(j);
    if (to - from > WRAPPER_WORDS_MAX) {
        j->more_inner = true;
        to = from + WRAPPER_WORDS_MAX;
    }
    for (size_t i = from; i < to; i++)
        if (words_add_copy(&inner->words, &j->words[i]) < 0)
            return -ENOMEM;
    return 0;
}

int add_inner_script(struct judged *j, const char *text, const char *detail)
{
    struct inner *inner = add_inner(j, INNER_SCRIPT, detail);

    if (!inner)
        return failed_to_add(j);
    inner->script = strdup(text);
    return inner->script ? 0 : -ENOMEM;
}

int add_inner_joined(struct judged *j, size_t from, size_t to, const char *detail)
{
    auto_buf struct buf b = {0};

    for (size_t i = from; i < to; i++) {
        if (i > from)
            buf_add_char(&b, ' ');
        buf_add_str(&b, j->words[i].text);
    }
    if (buf_error(&b) < 0)
        return -ENOMEM;
    return b.len > 0 ? add_inner_script(j, b.data, detail) : 0;
}

/* ---- commands as words -------------------------------------------------------------------- */

static bool is_assignment(const char *text)
{
    size_t n = strcspn(text, "=/");

    return n > 0 && text[n] == '=' && text[0] != '-';
}

/* The first word of the command; *ret_folder: where it starts, when an option says so. */
static size_t
find_command(const struct judged *j, const struct wrapper *wrapper, const char **ret_folder)
{
    struct option_scan scan;
    struct option option;
    unsigned passes = wrapper->flags & TWICE ? 2 : 1;

    *ret_folder = NULL;
    options_begin(&scan, j->words, j->n, &wrapper->style);
    for (unsigned i = 0; i < passes; i++) {
        while (options_next(&scan, &option))
            if (option_is_long(&option, "chdir") ||
                (option.kind == OPTION_SHORT && option.value && strchr("CD", option.letter) &&
                 program_is(j, "env sudo")))
                *ret_folder = option.value;
        while ((wrapper->flags & ASSIGNMENTS) && scan.at < j->n &&
               is_assignment(j->words[scan.at].text))
            scan.at++;
        if (i == 0)
            scan.at = MIN(j->n, scan.at + wrapper->skip);
    }
    return scan.at;
}

/* What stands behind "-S" or "--split-string=" in a word; NULL: it is another option. */
static const char *split_string(const char *word)
{
    const char *letter = word[0] == '-' && word[1] != '-' ? strchr(word, 'S') : NULL;
    const char *equals = strchr(word, '=');

    if (letter)
        return letter + 1;
    if (strncmp(word, "--sp", 4) != 0)
        return NULL;
    return equals ? equals + 1 : "";
}

/* "env -S text words": the text's words stand before the others. */
static int unwrap_split_string(struct judged *j)
{
    auto_buf struct buf b = {0};
    size_t from = 1;
    const char *text = NULL;

    while (from < j->n && !(text = split_string(j->words[from].text)))
        from++;
    if (text)
        buf_add_str(&b, text);
    for (size_t i = from + 1; i < j->n; i++)
        buf_add_format(&b, " %s", j->words[i].text);
    if (buf_error(&b) < 0)
        return -ENOMEM;
    return b.len > 0 ? add_inner_script(j, b.data, "-S") : 0;
}

/* "docker exec … name command": what it finds there is somebody's, too. */
static int unwrap_container(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    size_t at = 1, before = j->n_inner;
    int r;

    while (at < j->n && strcmp(j->words[at].text, "exec") != 0)
        at++;
    options_begin(&scan, j->words + at, j->n - at, &wrapper->style);
    while (options_next(&scan, &option))
        ;
    at += scan.at + wrapper->skip;
    at += at < j->n && strcmp(j->words[at].text, "--") == 0;
    r = add_inner_words(j, at, j->n);
    if (j->n_inner > before)
        j->inner[before].elsewhere = true;
    return r;
}

static int unwrap_words(struct judged *j, const struct wrapper *wrapper)
{
    const char *folder;
    size_t at = find_command(j, wrapper, &folder);
    int r;

    if (program_is(j, "env genv") && has_option(j, 'S', "split-string"))
        return unwrap_split_string(j);
    if (program_is(j, "su runuser") && has_option(j, 'c', "command"))
        return 0; /* its value is the command, and what is left the user */
    if (program_is(j, "flock") && at < j->n && strcmp(j->words[at].text, "-c") == 0)
        return 0;
    r = add_inner_words(j, at, j->n);
    if (r < 0 || j->n_inner == 0)
        return r;
    j->inner[j->n_inner - 1].elsewhere = wrapper->flags & ELSEWHERE;
    return folder ? str_copy(&j->inner[j->n_inner - 1].folder, folder) : 0;
}

/* "command -v x" only asks. */
static int unwrap_lookup(struct judged *j, const struct wrapper *wrapper)
{
    bool asks = j->n > 1 && j->words[1].text[0] == '-' && strpbrk(j->words[1].text, "vV");

    return asks ? 0 : unwrap_words(j, wrapper);
}

/* "uv run", "npm exec": the other verbs of these start nothing that is in their words. */
static int unwrap_verb(struct judged *j, const struct wrapper *wrapper)
{
    struct option_scan scan;
    struct option option;
    const char *verb, *verbs = program_is(j, "npm pnpm yarn bundle direnv") ? "exec x dlx" : "run";

    options_begin(&scan, j->words, j->n, &wrapper->style);
    while (options_next(&scan, &option)) {
    }
    verb = scan.at < j->n ? j->words[scan.at].text : "";
    return list_has(verbs, verb, strlen(verb)) ? unwrap_words(j, wrapper) : 0;
}

/* ---- commands as text --------------------------------------------------------------------- */

static int unwrap_joined(struct judged *j, const struct wrapper *wrapper)
{
    const char *folder;

    return add_inner_joined(j, find_command(j, wrapper, &folder), j->n, NULL);
}

static int unwrap_remote(struct judged *j, const struct wrapper *wrapper)
{
    size_t before = j->n_inner;
    int r = unwrap_joined(j, wrapper);

    if (j->n_inner > before)
        j->inner[j->n_inner - 1].elsewhere = true;
    j->opaque |= OPAQUE_REMOTE;
    return r;
}

/* Each operand is one, behind "NAME=" where the table says so. A trap has only one. */
static int unwrap_named(struct judged *j, const struct wrapper *wrapper)
{
    struct option_style style = wrapper->style;
    struct option_scan scan;
    struct option option;
    int r = 0;

    style.stop_at_operand = false;
    options_begin(&scan, j->words, j->n, &style);
    while (r == 0 && options_next(&scan, &option)) {
        const char *text = option.value;

        if (option.kind != OPTION_OPERAND)
            continue;
        if (wrapper->flags & ASSIGNMENTS)
            text = strchr(text, '=') ? strchr(text, '=') + 1 : "";
        if (*text)
            r = add_inner_script(j, text, NULL);
        if (program_is(j, "trap"))
            break;
    }
    return r;
}

static int unwrap_input(struct judged *j, const struct wrapper *wrapper)
{
    auto_free char *text = NULL;
    int r = known_input(j, &text);

    if (r < 0)
        return r;
    if (r == 0)
        j->opaque |= has_input(j) ? OPAQUE_INPUT : 0U;
    return r > 0 ? add_inner_script(j, text, NULL) : 0;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* python3.11 is a python. */
static const struct wrapper *find_wrapper(const struct judged *j)
{
    size_t len = strlen(j->program), plain = len;

    while (plain > 0 && strchr("0123456789.", j->program[plain - 1]))
        plain--;
    for (size_t i = 0; len > 0 && i < ARRAY_SIZE(wrappers); i++)
        if (list_has(wrappers[i].names, j->program, len) ||
            (plain > 0 && list_has(wrappers[i].names, j->program, plain)))
            return &wrappers[i];
    return NULL;
}

const struct option_style *wrapper_style(const struct wrapper *wrapper)
{
    return &wrapper->style;
}

int judged_unwrap(struct judged *j)
{
    const struct wrapper *wrapper = find_wrapper(j);
    int r = 0;

    if (j->asks_only)
        return 0;
    if (wrapper)
        r = wrapper->unwrap(j, wrapper);
    if (r == 0 && program_is(j, SQL_CLIENTS))
        r = known_input(j, &j->input_text);
    if (r >= 0 && j->code && code_runs(j))
        r = unwrap_literals(j);
    return r < 0 ? r : unwrap_option_values(j);
}
