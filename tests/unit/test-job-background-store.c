/*
 * The store under jobs of the background: whose it is and where it may be, what happens when it has
 * no room, when others have written into it, and when files are taken from under a job that runs;
 * the list of jobs, and forgetting them.
 */
#include "background-test.h"

#include <ftw.h>
#include <sched.h>
#include <sys/mount.h>

/* busy: uses the processor until it is ended. */
static int play_busy(int argc, char **argv)
{
    volatile unsigned n = 0;

    say("up\n");
    (void)alarm(60);
    for (;;)
        n++;
    return 0;
}

/* ---- whose it is -------------------------------------------------------------------------- */

static void check_start_refused(int err, const char *code, const char *word)
{
    struct rein_spec spec = COMMAND("/bin/true");
    struct rein_error *error;

    spec.flags = REIN_SPEC_BACKGROUND;
    error = start_fails(&spec, err, code);
    if (!strstr(error->message, word))
        print_error("%s\n", error->message);
    assert_non_null(strstr(error->message, word));
    error = rein_error_free(error);
}

/* Nothing is believed, and nothing is put there. */
static void check_store_refused(const char *id, const char *word)
{
    rein_list *list = NULL;
    struct rein_error *error = NULL;

    attach_fails(id, -EPERM, "internal", word);
    check_start_refused(-EPERM, "internal", word);
    assert_int_equal(rein_jobs(context, &list), -EPERM);
    assert_null(list);
    assert_int_equal(rein_gc(context, NULL), -EPERM);
    assert_int_equal(rein_forget(context, id, &error), -EPERM);
    assert_string_equal(error->code, "internal");
    error = rein_error_free(error);
}

static void test_store_of_somebody_else(void **state)
{
    rein_job *job = start_stay(0);
    struct id id = id_of(job);

    if (getuid() != 0)
        skip();
    end_job(job);
    for (int i = 0; i < 2; i++) {
        const char *path = in_temp_dir(i ? "state/jobs" : "state");

        assert_int_equal(chown(path, 12345, 12345), 0);
        check_store_refused(id.text, "another user");
        assert_int_equal(chown(path, 0, 0), 0);
    }
    assert_true(attach(id.text)->ended);
    assert_int_equal(count_jobs(), 1);
}

static void test_store_that_others_can_write(void **state)
{
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    rein_job *job = start_stay(0);
    struct id id = id_of(job);

    end_job(job);
    for (size_t i = 0; i < 2 * ARRAY_SIZE(modes); i++) {
        const char *path = in_temp_dir(i % 2 ? "state/jobs" : "state");

        assert_int_equal(chmod(path, modes[i / 2]), 0);
        check_store_refused(id.text, "written by others");
        assert_int_equal(chmod(path, 0755), 0); /* reading alone does no harm to us */
        assert_true(attach(id.text)->ended);
    }
}

static void test_jobs_directory_that_is_a_link(void **state)
{
    rein_job *job = start_stay(0);
    struct id id = id_of(job);

    end_job(job);
    assert_int_equal(rename(in_temp_dir("state/jobs"), in_temp_dir("jobs")), 0);
    assert_int_equal(symlink("../jobs", in_temp_dir("state/jobs")), 0);
    attach_fails(id.text, -ENOTDIR, "internal", "store");
    check_start_refused(-ENOTDIR, "internal", "store");
}

/* ---- where it is -------------------------------------------------------------------------- */

static rein *context_in(const char *state_dir)
{
    struct rein_options options = {.size = sizeof(options), .state_dir = state_dir};
    rein *r = rein_open(&options, NULL);

    assert_non_null(r);
    return r;
}

/* Longer than the name of a socket may be, and than what one path may have in one part. */
static void test_long_path(void **state)
{
    char path[2000];
    rein *before = context;

    (void)snprintf(path, sizeof(path), "%s", temp_dir);
    while (strlen(path) < 1500)
        (void)strcat(path, "/a-directory-with-a-long-name");
    context = context_in(path);
    rein_job *job = start_stay(0);
    struct id id = id_of(job);
    read_until(attach(id.text), "up\n");
    end_job(job);
    auto_result result = finish(attach(id.text));
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    for (size_t i = 0; i < TRACKED_JOBS; i++)
        tracked[i] = rein_job_free(tracked[i]);
    context = rein_free(context);
    context = before;
}

