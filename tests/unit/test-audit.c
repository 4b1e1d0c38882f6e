/* The audit trail: a chain that goes on through files and crashes, and shows what was done to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"
#include "policy/audit.h"
#include "temp-dir.h"

#define TEXT_MAX 65536

static int append_limited(const char *event, const struct audit_limits *limits)
{
    json_t *fields = json_pack("{s:s}", "event", event);
    int r = audit_append(temp_dir, fields, limits, NULL);

    json_decref(fields);
    return r;
}

static int append(const char *event)
{
    return append_limited(event, NULL);
}

static void append_all(const char *events)
{
    for (; *events; events++) {
        const char event[] = {*events, '\0'};

        assert_int_equal(append(event), 0);
    }
}

/* ---- the files, as somebody with an editor sees them --------------------------------------- */

static char *read_file(const char *name)
{
    static char texts[4][TEXT_MAX];
    static unsigned next;
    char *text = texts[next++ % 4];
    FILE *file = fopen(in_temp_dir(name), "re");
    size_t n;

    assert_non_null(file);
    n = fread(text, 1, TEXT_MAX - 1, file);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

static void write_file(const char *name, const char *text)
{
    (void)write_temp_file(name, 0600, text);
}

/* Line number n, from 1, with its newline. */
static char *line_of(const char *text, unsigned n)
{
    static char lines[4][4096];
    static unsigned next;
    char *line = lines[next++ % 4];

    while (--n > 0)
        text = strchr(text, '\n') + 1;
    (void)snprintf(line, sizeof(lines[0]), "%.*s", (int)strcspn(text, "\n") + 1, text);
    return line;
}

static unsigned count_lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static struct audit_report verify(void)
{
    struct audit_report report;

    assert_int_equal(audit_verify(temp_dir, &report, NULL), 0);
    return report;
}

static void check_whole(uint64_t lines, uint64_t torn)
{
    struct audit_report report = verify();

    if (report.what)
        fail_msg("%s:%d %s", report.file, (int)report.line, report.what);
    assert_int_equal(report.lines, lines);
    assert_int_equal(report.torn, torn);
}

static void check_fault(const char *file, uint64_t line, const char *what)
{
    struct audit_report report = verify();

    if (!report.what)
        fail_msg("whole, but: %s", what);
    if (!strstr(report.what, what))
        fail_msg("'%s' instead of '%s'", report.what, what);
    assert_string_equal(report.file, file);
    assert_int_equal(report.line, line);
}

/* ---- appending ----------------------------------------------------------------------------- */

static void test_no_trail(void **state)
{
    check_whole(0, 0);
}

static void test_lines_and_modes(void **state)
{
    struct stat st;
    const char *text;

    append_all("ab");
    text = read_file("audit/audit.jsonl");
    assert_int_equal(count_lines(text), 2);
    assert_non_null(strstr(text, "{\"seq\":1,\"time\":\"20"));
    assert_non_null(strstr(text, "\"previous\":\"00000000000000000000000000000000"));
    assert_non_null(strstr(text, ",\"event\":\"b\"}\n"));
    assert_int_equal(stat(in_temp_dir("audit"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(in_temp_dir("audit/audit.jsonl"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(in_temp_dir("audit/head"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    check_whole(2, 0);
}

/* What a caller says cannot take the place of what ties the lines together. */
static void test_caller_cannot_forge_the_chain(void **state)
{
    json_t *fields = json_pack("{s:i, s:s}", "seq", 77, "previous", "x");

    append_all("a");
    assert_int_equal(audit_append(temp_dir, fields, NULL, NULL), 0);
    json_decref(fields);
    check_whole(2, 0);
}

static void test_long_lines(void **state)
{
    static char event[300000];

    memset(event, 'x', sizeof(event) - 1);
    append_all("a");
    assert_int_equal(append(event), 0);
    append_all("b");
    check_whole(3, 0);
}

static void test_rotation(void **state)
{
    const struct audit_limits limits = {.file_bytes = 300, .files = 3};
    struct audit_report report;

    for (int i = 0; i < 12; i++)
        assert_int_equal(append_limited("something", &limits), 0);
    report = verify();
    assert_null(report.what);
    assert_int_equal(report.files, 4);
    assert_in_range(report.lines, 7, 8); /* the oldest are gone, and that is no fault */
    assert_null(strstr(read_file("audit/audit.3.jsonl"), "\"seq\":1,"));
    assert_int_equal(access(in_temp_dir("audit/audit.4.jsonl"), F_OK), -1);
    assert_int_equal(rename(in_temp_dir("audit/audit.3.jsonl"), in_temp_dir("gone")), 0);
    check_fault("audit.2.jsonl", 1, "beginning is missing");
}

/* Fewer files than before. */
static void test_smaller_limits(void **state)
{
    struct audit_limits limits = {.file_bytes = 300, .files = 5};

    for (int i = 0; i < 9; i++)
        assert_int_equal(append_limited("something", &limits), 0);
    limits.files = 1;
    for (int i = 0; i < 3; i++)
        assert_int_equal(append_limited("something", &limits), 0);
    assert_int_equal(verify().files, 2);
    assert_null(verify().what);
}

/* A crash between two renames leaves a number free; the next rotation takes it. */
static void test_rotation_that_was_interrupted(void **state)
{
    const struct audit_limits limits = {.file_bytes = 150, .files = 4};

    for (int i = 0; i < 4; i++)
        assert_int_equal(append_limited("something", &limits), 0);
    assert_int_equal(rename(in_temp_dir("audit/audit.3.jsonl"), in_temp_dir("audit/audit.4.jsonl")),
                     0);
    assert_int_equal(rename(in_temp_dir("audit/audit.2.jsonl"), in_temp_dir("audit/audit.3.jsonl")),
                     0);
    check_whole(4, 0);
    assert_int_equal(append_limited("something", &limits), 0);
    check_whole(5, 0);
}

static void test_newest_file_put_aside_before_a_crash(void **state)
{
    append_all("ab");
    assert_int_equal(rename(in_temp_dir("audit/audit.jsonl"), in_temp_dir("audit/audit.1.jsonl")),
                     0);
    check_whole(2, 0);
    append_all("c");
    check_whole(3, 0);
}

/* ---- crashes and full disks ---------------------------------------------------------------- */

static void cut_file(const char *name, size_t bytes)
{
    struct stat st;

    assert_int_equal(stat(in_temp_dir(name), &st), 0);
    assert_int_equal(truncate(in_temp_dir(name), st.st_size - (off_t)bytes), 0);
}

/* Brings the head back to where it was before the last line, as a crash leaves it. */
static void crash_in_line(size_t cut)
{
    char *head;

    append_all("ab");
    head = read_file("audit/head");
    append_all("c");
    write_file("audit/head", head);
    cut_file("audit/audit.jsonl", cut);
}

static void test_head_that_is_behind(void **state)
{
    crash_in_line(0);
    check_whole(3, 0);
    append_all("d");
    check_whole(4, 0);
}

static void test_torn_line(void **state)
{
    crash_in_line(10);
    check_whole(2, 1);
    append_all("d");
    assert_non_null(strstr(line_of(read_file("audit/audit.jsonl"), 4), "\"repaired\":true"));
    check_whole(3, 1);
    append_all("ef");
    check_whole(5, 1);
}

static void test_line_without_newline(void **state)
{
    crash_in_line(1);
    check_whole(3, 0);
    append_all("d");
    check_whole(3, 1);
    append_all("e");
    check_whole(4, 1);
}

/* A file with a torn line is not put aside; so somebody else did that. */
static void test_torn_line_in_a_file_put_aside(void **state)
{
    crash_in_line(10);
    assert_int_equal(rename(in_temp_dir("audit/audit.jsonl"), in_temp_dir("audit/audit.1.jsonl")),
                     0);
    check_fault("audit.1.jsonl", 3, "was changed");
    append_all("d");
    check_fault("audit.1.jsonl", 3, "was changed");
}

/* Nothing but an editor does that: the head knows the line. */
static void test_newline_taken_away(void **state)
{
    append_all("abc");
    cut_file("audit/audit.jsonl", 1);
    check_whole(3, 0);
    append_all("d");
    check_whole(4, 1);
}

static void test_torn_line_is_closed_where_it_is(void **state)
{
    const struct audit_limits limits = {.file_bytes = 1};

    crash_in_line(10);
    assert_int_equal(append_limited("d", &limits), 0);
    assert_int_equal(verify().files, 1);
    assert_int_equal(append_limited("e", &limits), 0);
    assert_int_equal(verify().files, 2);
    check_whole(4, 1);
}

/* The last line's number counts, however long that line is. */
static void test_head_that_is_behind_a_long_line(void **state)
{
    static char event[300000];
    char *head;

    memset(event, 'x', sizeof(event) - 1);
    append_all("a");
    head = read_file("audit/head");
    assert_int_equal(append(event), 0);
    write_file("audit/head", head);
    append_all("b");
    check_whole(3, 0);
}

static void test_torn_first_line(void **state)
{
    append_all("a");
    assert_int_equal(unlink(in_temp_dir("audit/head")), 0);
    cut_file("audit/audit.jsonl", 20);
    check_whole(0, 1);
    append_all("bc");
    check_whole(2, 1);
}

/* A torn line and a missing end are different things. */
static void test_cut_in_the_middle_of_a_line(void **state)
{
    append_all("abc");
    cut_file("audit/audit.jsonl", 10);
    check_fault("audit.jsonl", 3, "end is missing");
    append_all("d");
    check_fault("audit.jsonl", 3, "was changed");
}

/* Forks a child with a small limit on the size of files: there is no room for the line. */
static int append_without_room(rlim_t bytes)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        auto_error struct rein_error *error = NULL;
        json_t *fields = json_pack("{s:s}", "event", "x");
        struct rlimit limit = {bytes, bytes};

        (void)signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) < 0 ||
            audit_append(temp_dir, fields, NULL, &error) != -EFBIG)
            _exit(1);
        _exit(strcmp(error->code, "limit_exceeded") != 0 ||
              strcmp(error->message, "audit: cannot write audit.jsonl: File too large") != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_no_room_for_a_line(void **state)
{
    append_all("ab");
    assert_int_equal(append_without_room(strlen(read_file("audit/audit.jsonl")) + 20), 0);
    check_whole(2, 1);
    append_all("c");
    check_whole(3, 1);
    assert_int_equal(append_without_room(strlen(read_file("audit/audit.jsonl"))), 0);
    check_whole(3, 1);
}

static void test_unusable_directory(void **state)
{
    auto_error struct rein_error *error = NULL;
    json_t *fields = json_object();

    write_file("audit", "a file");
    assert_int_equal(audit_append(temp_dir, fields, NULL, &error), -ENOTDIR);
    assert_string_equal(error->code, "internal");
    assert_non_null(strstr(error->message, "/audit: Not a directory"));
    assert_int_equal(unlink(in_temp_dir("audit")), 0);
    assert_int_equal(mkdir(in_temp_dir("audit"), 0700), 0);
    assert_int_equal(chmod(in_temp_dir("audit"), 0777), 0);
    assert_int_equal(audit_append(temp_dir, fields, NULL, NULL), -EPERM);
    json_decref(fields);
}

static void test_lock_that_is_held(void **state)
{
    auto_error struct rein_error *error = NULL;
    json_t *fields = json_object();
    auto_close int fd = -EBADF;

    append_all("a");
    fd = open(in_temp_dir("audit"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(audit_append(temp_dir, fields, NULL, &error), -EAGAIN);
    assert_non_null(strstr(error->message, "another process"));
    json_decref(fields);
}

static void test_several_writers(void **state)
{
    pid_t pids[4];

    for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            const struct audit_limits limits = {.file_bytes = 2000, .files = 50};
            int failed = 0;

            for (int n = 0; n < 50; n++)
                failed |= append_limited("many", &limits);
            _exit(failed != 0);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    check_whole(200, 0);
}

/* ---- tampering ------------------------------------------------------------------------------ */

/* Puts the file together from lines of the old one: "132" swaps the second and the third. */
static void rearrange(const char *order)
{
    char text[TEXT_MAX] = "";
    const char *old = read_file("audit/audit.jsonl");

    for (; *order; order++)
        (void)strcat(text, line_of(old, (unsigned)(*order - '0')));
    write_file("audit/audit.jsonl", text);
}

static void change(const char *from, const char *to)
{
    const char *old = read_file("audit/audit.jsonl");
    const char *at = strstr(old, from);
    char text[TEXT_MAX];

    assert_non_null(at);
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - old), old, to, at + strlen(from));
    write_file("audit/audit.jsonl", text);
}

static void test_changed_line(void **state)
{
    append_all("abcde");
    change("\"c\"", "\"x\"");
    check_fault("audit.jsonl", 3, "was changed");
    append_all("f"); /* it stays visible */
    check_fault("audit.jsonl", 3, "was changed");
}

static void test_changed_last_line(void **state)
{
    append_all("abc");
    change("\"c\"", "\"x\"");
    check_fault("audit.jsonl", 3, "was changed");
    append_all("d");
    check_fault("audit.jsonl", 3, "was changed");
}

static void test_changed_first_line(void **state)
{
    append_all("abc");
    change("previous\":\"0", "previous\":\"1");
    check_fault("audit.jsonl", 1, "was changed");
}

static void test_changed_only_line(void **state)
{
    append_all("a");
    assert_int_equal(unlink(in_temp_dir("audit/head")), 0);
    change("previous\":\"0", "previous\":\"1");
    check_fault("audit.jsonl", 1, "was changed");
}

/* Chained anew, but for the head. */
static void test_other_trail(void **state)
{
    char *head;

    append_all("ab");
    head = read_file("audit/head");
    assert_int_equal(unlink(in_temp_dir("audit/audit.jsonl")), 0);
    assert_int_equal(unlink(in_temp_dir("audit/head")), 0);
    append_all("axc");
    write_file("audit/head", head);
    check_fault("audit.jsonl", 2, "was changed");
}

static void test_line_made_unreadable(void **state)
{
    append_all("abc");
    change("{\"seq\":2", "#\"seq\":2");
    check_fault("audit.jsonl", 2, "was changed");
    append_all("d");
    check_fault("audit.jsonl", 2, "was changed");
}

static void test_last_line_made_unreadable(void **state)
{
    append_all("abc");
    change("{\"seq\":3", "#\"seq\":3");
    check_fault("audit.jsonl", 3, "was changed");
    append_all("d");
    check_fault("audit.jsonl", 3, "was changed");
}

static void test_other_number(void **state)
{
    append_all("abc");
    change("{\"seq\":2", "{\"seq\":9");
    check_fault("audit.jsonl", 2, "was changed");
}

/* Nothing is counted beyond what JSON's readers take for a whole number. */
static void test_enormous_number(void **state)
{
    append_all("abc");
    change("{\"seq\":3", "{\"seq\":9223372036854775807");
    check_fault("audit.jsonl", 3, "was changed");
    append_all("d");
    check_fault("audit.jsonl", 3, "was changed");
}

static void test_missing_line(void **state)
{
    append_all("abcde");
    rearrange("1245");
    check_fault("audit.jsonl", 3, "are missing");
}

static void test_missing_beginning(void **state)
{
    append_all("abc");
    rearrange("23");
    check_fault("audit.jsonl", 1, "beginning is missing");
}

static void test_lines_out_of_order(void **state)
{
    append_all("abcde");
    rearrange("12435");
    check_fault("audit.jsonl", 3, "out of order");
}

static void test_line_twice(void **state)
{
    append_all("abc");
    rearrange("12233");
    check_fault("audit.jsonl", 3, "out of order");
}

static void test_cut_end(void **state)
{
    append_all("abcd");
    rearrange("12");
    check_fault("audit.jsonl", 2, "end is missing");
    append_all("e"); /* which does not heal it */
    check_fault("audit.jsonl", 3, "are missing");
}

static void test_everything_taken_away(void **state)
{
    append_all("abc");
    assert_int_equal(unlink(in_temp_dir("audit/audit.jsonl")), 0);
    check_fault("audit.jsonl", 0, "end is missing");
    append_all("d");
    check_fault("audit.jsonl", 1, "beginning is missing");
}

static void test_head_taken_away(void **state)
{
    append_all("abc");
    assert_int_equal(unlink(in_temp_dir("audit/head")), 0);
    check_fault("head", 0, "is missing");
    append_all("d");
    check_whole(4, 0);
    assert_non_null(strstr(read_file("audit/audit.jsonl"), "\"head_missing\":true"));
}

static void test_head_that_is_nonsense(void **state)
{
    append_all("abc");
    write_file("audit/head", "{\"seq\":-1}");
    check_fault("head", 0, "was changed");
}

/* A line that claims that the one before was torn: that one's own number is still missing. */
static void test_claim_of_a_repair(void **state)
{
    append_all("abc");
    change("{\"seq\":2", "#\"seq\":2");
    change("\"event\":\"c\"", "\"repaired\":true");
    check_fault("audit.jsonl", 2, "was changed");
}

int main(void)
{
#define audit_test(f) cmocka_unit_test_setup_teardown(f, temp_dir_setup, temp_dir_teardown)
    const struct CMUnitTest tests[] = {
        audit_test(test_no_trail),
        audit_test(test_lines_and_modes),
        audit_test(test_caller_cannot_forge_the_chain),
        audit_test(test_long_lines),
        audit_test(test_rotation),
        audit_test(test_smaller_limits),
        audit_test(test_rotation_that_was_interrupted),
        audit_test(test_newest_file_put_aside_before_a_crash),
        audit_test(test_head_that_is_behind),
        audit_test(test_torn_line),
        audit_test(test_line_without_newline),
        audit_test(test_torn_line_in_a_file_put_aside),
        audit_test(test_newline_taken_away),
        audit_test(test_torn_line_is_closed_where_it_is),
        audit_test(test_head_that_is_behind_a_long_line),
        audit_test(test_torn_first_line),
        audit_test(test_cut_in_the_middle_of_a_line),
        audit_test(test_no_room_for_a_line),
        audit_test(test_unusable_directory),
        audit_test(test_lock_that_is_held),
        audit_test(test_several_writers),
        audit_test(test_changed_line),
        audit_test(test_changed_last_line),
        audit_test(test_changed_first_line),
        audit_test(test_changed_only_line),
        audit_test(test_other_trail),
        audit_test(test_line_made_unreadable),
        audit_test(test_last_line_made_unreadable),
        audit_test(test_other_number),
        audit_test(test_enormous_number),
        audit_test(test_missing_line),
        audit_test(test_missing_beginning),
        audit_test(test_lines_out_of_order),
        audit_test(test_line_twice),
        audit_test(test_cut_end),
        audit_test(test_everything_taken_away),
        audit_test(test_head_taken_away),
        audit_test(test_head_that_is_nonsense),
        audit_test(test_claim_of_a_repair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
