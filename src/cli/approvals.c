/* rein approvals, approve, deny: the calls that wait for an answer, and the answers. */
#include "policy/approvals.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "job/context.h"
#include "jobs.h"
#include "print.h"
#include "tools/result-json.h"
#include "visible.h"

/* ---- one line for one approval ------------------------------------------------------------ */

static void add_command(struct buf *b, const json_t *request)
{
    static const char *const keys[] = {"script", "file", "code"};
    json_t *word;
    size_t i;

    json_array_foreach(json_object_get(request, "command"), i, word)
    {
        buf_add_str(b, i ? " " : "");
        visible_add(b, json_string_value(word));
    }
    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (json_object_get(request, keys[i]))
            visible_add(b, json_string_value(json_object_get(request, keys[i])));
}

static void add_reasons(struct buf *b, const json_t *request)
{
    json_t *reason;
    size_t i;

    json_array_foreach(json_object_get(request, "reasons"), i, reason)
    {
        buf_add_str(b, "          ");
        visible_add(b, json_string_value(reason));
        buf_add_char(b, '\n');
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    return value ? value : "";
}

static void add_approval(struct buf *b, const json_t *approval)
{
    const json_t *request = json_object_get(approval, "request");

    buf_add_format(b, "%s  %-8s  %s  %s: ", text_of(approval, "id"), text_of(approval, "status"),
                   text_of(request, "risk"), text_of(request, "tool"));
    add_command(b, request);
    buf_add_str(b, "\n          in ");
    visible_add(b, text_of(request, "cwd"));
    buf_add_char(b, '\n');
    add_reasons(b, request);
}

/* ---- verbs -------------------------------------------------------------------------------- */

static int list(const struct call *call, const rein *r, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};
    json_t *all, *approval;
    size_t i;
    int result = approvals_list(context_state_dir(r), &all, reterr);

    if (result < 0)
        return result;
    if (call->settings.format != FORMAT_TEXT)
        return print_json_line(all, reterr);
    json_array_foreach(all, i, approval) add_approval(&b, approval);
    json_decref(all);
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return b.len > 0 ? print_text(b.data, b.len, reterr) : 0;
}

int verb_approvals(struct call *call, struct rein_error **reterr)
{
    int result = operands_check(call, 0, 0, reterr);
    rein *r;

    if (operand_at(call, 0))
        result = rein_fail(reterr, -EINVAL, "bad_request", "options",
                           "approvals: '%s' is one argument too many", operand_at(call, 0));
    if (result < 0)
        return result;
    r = rein_open(NULL, reterr);
    result = r ? list(call, r, reterr) : -EINVAL;
    r = rein_free(r);
    return result;
}

static int tell_answer(const struct call *call, json_t *take_record, struct rein_error **reterr)
{
    auto_buf struct buf b = {0};

    if (call->settings.format != FORMAT_TEXT)
        return print_json_line(take_record, reterr);
    buf_add_format(&b, "%s: ", text_of(take_record, "status"));
    add_command(&b, json_object_get(take_record, "request"));
    buf_add_char(&b, '\n');
    json_decref(take_record);
    return buf_error(&b) < 0 ? rein_oom(reterr) : print_text(b.data, b.len, reterr);
}

static int answer_with(struct call *call, enum approval answer, struct rein_error **reterr)
{
    json_t *record = NULL;
    int result = operands_check(call, 1, 1, reterr);
    rein *r;

    if (result < 0)
        return result;
    r = rein_open(NULL, reterr);
    result = r ? approvals_answer(context_state_dir(r), operand_at(call, 0), answer,
                                  call->settings.reason, &record, reterr)
               : -EINVAL;
    r = rein_free(r);
    return result < 0 ? result : tell_answer(call, record, reterr);
}

int verb_approve(struct call *call, struct rein_error **reterr)
{
    const struct settings *s = &call->settings;

    if (s->always && s->for_session)
        return rein_fail_hint(reterr, -EINVAL, "bad_request", "options",
                              "--always holds in all sessions",
                              "--always and --for-session: only one of them");
    return answer_with(call,
                       s->always        ? APPROVAL_ALWAYS
                       : s->for_session ? APPROVAL_SESSION
                                        : APPROVAL_ONCE,
                       reterr);
}

int verb_deny(struct call *call, struct rein_error **reterr)
{
    return answer_with(call, APPROVAL_DENIED, reterr);
}
