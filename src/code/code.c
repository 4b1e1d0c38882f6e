/*
 * Runs code. The steps of rein_start_code(): check what was asked, find the interpreter in the
 * environment that the job will have, write text to a private file, put the command line together,
 * and leave the rest to the job layer, which also removes the file when the job has ended.
 */
#include "code.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "base/strv.h"
#include "code-env.h"
#include "interpreter.h"
#include "job/job.h"
#include "job/spec-env.h"
#include "prelude.h"
#include "script.h"

/* What is prepared for the start of one piece of code. */
struct launch {
    const struct language *language;
    struct rein_spec spec; /* of the job; borrows argv and env from below */
    char **job_env;        /* the environment that the caller's spec leads to */
    char **env;            /* variables to ask the job layer for */
    char **argv;
    char *cwd;         /* absolute, without links; NULL when it cannot be entered */
    char *file;        /* as the interpreter gets it */
    char *file_dir;    /* absolute; NULL when it is the working directory, or private */
    char *interpreter; /* absolute */
    struct script script;
    char *prelude_dir;     /* absolute, or NULL */
    int lives_with_script; /* the job's directory is the script's */
};

static void launch_done(struct launch *launch)
{
    launch->job_env = strv_free(launch->job_env);
    launch->env = strv_free(launch->env);
    launch->argv = strv_free(launch->argv);
    free(launch->cwd);
    free(launch->file);
    free(launch->file_dir);
    free(launch->interpreter);
    free(launch->prelude_dir);
    script_discard(&launch->script); /* unless the job has it by now */
}

/* ---- checking ----------------------------------------------------------------------------- */

static int check_text(const struct rein_code *code,
                      const struct language *language,
                      struct rein_error **reterr)
{
    const char *nul;

    if (!code->text || language->takes_nul)
        return 0;
    nul = memchr(code->text, '\0', code->text_size);
    if (nul)
        return rein_fail(reterr, -EINVAL, "bad_request", "code",
                         "the code has a NUL byte at offset %zu, which %s does not take",
                         (size_t)(nul - code->text), language->name);
    return 0;
}

static int check_prelude(const struct rein_code *code,
                         const struct language *language,
                         struct rein_error **reterr)
{
    if (code->prelude && code->prelude[0] && !language->prelude)
        return rein_fail(reterr, -EINVAL, "bad_request", "prelude", "%s has no prelude",
                         language->name);
    return 0;
}

static int check_request(const struct rein_code *code,
                         const struct rein_spec *spec,
                         struct rein_error **reterr)
{
    if (!code || code->size < sizeof(*code) || !spec || spec->size < sizeof(*spec))
        return rein_fail(reterr, -EINVAL, "bad_request", "code",
                         "the size of the code or of the spec is not set");
    if (!code->language)
        return rein_fail(reterr, -EINVAL, "bad_request", "language", "no language is given");
    if (!code->text == !code->file)
        return rein_fail(reterr, -EINVAL, "bad_request", "code",
                         "either the code's text or a file must be given");
    if (code->file && code->file[0] == '\0')
        return rein_fail(reterr, -EINVAL, "bad_request", "code", "the file has no name");
    if (spec->argv || (spec->flags & REIN_SPEC_SHELL))
        return rein_fail(reterr, -EINVAL, "bad_request", "code",
                         "code takes no command: the language makes it");
    return 0;
}

/* ---- preparing ---------------------------------------------------------------------------- */

/* Fills in where the job will live: its environment and its directory. A directory that cannot be
 * entered is the job layer's to report. */
static int
find_place(struct launch *launch, const struct rein_spec *spec, struct rein_error **reterr)
{
    int r = spec_environment(spec, &launch->job_env, reterr);

    if (r < 0)
        return r;
    launch->cwd = realpath(spec->cwd ? spec->cwd : ".", NULL);
    if (!launch->cwd && errno == ENOMEM)
        return rein_oom(reterr);
    return 0;
}

