/* What the rows about other machines ask of a command. */
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "risk-rules.h"

/* ---- curl and wget ------------------------------------------------------------------------ */

static const struct fetcher {
    const char *names;
    struct option_style style;
    const char *sending; /* letters that send, keep or lead elsewhere */
    const char *sending_long;
    const char *target; /* letters whose value is a file that is written */
    const char *target_long;
    bool keeps; /* without them it writes a file of its own choice */
} fetchers[] = {
    {
        "curl",
        {"AbcCdDeEFhHKmoPQrtTuUwxXyYz",
         "user-agent= cookie= connect-timeout= max-time= header= request= write-out= output= "
         "retry= "
         "retry-delay= retry-max-time= user= referer= range= cacert= cert= key= url= interface= "
         "limit-rate= keepalive-time= data= data-raw= data-binary= data-urlencode= form= "
         "form-string= json= upload-file= config= proxy= socks5= socks5-hostname= socks4= "
         "preproxy= "
         "resolve= connect-to= cookie-jar= dump-header= trace= trace-ascii= stderr= output-dir= "
         "remote-name remote-name-all remote-header-name next unix-socket= hsts= alt-svc= "
         "etag-save= libcurl= mail-from= mail-rcpt= quote= show-error silent fail location "
         "include head insecure verbose compressed",
         false, false},
        "dFTKxOJcDQ",
        "data data-raw data-binary data-urlencode form form-string json upload-file config proxy "
        "socks5 socks5-hostname socks4 preproxy resolve connect-to cookie-jar dump-header trace "
        "trace-ascii stderr output-dir remote-name remote-name-all remote-header-name hsts alt-svc "
        "etag-save libcurl mail-from mail-rcpt quote next",
        "o",
        "output",
        false,
    },
    {
        "wget",
        {"OoaPtTUeiQwAXRDIlB",
         "tries= timeout= output-document= output-file= append-output= user-agent= header= wait= "
         "post-data= post-file= body-data= body-file= method= input-file= execute= "
         "directory-prefix= base= quota= level= domains= load-cookies= save-cookies= spider quiet "
         "no-verbose",
         false, false},
        "iePoar",
        "post-data post-file body-data body-file input-file execute directory-prefix output-file "
        "append-output save-cookies config recursive mirror use-askpass",
        "O",
        "output-document",
        true,
    },
};

/* The host's end, when it is this machine. NULL: another, or none. */
static const char *skip_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "[::1]"};
    const char *p = host;
    unsigned parts = 0;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strncasecmp(host, names[i], strlen(names[i])) == 0)
            return host + strlen(names[i]);
    if (strncmp(host, "127.", 4) != 0)
        return NULL;
    while (parts < 4) {
        size_t digits = strspn(p, "0123456789");

        if (digits < 1 || digits > 3)
            return NULL;
        p += digits;
        if (++parts < 4 && *p++ != '.')
            return NULL;
    }
    return p;
}

static bool is_loopback(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    const char *rest;

    for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
            url += strlen(schemes[i]);
    rest = skip_loopback(url);
    if (!rest || (*rest && !strchr(":/?#", *rest)))
        return false;
    /* "localhost:x@elsewhere" and what a program may read as such. */
    return !memchr(rest, '@', strcspn(rest, "/?#")) && !strchr(rest, '\\');
}

static bool is_no_file(const char *path)
{
    return path && (strcmp(path, "/dev/null") == 0 || strcmp(path, "-") == 0);
}

/* What one option makes of the call: harmless or not. */
static bool option_is_harmless(const struct fetcher *f, const struct option *option, bool *keeps)
{
    bool letter = option->kind == OPTION_SHORT && option->letter;

    if ((letter && strchr(f->target, option->letter)) || option_is_long(option, f->target_long)) {
        *keeps = false;
        return is_no_file(option->value);
    }
    if (option_is_long(option, "spider"))
        *keeps = false;
    if (option_is_long(option, "url"))
        return option->value && is_loopback(option->value);
    if (letter)
        return !strchr(f->sending, option->letter);
    return !list_has(f->sending_long, option->name, option->name_len);
}

static bool stays_here(const struct judged *j, const struct fetcher *f)
{
    struct option_scan scan;
    struct option option;
    bool keeps = f->keeps, any = false;

    options_begin(&scan, j->words, j->n, &f->style);
    while (options_next(&scan, &option)) {
        if (option.kind == OPTION_OPERAND ? !is_loopback(option.value)
                                          : !option_is_harmless(f, &option, &keeps))
            return false;
        any |= option.kind == OPTION_OPERAND || option_is_long(&option, "url");
    }
    return any && !keeps;
}

bool transfers(const struct judged *j)
{
    for (size_t i = 0; i < ARRAY_SIZE(fetchers); i++)
        if (program_is(j, fetchers[i].names))
            return !stays_here(j, &fetchers[i]);
    return true;
}

/* ---- what was fetched --------------------------------------------------------------------- */

bool runs_download(const struct judged *j)
{
    if (program_is(j, "eval source ."))
        return made_by_program(j, DOWNLOADERS) || fed_by_program(j, DOWNLOADERS);
    if (j->opaque & OPAQUE_INPUT)
        return fed_by_program(j, DOWNLOADERS);
    return j->opaque & (OPAQUE_SCRIPT | OPAQUE_CODE) && made_by_program(j, DOWNLOADERS);
}

bool runs_download_by_name(const struct judged *j)
{
    return j->script && (j->opaque & OPAQUE_NAME) &&
           range_has_program(j->script, j->words[0].made_by, DOWNLOADERS);
}

/* ---- connections -------------------------------------------------------------------------- */

bool opens_connection(const struct judged *j)
{
    if (program_is(j, SHELLS " exec"))
        return (j->writes | j->reads) & PATH_NETWORK;
    if (program_is(j, "nc ncat netcat"))
        return has_option(j, 'e', "exec") || has_option(j, 'c', "sh-exec");
    for (size_t i = 1; program_is(j, "socat") && i < j->n; i++)
        if (strncasecmp(j->words[i].text, "exec:", 5) == 0 ||
            strncasecmp(j->words[i].text, "system:", 7) == 0)
            return true;
    return false;
}

bool talks_to_network(const struct judged *j)
{
    return j->n > 1;
}

bool is_remote(const struct judged *j)
{
    return j->opaque & OPAQUE_REMOTE && j->n_inner > 0;
}
