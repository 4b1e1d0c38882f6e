#include "hide.h"

#include <stdbool.h>
#include <string.h>

#include "job/secrets.h"

#define DELIMITERS " \t\r\n\"'`,;()<>{}|&"
#define NAME_MAX_BYTES 64

static void star(char *text, size_t len)
{
    memset(text, '*', len);
}

/* --password, DB_PASSWORD: the name before a "=". */
static bool is_secret_name(const char *name, size_t len)
{
    char copy[NAME_MAX_BYTES];

    while (len > 0 && *name == '-') {
        name++;
        len--;
    }
    if (len == 0 || len >= sizeof(copy))
        return false;
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)(name[i] == '-' ? '_' : name[i]);
    copy[len] = '\0';
    return secret_name(copy);
}

/* One piece between delimiters. */
static void hide_piece(char *piece, size_t len)
{
    char end = piece[len];
    char *value = memchr(piece, '=', len);

    piece[len] = '\0';
    if (value && is_secret_name(piece, (size_t)(value - piece)))
        star(value + 1, strlen(value + 1));
    else if (secret_value(piece))
        star(value ? value + 1 : piece, strlen(value ? value + 1 : piece));
    piece[len] = end;
}

int hide_secrets(const char *const *values, const char *const *env, char *text)
{
    int r = secrets_mask_shown(values, env, text);

    while (r == 0 && *text) {
        size_t len = strcspn(text, DELIMITERS);

        hide_piece(text, len);
        text += len;
        text += strspn(text, DELIMITERS);
    }
    return r;
}
