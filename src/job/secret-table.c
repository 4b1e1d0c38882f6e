/* What looks like a secret: tables of names and of the shapes of values. A name is judged by its
 * words, so that TOKENIZERS_PARALLELISM and KEYBOARD are what they are; a value by what tokens of
 * well-known services begin with. */
#include "secrets.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"

#define NAME_MAX_BYTES 256 /* a longer name is no name that anybody gave to a secret */

static int matches_any(const char *name, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
            return 1;
    return 0;
}

/* ---- names -------------------------------------------------------------------------------- */

/* They speak about a secret and have none: where it is, how long, which kind. */
static const char *const harmless_names[] = {
    "*_FILE",
    "*_PATH",
    "*_DIR",
    "*_LENGTH",
    "*_SIZE",
    "*_LIMIT",
    "*_TTL",
    "*_TYPE",
    "*_TIMEOUT",
    "*_NAME",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PAGER",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_DEFAULT_OUTPUT",
};

static const char *const secret_names[] = {
    /* tokens and keys */
    "*TOKEN",
    "KEY",
    "*_KEY",
    "*API_KEY*",
    "*APIKEY*",
    "*ACCESS_KEY*",
    "*ACCESSKEY*",
    "*PRIVATE_KEY*",
    "*PRIVATEKEY*",
    "*SECRET*",
    "JWT",
    "*_JWT",
    "*_PAT",
    "AWS_*",
    /* passwords */
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "PASS",
    "*_PASS",
    "*_PWD",
    /* what is sent to say who one is */
    "*CREDENTIAL*",
    "*_AUTH",
    "*_AUTH_CONFIG",
    "*AUTHORIZATION",
    "*COOKIE",
    /* addresses that often have a password in them */
    "*_DSN",
    "DATABASE_URL",
    "*_DATABASE_URL",
    "*CONNECTION_STRING",
    "*_WEBHOOK_URL",
    /* a way to somebody who has secrets, and uses them for whoever asks */
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
};

bool secret_name(const char *name)
{
    if (strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
        return false;
    return !matches_any(name, harmless_names, ARRAY_SIZE(harmless_names)) &&
           matches_any(name, secret_names, ARRAY_SIZE(secret_names));
}

/* ---- values ------------------------------------------------------------------------------- */

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define ALNUM UPPER LOWER DIGITS
#define BASE64URL ALNUM "_-"

/* A beginning, and how many characters of a kind follow at least. */
static const struct shape {
    const char *begin;
    const char *characters;
    size_t at_least;
} shapes[] = {
    {"AKIA", UPPER DIGITS, 16},
    {"ASIA", UPPER DIGITS, 16},
    {"ghp_", ALNUM, 20},
    {"gho_", ALNUM, 20},
    {"ghu_", ALNUM, 20},
    {"ghs_", ALNUM, 20},
    {"ghr_", ALNUM, 20},
    {"github_pat_", ALNUM "_", 20},
    {"glpat-", BASE64URL, 20},
    {"sk-", BASE64URL, 20},
    {"sk_live_", ALNUM, 16},
    {"sk_test_", ALNUM, 16},
    {"rk_live_", ALNUM, 16},
    {"xoxa-", ALNUM "-", 10},
    {"xoxb-", ALNUM "-", 10},
    {"xoxp-", ALNUM "-", 10},
    {"xoxr-", ALNUM "-", 10},
    {"xoxs-", ALNUM "-", 10},
    {"AIza", BASE64URL, 35},
    {"ya29.", BASE64URL, 20},
    {"npm_", ALNUM, 30},
    {"pypi-", BASE64URL, 40},
    {"hf_", ALNUM, 30},
    {"dop_v1_", ALNUM, 40},
    {"AGE-SECRET-KEY-1", ALNUM, 20},
};

static bool begins_word(const char *value, const char *at)
{
    return at == value || !strchr(ALNUM "_-", at[-1]);
}

static bool has_shape(const char *value, const struct shape *s)
{
    for (const char *at = value; (at = strstr(at, s->begin)); at++)
        if (begins_word(value, at) && strspn(at + strlen(s->begin), s->characters) >= s->at_least)
            return true;
    return false;
}

/* Three parts in base64, the first of which begins as a JSON object does. */
static bool has_web_token(const char *value)
{
    for (const char *at = value; (at = strstr(at, "eyJ")); at++) {
        size_t first = strspn(at, BASE64URL);
        size_t second = at[first] == '.' ? strspn(at + first + 1, BASE64URL) : 0;

        if (begins_word(value, at) && first >= 10 && second >= 10 && at[first + 1 + second] == '.')
            return true;
    }
    return false;
}

static bool has_private_key(const char *value)
{
    const char *begin = strstr(value, "-----BEGIN ");

    return begin && strstr(begin, "PRIVATE KEY");
}

/* scheme://user:password@host */
static bool has_url_with_password(const char *value)
{
    for (const char *at = value; (at = strstr(at, "://")); at++) {
        size_t user = strcspn(at + 3, ":@/?# \t\n");
        const char *colon = at + 3 + user;
        size_t password = *colon == ':' ? strcspn(colon + 1, "@/?# \t\n") : 0;

        if (password > 0 && colon[1 + password] == '@')
            return true;
    }
    return false;
}

bool secret_value(const char *value)
{
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        if (has_shape(value, &shapes[i]))
            return true;
    return has_web_token(value) || has_private_key(value) || has_url_with_password(value);
}

/* ---- variables ---------------------------------------------------------------------------- */

bool secret_entry(const char *entry)
{
    size_t name_size = strcspn(entry, "=");
    char name[NAME_MAX_BYTES];

    if (entry[name_size] && !entry[name_size + 1])
        return false;
    (void)snprintf(name, sizeof(name), "%.*s", (int)MIN(name_size, sizeof(name)), entry);
    return secret_name(name) || (entry[name_size] && secret_value(entry + name_size + 1));
}

char *secret_shown(const char *entry)
{
    size_t name_size = strcspn(entry, "=");
    char *shown = NULL;

    if (!entry[name_size] || !secret_entry(entry))
        return strdup(entry);
    return asprintf(&shown, "%.*s=***", (int)name_size, entry) < 0 ? NULL : shown;
}
