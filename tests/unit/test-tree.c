/*
 * Finding and signalling descendants. Each test is played in a child that is a subreaper, as the
 * supervisor is, and so has exactly the descendants that it makes.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/tree.c"

/* ---- trees -------------------------------------------------------------------------------- */

static int ready[2];

static void stay(void)
{
    (void)close(ready[1]);
    (void)alarm(60);
    for (;;)
        (void)pause();
}

static void begin(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(ready, O_CLOEXEC) < 0)
        _exit(90);
}

/* All that were made have got to where they stay. */
static void wait_until_ready(void)
{
    char byte;

    (void)close(ready[1]);
    (void)io_read(ready[0], &byte, 1);
    (void)close(ready[0]);
}

static pid_t make_child(void)
{
    pid_t pid = fork();

    if (pid == 0)
        stay();
    return pid;
}

/* Each has the next as its child. */
static void make_chain(int length)
{
    for (int i = 0; i < length; i++) {
        if (fork() != 0) {
            if (i == 0)
                return;
            stay();
        }
    }
    stay();
}

static void make_orphan(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)setsid();
        (void)make_child();
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
}

/* Reaps until there is no child; how many ended by the signal. */
static int reap_all(int signo)
{
    int n = 0;
    int status;

    while (wait(&status) > 0)
        n += WIFSIGNALED(status) && WTERMSIG(status) == signo;
    return n;
}

/* Runs a part in a child; it gives 0 when all is well, or a line number. */
static void play(int (*part)(uint32_t fallbacks), uint32_t fallbacks)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        begin();
        _exit(part(fallbacks));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* With the kernel's lists of children, and by looking at all processes. */
static void play_both_ways(int (*part)(uint32_t fallbacks))
{
    play(part, 0);
    play(part, WIRE_NO_PROC_CHILDREN);
}

/* ---- parts -------------------------------------------------------------------------------- */

static int nobody(uint32_t fallbacks)
{
    struct wire_left left[4];
    size_t named = 99;

    if (tree_signal(SIGKILL, 0, fallbacks) != 0)
        return 1;
    return tree_list(left, 4, &named, fallbacks) == 0 && named == 0 ? 0 : 2;
}

static void test_no_descendants(void **state)
{
    play_both_ways(nobody);
}

static int all_kinds(uint32_t fallbacks)
{
    struct wire_left left[64];
    size_t named = 0;

    for (int i = 0; i < 5; i++)
        (void)make_child();
    make_chain(10);
    make_orphan();
    wait_until_ready();
    if (tree_list(left, 64, &named, fallbacks) != 16 || named != 16)
        return 1;
    for (size_t i = 0; i < named; i++) {
        if (left[i].pid <= 0 || left[i].pid == getpid() || left[i].command[0] == '\0')
            return 2;
        for (size_t k = 0; k < i; k++)
            if (left[i].pid == left[k].pid)
                return 3;
    }
    if (tree_signal(SIGKILL, 0, fallbacks) != 16)
        return 4;
    while (tree_signal(SIGKILL, 0, fallbacks) > 0) /* the dead ones are still to be reaped */
        if (reap_all(SIGKILL) == 0)
            return 5;
    return 0;
}

static void test_all_are_found(void **state)
{
    play_both_ways(all_kinds);
}

