/* NULL-terminated vectors of strings, and copies of one. All functions take NULL for an empty
 * vector. */
#ifndef REIN_BASE_STRV_H
#define REIN_BASE_STRV_H

#include <stddef.h>

size_t strv_length(const char *const *v);
char **strv_copy(const char *const *v); /* NULL when there is no memory */
char **strv_free(char **v);             /* always returns NULL */

/* Appends s, which then belongs to the vector (freed at once on failure). 0 or -ENOMEM. */
int strv_add_take(char ***v, char *take_s);
int strv_add(char ***v, const char *s);

/* A copy of one string; NULL of NULL. 0 or -ENOMEM. */
int str_copy(char **ret, const char *s);

static inline void strv_freep(char ***v)
{
    *v = strv_free(*v);
}
#define auto_strv __attribute__((cleanup(strv_freep)))

#endif
