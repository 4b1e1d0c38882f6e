/* The table of languages. */
#include "languages.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/macro.h"
#include "prelude.h"

static const struct language languages[] = {
    {
        .name = "python",
        .aliases = {"py", "python3"},
        .extension = "py",
        .interpreters = {"python3", "python"},
        .arguments = {"-X", "utf8", "-u"},
        .install_hint = "install python3, or put it on the PATH of the job",
        .import_variable = "PYTHONPATH",
        .import_dirs = {""},
        .probe = {"-I", "-S", "-c",
                  "import sys\n"
                  "out = sys.stdout.buffer\n"
                  "out.write(sys.executable.encode('utf-8', 'surrogateescape') + b'\\0')\n"
                  "for name in 'cmdline', 'environ':\n"
                  "    with open('/proc/self/' + name, 'rb') as f: out.write(f.read())\n"},
        .version_files = {".python-version"},
        .prelude = &prelude_python,
    },
    {
        .name = "bash",
        .aliases = {"shell"},
        .extension = "sh",
        .interpreters = {"bash"},
        .install_hint = "install bash, or put it on the PATH of the job",
        .startup_variables = {"BASH_ENV", "ENV"},
    },
    {
        .name = "sh",
        .extension = "sh",
        .interpreters = {"sh"},
        .install_hint = "put a POSIX shell named sh on the PATH of the job",
        .startup_variables = {"BASH_ENV", "ENV"},
    },
    {
        .name = "node",
        .aliases = {"javascript", "js", "nodejs"},
        .extension = "js",
        .interpreters = {"node", "nodejs"},
        .install_hint = "install Node.js, or put node on the PATH of the job",
        .import_variable = "NODE_PATH",
        .import_dirs = {"node_modules", ""},
        /* Whether a .js file is a module is said by the nearest package.json up the tree: without
         * one of its own that would be whatever lies above the store, in the user's home. */
        .companion_name = "package.json",
        .companion_text = "{}\n",
        .probe = {"-e", "const fs = require('fs');\n"
                        "const read = (name) => fs.readFileSync('/proc/self/' + name);\n"
                        "process.stdout.write(Buffer.concat([Buffer.from(process.execPath + '\\0'),"
                        " read('cmdline'), read('environ')]));\n"},
        .version_files = {".node-version", ".nvmrc", "package.json"},
        .takes_nul = 1,
    },
    {
        .name = "perl",
        .aliases = {"pl"},
        .extension = "pl",
        .interpreters = {"perl"},
        .install_hint = "install perl, or put it on the PATH of the job",
        .import_variable = "PERL5LIB",
        .import_dirs = {""},
        .probe = {"-e", "print $^X, qq(\\0); undef $/;"
                        " for (qw(cmdline environ)) { open F, qq(</proc/self/$_) and print <F>; }"},
        .version_files = {".perl-version"},
        .takes_nul = 1,
    },
    {
        .name = "ruby",
        .aliases = {"rb"},
        .extension = "rb",
        .interpreters = {"ruby"},
        .install_hint = "install ruby, or put it on the PATH of the job",
        .import_variable = "RUBYLIB",
        .import_dirs = {""},
        .probe = {"-e", "require 'rbconfig'; $stdout.binmode; print RbConfig.ruby, \"\\0\";"
                        " %w(cmdline environ).each { |n| print File.binread('/proc/self/' + n) }"},
        .version_files = {".ruby-version", "Gemfile"},
        .takes_nul = 1,
    },
    {
        .name = "powershell",
        .aliases = {"pwsh", "ps1"},
        .extension = "ps1",
        .interpreters = {"pwsh", "powershell"},
        .arguments = {"-NoProfile", "-NonInteractive", "-File"},
        .install_hint = "install PowerShell 7, or put pwsh on the PATH of the job",
    },
};

size_t language_count(void)
{
    return ARRAY_SIZE(languages);
}

const struct language *language_at(size_t i)
{
    assert(i < ARRAY_SIZE(languages));
    return &languages[i];
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Compares ASCII without case, the same in every locale. */
static int same_name(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

static int has_name(const struct language *language, const char *name)
{
    if (same_name(language->name, name))
        return 1;
    for (const char *const *alias = language->aliases; *alias; alias++)
        if (same_name(*alias, name))
            return 1;
    return 0;
}

const struct language *language_find(const char *name)
{
    assert(name);

    for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
        if (has_name(&languages[i], name))
            return &languages[i];
    return NULL;
}

static int unknown_language(const char *name, struct rein_error **reterr)
{
    auto_buf struct buf hint = {0};

    buf_add_str(&hint, "languages: ");
    for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
        buf_add_str(&hint, i > 0 ? ", " : "");
        buf_add_str(&hint, languages[i].name);
    }
    if (buf_error(&hint) < 0)
        return rein_oom(reterr);
    return rein_fail_hint(reterr, -EINVAL, "bad_request", "language", hint.data,
                          "unknown language '%s'", name);
}

int language_require(const char *name, const struct language **ret, struct rein_error **reterr)
{
    const struct language *language = language_find(name);

    if (!language)
        return unknown_language(name, reterr);
    *ret = language;
    return 0;
}
