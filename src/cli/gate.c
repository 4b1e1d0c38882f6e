#include "gate.h"

#include <errno.h>

#include "base/error.h"
#include "report.h"

/* Of the two ways to say it the stronger source counts. */
static int choose_mode(const struct settings *s, enum gate_mode *ret, struct rein_error **reterr)
{
    enum setting_source yes = s->origins[OPT_YES].source, approve = s->origins[OPT_APPROVE].source;

    *ret = (enum gate_mode)s->approve;
    if (!s->yes || approve > yes)
        return 0;
    if (approve == yes && *ret != GATE_MODE_AUTO)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options", "--yes is --approve auto",
                              "--yes and --approve: only one of them");
    *ret = GATE_MODE_AUTO;
    return 0;
}

int gate_settings_of(const struct settings *s,
                     struct gate_settings *ret,
                     struct rein_error **reterr)
{
    *ret = gate_settings_default();
    ret->audit = (enum gate_audit)s->audit;
    ret->ask_level_given = settings_given(s, OPT_ASK_LEVEL);
    if (ret->ask_level_given)
        ret->ask_level = (enum risk_level)s->ask_level;
    return choose_mode(s, &ret->mode, reterr);
}

int gate_own_job(struct job_gate *g,
                 const rein *r,
                 const char *verb,
                 const struct settings *s,
                 const struct rein_spec *spec,
                 const struct rein_code *code,
                 struct rein_error **reterr)
{
    static const int no_stop_fd = -EBADF;
    struct job_intent intent = {.spec = spec, .code = code, .allow_dangerous = s->allow_dangerous};
    struct gate_asker asker = terminal_asker(&no_stop_fd);
    struct gate_settings settings;
    int result;

    if (!s->gate)
        return 0;
    result = gate_settings_of(s, &settings, reterr);
    if (result == 0)
        result = job_gate_open(g, r, verb, &settings, &asker, reterr);
    if (result == 0)
        result = job_gate_judge(g, &intent, reterr);
    if (result == 0 && g->pass.warning)
        report_warning(g->pass.warning);
    return result;
}

void gate_note_own_end(struct job_gate *g, rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};

    if (!g->is_open)
        return;
    if (rein_wait(job, 0, &result) == 0)
        job_gate_note_end(g, &result);
    rein_result_done(&result);
}
