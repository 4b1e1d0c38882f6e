/* Completion scripts for shells, made from the tables of verbs and options. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "print.h"
#include "verbs.h"

static bool is_offered(const struct option *o, const struct verb *verb)
{
    return (o->verbs & verb->bit) && o->kind != KIND_LATER;
}

/* What may follow an option: names, a file, a directory, or something that cannot be guessed. */
static bool takes_directory(const struct option *o)
{
    return o == &option_table[OPT_CWD];
}

static bool takes_file(const struct option *o)
{
    return o == &option_table[OPT_STDIN];
}

/* Calls add for each verb, or each offered option of one. */
static void each_verb(struct buf *b, void (*add)(struct buf *b, const struct verb *verb))
{
    size_t n;
    const struct verb *verbs = verb_table(&n);

    for (size_t i = 0; i < n; i++)
        if (verbs[i].run)
            add(b, &verbs[i]);
}

static void each_option(struct buf *b,
                        const struct verb *verb,
                        void (*add)(struct buf *b, const struct verb *verb, const struct option *o))
{
    for (size_t i = 0; i < OPTION_MAX; i++)
        if (is_offered(&option_table[i], verb))
            add(b, verb, &option_table[i]);
}

/* Verbs that name jobs which are there. */
static bool takes_jobs(const struct verb *verb)
{
    return verb->bit & (VERB_OUTPUT | VERB_WAIT | VERB_STOP | VERB_SEND | VERB_RM);
}

static void add_choices(struct buf *b, const struct option *o)
{
    for (const struct choice *c = o->choices; c && c->name; c++)
        buf_add_format(b, "%s%s", c == o->choices ? "" : " ", c->name);
}

/* A text between single quotes, as all three shells take it. */
static void add_quoted(struct buf *b, const char *text)
{
    buf_add_char(b, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_add_str(b, "'\\''");
        else
            buf_add_char(b, *text);
    }
    buf_add_char(b, '\'');
}

static void add_verb_name(struct buf *b, const struct verb *verb)
{
    buf_add_format(b, "%s ", verb->name);
}

static void add_verb_with_jobs(struct buf *b, const struct verb *verb)
{
    if (takes_jobs(verb))
        add_verb_name(b, verb);
}

/* ---- bash --------------------------------------------------------------------------------- */

static void add_bash_names(struct buf *b, const struct verb *verb, const struct option *o)
{
    (void)verb;
    if (o->short_name)
        buf_add_format(b, "-%c ", o->short_name);
    if (o->name)
        buf_add_format(b, "--%s ", o->name);
}

static void add_bash_verb(struct buf *b, const struct verb *verb)
{
    buf_add_format(b, "    %s) options='", verb->name);
    each_option(b, verb, add_bash_names);
    buf_add_str(b, "' ;;\n");
}

/* The pattern of an option's names and what completes its value. */
static void add_bash_value(struct buf *b, const struct option *o)
{
    if (!o->arg)
        return;
    buf_add_str(b, "    ");
    if (o->short_name)
        buf_add_format(b, "-%c%s", o->short_name, o->name ? "|" : "");
    if (o->name)
        buf_add_format(b, "--%s", o->name);
    buf_add_str(b, ") ");
    if (o->choices) {
        buf_add_str(b, "COMPREPLY=($(compgen -W '");
        add_choices(b, o);
        buf_add_str(b, "' -- \"$current\"))");
    } else if (takes_directory(o)) {
        buf_add_str(b, "COMPREPLY=($(compgen -d -- \"$current\"))");
    } else if (takes_file(o)) {
        buf_add_str(b, "COMPREPLY=($(compgen -W 'null inherit pipe' -f -- \"$current\"))");
    } else {
        buf_add_str(b, "COMPREPLY=()");
    }
    buf_add_str(b, "; return ;;\n");
}

/* Which options take a value, so that the word after them is not taken for the command. */
static void add_bash_with_value(struct buf *b, const struct option *o)
{
    if (!o->arg || o->kind == KIND_LATER)
        return;
    if (o->short_name)
        buf_add_format(b, "|-%c", o->short_name);
    if (o->name)
        buf_add_format(b, "|--%s", o->name);
}

