/* rein rm: forgets finished jobs. One that cannot be forgotten does not keep the others. */
#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "jobs.h"
#include "print.h"
#include "report.h"
#include "tools/error-codes.h"
#include "tools/result-json.h"

struct removing {
    rein *context;
    bool as_json;
    struct buf text; /* the handles of what is gone */
    json_t *objects;
    int status; /* of the first failure */
};

static int add_object(struct removing *m, json_t *take_object, struct rein_error **reterr)
{
    return json_array_append_new(m->objects, take_object) < 0 ? rein_oom(reterr) : 0;
}

static int
note_failure(struct removing *m, const struct rein_error *error, struct rein_error **reterr)
{
    if (m->status == 0)
        m->status = error_code_find(error->code)->verb_exit;
    if (m->as_json)
        return add_object(m, error_json(error), reterr);
    report_error(error);
    return 0;
}

static int remove_one(struct removing *m, const char *id, struct rein_error **reterr)
{
    auto_error struct rein_error *error = NULL;

    if (rein_forget(m->context, id, &error) < 0)
        return note_failure(m, error, reterr);
    if (m->as_json)
        return add_object(m, json_pack("{s:b, s:s}", "success", 1, "process_id", id), reterr);
    buf_add_format(&m->text, "%s\n", id);
    return buf_error(&m->text) < 0 ? rein_oom(reterr) : 0;
}

/* One job gives one object, several an array. */
static int tell(struct removing *m, struct rein_error **reterr)
{
    if (!m->as_json)
        return m->text.len > 0 ? print_text(m->text.data, m->text.len, reterr) : 0;
    if (json_array_size(m->objects) == 1)
        return print_json_line(json_incref(json_array_get(m->objects, 0)), reterr);
    return print_json_line(json_incref(m->objects), reterr);
}

int verb_rm(struct call *call, struct rein_error **reterr)
{
    struct removing m = {.as_json = call->settings.format != FORMAT_TEXT};
    int r = operands_check(call, 1, 0, reterr);

    if (r < 0)
        return r;
    m.context = rein_open(NULL, reterr);
    if (!m.context)
        return -EINVAL;
    m.objects = json_array();
    for (size_t i = 0; r == 0 && operand_at(call, i); i++)
        r = remove_one(&m, operand_at(call, i), reterr);
    if (r == 0)
        r = tell(&m, reterr);
    buf_done(&m.text);
    json_decref(m.objects);
    m.context = rein_free(m.context);
    return r < 0 ? r : m.status;
}
