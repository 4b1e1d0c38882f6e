/* Descriptors of ours leave 0, 1 and 2 to the host. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd-util.h"

static void test_others_stay(void **state)
{
    int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);

    assert_true(fd >= 3);
    assert_int_equal(fd_above_stdio(fd), fd);
    assert_int_equal(fd_above_stdio(-EBADF), -EBADF);
    assert_int_equal(fd_above_stdio(-EMFILE), -EMFILE);
    (void)close(fd);
}

/* In a child, for our own 0 is needed: moved, close-on-exec, the old one closed, errno kept; where
 * there is no other number it stays. */
static int move_zero(void)
{
    struct rlimit few = {3, 3};
    int fd;

    errno = ESRCH;
    fd = fd_above_stdio(0);
    if (fd < 3 || fcntl(fd, F_GETFD) != FD_CLOEXEC || errno != ESRCH)
        return 1;
    if (fcntl(0, F_GETFD) >= 0)
        return 2;
    if (dup2(fd, 2) < 0 || setrlimit(RLIMIT_NOFILE, &few) < 0)
        return 3;
    return fd_above_stdio(2) == 2 && fcntl(2, F_GETFD) >= 0 ? 0 : 4;
}

static void test_low_ones_move(void **state)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(move_zero());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_low_ones_move),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
