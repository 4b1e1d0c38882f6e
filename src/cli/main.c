/* The program: finds the verb, reads its options, runs it, and tells how a request failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config-path.h"
#include "base/error.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/suggest.h"
#include "print.h"
#include "report.h"
#include "settings.h"
#include "tools/error-codes.h"
#include "verbs.h"

/* ---- failures ----------------------------------------------------------------------------- */

/* True when the arguments ask for JSON, for requests that fail before their options are read. */
static bool asks_for_json(const char *const *argv)
{
    for (; *argv && strcmp(*argv, "--") != 0; argv++)
        if (strcmp(*argv, "--json") == 0 || strcmp(*argv, "--jsonl") == 0)
            return true;
    return false;
}

static bool starts_jobs(const struct verb *verb)
{
    return verb->usage_exit == EXIT_STATUS_FAILED;
}

/* The one place where a failed request is told. Gives the exit status. */
static int tell_failure(const struct rein_error *error, bool json, bool starts_job)
{
    const struct error_code *code = error_code_find(error->code);

    if (json)
        print_error_json(error);
    else
        report_error(error);
    return starts_job ? code->run_exit : code->verb_exit;
}

/* ---- running a verb ----------------------------------------------------------------------- */

static int read_settings(struct call *call, struct rein_error **reterr)
{
    struct settings_sources from = {.system_file = CONFIG_SYSTEM_FILE, .line = &call->line};

    call->user_file = config_user_file();
    from.user_file = call->user_file;
    from.variables = (const char *const *)environ;
    return settings_load(&from, call->verb->bit, &call->settings, reterr);
}

/* The settings are read after a mistake in the arguments, too: they say how to tell it. */
static int run_call(struct call *call, const char *const *argv, struct rein_error **reterr)
{
    const struct verb *verb = call->verb;
    int scanned = options_scan(verb->bit, verb->scan_flags, argv, &call->line, reterr);
    int loaded = read_settings(call, scanned < 0 ? NULL : reterr);

    if (call->settings.help)
        return help_print(verb, reterr);
    if (scanned < 0)
        return scanned;
    return loaded < 0 ? loaded : verb->run(call, reterr);
}

static int run_verb(const struct verb *verb, const char *const *argv)
{
    struct call call = {.verb = verb};
    auto_error struct rein_error *error = NULL;
    int r = run_call(&call, argv, &error);

    if (r < 0)
        r = tell_failure(error, call.settings.format != FORMAT_TEXT, starts_jobs(verb));
    settings_done(&call.settings);
    command_line_done(&call.line);
    free(call.user_file);
    return r;
}

static int refuse_verb(const struct verb *verb, const char *const *argv)
{
    auto_error struct rein_error *error = NULL;

    (void)rein_fail(&error, -ENOTSUP, "bad_request", "verb", "%s: not supported by this version",
                    verb->name);
    return tell_failure(error, asks_for_json(argv), starts_jobs(verb));
}

static int refuse_unknown(const char *name, const char *const *argv)
{
    struct suggestion near = {.typed = name, .typed_len = strlen(name)};
    auto_error struct rein_error *error = NULL;
    char hint[64] = HELP_HINT;
    size_t n_verbs;
    const struct verb *verbs = verb_table(&n_verbs);

    for (size_t i = 0; i < n_verbs; i++)
        suggest_consider(&near, verbs[i].run ? verbs[i].name : NULL);
    if (near.best)
        (void)snprintf(hint, sizeof(hint), "did you mean rein %s?", near.best);
    (void)rein_fail_hint(&error, -EINVAL, "bad_request", "verb", hint, "%s: no such %s", name,
                         name[0] == '-' ? "option" : "verb");
    return tell_failure(error, asks_for_json(argv), false);
}

static int refuse_missing(void)
{
    auto_error struct rein_error *error = NULL;
    auto_buf struct buf hint = {0};
    size_t n;
    const struct verb *verbs = verb_table(&n);

    buf_add_str(&hint, "one of");
    for (size_t i = 0; i < n; i++)
        if (verbs[i].run)
            buf_add_format(&hint, "%s %s", i ? "," : "", verbs[i].name);
    (void)rein_fail_hint(&error, -EINVAL, "bad_request", "verb",
                         buf_error(&hint) ? HELP_HINT : hint.data, "a verb is missing");
    return tell_failure(error, false, false);
}

static int print_version(void)
{
    auto_error struct rein_error *error = NULL;
    char line[64];
    int n = snprintf(line, sizeof(line), "rein %s\n", rein_version());

    return print_text(line, (size_t)n, &error) < 0 ? tell_failure(error, false, false) : 0;
}

static int dispatch(const char *const *argv)
{
    const char *name = argv[0];
    const struct verb *verb;

    if (!name)
        return refuse_missing();

    if (strcmp(name, "--version") == 0)
        return print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    verb = verb_find(name);
    if (!verb)
        return refuse_unknown(name, argv + 1);
    if (!verb->run)
        return refuse_verb(verb, argv + 1);
    return run_verb(verb, argv + 1);
}

/* Descriptors 0 to 2 that are closed would be taken by the next file opened, and written to. They
 * get the null device, for reading: writing fails as it would have. */
static void open_standard_fds(void)
{
    struct pollfd fds[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};

    if (poll(fds, ARRAY_SIZE(fds), 0) <= 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (fds[i].revents & POLLNVAL)
            (void)open("/dev/null", O_RDONLY); /* the lowest free number is this one */
}

int main(int argc, char **argv)
{
    open_standard_fds();
    /* a reader that has gone, and our own limit on files, are errors of write() */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    return dispatch((const char *const *)argv + (argc > 0));
}
