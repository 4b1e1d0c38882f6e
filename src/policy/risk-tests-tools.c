/* What the rows about databases, git, packages, services and code ask of a command. */
#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "risk-rules.h"

static bool word_is(const struct judged *j, size_t at, const char *list)
{
    return at < j->n && j->words[at].text[0] &&
           list_has(list, j->words[at].text, strlen(j->words[at].text));
}

static bool any_word_is(const struct judged *j, const char *list)
{
    for (size_t i = 1; i < j->n; i++)
        if (word_is(j, i, list))
            return true;
    return false;
}

/* ---- databases ---------------------------------------------------------------------------- */

/* Passes what SQL takes for a blank, and texts in quotes. */
static const char *skip_sql_blank(const char *p)
{
    const char *end = NULL;

    if (isspace((unsigned char)*p))
        return p + 1;
    if (strncmp(p, "--", 2) == 0)
        return p + strcspn(p, "\n");
    if (strncmp(p, "/*", 2) == 0) {
        end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    return p;
}

static const char *skip_sql_blanks(const char *p)
{
    const char *next;

    while ((next = skip_sql_blank(p)) != p)
        p = next;
    return p;
}

static size_t sql_word_length(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static bool drops(const char *p)
{
    while (*p) {
        const char *next = skip_sql_blanks(p);
        size_t n = sql_word_length(next);
        const char *end = *next == '\'' ? strchr(next + 1, '\'') : NULL;

        if (n == 4 && strncasecmp(next, "drop", n) == 0) {
            next = skip_sql_blanks(next + n);
            n = sql_word_length(next);
            if ((n == 8 && strncasecmp(next, "database", n) == 0) ||
                (n == 6 && strncasecmp(next, "schema", n) == 0) ||
                (n == 5 && strncasecmp(next, "table", n) == 0))
                return true;
        }
        p = end ? end + 1 : next + (n > 0 ? n : *next != '\0');
    }
    return false;
}

bool drops_by_sql(const struct judged *j)
{
    if (!program_is(j, SQL_CLIENTS))
        return false;
    for (size_t i = 1; i < j->n; i++) {
        const char *word = j->words[i].text;
        const char *value = strchr(word, '='); /* --execute=… */

        if (drops(word) || (value && drops(value + 1)) ||
            (word[0] == '-' && word[1] && drops(word + 2)))
            return true;
    }
    return j->input_text && drops(j->input_text);
}

bool drops_by_option(const struct judged *j)
{
    return program_is(j, "dropdb") || has_word(j, "drop");
}

bool flushes_store(const struct judged *j)
{
    return any_word_is(j, "flushall FLUSHALL flushdb FLUSHDB flush_all") ||
           (program_is(j, "etcdctl") && has_word(j, "del"));
}

bool destroys_by_tool(const struct judged *j)
{
    static const struct {
        const char *programs, *words;
    } rows[] = {
        {"terraform tofu pulumi vagrant", "destroy"},
        {"kubectl", "delete drain"},
        {"helm", "uninstall delete"},
        {"aws", "rb terminate-instances delete-bucket delete-stack delete-db-instance delete-table "
                "delete-cluster"},
        {"gcloud az", "delete"},
        {"dropuser dropdb", ""},
        {"virsh", "destroy undefine vol-delete"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (program_is(j, rows[i].programs))
            return !*rows[i].words || any_word_is(j, rows[i].words);
    for (size_t i = 1; program_is(j, "mongosh mongo") && i < j->n; i++)
        if (strstr(j->words[i].text, "dropDatabase") || strstr(j->words[i].text, ".drop("))
            return true;
    return false;
}

/* ---- git ---------------------------------------------------------------------------------- */

/* The place of the command behind git's own options. */
static size_t git_command(const struct judged *j)
{
    static const struct option_style style = {
        "cC", "git-dir= work-tree= namespace= config-env=", true, false};
    struct option_scan scan;
    struct option option;

    options_begin(&scan, j->words, j->n, &style);
    while (options_next(&scan, &option))
        ;
    return scan.at;
}

static bool git_does(const struct judged *j, const char *command)
{
    size_t at = git_command(j);

    return at < j->n && strcmp(j->words[at].text, command) == 0;
}

bool cleans_work_tree(const struct judged *j)
{
    return git_does(j, "clean") && has_option(j, 'f', "force") && !has_option(j, 'n', "dry-run");
}

bool discards_work(const struct judged *j)
{
    static const struct {
        const char *command, *words;
    } rows[] = {
        {"reset", "--hard"},
        {"checkout", "-f --force . --"},
        {"restore", "."},
        {"switch", "-f --force --discard-changes"},
        {"stash", "clear drop"},
        {"branch", "-D"},
        {"reflog", "expire delete"},
        {"gc", "--prune=now --prune=all"},
        {"update-ref", "-d"},
        {"filter-branch", "-f --force --tree-filter --index-filter --all HEAD"},
        {"worktree", "-f --force"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (git_does(j, rows[i].command))
            return any_word_is(j, rows[i].words);
    return false;
}

bool pushes(const struct judged *j)
{
    return git_does(j, "push") && !has_option(j, 'n', "dry-run");
}

bool pushes_by_force(const struct judged *j)
{
    bool refspec = false;

    for (size_t i = git_command(j) + 1; i < j->n; i++)
        refspec |= strchr("+:", j->words[i].text[0]) != NULL;
    return pushes(j) && (refspec || has_option(j, 'f', "force") || has_option(j, 'd', "delete") ||
                         has_option(j, 0, "mirror"));
}

/* ---- packages, services, containers ------------------------------------------------------- */

bool installs_packages(const struct judged *j)
{
    return any_word_is(j, "install add remove uninstall purge upgrade update dist-upgrade "
                          "autoremove i ci sync exec dlx get build-dep in up erase localinstall -i "
                          "-r -P -S -Sy -Syu -R -U -e --install --remove -iA -iE -A") ||
           program_is(j, "npx pipx");
}

bool publishes(const struct judged *j)
{
    if (program_is(j, "gh"))
        return any_word_is(j, "release repo") && any_word_is(j, "create delete upload");
    return any_word_is(j, "publish upload push unpublish yank deprecate");
}

bool switches_service(const struct judged *j)
{
    return any_word_is(j, "stop disable mask restart kill start enable unload bootout remove");
}

bool removes_containers(const struct judged *j)
{
    return any_word_is(j, "prune rm rmi down kill") && !any_word_is(j, "run exec build");
}

static bool is_root_mount(const char *text)
{
    const char *source = strstr(text, "source=/");
    const char *src = strstr(text, "src=/");

    return strncmp(text, "/:", 2) == 0 || strncmp(text, "-v/:", 4) == 0 ||
           strncmp(text, "--volume=/:", 11) == 0 || strstr(text, "docker.sock") ||
           strncmp(text, "/etc:", 5) == 0 || strncmp(text, "/root:", 6) == 0 ||
           (source && strchr(",", source[8])) || (src && strchr(",", src[5]));
}

bool opens_host(const struct judged *j)
{
    for (size_t i = 1; i < j->n; i++)
        if (strncmp(j->words[i].text, "--privileged", 12) == 0 ||
            strcmp(j->words[i].text, "--pid=host") == 0 ||
            strcmp(j->words[i].text, "--cap-add=ALL") == 0 || is_root_mount(j->words[i].text))
            return any_word_is(j, "run create exec");
    return false;
}

bool enters_host(const struct judged *j)
{
    return has_option(j, 't', "target") || has_option(j, 'a', "all");
}

bool flushes_firewall(const struct judged *j)
{
    return !any_word_is(j, "-L --list -S --list-rules list status --list-all --get-zones --help") &&
           j->n > 1;
}

bool edits_crontab(const struct judged *j)
{
    return !has_option(j, 'l', NULL);
}

/* rein's own verbs by which people let calls go ahead. */
/* Up to the command that rein is to run, whose own --yes is its own matter. A word behind an
 * option may be its value. The tools' options may stand behind their arguments. */
static bool says_yes(const struct judged *j)
{
    bool is_tool = j->n > 1 && word_is(j, 1, "tool");

    for (size_t i = 2; i < j->n && !word_is(j, i, "--"); i++) {
        if (word_is(j, i, "--yes --approve=auto") ||
            (word_is(j, i - 1, "--approve") && word_is(j, i, "auto")))
            return true;
        if (!is_tool && j->words[i].text[0] != '-' && j->words[i - 1].text[0] != '-')
            break;
    }
    return false;
}

#define YES_BY_VARIABLE                                                                            \
    "REIN_APPROVE=auto REIN_YES=1 REIN_YES=yes REIN_YES=true REIN_YES=on REIN_YES=y"

static bool script_says_yes(const struct judged *j)
{
    for (char **entry = j->script ? j->script->env : NULL; entry && *entry; entry++)
        if (list_has(YES_BY_VARIABLE, *entry, strlen(*entry)))
            return true;
    return false;
}

bool answers_itself(const struct judged *j)
{
    if (!program_is(j, "rein"))
        return any_word_is(j, YES_BY_VARIABLE);
    return says_yes(j) || script_says_yes(j) || any_word_is(j, "approve") ||
           (any_word_is(j, "policy") && any_word_is(j, "trust"));
}

bool wipes_history(const struct judged *j)
{
    if (program_is(j, "history"))
        return has_option(j, 'c', NULL) || has_option(j, 'w', NULL);
    for (size_t i = 1; i < j->n; i++)
        if (strncmp(j->words[i].text, "--vacuum", 8) == 0)
            return true;
    return false;
}

/* ---- code --------------------------------------------------------------------------------- */

static bool code_has(const struct judged *j, const char *const *phrases, size_t n)
{
    for (size_t i = 0; j->code && i < n; i++)
        if (memmem(j->code, strnlen(j->code, CODE_LOOKED_AT_MAX), phrases[i], strlen(phrases[i])))
            return true;
    return false;
}

bool code_deletes(const struct judged *j)
{
    static const char *const phrases[] = {
        "rmtree",      "unlink",     "os.remove",    "removedirs",  "rmdir",       "rmSync",
        "fs.rm",       "rimraf",     "FileUtils.rm", "remove_tree", "File.delete", "Remove-Item",
        "os.truncate", "remove_all", "os.rename",    "shutil.move",
    };

    return code_has(j, phrases, ARRAY_SIZE(phrases));
}

/* print | "command", outside of a text. */
static bool awk_pipes(const char *code)
{
    bool in_text = false;

    for (const char *p = code; p && *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '"')
            in_text = !in_text;
        else if (*p == '|' && !in_text && p != code && p[-1] != '|' &&
                 p[1 + strspn(p + 1, " \t")] == '"')
            return true;
    }
    return false;
}

bool code_runs(const struct judged *j)
{
    static const char *const phrases[] = {
        "system(",       "system (",      "system \"", "system '",
        "system q",      "subprocess",    "popen",     "exec(",
        "execv",         "execl",         "exec \"",   "exec '",
        "child_process", "spawn",         "qx",        "shell_exec",
        "passthru",      "Open3",         "|getline",  "| getline",
        "| \"sh\"",      "|\"sh\"",       "%x",        "__import__",
        "base64",        "Start-Process", "`",         "do shell script",
        "| \"bash\"",    "|\"bash\"",
    };

    return code_has(j, phrases, ARRAY_SIZE(phrases)) ||
           (program_is(j, "awk gawk mawk nawk") && awk_pipes(j->code));
}

bool code_forks(const struct judged *j)
{
    static const char *const forks[] = {"fork"};
    static const char *const loops[] = {"while", "for(;;)", "for (;;)", "loop", "until", "forever"};

    return code_has(j, forks, ARRAY_SIZE(forks)) && code_has(j, loops, ARRAY_SIZE(loops));
}

bool is_code(const struct judged *j)
{
    return j->opaque & OPAQUE_CODE;
}

bool is_unknown_program(const struct judged *j)
{
    return j->opaque & OPAQUE_NAME;
}

bool is_unknown_script(const struct judged *j)
{
    return j->opaque & OPAQUE_SCRIPT;
}

bool is_unread_input(const struct judged *j)
{
    return j->opaque & OPAQUE_INPUT;
}
