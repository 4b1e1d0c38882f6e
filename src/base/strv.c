/* NULL-terminated vectors of strings. */
#include "strv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t strv_length(const char *const *v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

char **strv_free(char **v)
{
    for (char **p = v; p && *p; p++)
        free(*p);
    free(v);
    return NULL;
}

char **strv_copy(const char *const *v)
{
    size_t n = strv_length(v);
    char **copy = calloc(n + 1, sizeof(*copy));

    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(v[i]);
        if (!copy[i])
            return strv_free(copy);
    }
    return copy;
}

int strv_add_take(char ***v, char *take_s)
{
    size_t n = strv_length((const char *const *)*v);
    char **grown = take_s ? realloc(*v, (n + 2) * sizeof(*grown)) : NULL;

    if (!grown) {
        free(take_s);
        return -ENOMEM;
    }
    grown[n] = take_s;
    grown[n + 1] = NULL;
    *v = grown;
    return 0;
}

int strv_add(char ***v, const char *s)
{
    return strv_add_take(v, strdup(s));
}

int str_copy(char **ret, const char *s)
{
    *ret = s ? strdup(s) : NULL;
    return s && !*ret ? -ENOMEM : 0;
}
