/*
 * Jobs of the background: what their start makes in the store and what it leaves when it fails;
 * taking hold of them while they run and afterwards, from this process and from others; and that
 * every handle can do with them what the one that started them can.
 */
#include "background-test.h"

#include <jansson.h>

/* ---- start and end ------------------------------------------------------------------------ */

static void test_detached_job_outlives_its_handle(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("stay");
    rein_job *job = start_background_with_life(spec, REIN_SPEC_DETACHED, &life);
    struct id id = id_of(job);

    end_job(job);
    assert_false(life_is_over(&life, 0));
    job = attach(id.text);
    read_until(job, "up\n");
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(life_is_over(&life, 0));
}

static void test_owned_job_ends_with_its_handle(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("stay");
    rein_job *job = start_background_with_life(spec, 0, &life);
    struct id id = id_of(job);

    end_job(job);
    assert_true(life_is_over(&life, 0));
    auto_result result = finish(attach(id.text));
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

static void test_attached_handle_is_let_go(void **state)
{
    auto_life life = life_new();
    struct rein_spec spec = ROLE("stay");
    rein_job *job = start_background_with_life(spec, 0, &life);

    end_job(attach(rein_job_id(job)));
    assert_false(life_is_over(&life, 0));
    struct rein_result result = {.size = sizeof(result)};
    assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
    rein_result_done(&result);
    end_job(job);
    assert_true(life_is_over(&life, 0));
}

/* ---- the directory ------------------------------------------------------------------------ */

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    return st.st_mode;
}

static void check_modes(const char *id)
{
    static const char *const names[] = {"exit.json.new", "exit.json",  "job.json",
                                        "lock",          "output.log", "output.marks"};

    assert_int_equal(mode_of(in_temp_dir("state")), S_IFDIR | 0700);
    assert_int_equal(mode_of(in_temp_dir("state/jobs")), S_IFDIR | 0700);
    assert_int_equal(mode_of(job_path(id, "")), S_IFDIR | 0700);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (is_file(id, names[i]))
            assert_int_equal(mode_of(job_path(id, names[i])), S_IFREG | 0600);
    if (is_file(id, "control"))
        assert_int_equal(mode_of(job_path(id, "control")), S_IFSOCK | 0600);
}

/* Whatever the caller's mask allows, and the mask of the job is the caller's. */
static void test_directory_is_private(void **state)
{
    mode_t mask = umask(0);
    struct rein_spec spec = SCRIPT("umask; read x");
    rein_job *job;

    spec.stdin_kind = REIN_STDIN_PIPE;
    job = start_background(spec, REIN_SPEC_SPLIT);
    (void)umask(mask);
    read_until(job, "0000\n");
    assert_string_equal(names_in(job_path(rein_job_id(job), "")),
                        "control exit.json.new job.json lock output.log output.marks ");
    check_modes(rein_job_id(job));
    assert_int_equal(rein_send_eof(job), 0);
    auto_result result = finish(job);
    assert_string_equal(names_in(job_path(rein_job_id(job), "")),
                        "exit.json job.json lock output.log output.marks ");
    check_modes(rein_job_id(job));
}

static void test_directory_of_a_merged_job(void **state)
{
    rein_job *job = start_stay(0);

    assert_string_equal(names_in(job_path(rein_job_id(job), "")),
                        "control exit.json.new job.json lock output.log ");
    stop_and_wait(job);
    assert_string_equal(names_in(job_path(rein_job_id(job), "")),
                        "exit.json job.json lock output.log ");
}

static json_int_t number(json_t *o, const char *key)
{
    assert_true(json_is_integer(json_object_get(o, key)));
    return json_integer_value(json_object_get(o, key));
}

static void test_what_the_store_says(void **state)
{
    rein_job *job = start_stay(REIN_SPEC_DETACHED);
    json_t *o =
        json_load_file(job_path(rein_job_id(job), "job.json"), JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "process_id")), rein_job_id(job));
    assert_int_equal(number(o, "pid"), rein_job_pid(job));
    assert_int_equal(number(o, "supervisor_pid"), parent_of(rein_job_pid(job)));
    assert_int_equal(number(o, "guard_pid"), parent_of(number(o, "supervisor_pid")));
    assert_int_equal(number(o, "owner_pid"), 0);
    assert_true(json_is_true(json_object_get(o, "background")));
    json_decref(o);
}

