/* Secrets: what is masked in a whole text, and what is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "job/secrets.h"

static void test_texts(void **state)
{
    static const struct {
        const char *values[3];
        const char *text, *masked;
    } rows[] = {
        {{"secret"}, "a secret, secretsecret", "a ******, ************"},
        {{"abcd", "cdef"}, "abcdef cdefg", "****** ****g"},
        {{"aba"}, "ababa aba ab", "***** *** ab"},
        {{"", "x"}, "axa", "a*a"},
        {{NULL}, "text", "text"},
        {{"long value"}, "long", "long"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[64];

        (void)strcpy(text, rows[i].text);
        assert_int_equal(secrets_mask_text(rows[i].values, text), 0);
        assert_string_equal(text, rows[i].masked);
    }
}

static void test_no_values(void **state)
{
    char text[] = "text";

    assert_int_equal(secrets_mask_text(NULL, text), 0);
    assert_string_equal(text, "text");
}

static void test_names(void **state)
{
    static const char *const secret[] = {
        "API_KEY",
        "api_key",
        "OPENAI_API_KEY",
        "STRIPE_KEY",
        "KEY",
        "TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "npm_config__authToken",
        "GITHUB_PAT",
        "CLIENT_SECRET",
        "SECRET_KEY_BASE",
        "MY_SECRETS",
        "PGPASSWORD",
        "MYSQL_ROOT_PASSWORD",
        "DB_PASSWD",
        "DB_PASS",
        "DB_PWD",
        "SSH_PASSPHRASE",
        "GOOGLE_CREDENTIALS",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "SENTRY_DSN",
        "DATABASE_URL",
        "PROD_DATABASE_URL",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SLACK_WEBHOOK_URL",
        "DOCKER_AUTH_CONFIG",
        "SSH_AUTH_SOCK",
        "HTTP_AUTHORIZATION",
        "SESSION_COOKIE",
        "DEPLOY_PRIVATE_KEY_BASE64",
        "AUTH_JWT",
        "JWT",
        "PASS",
        "NPM_AUTH",
        "MYAPIKEY",
        "MyAccessKey1",
        "PrivateKeyPem",
        "STRIPE_ACCESS_KEY_LIVE",
        "GPG_AGENT_INFO",
        "STRIPE_API_KEY_LIVE",
        "AWS_SESSION",
    };
    static const char *const harmless[] = {
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "KEYBOARD",
        "KEYMAP",
        "MONKEY",
        "XKB_DEFAULT_LAYOUT",
        "TOKENIZERS_PARALLELISM",
        "MAX_TOKENS",
        "SSH_KEY_PATH",
        "API_KEY_FILE",
        "GOOGLE_APPLICATION_CREDENTIALS_FILE",
        "PASSWORD_MIN_LENGTH",
        "TOKEN_TTL",
        "SECRET_NAME",
        "API_KEY_DIR",
        "SECRET_SIZE",
        "API_KEY_PATH",
        "SECRET_TTL",
        "API_KEY_LIMIT",
        "SECRET_TYPE",
        "PASSWORD_TIMEOUT",
        "AWS_PAGER",
        "AWS_DEFAULT_PROFILE",
        "AWS_DEFAULT_OUTPUT",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_PROFILE",
        "SSH_ASKPASS",
        "GIT_ASKPASS",
        "XAUTHORITY",
        "AUTHOR",
        "GIT_AUTHOR_NAME",
        "COMPASS",
        "BYPASS",
        "PATTERN",
        "COMPAT",
        "DISPLAY",
        "PASSENGER_ENV",
        "",
    };
    char longest[4096];

    for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
        if (!secret_name(secret[i]))
            fail_msg("%s is none", secret[i]);
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (secret_name(harmless[i]))
            fail_msg("%s is one", harmless[i]);
    memset(longest, 'A', sizeof(longest) - 1);
    (void)strcpy(longest + sizeof(longest) - 5, "_KEY");
    assert_false(secret_name(longest));
}

/* Put together here, so that nobody takes this file for one with secrets. */
#define LETTERS "0123456789abcdefghijklmnopqrstuvwxyzABCD"

static void test_values(void **state)
{
    static const char *const secret[] = {
        "AK"
        "IAIOSFODNN7EXAMPLE",
        "AS"
        "IAIOSFODNN7EXAMPLE",
        "gh"
        "p_" LETTERS,
        "gh"
        "s_" LETTERS,
        "github"
        "_pat_" LETTERS,
        "gl"
        "pat-" LETTERS,
        "sk"
        "-" LETTERS,
        "sk"
        "-proj-" LETTERS,
        "Bearer sk"
        "-ant-" LETTERS,
        "sk"
        "_live_" LETTERS,
        "xo"
        "xb-12345-67890-abc",
        "AI"
        "za" LETTERS,
        "gh"
        "o_" LETTERS,
        "gh"
        "u_" LETTERS,
        "gh"
        "r_" LETTERS,
        "sk"
        "_test_" LETTERS,
        "rk"
        "_live_" LETTERS,
        "xo"
        "xa-" LETTERS,
        "xo"
        "xp-" LETTERS,
        "xo"
        "xr-" LETTERS,
        "xo"
        "xs-" LETTERS,
        "dop"
        "_v1_" LETTERS,
        "AGE-SECRET"
        "-KEY-1" LETTERS,
        "np"
        "m_" LETTERS,
        "py"
        "pi-" LETTERS,
        "h"
        "f_" LETTERS,
        "ya"
        "29." LETTERS,
        "ey"
        "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN OPENSSH PRIVATE"
        " KEY-----\nb3Bl",
        "postgres://app:pass"
        "word@db/app",
        "a=1 https://u:p"
        "@h/",
        "{\"token\":\"gh"
        "p_" LETTERS "\"}",
    };
    static const char *const harmless[] = {
        "",
        "sk",
        "sk-",
        "sk-test",
        "sk-SK.UTF-8",
        "task-" LETTERS,
        "AKIA",
        "AKIAx",
        "ghp_short",
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJIUzI1NiJ9.short.x",
        "http://host:8080/path",
        "http://host:8080/a@b",
        "ssh://git@host/x",
        "git@host:path",
        "user:password",
        "://:@",
        "http://host/?x=a:b@c",
        "-----BEGIN CERTIFICATE-----",
        LETTERS LETTERS,
        "/usr/bin:/bin",
        "d:/x://y:z",
    };

    for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
        if (!secret_value(secret[i]))
            fail_msg("'%s' is none", secret[i]);
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (secret_value(harmless[i]))
            fail_msg("'%s' is one", harmless[i]);
}

static void test_entries(void **state)
{
    static const struct {
        const char *entry, *shown;
    } rows[] = {
        {"A_TOKEN=x", "A_TOKEN=***"},
        {"A_TOKEN=", "A_TOKEN="}, /* nothing to hide */
        {"A_TOKEN", "A_TOKEN"},
        {"URL=https://u:p"
         "@h/",
         "URL=***"},
        {"URL=https://h/?a=b", "URL=https://h/?a=b"},
        {"PLAIN=TOKEN=x", "PLAIN=TOKEN=x"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *shown = secret_shown(rows[i].entry);

        assert_string_equal(shown, rows[i].shown);
        free(shown);
    }
    assert_true(secret_entry("A_TOKEN"));
    assert_false(secret_entry("A_TOKEN="));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),   cmocka_unit_test(test_no_values),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_values),
        cmocka_unit_test(test_entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
