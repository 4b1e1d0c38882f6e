/* Makes and frees struct rein_error. Knows nothing about what the codes mean. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The error given when there is no memory for an error: never freed. */
static struct rein_error oom_error = {
    .code = "internal", .step = "memory", .message = "out of memory", .errnum = ENOMEM};

struct rein_error *rein_error_free(struct rein_error *error)
{
    if (error && error != &oom_error) {
        free((char *)(uintptr_t)error->message);
        free((char *)(uintptr_t)error->hint);
        free(error);
    }
    return NULL;
}

static struct rein_error *
new_error(int err, const char *code, const char *step, char *take_message, const char *hint)
{
    struct rein_error *error = calloc(1, sizeof(*error));
    char *hint_copy = hint ? strdup(hint) : NULL;

    if (!error || !take_message || (hint && !hint_copy)) {
        free(error);
        free(take_message);
        free(hint_copy);
        return &oom_error;
    }
    error->code = code;
    error->step = step;
    error->message = take_message;
    error->hint = hint_copy;
    error->errnum = err < 0 ? -err : err;
    return error;
}

static char *format_message(const char *format, va_list ap) REIN_PRINTF(1, 0);
static char *format_message(const char *format, va_list ap)
{
    char *message = NULL;

    return vasprintf(&message, format, ap) < 0 ? NULL : message;
}

int rein_fail(struct rein_error **reterr,
              int err,
              const char *code,
              const char *step,
              const char *format,
              ...)
{
    if (reterr) {
        va_list ap;

        va_start(ap, format);
        *reterr = new_error(err, code, step, format_message(format, ap), NULL);
        va_end(ap);
    }
    return err;
}

int rein_fail_hint(struct rein_error **reterr,
                   int err,
                   const char *code,
                   const char *step,
                   const char *hint,
                   const char *format,
                   ...)
{
    if (reterr) {
        va_list ap;

        va_start(ap, format);
        *reterr = new_error(err, code, step, format_message(format, ap), hint);
        va_end(ap);
    }
    return err;
}

int rein_wrap(struct rein_error **reterr, int err, const char *format, ...)
{
    auto_free char *context = NULL;
    char *joined = NULL;
    va_list ap;

    if (!reterr || !*reterr || *reterr == &oom_error)
        return err;
    va_start(ap, format);
    context = format_message(format, ap);
    va_end(ap);
    if (context && asprintf(&joined, "%s: %s", context, (*reterr)->message) >= 0) {
        free((char *)(uintptr_t)(*reterr)->message);
        (*reterr)->message = joined;
    }
    return err;
}

int rein_oom(struct rein_error **reterr)
{
    if (reterr)
        *reterr = &oom_error;
    return -ENOMEM;
}
