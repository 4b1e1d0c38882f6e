/* The supervisor's reading of a plan: whatever is not one is refused, and nothing is read beyond
 * what was sent. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "supervisor/plan-read.c"

#define PLAIN "cmd\0arg\0A=1\0/bin/cmd\0/\0/jobs\0{}\0" /* and the NUL of the last, empty one */

static int sockets[2];
static int null_fd;
static struct wire_plan head;
static struct plan got;

static int setup(void **state)
{
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    head = (struct wire_plan){.type = WIRE_PLAN,
                              .version = WIRE_VERSION,
                              .fd_mask = 1u << WIRE_FD_LOG,
                              .argc = 2,
                              .envc = 1,
                              .pathc = 1,
                              .process_id = "01234567",
                              .strings_size = sizeof(PLAIN)};
    memset(&got, 0, sizeof(got));
    memset(small_pointers, 0, sizeof(small_pointers)); /* as in a process that has just begun */
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets);
}

static int teardown(void **state)
{
    (void)close(sockets[0]);
    (void)close(sockets[1]);
    (void)sys_close_range((unsigned)null_fd, ~0u); /* also what a refused plan brought */
    return 0;
}

static int read_plan(const void *strings, size_t strings_size, const int *fds, size_t n_fds)
{
    struct socket_message message = {.head = &head,
                                     .head_size = sizeof(head),
                                     .body = strings,
                                     .body_size = strings_size,
                                     .fds = fds,
                                     .n_fds = n_fds};

    assert_int_equal(socket_send(sockets[0], &message, 0), 0);
    return plan_receive(sockets[1], &got);
}

static int read_plain(void)
{
    return read_plan(PLAIN, sizeof(PLAIN), &null_fd, 1);
}

static void test_plain(void **state)
{
    assert_int_equal(read_plain(), 0);
    assert_string_equal(got.argv[0], "cmd");
    assert_string_equal(got.argv[1], "arg");
    assert_null(got.argv[2]);
    assert_string_equal(got.env[0], "A=1");
    assert_null(got.env[1]);
    assert_string_equal(got.paths[0], "/bin/cmd");
    assert_string_equal(got.cwd, "/");
    assert_string_equal(got.jobs_dir, "/jobs");
    assert_string_equal(got.job_json, "{}");
    assert_string_equal(got.cleanup_dir, "");
}

static void test_nothing(void **state)
{
    (void)close(sockets[0]);
    sockets[0] = -EBADF;
    assert_int_equal(plan_receive(sockets[1], &got), -EPROTO);
}

static void test_less_than_a_head(void **state)
{
    for (size_t size = 1; size < sizeof(head); size += 13) {
        assert_int_equal(send(sockets[0], &head, size, 0), size);
        assert_int_equal(plan_receive(sockets[1], &got), -EPROTO);
    }
}

/* Each number of the head that cannot be. */
static void test_heads_that_cannot_be(void **state)
{
    static const struct {
        size_t offset;
        uint32_t value;
    } cases[] = {
        {offsetof(struct wire_plan, type), WIRE_ARM},
        {offsetof(struct wire_plan, version), WIRE_VERSION + 1},
        {offsetof(struct wire_plan, fd_mask), 0},
        {offsetof(struct wire_plan, fd_mask), 1u << WIRE_FD_LOG | 1u << WIRE_FD_STDIN},
        {offsetof(struct wire_plan, strings_size), 0},
        {offsetof(struct wire_plan, strings_size), sizeof(PLAIN) - 1},
        {offsetof(struct wire_plan, strings_size), sizeof(PLAIN) + 1},
        {offsetof(struct wire_plan, strings_size), WIRE_PLAN_MAX + 1},
        {offsetof(struct wire_plan, strings_size), UINT32_MAX},
        {offsetof(struct wire_plan, argc), 0},
        {offsetof(struct wire_plan, argc), 1},
        {offsetof(struct wire_plan, argc), 3},
        {offsetof(struct wire_plan, argc), sizeof(PLAIN)},
        {offsetof(struct wire_plan, argc), UINT32_MAX},
        {offsetof(struct wire_plan, envc), 0},
        {offsetof(struct wire_plan, envc), UINT32_MAX},
        {offsetof(struct wire_plan, pathc), 0},
        {offsetof(struct wire_plan, pathc), UINT32_MAX},
        {offsetof(struct wire_plan, n_rlimits), WIRE_RLIMITS_MAX + 1},
        {offsetof(struct wire_plan, n_rlimits), UINT32_MAX},
        {offsetof(struct wire_plan, n_pass_fds), 1},
        {offsetof(struct wire_plan, n_pass_fds), WIRE_PASS_FDS_MAX + 1},
        {offsetof(struct wire_plan, n_pass_fds), UINT32_MAX},
    };
    const struct wire_plan good = head;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int r;

        head = good;
        memcpy((char *)&head + cases[i].offset, &cases[i].value, sizeof(uint32_t));
        r = read_plain();
        if (r != -EPROTO)
            print_error("case %zu gives %d\n", i, r);
        assert_int_equal(r, -EPROTO);
    }
    head = good;
    assert_int_equal(read_plain(), 0);
}