static void add_bash(struct buf *b)
{
    buf_add_str(b, "# bash completion for rein, made by `rein completion bash`\n"
                   "_rein() {\n"
                   "  local current=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n"
                   "  local verb=${COMP_WORDS[1]} options='' i\n"
                   "  COMPREPLY=()\n"
                   "  [[ $current == = ]] && current='' # bash takes --name=value apart\n"
                   "  [[ $last == = ]] && last=${COMP_WORDS[COMP_CWORD-2]}\n"
                   "  if ((COMP_CWORD == 1)); then\n"
                   "    COMPREPLY=($(compgen -W '");
    each_verb(b, add_verb_name);
    buf_add_str(
        b,
        "--help --version' -- \"$current\")); return\n"
        "  fi\n"
        "  if [[ $verb == run || $verb == start ]]; then # what follows COMMAND is that command's\n"
        "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
        "      case ${COMP_WORDS[i]} in\n"
        "      --) ((i++)); break ;;\n"
        "      ''");
    for (size_t i = 0; i < OPTION_MAX; i++)
        add_bash_with_value(b, &option_table[i]);
    buf_add_str(b, ") ((i++)); [[ ${COMP_WORDS[i]} == = ]] && ((i++)) ;;\n"
                   "      -*) ;;\n"
                   "      *) break ;;\n"
                   "      esac\n"
                   "    done\n"
                   "    if ((i < COMP_CWORD)) || [[ ${COMP_WORDS[i-1]} == -- ]]; then\n"
                   "      if declare -F _command_offset >/dev/null; then _command_offset \"$i\"\n"
                   "      else COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
                   "      return\n"
                   "    fi\n"
                   "  fi\n"
                   "  case $last in\n");
    for (size_t i = 0; i < OPTION_MAX; i++)
        if (option_table[i].kind != KIND_LATER)
            add_bash_value(b, &option_table[i]);
    buf_add_str(b, "  esac\n"
                   "  case $verb in\n");
    each_verb(b, add_bash_verb);
    buf_add_str(b, "  esac\n"
                   "  if [[ $current == -* ]]; then\n"
                   "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                   "  elif [[ $verb == run || $verb == start ]]; then\n"
                   "    COMPREPLY=($(compgen -c -- \"$current\"))\n"
                   "  elif [[ $verb == completion ]]; then\n"
                   "    COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$current\"))\n"
                   "  elif [[ $verb == config ]]; then\n"
                   "    COMPREPLY=($(compgen -W 'show' -- \"$current\"))\n"
                   "  elif [[ $verb == audit ]]; then\n"
                   "    COMPREPLY=($(compgen -W 'verify' -- \"$current\"))\n"
                   "  elif [[ $verb == policy ]] && ((COMP_CWORD == 2)); then\n"
                   "    COMPREPLY=($(compgen -W 'check rules trust untrust' -- \"$current\"))\n"
                   "  elif [[ $verb == policy ]]; then\n"
                   "    COMPREPLY=($(compgen -d -- \"$current\"))\n"
                   "  elif [[ $verb == approve || $verb == deny ]]; then\n"
                   "    COMPREPLY=($(compgen -W \"$(rein approvals 2>/dev/null | "
                   "grep -o '^[0-9a-f]*')\" -- \"$current\"))\n"
                   "  elif [[ $verb == tool ]] && ((COMP_CWORD == 2)); then\n"
                   "    COMPREPLY=($(compgen -W 'list call' -- \"$current\"))\n"
                   "  elif [[ $verb == tool && $last == call ]]; then\n"
                   "    COMPREPLY=($(compgen -W \"$(rein tool list 2>/dev/null | cut -f1)\" -- "
                   "\"$current\"))\n"
                   "  elif [[ $verb == help ]]; then\n"
                   "    COMPREPLY=($(compgen -W '");
    each_verb(b, add_verb_name);
    buf_add_str(b, "' -- \"$current\"))\n"
                   "  elif [[ $verb == code ]] && ((COMP_CWORD == 2)); then\n"
                   "    COMPREPLY=($(compgen -W \"$(rein code --list 2>/dev/null | cut -f1)\" -- "
                   "\"$current\"))\n"
                   "  elif [[ ' ");
    each_verb(b, add_verb_with_jobs);
    buf_add_str(b, "' == *\" $verb \"* ]]; then\n"
                   "    COMPREPLY=($(compgen -W \"$(rein ps --all 2>/dev/null | "
                   "awk 'NR > 1 { print $1 }')\" -- \"$current\"))\n"
                   "  else\n"
                   "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
                   "  fi\n"
                   "}\n"
                   "complete -o filenames -F _rein rein\n");
}