static void test_store_in_a_file(void **state)
{
    (void)write_temp_file("state", 0600, "a file");
    attach_fails("01234567", -ENOTDIR, "internal", "Not a directory");
    check_start_refused(-ENOTDIR, "internal", "Not a directory");
    assert_int_equal(unlink(in_temp_dir("state")), 0);
    (void)write_temp_file("state/jobs", 0600, "a file");
    check_start_refused(-ENOTDIR, "internal", "Not a directory");
}

/* What an ordinary user is not allowed to make; played by one. */
static int start_without_permission(void)
{
    struct rein_spec spec = COMMAND("/bin/true");
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    int r;

    spec.flags = REIN_SPEC_BACKGROUND;
    r = rein_start(context, &spec, &job, &error);
    if (r == 0)
        return 1;
    r = r == -EACCES && strcmp(error->code, "spawn_failed") == 0 &&
                strcmp(error->step, "store") == 0 && strstr(error->message, "Permission denied") &&
                error->hint && strstr(error->hint, "REIN_STATE")
            ? 0
            : 2;
    error = rein_error_free(error);
    return r;
}

static void test_store_that_cannot_be_made(void **state)
{
    assert_int_equal(chmod(temp_dir, 0555), 0);
    assert_int_equal(as_nobody(start_without_permission), 0);
    assert_int_equal(chmod(temp_dir, 0755), 0);
    assert_string_equal(names_in(temp_dir), "");
}

/* ---- a disk of its own -------------------------------------------------------------------- */

/* Played in a child with a file system of its own over the store; exits with the line of what was
 * not right. */
#define NO_DISK 255
#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static void enter_disk(const char *options)
{
    if (mkdir(in_temp_dir("state"), 0700) < 0 && errno != EEXIST)
        _exit(NO_DISK);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("disk", in_temp_dir("state"), "tmpfs", 0, options) < 0)
        _exit(NO_DISK);
}