static int find_interpreter(rein *r,
                            struct launch *launch,
                            const struct rein_spec *spec,
                            struct rein_error **reterr)
{
    const struct interpreter_place place = {.env = (const char *const *)launch->job_env,
                                            .cwd = launch->cwd,
                                            .file_dir = launch->file_dir};

    return interpreter_locate(r, launch->language, spec, &place, &launch->interpreter, reterr);
}

/* The directory of a file that has one in its name, absolute and without links, or NULL. */
static char *directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    auto_free char *dir = slash ? strndup(file, (size_t)(slash - file) + 1) : NULL;

    return dir ? realpath(dir, NULL) : NULL;
}

/* The name under which the interpreter gets the caller's file: the same one, for a program can see
 * it. Changed only where it would mean something else: with a directory for the job the caller's
 * relative name is made absolute, and a dash at its beginning is no option. */
static char *name_of(const char *file, const char *spec_cwd)
{
    auto_free char *here = NULL;
    char *name = NULL;

    if (file[0] != '/' && spec_cwd) {
        here = getcwd(NULL, 0);
        return here && asprintf(&name, "%s/%s", here, file) >= 0 ? name : NULL;
    }
    if (file[0] == '-')
        return asprintf(&name, "./%s", file) >= 0 ? name : NULL;
    return strdup(file);
}

static int use_file(struct launch *launch,
                    const struct rein_code *code,
                    const struct rein_spec *spec,
                    struct rein_error **reterr)
{
    struct stat st;

    launch->file = name_of(code->file, spec->cwd);
    if (!launch->file)
        return rein_oom(reterr);
    /* Each interpreter says this in its own way, with a status that a program of its could have. */
    if (stat(launch->file, &st) < 0)
        return rein_fail_hint(reterr, -errno, "bad_request", "file",
                              "a relative name is meant from the caller's directory, not the job's",
                              "cannot run the file '%s': %s", code->file, strerror(errno));
    launch->file_dir = directory_of(launch->file);
    return 0;
}

static int
write_text(rein *r, struct launch *launch, const struct rein_code *code, struct rein_error **reterr)
{
    int err =
        script_create(r, launch->language, code->text, code->text_size, &launch->script, reterr);

    if (err < 0)
        return err;
    launch->file = strdup(launch->script.file);
    return launch->file ? 0 : rein_oom(reterr);
}

static int write_files(struct launch *launch,
                       const struct code_files *files,
                       const struct rein_spec *spec,
                       struct rein_error **reterr)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct code_file *file = &files->list[i];
        int err = script_add_file(&launch->script, file->name, file->data, file->size, reterr);

        if (err < 0)
            return err;
    }
    if (files->n == 0 || spec->cwd)
        return 0;
    launch->lives_with_script = 1;
    free(launch->cwd);
    launch->cwd = strdup(launch->script.dir);
    return launch->cwd ? 0 : rein_oom(reterr);
}

/* A file of the caller's has no private folder; one is made for the prelude. Directory lists cannot
 * name a folder with a colon in its path: there the built-in one is done without. */
static int write_prelude(rein *r,
                         struct launch *launch,
                         const struct rein_code *code,
                         struct rein_error **reterr)
{
    int err = 0;

    if (!code->prelude || !launch->language->prelude)
        return 0;
    if (!launch->script.dir)
        err = script_create(r, launch->language, "", 0, &launch->script, reterr);
    if (err < 0)
        return err;
    if (strchr(launch->script.dir, ':') && code->prelude[0])
        return rein_fail(reterr, -EINVAL, "bad_request", "prelude",
                         "no prelude can be found in '%s', whose name has a colon",
                         launch->script.dir);
    if (strchr(launch->script.dir, ':'))
        return 0;
    return prelude_write(&launch->script, launch->language->prelude, code->prelude,
                         &launch->prelude_dir, reterr);
}

static int add_all(char ***argv, const char *const *strings)
{
    for (; strings && *strings; strings++) {
        int r = strv_add(argv, *strings);

        if (r < 0)
            return r;
    }
    return 0;
}