/* ---- zsh ---------------------------------------------------------------------------------- */

/* A description for _arguments: {-t,--timeout=}'[help]:value:(choices)' */
static void add_zsh_option(struct buf *b, const struct verb *verb, const struct option *o)
{
    char spelling[OPTION_SPELLING_SIZE];
    auto_buf struct buf value = {0};

    (void)verb;
    buf_add_str(b, "      ");
    if (option_is_repeatable(o))
        buf_add_str(b, "'*'");
    if (o->short_name && o->name)
        buf_add_format(b, "{-%c,--%s%s}", o->short_name, o->name, o->arg ? "=" : "");
    else
        buf_add_format(b, "%s%s", option_spell(o, spelling), o->arg && o->name ? "=" : "");
    buf_add_format(&value, "[%s]", o->help);
    if (o->arg)
        buf_add_str(&value, ":value:");
    if (o->choices) {
        buf_add_char(&value, '(');
        add_choices(&value, o);
        buf_add_char(&value, ')');
    } else if (takes_directory(o)) {
        buf_add_str(&value, "_directories");
    } else if (takes_file(o)) {
        buf_add_str(&value, "_files");
    }
    if (buf_error(&value) == 0)
        add_quoted(b, value.data);
    buf_add_str(b, " \\\n");
}

static const char *zsh_operands(const struct verb *verb)
{
    if (takes_jobs(verb))
        return "'*:job:($(rein ps --all 2>/dev/null | awk \"NR > 1 { print \\$1 }\"))'";
    switch (verb->bit) {
    case VERB_RUN:
    case VERB_START:
        return "'(-)1:command:_command_names -e' '*::arguments:_normal'";
    case VERB_CODE:
        return "'1:language:($(rein code --list 2>/dev/null | cut -f1))' '2:file:_files'";
    case VERB_TOOL:
        return "'1:what:(list call)' '2:tool:($(rein tool list 2>/dev/null | cut -f1))'";
    case VERB_AUDIT:
        return "'1:what:(verify)'";
    case VERB_POLICY:
        return "'1:what:(check rules trust untrust)' '2:directory:_files -/'";
    case VERB_APPROVE:
    case VERB_DENY:
        return "'1:id:($(rein approvals 2>/dev/null | grep -o \"^[0-9a-f]*\"))'";
    case VERB_CONFIG:
        return "'1:what:(show)'";
    case VERB_COMPLETION:
        return "'1:shell:(bash zsh fish)'";
    case VERB_PS:
    case VERB_GC:
        return "";
    default:
        return "'1:verb:($verbs)'";
    }
}

static void add_zsh_verb(struct buf *b, const struct verb *verb)
{
    buf_add_format(b, "  %s)\n    _arguments %s \\\n", verb->name,
                   verb->bit & (VERB_RUN | VERB_START) ? "-S" : "-s -S");
    each_option(b, verb, add_zsh_option);
    buf_add_format(b, "      %s ;;\n", zsh_operands(verb));
}

