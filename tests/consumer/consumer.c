/*
 * What a user of the installed library writes: strict C99, and C++11 as it stands. Runs one command
 * and prints its output and how it ended.
 */
#include <stdio.h>
#include <string.h>

#include <rein.h>

static int fail(const char *what, struct rein_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error ? error->message : "?");
    rein_error_free(error);
    return 1;
}

int main(int argc, char *argv[])
{
    const char *const command[] = {"sh", "-c", "echo to be read; exit 3", NULL};
    struct rein_error *error = NULL;
    struct rein_spec spec;
    struct rein_result result;
    rein_job *job = NULL;
    rein *context;
    char buf[256];
    ssize_t n;

    (void)argc;
    (void)argv;
    memset(&spec, 0, sizeof(spec));
    spec.size = sizeof(spec);
    spec.argv = command;
    spec.timeout_ns = 30 * INT64_C(1000000000);
    memset(&result, 0, sizeof(result));
    result.size = sizeof(result);

    context = rein_open(NULL, &error);
    if (!context)
        return fail("rein_open", error);
    if (rein_start(context, &spec, &job, &error) < 0)
        return fail("rein_start", error);
    while ((n = rein_read(job, buf, sizeof(buf), -1, NULL)) > 0)
        fwrite(buf, 1, (size_t)n, stdout);
    if (n < 0 || rein_wait(job, -1, &result) < 0)
        return fail("rein_wait", NULL);
    printf("version %s, reason %s, exit code %d\n", rein_version(), rein_reason_name(result.reason),
           result.exit_code);
    rein_result_done(&result);
    rein_job_free(job);
    rein_free(context);
    return 0;
}