static uint64_t fill_disk(void)
{
    auto_close int fd =
        open(in_temp_dir("state/ballast"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static const char block[4096];
    uint64_t n = 0;

    while (write(fd, block, sizeof(block)) > 0)
        n += sizeof(block);
    return n;
}

static void leave_room(uint64_t full, uint64_t room)
{
    expect(truncate(in_temp_dir("state/ballast"), (off_t)(full - room)) == 0);
}

static int try_start(rein *r, struct rein_spec spec, rein_job **ret, struct rein_error **reterr)
{
    *reterr = rein_error_free(*reterr);
    spec.flags = REIN_SPEC_BACKGROUND;
    return rein_start(r, &spec, ret, reterr);
}

/* Either the job does not start and leaves nothing, or it is known how it ended; then its output is
 * there, or it is said that it is not. */
static void check_ended_on_full_disk(rein *r, rein_job *job)
{
    struct rein_result result = {.size = sizeof(result)};
    char bytes[64];

    expect(rein_wait(job, PATIENCE_MS, &result) == 0);
    expect(result.reason == REIN_REASON_EXIT && result.exit_code == 0);
    expect(result.output_bytes == 6);
    if (rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, NULL) != 6) {
        expect(has_warning(&result, "output was lost"));
        expect(result.gap_begin == 0 && result.gap_end == 6);
    }
    rein_result_done(&result);
}

static void check_refused_on_full_disk(int err, const struct rein_error *error)
{
    expect(err == -ENOSPC);
    expect(strcmp(error->code, "spawn_failed") == 0);
    expect(strstr(error->message, "No space left"));
    expect(strcmp(names_in(in_temp_dir("state/jobs")), "") == 0);
}

static int play_full_disk(rein *r, const char *unused)
{
    struct rein_spec spec = COMMAND("/bin/echo", "hello");
    struct rein_error *error = NULL;
    rein_job *job = NULL;
    int n_started = 0;
    uint64_t full;

    enter_disk("size=256k,mode=700");
    full = fill_disk();
    for (uint64_t room = 0; room < 8 * 4096; room += 4096) {
        leave_room(full, room);
        int err = try_start(r, spec, &job, &error);

        if (err < 0) {
            expect(n_started == 0); /* more room is never worse */
            check_refused_on_full_disk(err, error);
            continue;
        }
        struct id id = id_of(job);
        expect(room > 0);
        n_started++;
        check_ended_on_full_disk(r, job);
        job = rein_job_free(job);
        expect(rein_attach(r, id.text, &job, NULL) == 0);
        check_ended_on_full_disk(r, job);
        job = rein_job_free(job);
        wait_unlocked(id.text);
        expect(rein_forget(r, id.text, NULL) == 0);
    }
    expect(n_started > 0);
    error = rein_error_free(error);
    return 0;
}

static int play_readonly_disk(rein *r, const char *unused)
{
    struct rein_spec spec = COMMAND("/bin/echo", "hello");
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    enter_disk("size=256k,mode=700");
    expect(mkdir(in_temp_dir("state/jobs"), 0700) == 0);
    expect(mount(NULL, in_temp_dir("state"), NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    expect(try_start(r, spec, &job, &error) == -EROFS);
    expect(strcmp(error->code, "spawn_failed") == 0 && strcmp(error->step, "store") == 0);
    expect(strstr(error->message, in_temp_dir("state")));
    expect(strstr(error->message, "Read-only file system"));
    error = rein_error_free(error);
    return 0;
}

static void play_on_disk(int (*play)(rein *r, const char *id))
{
    int status = in_child(play, NULL);

    if (status == NO_DISK)
        skip(); /* we may mount nothing here */
    assert_int_equal(status, 0);
}

static void test_full_disk(void **state)
{
    play_on_disk(play_full_disk);
}

static void test_readonly_disk(void **state)
{
    play_on_disk(play_readonly_disk);
}

/* ---- what others have written ------------------------------------------------------------- */

static void write_job_file(const char *id, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "state/jobs/%s/%s", id, name);
    (void)write_temp_file(path, 0600, text);
}

static struct id ended_job(void)
{
    rein_job *job = start_stay(0);
    struct id id = id_of(job);

    end_job(job);
    wait_unlocked(id.text);
    return id;
}

static void test_job_of_a_newer_version(void **state)
{
    struct id id = ended_job();

    write_job_file(id.text, "job.json", "{\"format\": 2, \"whatever\": []}");
    attach_fails(id.text, -EPROTO, "internal", "another version");
    assert_int_equal(count_jobs(), 0);
    assert_int_equal(rein_forget(context, id.text, NULL), 0);
}

static void test_damaged_job(void **state)
{
    static const char *const texts[] = {"", "garbage", "{\"format\": 1}", "{\"format\": "};
    struct id id = ended_job();
    struct id whole = ended_job();

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        write_job_file(id.text, "job.json", texts[i]);
        attach_fails(id.text, -EBADMSG, "internal", "damaged");
        assert_int_equal(count_jobs(), 1);
    }
    assert_true(attach(whole.text)->ended);
    assert_int_equal(rein_forget(context, id.text, NULL), 0);
}

/* How it ended is not known any more. */
static void test_damaged_end(void **state)
{
    struct id id = ended_job();
    rein_list *list = NULL;

    write_job_file(id.text, "exit.json", "{\"format\": 1, \"reason\"");
    rein_job *job = attach(id.text);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_false(result.has_exit_code);
    assert_int_equal(result.output_bytes, 3);
    check_output(job, "up\n");
    assert_int_equal(rein_jobs(context, &list), 0);
    assert_int_equal(rein_list_count(list), 1);
    assert_int_equal(rein_list_get(list, 0)->reason, REIN_REASON_LOST);
    list = rein_list_free(list);
}

/* What is no record does not end a job that runs. */
static void test_false_end_of_a_running_job(void **state)
{
    rein_job *job = start_stay(0);

    write_job_file(rein_job_id(job), "exit.json", "garbage");
    rein_job *other = attach(rein_job_id(job));
    assert_false(other->ended);
    assert_int_equal(rein_stop(other, 0), 0);
    auto_result result = finish(other);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    auto_result later = finish(attach(rein_job_id(job))); /* the true one has replaced it */
    check_end(&later, REIN_REASON_STOPPED, -SIGKILL);
}

/* ---- files that go while a job runs ------------------------------------------------------- */

static rein_job *start_ask(uint32_t test_fallbacks, uint64_t limit)
{
    struct rein_spec spec = ROLE("ask", "100");
    rein_job *job;

    spec.stdin_kind = REIN_STDIN_PIPE;
    spec.output_limit = limit;
    context->test_fallbacks |= test_fallbacks;
    job = start_background(spec, 0);
    context->test_fallbacks &= ~test_fallbacks;
    return job;
}

/* Lets it write 100 lines more, and waits until they are there; at counts them. */
static void ask(rein_job *job, uint64_t *at)
{
    assert_int_equal(rein_send(job, "+", 1), 1);
    for (uint64_t end = *at + 100 * LINE_SIZE; *at < end;)
        read_piece(job, 4096, at);
}

static void check_log_file(const char *id, uint64_t size)
{
    auto_free char *text = read_job_file(id, "output.log");

    assert_non_null(text);
    assert_int_equal(strlen(text), size);
    assert_true(are_lines(text, (size_t)size, 'O', 0));
}

static void test_log_is_deleted(void **state)
{
    rein_job *job = start_ask(0, 0);
    rein_job *reader = attach(rein_job_id(job));
    uint64_t at = 0;
    uint64_t reader_at = 0;

    ask(job, &at);
    assert_int_equal(unlink(job_path(rein_job_id(job), "output.log")), 0);
    ask(job, &at);
    check_log_file(rein_job_id(job), at); /* again, with all that was in the old one */
    while (reader_at < at)
        read_piece(reader, 1000, &reader_at);
    assert_int_equal(rein_send_eof(reader), 0);
    auto_result result = finish(reader);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(has_warning(&result, "deleted the log"));
    rein_job *later = attach(rein_job_id(job));
    auto_result late = finish(later);
    assert_true(has_warning(&late, "deleted the log"));
    check_whole(later, 1000, &late);
}

/* And nothing is written after it: it is noticed at the end. */
static void test_log_is_deleted_at_last(void **state)
{
    rein_job *job = start_ask(0, 0);
    uint64_t at = 0;

    ask(job, &at);
    assert_int_equal(unlink(job_path(rein_job_id(job), "output.log")), 0);
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(job);
    assert_true(has_warning(&result, "deleted the log"));
    check_log_file(rein_job_id(job), at);
}

/* What was cut off is lost, and said to be; what comes later is there. */
static void test_log_is_cut(void **state)
{
    rein_job *job = start_ask(0, 0);
    rein_job *reader = attach(rein_job_id(job));
    uint64_t at = 0;

    ask(job, &at);
    assert_int_equal(truncate(job_path(rein_job_id(job), "output.log"), 160), 0);
    ask(job, &at);
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(has_warning(&result, "truncated the log"));
    assert_int_equal(result.gap_begin, 160);
    assert_int_equal(result.gap_end, 100 * LINE_SIZE);
    assert_int_equal(result.output_bytes, 200 * LINE_SIZE);
    check_whole(reader, 1000, &result);
    rein_job *later = attach(rein_job_id(job));
    auto_result late = finish(later);
    assert_true(has_warning(&late, "truncated the log"));
    check_whole(later, 1000, &late);
}

static void test_log_is_cut_at_last(void **state)
{
    rein_job *job = start_ask(0, 0);
    uint64_t at = 0;

    ask(job, &at);
    assert_int_equal(truncate(job_path(rein_job_id(job), "output.log"), 0), 0);
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(job);
    assert_true(has_warning(&result, "truncated the log"));
    assert_int_equal(result.gap_begin, 0);
    assert_int_equal(result.gap_end, at);
}

/* Somebody empties the log of a job that has ended. */
static void test_log_is_cut_after_the_end(void **state)
{
    struct id id = ended_job();

    assert_int_equal(truncate(job_path(id.text, "output.log"), 1), 0);
    rein_job *job = attach(id.text);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(has_warning(&result, "truncated the log"));
    assert_int_equal(result.output_bytes, 3);
    assert_int_equal(result.gap_begin, 1);
    assert_int_equal(result.gap_end, 3);
    check_output(job, "u");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

static void test_directory_is_removed(void **state)
{
    rein_job *job = start_ask(0, 0);
    rein_job *reader = attach(rein_job_id(job));
    uint64_t at = 0;

    ask(job, &at);
    assert_int_equal(nftw(job_path(rein_job_id(job), ""), remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    ask(job, &at);
    assert_int_equal(rein_send_eof(reader), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_true(has_warning(&result, "deleted the log"));
    assert_true(has_warning(&result, "record"));
    check_whole(reader, 1000, &result);
    auto_result same = finish(reader);
    check_end(&same, REIN_REASON_EXIT, 0);
    attach_fails(rein_job_id(job), -ENOENT, "no_such_job", "No background command");
}

/* ---- a file system that cannot punch holes ------------------------------------------------ */

static void test_log_that_stays_in_memory(void **state)
{
    rein_job *job = start_ask(WIRE_NO_PUNCH, 0);
    rein_job *reader = attach(rein_job_id(job));
    uint64_t at = 0;
    uint64_t reader_at = 0;

    ask(job, &at);
    assert_false(is_file(rein_job_id(job), "output.log"));
    while (reader_at < at)
        read_piece(reader, 1000, &reader_at);
    reader_at = 0;
    rein_job *second = attach(rein_job_id(job));
    while (reader_at < at)
        read_piece(second, 1000, &reader_at);
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(second);
    assert_true(has_warning(&result, "in memory"));
    check_log_file(rein_job_id(job), at);
    rein_job *later = attach(rein_job_id(job));
    auto_result late = finish(later);
    check_whole(later, 1000, &late);
}

static void test_log_with_a_gap_that_stays_in_memory(void **state)
{
    struct rein_spec spec = ROLE("lines", "50000");

    spec.output_limit = LIMIT;
    context->test_fallbacks |= WIRE_NO_PUNCH;
    rein_job *job = start_background(spec, REIN_SPEC_SPLIT);
    context->test_fallbacks &= ~(unsigned)WIRE_NO_PUNCH;
    auto_result result = finish(job);
    assert_true(result.gap_end > result.gap_begin);
    check_whole(job, 4096, &result);
    check_whole(attach(rein_job_id(job)), 4096, &result);
}

/* ---- the list ----------------------------------------------------------------------------- */

static void test_list(void **state)
{
    struct rein_spec spec = ROLE("stay");
    rein_list *list = NULL;
    struct id ended = ended_job();
    rein_job *running;

    spec.name = "second";
    running = start_background(spec, REIN_SPEC_DETACHED);
    read_until(running, "up\n");
    assert_int_equal(rein_jobs(context, &list), 0);
    assert_int_equal(rein_list_count(list), 2);
    assert_null(rein_list_get(list, 2));
    const struct rein_result *first = rein_list_get(list, 0); /* the oldest first */
    const struct rein_result *second = rein_list_get(list, 1);
    assert_string_equal(first->process_id, ended.text);
    check_end(first, REIN_REASON_STOPPED, -SIGKILL);
    assert_false(first->running);
    assert_string_equal(second->process_id, rein_job_id(running));
    assert_true(second->running);
    assert_int_equal(second->pid, rein_job_pid(running));
    assert_string_equal(second->name, "second");
    assert_int_equal(second->output_bytes, 3);
    assert_true(second->duration_ns > 0);
    assert_string_equal(second->log_file, job_path(rein_job_id(running), "output.log"));
    assert_true(second->max_rss_bytes > 0);
    list = rein_list_free(list);
    assert_int_equal(rein_jobs(NULL, &list), -EINVAL);
    assert_int_equal(rein_jobs(context, NULL), -EINVAL);
    assert_int_equal(rein_list_count(NULL), 0);
    assert_null(rein_list_get(NULL, 0));
}

static void test_list_without_a_store(void **state)
{
    assert_int_equal(count_jobs(), 0);
    assert_int_equal(access(in_temp_dir("state"), F_OK), -1);
}

static int64_t listed_user_us(const char *id)
{
    rein_list *list = NULL;
    int64_t us = -1;

    assert_int_equal(rein_jobs(context, &list), 0);
    for (size_t i = 0; i < rein_list_count(list); i++)
        if (strcmp(rein_list_get(list, i)->process_id, id) == 0)
            us = rein_list_get(list, i)->user_us;
    list = rein_list_free(list);
    return us;
}

/* Each job's own: the one that sleeps has used nothing. */
static void test_usage_of_running_jobs(void **state)
{
    struct rein_spec spec = {.size = sizeof(spec)};
    const char *argv[] = {"/bin/sh", "-c", "\"$0\" busy & wait", self_path, NULL};
    rein_job *idle = start_stay(0);
    rein_job *busy;

    spec.argv = argv; /* not the main process itself */
    busy = start_background(spec, 0);
    for (int i = 0; i < PATIENCE_MS && listed_user_us(rein_job_id(busy)) < 100000; i++)
        (void)poll(NULL, 0, 1);
    assert_true(listed_user_us(rein_job_id(busy)) >= 100000);
    assert_true(listed_user_us(rein_job_id(idle)) < 100000);
}

/* ---- forgetting --------------------------------------------------------------------------- */

static void check_forget_fails(const char *id, int err, const char *code)
{
    struct rein_error *error = NULL;

    assert_int_equal(rein_forget(context, id, &error), err);
    assert_string_equal(error->code, code);
    error = rein_error_free(error);
}

static void test_forget(void **state)
{
    rein_job *job = start_stay(0);
    struct id ended = ended_job();

    assert_int_equal(rein_forget(context, ended.text, NULL), 0);
    assert_false(is_file(ended.text, ""));
    check_forget_fails(ended.text, -ENOENT, "no_such_job");
    check_forget_fails("../jobs", -ENOENT, "no_such_job");
    check_forget_fails(rein_job_id(job), -EBUSY, "bad_request");
    read_until(attach(rein_job_id(job)), "up\n"); /* nothing of it has gone */
    stop_and_wait(job);
    wait_unlocked(rein_job_id(job));
    assert_int_equal(rein_forget(context, rein_job_id(job), NULL), 0);
    assert_string_equal(names_in(in_temp_dir("state/jobs")), "");
    assert_int_equal(rein_forget(NULL, ended.text, NULL), -EINVAL);
    assert_int_equal(rein_forget(context, NULL, NULL), -EINVAL);
}

static void make_old(const char *id)
{
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    if (is_file(id, "exit.json"))
        assert_int_equal(utimensat(AT_FDCWD, job_path(id, "exit.json"), times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, job_path(id, ""), times, 0), 0);
}

static void test_gc(void **state)
{
    rein_job *running = start_stay(0);
    struct id old = ended_job();
    struct id young = ended_job();
    size_t n = 99;

    make_old(old.text);
    make_old(rein_job_id(running));
    assert_int_equal(rein_gc(context, &n), 0);
    assert_int_equal(n, 1);
    assert_false(is_file(old.text, ""));
    assert_true(is_file(young.text, ""));
    assert_true(is_file(rein_job_id(running), "job.json"));
    assert_int_equal(rein_gc(context, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(rein_gc(context, NULL), 0);
    assert_int_equal(rein_gc(NULL, &n), -EINVAL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        background_test(test_store_of_somebody_else),
        background_test(test_store_that_others_can_write),
        background_test(test_jobs_directory_that_is_a_link),
        background_test(test_long_path),
        background_test(test_store_in_a_file),
        background_test(test_store_that_cannot_be_made),
        background_test(test_full_disk),
        background_test(test_readonly_disk),
        background_test(test_job_of_a_newer_version),
        background_test(test_damaged_job),
        background_test(test_damaged_end),
        background_test(test_false_end_of_a_running_job),
        background_test(test_log_is_deleted),
        background_test(test_log_is_deleted_at_last),
        background_test(test_log_is_cut),
        background_test(test_log_is_cut_at_last),
        background_test(test_log_is_cut_after_the_end),
        background_test(test_directory_is_removed),
        background_test(test_log_that_stays_in_memory),
        background_test(test_log_with_a_gap_that_stays_in_memory),
        background_test(test_list),
        background_test(test_list_without_a_store),
        background_test(test_usage_of_running_jobs),
        background_test(test_forget),
        background_test(test_gc),
    };

    if (argc > 1 && strcmp(argv[1], "busy") == 0)
        return play_busy(argc - 1, argv + 1);
    if (argc > 1)
        return play_background_role(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