static int make_argv(struct launch *launch, const struct rein_code *code)
{
    const char *const file[] = {launch->file, NULL};
    const char *const interpreter[] = {launch->interpreter, NULL};
    int r = add_all(&launch->argv, interpreter);

    if (r == 0)
        r = add_all(&launch->argv, launch->language->arguments);
    if (r == 0)
        r = add_all(&launch->argv, file);
    if (r == 0)
        r = add_all(&launch->argv, code->args);
    return r;
}

static int make_spec(struct launch *launch,
                     const struct rein_code *code,
                     const struct rein_spec *spec,
                     struct rein_error **reterr)
{
    if (make_argv(launch, code) < 0 ||
        code_env_make(launch->language, spec->env, (const char *const *)launch->job_env,
                      code->text ? launch->cwd : NULL, launch->prelude_dir, &launch->env) < 0)
        return rein_oom(reterr);
    launch->spec = *spec;
    launch->spec.argv = (const char *const *)launch->argv;
    launch->spec.env = (const char *const *)launch->env;
    if (launch->lives_with_script)
        launch->spec.cwd = launch->script.dir;
    return 0;
}

/* ---- starting ----------------------------------------------------------------------------- */

static int start(rein *r, struct launch *launch, rein_job **ret, struct rein_error **reterr)
{
    const struct job_extras extras = {.cleanup_dir = launch->script.dir,
                                      .cleanup_dir_fd = launch->script.dir_fd};
    int err = job_start(r, &launch->spec, launch->script.dir ? &extras : NULL, ret, reterr);

    if (err < 0)
        return err;
    script_done(&launch->script); /* the supervisor has the lock, and removes it all in the end */
    return 0;
}

int code_start(rein *r,
               const struct rein_code *code,
               const struct code_files *files,
               const struct rein_spec *spec,
               rein_job **ret,
               struct rein_error **reterr)
{
    auto_(launch_done) struct launch launch = {.script = SCRIPT_UNSET};
    int err;

    if (!r || !ret)
        return rein_fail(reterr, -EINVAL, "bad_request", "code",
                         "no context or no place for the job");
    err = check_request(code, spec, reterr);
    if (err == 0)
        err = language_require(code->language, &launch.language, reterr);
    if (err == 0)
        err = check_text(code, launch.language, reterr);
    if (err == 0)
        err = check_prelude(code, launch.language, reterr);
    if (err == 0)
        err = find_place(&launch, spec, reterr);
    if (err == 0 && code->file)
        err = use_file(&launch, code, spec, reterr);
    if (err == 0)
        err = find_interpreter(r, &launch, spec, reterr);
    if (err == 0 && code->text)
        err = write_text(r, &launch, code, reterr);
    if (err == 0 && code->text && files)
        err = write_files(&launch, files, spec, reterr);
    if (err == 0)
        err = write_prelude(r, &launch, code, reterr);
    if (err == 0)
        err = make_spec(&launch, code, spec, reterr);
    if (err == 0)
        err = start(r, &launch, ret, reterr);
    return err;
}

int rein_start_code(rein *r,
                    const struct rein_code *code,
                    const struct rein_spec *spec,
                    rein_job **ret,
                    struct rein_error **reterr)
{
    return code_start(r, code, NULL, spec, ret, reterr);
}

int code_interpreter(rein *r,
                     const struct language *language,
                     const struct rein_spec *spec,
                     char **ret,
                     struct rein_error **reterr)
{
    auto_(launch_done) struct launch launch = {.script = SCRIPT_UNSET};
    int err;

    assert(r);
    assert(language);
    assert(spec);
    assert(ret);

    launch.language = language;
    err = find_place(&launch, spec, reterr);
    if (err < 0)
        return err;
    err = find_interpreter(r, &launch, spec, reterr);
    if (err < 0)
        return err;
    *ret = TAKE_PTR(launch.interpreter);
    return 0;
}
