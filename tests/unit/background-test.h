/*
 * What the tests of jobs of the background share: starting and attaching, looking at what stands in
 * the store, and an end of the test that leaves none of them, whoever has let go of it.
 */
#ifndef REIN_TESTS_BACKGROUND_TEST_H
#define REIN_TESTS_BACKGROUND_TEST_H

#include "job-processes.h"
#include "log-test.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/syscall-linux.h"
#include "job/job.h"
#include "job/record.h"
#include "job/store.h"

/* ---- before and after each test ----------------------------------------------------------- */

static inline void stop_and_wait(rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};

    (void)rein_stop(job, 0);
    (void)rein_wait(job, PATIENCE_MS, &result);
    rein_result_done(&result);
}

/* Whatever still runs in the store of this test. */
static inline void stop_all(void)
{
    rein_list *list = NULL;
    rein_job *job = NULL;

    (void)rein_jobs(context, &list);
    for (size_t i = 0; i < rein_list_count(list); i++) {
        const struct rein_result *result = rein_list_get(list, i);

        if (!result->running || rein_attach(context, result->process_id, &job, NULL) < 0)
            continue;
        stop_and_wait(job);
        job = rein_job_free(job);
    }
    list = rein_list_free(list);
}

/* Guards of jobs that were let go are children of ours until the context is freed. */
static inline void reap_guards(void)
{
    for (int i = 0; i < PATIENCE_MS && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        (void)poll(NULL, 0, 1);
}

static inline int background_teardown(void **state)
{
    for (size_t i = 0; i < TRACKED_JOBS; i++) {
        if (tracked[i])
            stop_and_wait(tracked[i]);
        tracked[i] = rein_job_free(tracked[i]);
    }
    stop_all();
    reap_guards();
    return job_teardown(state);
}

#define background_test(function)                                                                  \
    cmocka_unit_test_setup_teardown(function, job_setup, background_teardown)

#define background_test_without_leaves(function)                                                   \
    {                                                                                              \
#function "_without_leaves", function, job_setup_without_leaves, background_teardown, NULL \
    }

/* ---- jobs --------------------------------------------------------------------------------- */

#define ID_SIZE 8

static inline rein_job *start_background(struct rein_spec spec, uint32_t flags)
{
    spec.flags |= REIN_SPEC_BACKGROUND | flags;
    return start(&spec);
}

static inline rein_job *
start_background_with_life(struct rein_spec spec, uint32_t flags, struct life *life)
{
    spec.flags |= REIN_SPEC_BACKGROUND | flags;
    return start_with_life(spec, life);
}

/* The id of a job, also when the handle is freed. */
struct id {
    char text[ID_SIZE + 1];
};

static inline struct id id_of(const rein_job *job)
{
    struct id id;

    (void)snprintf(id.text, sizeof(id.text), "%s", rein_job_id(job));
    return id;
}

static inline rein_job *attach(const char *id)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    if (rein_attach(context, id, &job, &error) < 0) {
        print_error("%s: %s: %s\n", error->code, error->step, error->message);
        error = rein_error_free(error);
        fail();
    }
    assert_string_equal(rein_job_id(job), id);
    return track(job);
}

/* An attach that has to fail in a certain way, with such a word in its message. */
static inline void attach_fails(const char *id, int err, const char *code, const char *word)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    assert_int_equal(rein_attach(context, id, &job, &error), err);
    assert_null(job);
    assert_string_equal(error->code, code);
    if (!strstr(error->message, word))
        print_error("%s\n", error->message);
    assert_non_null(strstr(error->message, word));
    error = rein_error_free(error);
}

/* Calls a function in a child, with a context of its own, and gives what it returns. The child must
 * not fail an assertion. */
static inline int in_child(int (*function)(rein *r, const char *id), const char *id)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        rein *r = open_context();

        (void)alarm(60);
        status = function(r, id);
        r = rein_free(r);
        _exit(status);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- the store ---------------------------------------------------------------------------- */

static inline const char *job_path(const char *id, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "state/jobs/%s%s%s", id, name[0] ? "/" : "", name);
    return in_temp_dir(path);
}

static inline int is_file(const char *id, const char *name)
{
    return access(job_path(id, name), F_OK) == 0;
}

/* The caller frees it. NULL when it is not there. */
static inline char *read_job_file(const char *id, const char *name)
{
    auto_close int fd = open(job_path(id, name), O_RDONLY | O_CLOEXEC);
    struct buf text = {0};
    char bytes[4096];
    ssize_t n;

    if (fd < 0)
        return NULL;
    while ((n = io_read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(&text, bytes, (size_t)n);
    buf_add_str(&text, "");
    return buf_take(&text);
}

static inline int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The names in a directory of the test, in order, each with a blank behind it. */
static inline const char *names_in(const char *path)
{
    static char names[4096];
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_visible, alphasort);

    names[0] = '\0';
    for (int i = 0; i < n; i++) {
        (void)strncat(names, entries[i]->d_name, sizeof(names) - strlen(names) - 2);
        (void)strcat(names, " ");
        free(entries[i]);
    }
    free(entries);
    return names;
}

/* The last of a supervisor, after the news of the end, is to let go of the lock. */
static inline void wait_unlocked(const char *id)
{
    auto_close int dir_fd = open(job_path(id, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(dir_fd >= 0);
    for (int i = 0; i < PATIENCE_MS && store_is_locked(dir_fd); i++)
        (void)poll(NULL, 0, 1);
    assert_false(store_is_locked(dir_fd));
}

/* How many jobs there are in the list. */
static inline size_t count_jobs(void)
{
    rein_list *list = NULL;
    size_t n;

    assert_int_equal(rein_jobs(context, &list), 0);
    n = rein_list_count(list);
    list = rein_list_free(list);
    return n;
}

/* ---- parts -------------------------------------------------------------------------------- */

/* stay: says so, and waits to be ended. */
static inline int play_stay(int argc, char **argv)
{
    say("up\n");
    wait_for_the_end();
    return 0;
}

/* A job of its main process alone that is up and running. */
static inline rein_job *start_stay(uint32_t flags)
{
    struct rein_spec spec = ROLE("stay");
    rein_job *job = start_background(spec, flags);

    read_until(job, "up\n");
    return job;
}

static inline int play_background_role(int argc, char **argv)
{
    static const struct role roles[] = {
        {"stay", play_stay}, {"lines", play_lines}, {"two", play_two}, {"ask", play_ask}};

    return play_role(roles, ARRAY_SIZE(roles), argc, argv);
}

#endif
