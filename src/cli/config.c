/* rein config show: the settings that hold, and where each comes from. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/config-path.h"
#include "base/error.h"
#include "print.h"
#include "settings.h"
#include "tools/result-json.h"
#include "verbs.h"

#define VALUE_WIDTH 32 /* of "key = value" */

static bool is_setting(const struct option *o)
{
    return !(o->flags & OPTION_PER_CALL) && o->kind != KIND_LATER;
}

/* A bare flag was switched on. */
static const char *shown_value(const char *value)
{
    return value ? value : "yes";
}

static void add_origin(struct buf *b, const struct origin *origin)
{
    switch (origin->source) {
    case SOURCE_FILE:
        buf_add_format(b, "%s:%d", origin->name, origin->line);
        break;
    case SOURCE_VARIABLE:
        buf_add_str(b, origin->name);
        break;
    case SOURCE_FLAG:
        buf_add_str(b, "command line");
        break;
    case SOURCE_DEFAULT:
        buf_add_str(b, "default");
        break;
    }
}

/* Calls add for each value of an option, none for one that is not set. */
static void each_value(
    const struct settings *s,
    enum option_id id,
    void (*add)(void *to, const struct option *o, const char *value, const struct origin *origin),
    void *to)
{
    const struct option *o = &option_table[id];

    if (!option_is_repeatable(o) && settings_given(s, id))
        add(to, o, s->texts[id], &s->origins[id]);
    for (size_t i = 0; i < s->n_repeated; i++)
        if (s->repeated[i].id == id)
            add(to, o, s->repeated[i].text, &s->repeated[i].origin);
}

/* ---- text: a configuration file of the same meaning --------------------------------------- */

static void
add_line(void *to, const struct option *o, const char *value, const struct origin *origin)
{
    auto_buf struct buf line = {0};
    struct buf *b = to;

    buf_add_format(&line, "%s = %s", o->name, shown_value(value));
    buf_add_format(b, "%-*s ; ", VALUE_WIDTH, line.data ? line.data : "");
    add_origin(b, origin);
    buf_add_char(b, '\n');
}

static void show_text(const struct settings *s, struct buf *b)
{
    for (int i = 0; i < OPTION_MAX; i++) {
        const struct option *o = &option_table[i];

        if (is_setting(o) && settings_given(s, (enum option_id)i))
            each_value(s, (enum option_id)i, add_line, b);
        else if (is_setting(o))
            buf_add_format(b, "; %s: %s\n", o->name, o->unset);
    }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void
add_object(void *to, const struct option *o, const char *value, const struct origin *origin)
{
    auto_buf struct buf from = {0};

    add_origin(&from, origin);
    (void)json_array_append_new(to, json_pack("{s:o, s:o}", "value", json_text(shown_value(value)),
                                              "from", json_text(from.data)));
}

/* Each option with an array of its values, which is empty for one that is not set. */
static json_t *show_object(const struct settings *s)
{
    json_t *all = json_object();

    for (int i = 0; i < OPTION_MAX; i++) {
        json_t *values;

        if (!is_setting(&option_table[i]))
            continue;
        values = json_array();
        each_value(s, (enum option_id)i, add_object, values);
        (void)json_object_set_new(all, option_table[i].name, values);
    }
    return all;
}

/* Shows what run, code and start would get. The options of `config` itself were read before. */
int verb_config(struct call *call, struct rein_error **reterr)
{
    static const struct command_line no_line = {0};
    struct settings_sources from = {.system_file = CONFIG_SYSTEM_FILE,
                                    .user_file = call->user_file,
                                    .variables = (const char *const *)environ,
                                    .line = &no_line};
    struct settings shown = {0};
    auto_buf struct buf b = {0};
    int r;

    if (call->line.n_operands != 1 || strcmp(call->line.operands[0], "show") != 0)
        return rein_fail(reterr, -EINVAL, "bad_request", "config", "config: give 'show'");
    r = settings_load(&from, VERB_RUN | VERB_CODE | VERB_START, &shown, reterr);
    if (r == 0 && call->settings.format == FORMAT_TEXT) {
        show_text(&shown, &b);
    } else if (r == 0) {
        size_t len = 0;
        auto_free char *line = json_line_take(show_object(&shown), &len);

        if (line)
            buf_add(&b, line, len);
        else
            b.error = -ENOMEM;
    }
    settings_done(&shown);
    if (r < 0)
        return r;
    if (buf_error(&b) < 0)
        return rein_oom(reterr);
    return print_text(b.data, b.len, reterr);
}