/* Those that are not ours stay untouched: the parent, and brothers. */
static int not_ours(uint32_t fallbacks)
{
    pid_t brother = make_child();
    pid_t pid;
    int status;

    wait_until_ready();
    pid = fork();
    if (pid == 0) {
        begin();
        (void)make_child();
        wait_until_ready();
        _exit(tree_signal(SIGKILL, 0, fallbacks) == 1 ? 0 : 1);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return 1;
    if (waitpid(brother, &status, WNOHANG) != 0)
        return 2;
    (void)kill(brother, SIGKILL);
    (void)reap_all(SIGKILL);
    return 0;
}

static void test_others_are_left_alone(void **state)
{
    play_both_ways(not_ours);
}

/* One that has been stopped gets SIGTERM only when it is continued. */
static int stopped(uint32_t fallbacks)
{
    pid_t pid = make_child();
    int status;

    wait_until_ready();
    (void)kill(pid, SIGSTOP);
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        return 1;
    if (tree_signal(SIGTERM, 1, fallbacks) < 1)
        return 2;
    return reap_all(SIGTERM) == 1 ? 0 : 3;
}

static void test_terminate_continues(void **state)
{
    play_both_ways(stopped);
}

/* A signal without terminate is that signal alone. */
static int only_that_signal(uint32_t fallbacks)
{
    pid_t pid = make_child();
    int status;

    wait_until_ready();
    (void)kill(pid, SIGSTOP);
    (void)waitpid(pid, &status, WUNTRACED);
    if (tree_signal(SIGTERM, 0, fallbacks) != 1)
        return 1;
    if (waitpid(pid, &status, WNOHANG) != 0)
        return 2;
    (void)kill(pid, SIGCONT);
    return reap_all(SIGTERM) == 1 ? 0 : 3;
}

static void test_signal_alone(void **state)
{
    play_both_ways(only_that_signal);
}

/* Zombies are not alive, whoever has not waited for them. */
static int zombies(uint32_t fallbacks)
{
    struct wire_left left[8];
    size_t named;
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    (void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    (void)make_child();
    wait_until_ready();
    if (tree_list(left, 8, &named, fallbacks) != 1 || named != 1 || left[0].pid == pid)
        return 1;
    (void)tree_signal(SIGKILL, 0, fallbacks);
    (void)reap_all(SIGKILL);
    return 0;
}

static void test_zombies_are_not_alive(void **state)
{
    play_both_ways(zombies);
}

static int more_than_are_named(uint32_t fallbacks)
{
    struct wire_left left[10];
    size_t named;

    for (int i = 0; i < 30; i++)
        (void)make_child();
    wait_until_ready();
    if (tree_list(left, 10, &named, fallbacks) != 30 || named != 10)
        return 1;
    (void)tree_signal(SIGKILL, 0, fallbacks);
    return reap_all(SIGKILL) == 30 ? 0 : 2;
}

static void test_more_than_are_named(void **state)
{
    play_both_ways(more_than_are_named);
}

/* A process may have any name: parentheses, spaces, line ends. */
static int odd_names(uint32_t fallbacks)
{
    static const char *const names[] = {") Z 1 (", "a b", "x)\n", "((((", "", "12 34) S 1"};
    struct wire_left left[16];
    size_t named;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (fork() == 0) {
            (void)prctl(PR_SET_NAME, names[i]);
            (void)make_child();
            stay();
        }
    }
    wait_until_ready();
    if (tree_list(left, 16, &named, fallbacks) != 2 * ARRAY_SIZE(names))
        return 1;
    if (tree_signal(SIGKILL, 0, fallbacks) != 2 * ARRAY_SIZE(names))
        return 2;
    (void)reap_all(SIGKILL);
    return 0;
}

static void test_odd_names(void **state)
{
    play_both_ways(odd_names);
}

/* A list of children that does not fit into one read. */
static int very_many(uint32_t fallbacks)
{
    struct wire_left left[1];
    size_t named;

    (void)fallbacks;
    for (int i = 0; i < 3000; i++)
        if (make_child() < 0)
            return 77;
    wait_until_ready();
    if (tree_list(left, 1, &named, fallbacks) != 3000)
        return 1;
    if (tree_signal(SIGKILL, 0, fallbacks) != 3000)
        return 2;
    return reap_all(SIGKILL) == 3000 ? 0 : 3;
}

static void test_very_many(void **state)
{
    play(very_many, 0);
}

/* The command of a leftover is its arguments, or its name where it has none. */
static int commands(uint32_t fallbacks)
{
    struct wire_left left[2];
    size_t named;
    int gate[2];
    char byte;

    if (pipe2(gate, O_CLOEXEC) < 0)
        return 1;
    if (fork() == 0) {
        (void)execl("/bin/sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    (void)close(gate[1]); /* the child's copy is closed by its exec */
    (void)io_read(gate[0], &byte, 1);
    if (tree_list(left, 2, &named, fallbacks) != 1)
        return 2;
    if (strcmp(left[0].command, "sleep 60") != 0)
        return 3;
    (void)tree_signal(SIGKILL, 0, fallbacks);
    (void)reap_all(SIGKILL);
    return 0;
}

static void test_commands(void **state)
{
    play(commands, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_descendants),
        cmocka_unit_test(test_all_are_found),
        cmocka_unit_test(test_others_are_left_alone),
        cmocka_unit_test(test_terminate_continues),
        cmocka_unit_test(test_signal_alone),
        cmocka_unit_test(test_zombies_are_not_alive),
        cmocka_unit_test(test_more_than_are_named),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_very_many),
        cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
