/*
 * Descriptors that are passed on arrive at their own numbers, whatever else has those numbers in
 * the library, the supervisor or on the way.
 */
#include "job-test.h"

#include <sys/resource.h>

#include "base/syscall-linux.h"
#include "job/job.h"

/* write NUMBER...: its own number into each descriptor; then which are open at all. */
static int play_write(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        (void)dprintf(atoi(argv[i]), "%s", argv[i]);
    for (int fd = 0; fd < 1100; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    return 0;
}

#define FDS_MAX 64

/* Puts the write end of a pipe at each number, passes them, and sees each number arrive. */
static void check_passed(const int *numbers, size_t n)
{
    static char texts[FDS_MAX][12];
    const char *argv[FDS_MAX + 3] = {self_path, "write"};
    struct rein_spec spec = {.size = sizeof(spec), .argv = argv};
    auto_buf struct buf expected = {0};
    int read_fds[FDS_MAX];

    for (size_t i = 0; i < n; i++) {
        int fds[2];

        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        /* both out of the way of the numbers that are to come */
        read_fds[i] = fcntl(fds[0], F_DUPFD_CLOEXEC, 300);
        int away = fcntl(fds[1], F_DUPFD_CLOEXEC, 300);
        (void)close(fds[0]);
        (void)close(fds[1]);
        assert_int_equal(dup3(away, numbers[i], O_CLOEXEC), numbers[i]);
        (void)close(away);
        (void)snprintf(texts[i], sizeof(texts[i]), "%d", numbers[i]);
        argv[2 + i] = texts[i];
    }
    spec.pass_fds = numbers;
    spec.n_pass_fds = n;
    rein_job *job = start(&spec);
    for (int fd = 0; fd < 1100; fd++) {
        int wanted = fd < 3;

        for (size_t i = 0; i < n; i++)
            wanted |= numbers[i] == fd;
        if (wanted)
            buf_add_format(&expected, "%d ", fd);
    }
    check_output(job, expected.data);
    for (size_t i = 0; i < n; i++) {
        char text[12] = "";

        assert_true(fcntl(numbers[i], F_GETFD) >= 0); /* ours stay as they were */
        (void)close(numbers[i]);
        assert_int_equal(io_read_full(read_fds[i], text, sizeof(text) - 1), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
        (void)close(read_fds[i]);
    }
    end_job(job);
}

static void test_low_numbers_in_all_orders(void **state)
{
    static const int orders[][3] = {{3, 4, 5}, {3, 5, 4}, {4, 3, 5},
                                    {4, 5, 3}, {5, 3, 4}, {5, 4, 3}};

    for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
        check_passed(orders[i], 3);
}

/* One after the other: the supervisor's own ends of the job's pipes are among them. */
static void test_each_low_number(void **state)
{
    for (int number = 3; number < 24; number++) {
        check_passed(&number, 1);
        context = rein_free(context); /* or its own were where the next is to be */
        context = open_context();
    }
}

static void test_numbers_with_gaps(void **state)
{
    static const int numbers[] = {200, 3, 77, 10, 9, 1022};

    check_passed(numbers, ARRAY_SIZE(numbers));
}

/* The highest number there is, with the limit on descriptors that most systems have. */
static void test_largest_number_at_the_limit(void **state)
{
    static const int numbers[] = {1023, 1022};
    struct rlimit before;
    struct rlimit usual = {1024, 1024};

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    usual.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    check_passed(numbers, ARRAY_SIZE(numbers));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_as_many_as_there_may_be(void **state)
{
    int numbers[FDS_MAX];

    for (int i = 0; i < FDS_MAX; i++)
        numbers[i] = 3 + (i * 37) % FDS_MAX;
    check_passed(numbers, FDS_MAX);
}

static void test_same_descriptor_twice(void **state)
{
    auto_life life = life_new();
    int numbers[] = {life.given_fd, life.given_fd};
    char number[12];

    (void)snprintf(number, sizeof(number), "%d", life.given_fd);
    struct rein_spec spec = ROLE("write", number);
    spec.pass_fds = numbers;
    spec.n_pass_fds = 2;
    rein_job *job = start(&spec);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
}

/* Standard input and one passed on may be the same open file. */
static void test_passed_and_standard_input(void **state)
{
    int fds[2];
    char number[12];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(io_write_all(fds[1], "ab", 2), 0);
    (void)snprintf(number, sizeof(number), "%d", fds[0]);
    struct rein_spec spec =
        COMMAND("/bin/bash", "-c", "read -n1 x; read -n1 -u $0 y; echo $x$y", number);
    spec.stdin_kind = REIN_STDIN_FD;
    spec.stdin_fd = fds[0];
    spec.pass_fds = &fds[0];
    spec.n_pass_fds = 1;
    rein_job *job = start(&spec);
    check_output(job, "ab\n");
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void test_numbers_that_cannot_be_passed(void **state)
{
    static const int numbers[] = {-1, 0, 2, 1024, INT32_MAX, 999};

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        struct rein_spec spec = COMMAND("true");

        spec.pass_fds = &numbers[i];
        spec.n_pass_fds = 1;
        (void)rein_error_free(start_fails(&spec, -EINVAL, "bad_request"));
    }
}

static void test_too_many(void **state)
{
    struct rein_spec spec = COMMAND("true");
    int numbers[FDS_MAX + 1];

    for (int i = 0; i <= FDS_MAX; i++)
        numbers[i] = 3;
    spec.pass_fds = numbers;
    spec.n_pass_fds = FDS_MAX + 1;
    (void)rein_error_free(start_fails(&spec, -EINVAL, "bad_request"));
    spec.pass_fds = NULL;
    spec.n_pass_fds = 1;
    (void)rein_error_free(start_fails(&spec, -EINVAL, "bad_request"));
}

static const struct role roles[] = {{"write", play_write}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        job_test(test_low_numbers_in_all_orders),
        job_test(test_each_low_number),
        job_test(test_numbers_with_gaps),
        job_test(test_largest_number_at_the_limit),
        job_test(test_as_many_as_there_may_be),
        job_test(test_same_descriptor_twice),
        job_test(test_passed_and_standard_input),
        job_test(test_numbers_that_cannot_be_passed),
        job_test(test_too_many),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    (void)sys_close_range(3, ~0u); /* the numbers are ours */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