/* Small outputs, too, are in the store at once: others read them there. */
static void test_output_is_on_the_disk_while_it_runs(void **state)
{
    rein_job *job = start_stay(0);
    auto_free char *text = read_job_file(rein_job_id(job), "output.log");

    assert_string_equal(text, "up\n");
    struct rein_result result = {.size = sizeof(result)};
    assert_int_equal(rein_wait(job, 0, &result), -EAGAIN);
    assert_string_equal(result.log_file, job_path(rein_job_id(job), "output.log"));
    rein_result_done(&result);
}

/* ---- starts that fail --------------------------------------------------------------------- */

static void check_failed_start(struct rein_spec spec, uint32_t flags, int err, const char *code)
{
    struct rein_error *error;

    spec.flags |= REIN_SPEC_BACKGROUND | flags;
    error = start_fails(&spec, err, code);
    error = rein_error_free(error);
    reap_guards(); /* it has gone, and has taken all with it */
    assert_string_equal(names_in(in_temp_dir("state/jobs")), "");
}

static void test_failed_start_leaves_nothing(void **state)
{
    struct rein_spec missing = COMMAND("/no/such/command");
    struct rein_spec elsewhere = COMMAND("/bin/true");
    struct rein_spec directory = COMMAND("/");

    elsewhere.cwd = "/no/such/directory";
    for (uint32_t flags = 0; flags <= REIN_SPEC_DETACHED; flags += REIN_SPEC_DETACHED) {
        check_failed_start(missing, flags, -ENOENT, "command_not_found");
        check_failed_start(elsewhere, flags | REIN_SPEC_SPLIT, -ENOENT, "bad_cwd");
        check_failed_start(directory, flags, -EACCES, "not_executable");
    }
    assert_int_equal(count_jobs(), 0);
}

/* ---- ids ---------------------------------------------------------------------------------- */

static void check_unknown(const char *id)
{
    char expected[128];

    (void)snprintf(expected, sizeof(expected), "No background command with process_id '%s'", id);
    attach_fails(id, -ENOENT, "no_such_job", expected);
}

static void test_unknown_and_malformed_ids(void **state)
{
    static const char *const ids[] = {"deadbeef", "",          "0123456",  "012345678", "0123456g",
                                      "DEADBEEF", "../../..",  "..",       "/0123456",  "01234567/",
                                      " 1234567", "0123456\n", "00000001", "00000002"};

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
        check_unknown(ids[i]); /* there is no store */
    stop_and_wait(start_stay(0));
    (void)write_temp_file("state/jobs/00000001", 0600, "no directory");
    assert_int_equal(symlink(".", in_temp_dir("state/jobs/00000002")), 0);
    assert_int_equal(mkdir(in_temp_dir("state/jobs/deadbeef"), 0700), 0); /* being made */
    for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
        check_unknown(ids[i]);
}

/* Not even when there is a job behind such a name. */
static void test_no_way_around_the_ids(void **state)
{
    static const char *const names[] = {"DEADBEEF", "012345678", "../moved", "../../elsewhere"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        rein_job *job = start_stay(0);
        struct id id = id_of(job);

        end_job(job);
        assert_int_equal(rename(job_path(id.text, ""), job_path(names[i], "")), 0);
        check_unknown(names[i]);
        check_unknown(id.text);
    }
    assert_int_equal(count_jobs(), 0);
}

static void test_arguments(void **state)
{
    struct rein_error *error = NULL;
    rein_job *job = NULL;

    assert_int_equal(rein_attach(NULL, "deadbeef", &job, &error), -EINVAL);
    error = rein_error_free(error);
    assert_int_equal(rein_attach(context, NULL, &job, NULL), -EINVAL);
    assert_int_equal(rein_attach(context, "deadbeef", NULL, NULL), -EINVAL);
    assert_int_equal(rein_attach(context, "deadbeef", &job, NULL), -ENOENT);
}

/* ---- attach ------------------------------------------------------------------------------- */

/* All that a result repeats. */
static void describe(struct rein_spec *spec)
{
    spec->name = "a \"name\"";
    spec->session = "a session";
    spec->cwd = "/";
    spec->stdin_kind = REIN_STDIN_PIPE;
    spec->flags = REIN_SPEC_SPLIT;
    spec->cpu_time_ns = 1000 * NSEC_PER_SEC; /* comes with a warning, and something missing */
}

static void check_same_strings(char **a, char **b)
{
    assert_int_equal(strv_length((const char *const *)a), strv_length((const char *const *)b));
    for (size_t i = 0; a[i]; i++)
        assert_string_equal(a[i], b[i]);
}

