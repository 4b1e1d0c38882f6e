/* Finds the values of declared secrets, and masks them in whole texts. */
#include "secrets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/strv.h"
#include "spec-env.h"

int secrets_mask_text(const char *const *values, char *text)
{
    auto_free char *original = NULL;

    for (size_t i = 0; values && values[i]; i++) {
        size_t size = strlen(values[i]);
        const char *at = original;

        if (size == 0 || (!original && !strstr(text, values[i])))
            continue;
        if (!original)
            at = original = strdup(text); /* found in what was there, not in what is left of it */
        if (!original)
            return -ENOMEM;
        for (; (at = strstr(at, values[i])); at++)
            memset(text + (at - original), MASK_BYTE, size);
    }
    return 0;
}

/* Of an environment only what occurs in the text is judged: that is the cheap question. */
int secrets_mask_shown(const char *const *values, const char *const *env, char *text)
{
    auto_strv char **all = NULL;

    for (; env && *env; env++) {
        const char *value = strchr(*env, '=');

        if (value && strlen(value + 1) >= SECRET_SHOWN_MIN && strstr(text, value + 1) &&
            secret_entry(*env) && strv_add(&all, value + 1) < 0)
            return -ENOMEM;
    }
    if (!all)
        return secrets_mask_text(values, text);
    for (; values && *values; values++)
        if (strv_add(&all, *values) < 0)
            return -ENOMEM;
    return secrets_mask_text((const char *const *)all, text);
}

/* Why a value is not masked; NULL when it can be. */
static const char *why_not(const char *value)
{
    size_t size = value ? strlen(value) : 0;

    if (!value)
        return "there is no such variable";
    if (size < MASK_SECRET_MIN)
        return "it is shorter than 4 bytes";
    return size > MASK_SECRET_MAX ? "it is longer than 4096 bytes" : NULL;
}

static int warn(char ***warnings, const char *name, const char *why)
{
    char *text = NULL;

    if (asprintf(&text, "secret %s: %s, and not masked", name, why) < 0)
        return -ENOMEM;
    return strv_add_take(warnings, text);
}

static int has(char *const *values, const char *value)
{
    for (size_t i = 0; values && values[i]; i++)
        if (strcmp(values[i], value) == 0)
            return 1;
    return 0;
}

int secrets_resolve(const struct rein_spec *spec,
                    const char *const *env,
                    char ***ret_values,
                    char ***warnings)
{
    auto_strv char **values = NULL;

    for (size_t i = 0; spec->secrets && spec->secrets[i]; i++) {
        const char *name = spec->secrets[i];
        const char *value = env_get(env, name);
        const char *why;
        int r = 0;

        if (!value)
            value = getenv(name);
        why = why_not(value);
        if (why)
            r = warn(warnings, name, why);
        else if (!has(values, value))
            r = strv_add(&values, value);
        if (r < 0)
            return r;
    }
    *ret_values = TAKE_PTR(values);
    return 0;
}