/* A handle is used as a name: it has to end within its field. */
static void test_handle_without_an_end(void **state)
{
    memset(head.process_id, 'a', sizeof(head.process_id));
    assert_int_equal(read_plain(), -EPROTO);
}

static void test_numbers_to_pass(void **state)
{
    static const int32_t bad[][2] = {{2, 5}, {-1, 5}, {5, 1024}, {5, 5}, {6, 5}, {0, 0}};
    int fds[3] = {null_fd, null_fd, null_fd};

    head.n_pass_fds = 2;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        memcpy(head.pass_fds, bad[i], sizeof(bad[i]));
        assert_int_equal(read_plan(PLAIN, sizeof(PLAIN), fds, 3), -EPROTO);
    }
    head.pass_fds[0] = 3;
    head.pass_fds[1] = 1023;
    assert_int_equal(read_plan(PLAIN, sizeof(PLAIN), fds, 2), -EPROTO); /* one is missing */
    assert_int_equal(read_plan(PLAIN, sizeof(PLAIN), fds, 3), 0);
}

static void test_strings_without_an_end(void **state)
{
    char strings[sizeof(PLAIN)];

    memcpy(strings, PLAIN, sizeof(PLAIN));
    strings[sizeof(PLAIN) - 1] = 'x';
    assert_int_equal(read_plan(strings, sizeof(strings), &null_fd, 1), -EPROTO);
    memset(strings, 'x', sizeof(strings));
    assert_int_equal(read_plan(strings, sizeof(strings), &null_fd, 1), -EPROTO);
}

/* ---- in a memory file --------------------------------------------------------------------- */

static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("strings", MFD_CLOEXEC);

    assert_int_equal(write(fd, bytes, size), size);
    return fd;
}

static void test_secrets(void **state)
{
    static const char strings[] = "cmd\0arg\0A=1\0/bin/cmd\0four\0/\0/jobs\0{}\0";
    static const char short_one[] = "cmd\0arg\0A=1\0/bin/cmd\0two\0/\0/jobs\0{}\0";

    head.secretc = 1;
    head.strings_size = sizeof(strings);
    assert_int_equal(read_plan(strings, sizeof(strings), &null_fd, 1), 0);
    assert_string_equal(got.secrets[0], "four");
    assert_string_equal(got.cwd, "/");
    head.strings_size = sizeof(short_one);
    assert_int_equal(read_plan(short_one, sizeof(short_one), &null_fd, 1), -EPROTO);
}

static void test_too_many_secrets(void **state)
{
    static const char before[] = "cmd\0arg\0A=1\0/bin/cmd";
    static const char behind[] = "/\0/jobs\0{}\0";
    char strings[1024];
    size_t n = 0;

    memcpy(strings, before, sizeof(before));
    n += sizeof(before);
    for (int i = 0; i <= MASK_SECRETS_MAX; i++, n += sizeof("four"))
        memcpy(strings + n, "four", sizeof("four"));
    memcpy(strings + n, behind, sizeof(behind));
    head.secretc = MASK_SECRETS_MAX + 1;
    head.strings_size = (uint32_t)(n + sizeof(behind));
    assert_int_equal(read_plan(strings, head.strings_size, &null_fd, 1), -EPROTO);
    head.secretc--;
    head.strings_size -= sizeof("four");
    n -= sizeof("four");
    memcpy(strings + n, behind, sizeof(behind));
    assert_int_equal(read_plan(strings, head.strings_size, &null_fd, 1), 0);
}

static void test_strings_in_a_memory_file(void **state)
{
    int fds[2] = {memory_file(PLAIN, sizeof(PLAIN)), null_fd};

    head.flags = WIRE_PLAN_IN_MEMFD;
    assert_int_equal(read_plan(NULL, 0, fds, 2), 0);
    assert_string_equal(got.argv[1], "arg");
    assert_int_equal(read_plan(NULL, 0, fds, 1), -EPROTO); /* and no log */
    assert_int_equal(read_plan(NULL, 0, NULL, 0), -EPROTO);
    assert_int_equal(read_plan(PLAIN, sizeof(PLAIN), fds, 2), -EPROTO); /* in two places */
}

/* What is behind the end of the file must not be touched: that would be the end of us. */
static void test_memory_file_that_is_too_short(void **state)
{
    int fds[2] = {memory_file(PLAIN, sizeof(PLAIN)), null_fd};

    head.flags = WIRE_PLAN_IN_MEMFD;
    head.strings_size = 3 * 4096;
    head.argc = 3 * 4096 - 100;
    assert_int_equal(read_plan(NULL, 0, fds, 2), -EPROTO);
    fds[0] = null_fd; /* has no size, and cannot be mapped */
    assert_int_equal(read_plan(NULL, 0, fds, 2), -EPROTO);
}

#define test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_plain),
        test(test_secrets),
        test(test_too_many_secrets),
        test(test_nothing),
        test(test_less_than_a_head),
        test(test_heads_that_cannot_be),
        test(test_handle_without_an_end),
        test(test_numbers_to_pass),
        test(test_strings_without_an_end),
        test(test_strings_in_a_memory_file),
        test(test_memory_file_that_is_too_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