static void check_same(const struct rein_result *a, const struct rein_result *b)
{
    check_same_strings(a->command, b->command);
    check_same_strings(a->warnings, b->warnings);
    check_same_strings(a->missing, b->missing);
    assert_string_equal(a->process_id, b->process_id);
    assert_string_equal(a->cwd, b->cwd);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->session, b->session);
    assert_string_equal(a->log_file, b->log_file);
    assert_int_equal(a->pid, b->pid);
    assert_true(a->started_at_ns == b->started_at_ns);
    assert_int_equal(a->running, b->running);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->success, b->success);
    assert_int_equal(a->has_exit_code, b->has_exit_code);
    assert_int_equal(a->exit_code, b->exit_code);
    assert_int_equal(a->output_bytes, b->output_bytes);
    assert_int_equal(a->split, b->split);
    if (!a->running) {
        assert_true(a->duration_ns == b->duration_ns);
        assert_true(a->user_us == b->user_us && a->system_us == b->system_us);
        assert_int_equal(a->max_rss_bytes, b->max_rss_bytes);
    }
}

static struct rein_result look(rein_job *job, int expected)
{
    struct rein_result result = {.size = sizeof(result)};

    assert_int_equal(rein_wait(job, expected == 0 ? PATIENCE_MS : 0, &result), expected);
    return result;
}

static void check_split_output(rein_job *job)
{
    struct rein_piece piece;
    char bytes[64];
    int seen[3] = {0};
    ssize_t n;

    for (int i = 0; i < 2; i++) {
        n = rein_read(job, bytes, sizeof(bytes), PATIENCE_MS, &piece);
        assert_int_equal(n, 4);
        seen[piece.stream]++;
        assert_memory_equal(bytes, piece.stream == REIN_STREAM_STDERR ? "err\n" : "out\n", 4);
    }
    assert_int_equal(seen[REIN_STREAM_STDOUT], 1);
    assert_int_equal(seen[REIN_STREAM_STDERR], 1);
}

/* All that is known of it, running and ended, is known to every handle. */
static void test_every_handle_tells_the_same(void **state)
{
    struct rein_spec spec = SCRIPT("echo out; echo err >&2; read x; exit 7");
    rein_job *job, *other;

    describe(&spec);
    job = start_background(spec, 0);
    other = attach(rein_job_id(job));
    check_split_output(job);
    check_split_output(other);
    auto_result running = look(job, -EAGAIN);
    auto_result running_there = look(other, -EAGAIN);
    check_same(&running, &running_there);
    assert_true(running_there.duration_ns > 0);
    assert_int_equal(rein_send_eof(other), 0);
    auto_result ended = look(job, 0);
    auto_result ended_there = look(other, 0);
    auto_result ended_later = look(attach(rein_job_id(job)), 0);
    check_end(&ended, REIN_REASON_EXIT, 7);
    check_same(&ended, &ended_there);
    check_same(&ended, &ended_later);
    check_split_output(attach(rein_job_id(job)));
    assert_non_null(ended.warnings[0]);
    assert_non_null(ended.missing[0]);
}

static int read_up(rein *r, const char *id)
{
    rein_job *job = NULL;
    char bytes[3];
    ssize_t n = 0;

    if (rein_attach(r, id, &job, NULL) < 0)
        return 1;
    while (n < 3) {
        ssize_t got = rein_read(job, bytes + n, sizeof(bytes) - (size_t)n, PATIENCE_MS, NULL);

        if (got <= 0)
            return 2;
        n += got;
    }
    job = rein_job_free(job);
    return memcmp(bytes, "up\n", 3) == 0 ? 0 : 3;
}

static void test_other_processes_read_it(void **state)
{
    rein_job *job = start_stay(0);

    assert_int_equal(in_child(read_up, rein_job_id(job)), 0);
    assert_false(job->ended);
    stop_and_wait(job);
    assert_int_equal(in_child(read_up, rein_job_id(job)), 0);
}

static int stop_it(rein *r, const char *id)
{
    struct rein_result result = {.size = sizeof(result)};
    rein_job *job = NULL;

    if (rein_attach(r, id, &job, NULL) < 0 || rein_stop(job, 0) < 0)
        return 1;
    if (rein_wait(job, PATIENCE_MS, &result) < 0)
        return 2;
    return result.reason == REIN_REASON_STOPPED ? 0 : 3;
}

