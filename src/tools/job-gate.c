/* From a spec to a request, and to what the risk is judged by. */
#include "job-gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/config-path.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "code/code.h"
#include "job/context.h"
#include "job/secrets.h"
#include "job/spec-env.h"
#include "policy/audit-ends.h"
#include "result-json.h"
#include "tool.h"

/* ---- opening ------------------------------------------------------------------------------ */

bool job_gate_knows(const char *tool)
{
    static const char *const verbs[] = {"run", "code", "start"};

    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(tool, verbs[i]) == 0)
            return true;
    return tool_find(tool) != NULL;
}

/* A rule about a tool that does not exist would never fit, and nobody would know. */
static int check_tools(const struct rules *rules, struct rein_error **reterr)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->list[i];

        if (rule->tool && !job_gate_knows(rule->tool))
            return rein_fail_hint(reterr, -EINVAL, "bad_request", "config",
                                  "rein tool list has the tools; a person's calls are run, code "
                                  "and start",
                                  "%s:%d: there is no tool '%.80s'", rule->file, rule->line,
                                  rule->tool);
    }
    return 0;
}

int job_gate_open(struct job_gate *g,
                  const rein *r,
                  const char *tool,
                  const struct gate_settings *settings,
                  const struct gate_asker *asker,
                  struct rein_error **reterr)
{
    auto_free char *user_file = config_user_file(), *here = getcwd(NULL, 0);
    struct policy_sources from = {
        .system_file = CONFIG_SYSTEM_FILE,
        .user_file = user_file,
        .variables = (const char *const *)environ,
        .cwd = here, /* of this process: no caller of a tool chooses whose rules count */
        .state_dir = context_state_dir(r),
    };
    int result = context_check_private(r, reterr); /* who can write there can approve */

    if (result == 0)
        result = policy_load(&from, &g->policy, reterr);
    if (result == 0)
        result = check_tools(&g->policy.rules, reterr);
    if (result < 0)
        return result;
    g->tool = tool;
    g->gate = (struct gate){
        .state_dir = from.state_dir,
        .settings = settings ? *settings : g->policy.settings,
        .rules = &g->policy.rules,
    };
    if (asker)
        g->gate.asker = *asker;
    g->is_open = true;
    return 0;
}

void job_gate_done(struct job_gate *g)
{
    gate_pass_done(&g->pass);
    policy_done(&g->policy);
    g->is_open = false;
}

/* ---- what is judged ----------------------------------------------------------------------- */

/* One job on its way to a verdict, and what it needs so long. */
struct judging {
    const struct job_intent *intent;
    struct gate_call call;
    struct risk_request risk;
    char *cwd, *script;
    char **env, **secrets;
    const char *stand_in[4]; /* for code that no shell reads */
};

static void judging_done(struct judging *j)
{
    request_done(&j->call.request);
    free(j->cwd);
    free(j->script);
    j->env = strv_free(j->env);
    j->secrets = strv_free(j->secrets);
}

/* Absolute, but not resolved: what is not there is an error of the start. */
static int find_cwd(struct judging *j, struct rein_error **reterr)
{
    const char *given = j->intent->spec->cwd;
    auto_free char *here = NULL;

    if (given && given[0] == '/')
        return str_copy(&j->cwd, given) < 0 ? rein_oom(reterr) : 0;
    here = getcwd(NULL, 0);
    if (!given || !here) {
        j->cwd = TAKE_PTR(here);
        return 0;
    }
    if (asprintf(&j->cwd, "%s/%s", here, given) < 0) {
        j->cwd = NULL;
        return rein_oom(reterr);
    }
    return 0;
}

/* A shell leaves NUL bytes out, so they must not hide what is behind them. */
static int copy_script(struct judging *j, const char *code, size_t size, struct rein_error **reterr)
{
    size_t n = 0;

    j->script = malloc(size + 1);
    if (!j->script)
        return rein_oom(reterr);
    for (size_t i = 0; i < size; i++)
        if (code[i] != '\0')
            j->script[n++] = code[i];
    j->script[n] = '\0';
    j->risk.script = j->script;
    return 0;
}

static bool is_shell(const char *language)
{
    return strcmp(language, "bash") == 0 || strcmp(language, "sh") == 0;
}

/* Code of a shell is a script; of other code it is known that it is code. */
static int describe_code(struct judging *j, struct rein_error **reterr)
{
    const struct code_files *files = j->intent->files;
    const struct rein_code *code = j->intent->code;
    struct request *q = &j->call.request;

    request_add_text(q, "language", code->language);
    request_add_words(q, "args", code->args);
    if (code->file)
        request_add_text(q, "file", code->file);
    else
        request_add_data(q, "code", code->text ? code->text : "", code->text_size);
    for (size_t i = 0; files && i < files->n; i++)
        request_add_hidden(q, files->list[i].name, files->list[i].data, files->list[i].size);
    if (!code->file && is_shell(code->language))
        return copy_script(j, code->text ? code->text : "", code->text_size, reterr);
    j->stand_in[0] = code->language;
    j->stand_in[1] = code->file ? code->file : "-c";
    j->stand_in[2] = code->file ? NULL : "(code)";
    j->risk.argv = j->stand_in;
    return 0;
}

static void describe_command(struct judging *j)
{
    const struct rein_spec *spec = j->intent->spec;

    if (spec->flags & REIN_SPEC_SHELL) {
        request_add_text(&j->call.request, "script", spec->argv[0]);
        j->risk.script = spec->argv[0];
    } else {
        request_add_words(&j->call.request, "command", spec->argv);
        j->risk.argv = spec->argv;
    }
}

