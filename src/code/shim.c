/* Looks behind a version manager's shim. */
#include "shim.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/strv.h"
#include "job/context.h"
#include "shim-cache.h"
#include "shim-key.h"

DEFINE_FREEP(rein_job, rein_job_free)

#define PROBE_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define PROBE_OUTPUT_MAX (1u << 20) /* the kernel allows an environment of two megabytes */

/* ---- asking the shim ---------------------------------------------------------------------- */

/* Collects what the job writes to standard output. -EFBIG when it is too much. */
static int read_output(rein_job *job, struct buf *output)
{
    char piece[16384];

    for (;;) {
        struct rein_piece from;
        ssize_t n = rein_read(job, piece, sizeof(piece), -1, &from);

        if (n <= 0)
            return (int)n;
        if (from.stream != REIN_STREAM_STDOUT)
            continue;
        if (from.skipped_bytes > 0 || output->len + (size_t)n > PROBE_OUTPUT_MAX)
            return -EFBIG;
        buf_add(output, piece, (size_t)n);
    }
}

/* Runs the shim to its end. 0 when it exited by itself with status 0; -ENOEXEC when it did with
 * another one, which it would do again; any other error may not come twice. */
static int run_probe(rein *r, const struct rein_spec *spec, struct buf *output)
{
    auto_(rein_job_freep) rein_job *job = NULL;
    struct rein_result result = {.size = sizeof(result)};
    int err = rein_start(r, spec, &job, NULL);
    int reason, exit_code;

    if (err < 0)
        return err;
    err = read_output(job, output);
    if (err < 0)
        return err;
    err = rein_wait(job, -1, &result);
    if (err < 0)
        return err;
    reason = result.reason;
    exit_code = result.exit_code;
    rein_result_done(&result);
    if (reason != REIN_REASON_EXIT)
        return -ETIMEDOUT;
    return exit_code == 0 ? buf_error(output) : -ENOEXEC;
}

/* The probe meets what the job will meet: the same directory and variables, nothing else of it. */
static int
probe(rein *r, const struct rein_spec *job_spec, const char *const *argv, struct buf *output)
{
    struct rein_spec spec = {.size = sizeof(spec),
                             .flags = REIN_SPEC_SPLIT,
                             .argv = argv,
                             .cwd = job_spec->cwd,
                             .env_profile = job_spec->env_profile,
                             .env = job_spec->env,
                             .timeout_ns = PROBE_TIMEOUT_NS,
                             .output_limit = 2 * PROBE_OUTPUT_MAX};

    return run_probe(r, &spec, output);
}

/* ---- judging the answer ------------------------------------------------------------------- */

/* What is left to read of an answer: strings, each ended by a NUL. */
struct answer {
    const char *p;
    const char *end;
};

/* The next string, or NULL. */
static const char *next_string(struct answer *answer)
{
    const char *s = answer->p;
    const char *nul = s < answer->end ? memchr(s, '\0', (size_t)(answer->end - s)) : NULL;

    if (!nul)
        return NULL;
    answer->p = nul + 1;
    return s;
}

/* True when the interpreter got exactly the arguments that the shim was given. */
static int same_arguments(struct answer *answer, const char *const *argv)
{
    if (!next_string(answer)) /* argv[0] is the shim's own choice */
        return 0;
    for (argv++; *argv; argv++) {
        const char *s = next_string(answer);

        if (!s || strcmp(s, *argv) != 0)
            return 0;
    }
    return 1;
}

/* Variables that may differ: the shell's own bookkeeping, the manager's, and with a manager the
 * PATH, on which it puts the chosen version ahead of the shims that lead to it. */
static int may_differ(const char *entry, int path_may)
{
    static const char *const bookkeeping[] = {"_=", "SHLVL=", "PWD=", "OLDPWD="};

    for (size_t i = 0; i < ARRAY_SIZE(bookkeeping); i++)
        if (strncmp(entry, bookkeeping[i], strlen(bookkeeping[i])) == 0)
            return 1;
    return shim_is_manager_variable(entry) || (path_may && strncmp(entry, "PATH=", 5) == 0);
}

/* True when every variable of a that matters is in b as well. */
static int is_within(const char *const *a, const char *const *b, int path_may)
{
    for (; *a; a++) {
        const char *const *other = b;

        if (may_differ(*a, path_may))
            continue;
        while (*other && strcmp(*a, *other) != 0)
            other++;
        if (!*other)
            return 0;
    }
    return 1;
}

/* True when the interpreter got the environment that the shim was given. */
static int same_environment(struct answer *answer, const char *const *env, int path_may)
{
    auto_strv char **got = strv_copy(NULL);
    const char *entry;

    while (got && (entry = next_string(answer)))
        if (strv_add(&got, entry) < 0)
            return 0;
    return got && is_within((const char *const *)got, env, path_may) &&
           is_within(env, (const char *const *)got, path_may);
}

/* The interpreter's path when it can stand in for the shim, else NULL. Points into output. */
static const char *
judge(const struct buf *output, const char *const *argv, const struct interpreter_place *place)
{
    struct answer answer;
    const char *path;

    if (output->len == 0)
        return NULL;
    answer = (struct answer){.p = output->data, .end = output->data + output->len};
    path = next_string(&answer);
    if (!path || path[0] != '/' || interpreter_may_be_shim(path) ||
        !interpreter_is_executable(path))
        return NULL;
    if (!same_arguments(&answer, argv) ||
        !same_environment(&answer, place->env, interpreter_in_shim_dir(argv[0])))
        return NULL;
    return path;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Asks the shim. *ret is what to run from now on, maybe the shim itself. A failure that may not
 * come twice is an error. */
static int ask(rein *r,
               const struct language *language,
               const char *shim,
               const struct rein_spec *spec,
               const struct interpreter_place *place,
               char **ret)
{
    const char *argv[LANGUAGE_ARGUMENTS_MAX + 2] = {shim};
    auto_buf struct buf output = {0};
    const char *path = NULL;
    int err;

    for (size_t i = 0; language->probe[i]; i++)
        argv[i + 1] = language->probe[i];
    err = probe(r, spec, argv, &output);
    if (err < 0 && err != -ENOEXEC)
        return err;
    if (err == 0)
        path = judge(&output, argv, place);
    *ret = strdup(path ? path : shim);
    return *ret ? 0 : -ENOMEM;
}

char *shim_resolve(rein *r,
                   const struct language *language,
                   const char *shim,
                   const struct rein_spec *spec,
                   const struct interpreter_place *place)
{
    auto_close int dir_fd = -EBADF;
    auto_buf struct buf key = {0};
    char *real = NULL;

    /* Some shims go by the directory of the file they are to run. */
    if (place->file_dir && !shim_same_versions(language, place, place->file_dir))
        return NULL;
    if (shim_key(language, shim, place, &key) < 0 || key.len > SHIM_CACHE_KEY_MAX)
        return NULL;
    /* What cannot be remembered is not asked for: asking costs as much as running the shim. */
    if (context_make_state_dir(r, "code", &dir_fd, NULL) < 0)
        return NULL;
    real = shim_cache_get(dir_fd, key.data);
    if (real && interpreter_is_executable(real))
        return real;
    free(real);
    real = NULL;
    if (ask(r, language, shim, spec, place, &real) < 0)
        return NULL;
    shim_cache_put(dir_fd, key.data, real);
    return real;
}