static void test_other_processes_stop_it(void **state)
{
    rein_job *job = start_stay(0);

    assert_int_equal(in_child(stop_it, rein_job_id(job)), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

static void test_left_running_is_told_to_late_comers(void **state)
{
    rein_job *job = start_background((struct rein_spec)SCRIPT("sleep 60 & exit 0"), 0);
    auto_result result = finish(job);
    auto_result late = finish(attach(rein_job_id(job)));

    assert_int_equal(result.n_left_running, 1);
    assert_int_equal(late.n_left_running, 1);
    assert_int_equal(late.left_running[0].pid, result.left_running[0].pid);
    assert_string_equal(late.left_running[0].command, result.left_running[0].command);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void test_readers_do_not_take_from_each_other(void **state)
{
    rein_job *job = start_background((struct rein_spec)ROLE("lines", "20000"), 0);
    rein_job *first = attach(rein_job_id(job));
    rein_job *second = attach(rein_job_id(job));
    auto_result result = finish(attach(rein_job_id(job)));

    assert_int_equal(result.output_bytes, 20000 * LINE_SIZE);
    check_whole(first, 1000, &result);
    check_whole(job, 65536, &result);
    check_whole(second, 12345, &result);
    check_whole(attach(rein_job_id(job)), 4096, &result);
}

/* The same across the gap of a log that was too small for it all. */
static void test_late_reader_sees_the_gap(void **state)
{
    struct rein_spec spec = ROLE("lines", "50000");

    spec.output_limit = LIMIT;
    rein_job *job = start_background(spec, 0);
    rein_job *reader = attach(rein_job_id(job));
    auto_result result = finish(job);
    assert_true(result.gap_end > result.gap_begin);
    check_whole(job, 65536, &result);
    check_whole(attach(rein_job_id(job)), 65536, &result);
    check_whole(reader, 65536, &result);
}

static void test_seek(void **state)
{
    struct rein_spec spec = ROLE("ask", "1");
    struct rein_piece piece;
    char bytes[LINE_SIZE];
    rein_job *job, *other;

    spec.stdin_kind = REIN_STDIN_PIPE;
    job = start_background(spec, 0);
    other = attach(rein_job_id(job));
    assert_int_equal(rein_send(job, "++", 2), 2);
    rein_seek(other, LINE_SIZE);
    assert_int_equal(rein_read(other, bytes, 5, PATIENCE_MS, &piece), 5);
    assert_true(are_lines(bytes, 5, 'O', LINE_SIZE));
    assert_int_equal(piece.cursor, LINE_SIZE + 5);
    rein_seek(other, 3 * LINE_SIZE + 2); /* what comes there is waited for */
    assert_int_equal(rein_read(other, bytes, 1, 0, NULL), -EAGAIN);
    assert_int_equal(rein_send(job, "++", 2), 2);
    assert_int_equal(rein_read(other, bytes, 5, PATIENCE_MS, &piece), 5);
    assert_true(are_lines(bytes, 5, 'O', 3 * LINE_SIZE + 2));
    rein_seek(other, 0);
    assert_int_equal(rein_read(other, bytes, 5, PATIENCE_MS, &piece), 5);
    assert_true(are_lines(bytes, 5, 'O', 0));
    rein_seek(other, UINT64_MAX / 2);
    assert_int_equal(rein_send_eof(job), 0);
    assert_int_equal(rein_read(other, bytes, 5, PATIENCE_MS, &piece), 0);
}

/* The position is the handle's own. */
static void test_cursor_of_another_handle(void **state)
{
    rein_job *job = start_stay(0); /* has read it all */
    rein_job *other = attach(rein_job_id(job));
    char byte;

    read_until(other, "up\n");
    assert_int_equal(rein_read(job, &byte, 1, 0, NULL), -EAGAIN);
    assert_int_equal(rein_read_at(other, 1, &byte, 1, NULL), 1);
    assert_int_equal(byte, 'p');
}

/* ---- stop, input, signals ----------------------------------------------------------------- */

static void test_stop_by_two_at_once(void **state)
{
    struct rein_spec spec = SCRIPT("trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done");
    rein_job *job = start_background(spec, 0);
    rein_job *first = attach(rein_job_id(job));
    rein_job *second = attach(rein_job_id(job));

    read_until(job, "up\n");
    assert_int_equal(rein_stop(first, 2 * PATIENCE_MS), 0);
    assert_int_equal(rein_stop(second, 2 * PATIENCE_MS), 0);
    auto_result result = finish(first);
    check_end(&result, REIN_REASON_STOPPED, 3);
    auto_result same = finish(second);
    check_end(&same, REIN_REASON_STOPPED, 3);
    auto_result again = finish(job);
    check_end(&again, REIN_REASON_STOPPED, 3);
    assert_int_equal(rein_stop(first, 0), 0);
}

static void test_input_from_an_attached_handle(void **state)
{
    struct rein_spec spec = COMMAND("/bin/cat");
    rein_job *job, *other;

    spec.stdin_kind = REIN_STDIN_PIPE;
    job = start_background(spec, 0);
    other = attach(rein_job_id(job));
    assert_int_equal(rein_send(other, "one ", 4), 4);
    read_until(other, "one ");
    assert_int_equal(rein_send(job, "two ", 4), 4);
    read_until(other, "two ");
    assert_int_equal(rein_send(other, "three", 5), 5);
    assert_int_equal(rein_send_eof(other), 0);
    auto_result result = finish(other);
    check_end(&result, REIN_REASON_EXIT, 0);
    check_output(job, "one two three");
    assert_int_equal(rein_send(other, "x", 1), -ESRCH);
    assert_int_equal(rein_send_eof(attach(rein_job_id(job))), -ESRCH);
}

static void test_input_of_another_kind(void **state)
{
    static const int kinds[] = {REIN_STDIN_NULL, REIN_STDIN_FILE};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct rein_spec spec = ROLE("stay");
        rein_job *job, *other;

        spec.stdin_kind = kinds[i];
        spec.stdin_path = "/dev/zero";
        job = start_background(spec, 0);
        other = attach(rein_job_id(job));
        assert_int_equal(rein_send(other, "x", 1), -EINVAL);
        assert_int_equal(rein_send_eof(other), -EINVAL);
    }
}

static void test_signals(void **state)
{
    struct rein_spec spec =
        SCRIPT("trap 'echo one' USR1; trap 'echo two' USR2; echo up; while :; do sleep 0.01; done");
    rein_job *job = start_background(spec, 0);
    rein_job *other = attach(rein_job_id(job));

    read_until(other, "up\n");
    assert_int_equal(rein_job_signal(other, SIGUSR1), 0);
    read_until(other, "one\n");
    assert_int_equal(rein_job_signal(job, SIGUSR2), 0);
    read_until(other, "two\n");
    assert_int_equal(rein_job_signal(other, 0), -EINVAL);
    assert_int_equal(rein_job_signal(other, 65), -EINVAL);
    assert_int_equal(rein_job_signal(NULL, SIGTERM), -EINVAL);
    assert_int_equal(rein_job_signal(other, SIGKILL), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_SIGNAL, -SIGKILL);
    auto_result there = finish(other);
    check_end(&there, REIN_REASON_SIGNAL, -SIGKILL);
    assert_int_equal(rein_job_signal(other, SIGTERM), -ESRCH);
    assert_int_equal(rein_job_signal(attach(rein_job_id(job)), SIGTERM), -ESRCH);
}

/* One who waits in poll() for the end, and not in the library. */
static void test_end_is_news(void **state)
{
    rein_job *job = start_stay(0);
    rein_job *other = attach(rein_job_id(job));
    struct pollfd pfd = {.fd = rein_job_fd(other), .events = POLLIN};
    struct rein_result result = {.size = sizeof(result)};

    assert_int_equal(rein_stop(job, 0), 0);
    while (rein_wait(other, 0, &result) == -EAGAIN) {
        rein_result_done(&result);
        result.size = sizeof(result);
        assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
    }
    assert_int_equal(result.reason, REIN_REASON_STOPPED);
    rein_result_done(&result);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        background_test(test_detached_job_outlives_its_handle),
        background_test(test_owned_job_ends_with_its_handle),
        background_test(test_attached_handle_is_let_go),
        background_test(test_directory_is_private),
        background_test(test_directory_of_a_merged_job),
        background_test(test_what_the_store_says),
        background_test(test_output_is_on_the_disk_while_it_runs),
        background_test(test_failed_start_leaves_nothing),
        background_test(test_unknown_and_malformed_ids),
        background_test(test_no_way_around_the_ids),
        background_test(test_arguments),
        background_test(test_every_handle_tells_the_same),
        background_test(test_other_processes_read_it),
        background_test(test_other_processes_stop_it),
        background_test(test_left_running_is_told_to_late_comers),
        background_test(test_readers_do_not_take_from_each_other),
        background_test(test_late_reader_sees_the_gap),
        background_test(test_seek),
        background_test(test_cursor_of_another_handle),
        background_test(test_stop_by_two_at_once),
        background_test(test_input_from_an_attached_handle),
        background_test(test_input_of_another_kind),
        background_test(test_signals),
        background_test(test_end_is_news),
    };

    if (argc > 1)
        return play_background_role(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