static void add_zsh(struct buf *b)
{
    buf_add_str(b, "#compdef rein\n"
                   "# zsh completion for rein, made by `rein completion zsh`\n"
                   "_rein() {\n"
                   "  local -a verbs=(");
    each_verb(b, add_verb_name);
    buf_add_str(b, ")\n"
                   "  local verb=$words[2]\n"
                   "  if ((CURRENT == 2)); then\n"
                   "    compadd -- $verbs --help --version\n"
                   "    return\n"
                   "  fi\n"
                   "  shift words\n"
                   "  ((CURRENT--))\n"
                   "  case $verb in\n");
    each_verb(b, add_zsh_verb);
    buf_add_str(
        b, "  esac\n"
           "}\n"
           "if [[ $funcstack[1] == _rein ]]; then _rein \"$@\"; else compdef _rein rein; fi\n");
}

/* ---- fish --------------------------------------------------------------------------------- */

static void add_fish_option(struct buf *b, const struct verb *verb, const struct option *o)
{
    buf_add_format(b, "complete -c rein -n '__fish_seen_subcommand_from %s'", verb->name);
    if (o->short_name)
        buf_add_format(b, " -s %c", o->short_name);
    if (o->name)
        buf_add_format(b, " -l %s", o->name);
    if (o->arg)
        buf_add_str(b, takes_file(o) || takes_directory(o) ? " -rF" : " -x");
    if (o->choices) {
        buf_add_str(b, " -a '");
        add_choices(b, o);
        buf_add_str(b, "'");
    }
    buf_add_str(b, " -d ");
    add_quoted(b, o->help);
    buf_add_char(b, '\n');
}

static void add_fish_verb(struct buf *b, const struct verb *verb)
{
    buf_add_format(b, "complete -c rein -n __fish_use_subcommand -xa %s -d ", verb->name);
    add_quoted(b, verb->summary);
    buf_add_char(b, '\n');
    each_option(b, verb, add_fish_option);
    if (takes_jobs(verb))
        buf_add_format(b,
                       "complete -c rein -n '__fish_seen_subcommand_from %s' -xa "
                       "'(rein ps --all 2>/dev/null | string match -rg \"^([0-9a-f]{8}) \")'\n",
                       verb->name);
}

static void add_fish(struct buf *b)
{
    buf_add_str(b, "# fish completion for rein, made by `rein completion fish`\n");
    each_verb(b, add_fish_verb);
    buf_add_str(b,
                "complete -c rein -n '__fish_seen_subcommand_from completion' -xa 'bash zsh fish'\n"
                "complete -c rein -n '__fish_seen_subcommand_from audit' -xa verify\n"
                "complete -c rein -n '__fish_seen_subcommand_from policy' -a "
                "'check rules trust untrust'\n"
                "complete -c rein -n '__fish_seen_subcommand_from approve deny' -xa "
                "'(rein approvals 2>/dev/null | string match -r \"^[0-9a-f]+\")'\n"
                "complete -c rein -n '__fish_seen_subcommand_from config' -xa show\n"
                "complete -c rein -n '__fish_seen_subcommand_from tool; and not "
                "__fish_seen_subcommand_from call' -xa 'list call'\n"
                "complete -c rein -n '__fish_seen_subcommand_from call' -xa "
                "'(rein tool list 2>/dev/null | string split -f1 \\t)'\n"
                "complete -c rein -n '__fish_seen_subcommand_from code' -a "
                "'(rein code --list 2>/dev/null | string split -f1 \\t)'\n"
                "complete -c rein -n '__fish_seen_subcommand_from run start' -a "
                "'(__fish_complete_subcommand --fcs-skip=2)'\n");
}

/* ---- verb --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*add)(struct buf *b);
} shells[] = {
    {"bash", add_bash},
    {"zsh", add_zsh},
    {"fish", add_fish},
};

int verb_completion(struct call *call, struct rein_error **reterr)
{
    const char *shell = call->line.n_operands == 1 ? call->line.operands[0] : "";

    for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
        auto_buf struct buf b = {0};

        if (strcmp(shells[i].name, shell) != 0)
            continue;
        shells[i].add(&b);
        if (buf_error(&b) < 0)
            return rein_oom(reterr);
        return print_text(b.data, b.len, reterr);
    }
    return rein_fail(reterr, -EINVAL, "bad_request", "completion",
                     "completion: give one of bash, zsh, fish");
}