static void describe_input(struct judging *j)
{
    const struct job_intent *intent = j->intent;
    struct request *q = &j->call.request;

    if (intent->input)
        request_add_hidden(q, "stdin", intent->input, intent->input_size);
    else if (intent->spec->stdin_kind == REIN_STDIN_FILE)
        request_add_text(q, "stdin", intent->spec->stdin_path);
    else if (intent->spec->stdin_kind != REIN_STDIN_NULL)
        request_add_text(q, "stdin",
                         intent->spec->stdin_kind == REIN_STDIN_PIPE ? "(pipe)" : "(inherit)");
}

static const char *profile_name(int profile)
{
    return profile == REIN_ENV_INHERIT ? "inherit" : profile == REIN_ENV_CLEAN ? "clean" : "agent";
}

/* What must not be shown: what was declared, and what looks like it in the job's environment. */
static int find_secrets(struct judging *j, struct rein_error **reterr)
{
    auto_strv char **warnings = NULL; /* the start gives them */
    const char *const *env = (const char *const *)j->env;

    if (secrets_resolve(j->intent->spec, env, &j->secrets, &warnings) < 0)
        return rein_oom(reterr);
    j->call.request.secrets = (const char *const *)j->secrets;
    j->call.request.env = env;
    return 0;
}

/* What differs between two calls makes two requests, and nothing else does: the same command with
 * another deadline, or in the background, is the same. */
static int describe(struct judging *j, struct rein_error **reterr)
{
    const struct rein_spec *spec = j->intent->spec;
    struct request *q = &j->call.request;
    int r = spec_environment(spec, &j->env, reterr);

    if (r == 0)
        r = find_secrets(j, reterr);
    if (r == 0)
        r = find_cwd(j, reterr);
    if (r < 0)
        return r;
    request_add_text(q, "tool", j->call.tool);
    if (j->intent->code)
        r = describe_code(j, reterr);
    else
        describe_command(j);
    request_add_text(q, "cwd", j->cwd);
    request_add_env(q, "env", spec->env);
    request_add_text(q, "env_profile", profile_name(spec->env_profile));
    request_add_text(q, "sandbox", "off");
    request_add_text(q, "net", "host");
    describe_input(j);
    j->risk.cwd = j->cwd;
    j->risk.env = (const char *const *)j->env;
    j->risk.home = env_get(j->risk.env, "HOME");
    return r;
}

static int judging_begin(struct judging *j,
                         const struct job_gate *g,
                         const struct job_intent *intent,
                         struct rein_error **reterr)
{
    j->intent = intent;
    j->call = (struct gate_call){.tool = g->tool,
                                 .session = intent->spec->session,
                                 .risk = &j->risk,
                                 .is_code = intent->code != NULL,
                                 .allow_dangerous = intent->allow_dangerous};
    return describe(j, reterr);
}

int job_gate_judge(struct job_gate *g, const struct job_intent *intent, struct rein_error **reterr)
{
    auto_(judging_done) struct judging j = {0};
    int r = judging_begin(&j, g, intent, reterr);

    if (r < 0)
        return r;
    g->has_decided = true;
    (void)audit_ends_collect(&g->gate); /* what fails is left for the next call */
    return gate_pass(&g->gate, &j.call, &g->pass, reterr);
}

int job_gate_look(const struct job_gate *g,
                  const struct job_intent *intent,
                  struct gate_verdict *ret,
                  struct rein_error **reterr)
{
    auto_(judging_done) struct judging j = {0};
    int r = judging_begin(&j, g, intent, reterr);

    if (r < 0)
        return r;
    return gate_judge(&g->gate.settings, g->gate.rules, &j.call, ret) < 0 ? rein_oom(reterr) : 0;
}

int job_gate_judge_call(struct job_gate *g,
                        json_t *arguments,
                        const char *session,
                        struct rein_error **reterr)
{
    auto_free char *given =
        arguments ? json_dumps(arguments, JSON_COMPACT | JSON_SORT_KEYS) : strdup("{}");
    json_t *process_id = json_object_get(arguments, "process_id");
    struct gate_call call = {.tool = g->tool, .session = session};
    int r;

    if (!given)
        return rein_oom(reterr);
    request_add_text(&call.request, "tool", g->tool);
    request_add_hidden(&call.request, "arguments", given, strlen(given));
    if (process_id)
        request_note(&call.request, "process_id", json_incref(process_id));
    g->has_decided = true;
    r = gate_pass(&g->gate, &call, &g->pass, reterr);
    request_done(&call.request);
    return r;
}

/* ---- writing down ------------------------------------------------------------------------- */

void job_gate_note_refusal(struct job_gate *g, const struct rein_error *why)
{
    struct gate_call call = {.tool = g->tool};

    if (!g->is_open || g->has_decided)
        return;
    g->has_decided = true;
    (void)gate_note_refusal(&g->gate, &call, why, NULL); /* it is refused all the same */
}

void job_gate_expect_end(struct job_gate *g, const char *process_id)
{
    auto_error struct rein_error *error = NULL;

    if (audit_ends_expect(&g->gate, g->tool, g->pass.digest, process_id, &error) < 0 &&
        !g->pass.warning)
        (void)str_copy(&g->pass.warning, error->message);
}

void job_gate_note_end(struct job_gate *g, const struct rein_result *result)
{
    json_t *of_job = short_result_json(result);
    json_t *fields = json_pack("{s:s, s:s}", "event", "end", "tool", g->tool);
    static const char *const keys[] = {"process_id", "reason",      "success",     "exit_code",
                                       "signal",     "duration_ms", "output_bytes"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        (void)json_object_set(fields, keys[i], json_object_get(of_job, keys[i]));
    json_decref(of_job);
    gate_note_end(&g->gate, &g->pass, fields);
}
