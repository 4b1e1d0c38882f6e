/*
 * Leaves: where a cgroup v2 directory of our own can be found, jobs run in one of their own, the
 * kernel ends all that is in it, and none is left behind. Where that is impossible nothing differs.
 */
#include "job-test.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cgroup-leaf.h"
#include "base/syscall-linux.h"
#include "job/job.h"

/* ---- where we are ------------------------------------------------------------------------- */

#define HEAD "41 31 0:38 "
#define V2 " - cgroup2 cgroup2 rw,nsdelegate"

static void test_lines_of_mountinfo(void **state)
{
    static const struct {
        const char *line;
        const char *own_path;
        const char *expected; /* NULL: another mount */
    } rows[] = {
        {HEAD "/ /sys/fs/cgroup rw,nosuid shared:9" V2, "/", "/sys/fs/cgroup/"},
        {HEAD "/ /sys/fs/cgroup rw" V2, "/user.slice/a b", "/sys/fs/cgroup/user.slice/a b"},
        {HEAD "/ /sys/fs/cgroup/unified rw" V2, "/x", "/sys/fs/cgroup/unified/x"},
        {HEAD "/ /a\\040b\\134c rw" V2, "/x", "/a b\\c/x"},
        {HEAD "/ /a\\04 rw" V2, "/x", "/a\\04/x"},
        /* a part of the hierarchy, as containers without a namespace of groups see it */
        {HEAD "/docker/1f /sys/fs/cgroup rw" V2, "/docker/1f", "/sys/fs/cgroup"},
        {HEAD "/docker/1f /sys/fs/cgroup rw" V2, "/docker/1f/y", "/sys/fs/cgroup/y"},
        {HEAD "/docker/1f /sys/fs/cgroup rw" V2, "/docker/1f2", NULL},
        {HEAD "/docker/1f /sys/fs/cgroup rw" V2, "/", NULL},
        {HEAD "/a\\134x2d /mnt rw" V2, "/a\\x2d/y", "/mnt/y"},
        {HEAD "/../.. /sys/fs/cgroup rw" V2, "/x", NULL},
        {HEAD "/ /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "/", NULL},
        {HEAD "/ /cgroup2 rw - tmpfs cgroup2 rw", "/", NULL},
        {HEAD "/", "/", NULL},
        {" - cgroup2 ", "/", NULL},
        {"", "/", NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        auto_free char *line = strdup(rows[i].line);
        auto_free char *path = NULL;

        print_message("# %s\n", rows[i].line);
        assert_int_equal(cgroup_match_mount(line, rows[i].own_path, &path),
                         rows[i].expected != NULL);
        if (rows[i].expected)
            assert_string_equal(path, rows[i].expected);
    }
}

static void test_groups_that_suit(void **state)
{
    static const struct {
        const char *controllers, *memory, *cpu; /* what is in the files; NULL for none */
        int expected;
    } rows[] = {
        {NULL, NULL, NULL, 1},
        {"", NULL, NULL, 1},
        {"", "max\n", "max 100000\n", 1},
        {"cpu memory\n", NULL, NULL, 0},
        {"", "2147483648\n", NULL, 0},
        {"", "0\n", NULL, 0},
        {"", "", NULL, 0},
        {"", "max\n", "50000 100000\n", 0},
    };
    static const char *const names[] = {"cgroup.subtree_control", "memory.max", "cpu.max"};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *const texts[] = {rows[i].controllers, rows[i].memory, rows[i].cpu};
        auto_close int dir_fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
            if (texts[k])
                (void)write_temp_file(names[k], 0600, texts[k]);
            else
                (void)unlinkat(dir_fd, names[k], 0);
        }
        print_message("# row %zu\n", i);
        assert_int_equal(cgroup_suits(dir_fd), rows[i].expected);
    }
}

/* ---- around each test --------------------------------------------------------------------- */

static int parent_fd; /* the group of this program */

static int can_have_leaves(void)
{
    rein_job *job = start(&(struct rein_spec)COMMAND("/bin/true"));
    auto_result result = finish(job);

    check_end(&result, REIN_REASON_EXIT, 0);
    end_job(job);
    return context->cgroup.parent_fd >= 0;
}

/* Ends the test where this program may not make groups: most users may not. */
static void need_leaves(void)
{
    if (!can_have_leaves()) {
        assert_true(geteuid() != 0 || !getenv("REIN_TEST_MUST_WORK"));
        print_message("# no cgroup v2 directory of our own here\n");
        skip();
    }
    parent_fd = context->cgroup.parent_fd;
}

/* How many leaves a process has at this moment. */
static int count_leaves(int dir_fd, pid_t pid)
{
    DIR *dir = fdopendir(openat(dir_fd, ".", O_RDONLY | O_CLOEXEC));
    struct dirent *entry;
    char prefix[32];
    int n = 0;

    assert_non_null(dir);
    (void)snprintf(prefix, sizeof(prefix), "rein-%d-", (int)pid);
    while ((entry = readdir(dir)))
        n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    (void)closedir(dir);
    return n;
}

static int own_leaves(void)
{
    return count_leaves(parent_fd, getpid());
}

/* Frees the context, after which none of its leaves may be there. */
static void check_that_none_is_left(void)
{
    auto_close int dir_fd = fcntl(parent_fd, F_DUPFD_CLOEXEC, 3);

    context = rein_free(context);
    assert_int_equal(count_leaves(dir_fd, getpid()), 0);
}

/* What the kernel says of where a job runs: the last part of its path. */
static char *leaf_of(rein_job *job)
{
    auto_free char *text = read_all(job, NULL);
    char *line = strstr(text, "0::/");
    char *slash;

    assert_non_null(line);
    line[strcspn(line, "\n")] = '\0';
    slash = strrchr(line, '/');
    return strdup(slash + 1);
}

#define SHOW_LEAF "cat /proc/self/cgroup; "

/* A job that ends in its own time; its leaf's name, to be freed. */
static char *leaf_of_script(const char *script)
{
    rein_job *job = start(&(struct rein_spec)SCRIPT(script));
    char *name = leaf_of(job);
    auto_result result = finish(job);

    assert_int_equal(result.reason, REIN_REASON_EXIT);
    end_job(job);
    return name;
}

static int leaf_exists(const char *name)
{
    return faccessat(parent_fd, name, F_OK, 0) == 0;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &parent), 1);
    (void)fclose(file);
    return parent;
}

/* ---- a leaf for each job ------------------------------------------------------------------ */

static void test_first_leaf_goes_with_its_job(void **state)
{
    rein_job *job;

    need_leaves();
    context = rein_free(context);
    context = open_context();
    assert_non_null(context);
    job = start(&(struct rein_spec)COMMAND("/bin/true"));
    parent_fd = context->cgroup.parent_fd;
    assert_int_equal(own_leaves(), 1);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(own_leaves(), 0); /* what its owner does next may take time, or be its end */
    end_job(job);
    check_that_none_is_left();
}

static void test_each_job_has_a_leaf(void **state)
{
    char expected[64];

    need_leaves();
    (void)snprintf(expected, sizeof(expected), "rein-%d-", (int)getpid());
    for (int i = 0; i < 4; i++) {
        auto_free char *name = leaf_of_script(SHOW_LEAF);

        assert_int_equal(strncmp(name, expected, strlen(expected)), 0);
        assert_int_equal(own_leaves(), 1); /* waits for the next one */
    }
    check_that_none_is_left();
}

static void test_leaf_serves_again(void **state)
{
    need_leaves();
    auto_free char *first = leaf_of_script(SHOW_LEAF);
    auto_free char *second = leaf_of_script(SHOW_LEAF);

    assert_string_equal(first, second);
    check_that_none_is_left();
}

/* Kernels kill what is born into a group that was killed before. */
static void test_killed_leaf_does_not_serve_again(void **state)
{
    need_leaves();
    auto_free char *first = leaf_of_script(SHOW_LEAF "exec >&-; setsid sleep 60 & exit 0");
    auto_free char *second = leaf_of_script(SHOW_LEAF);

    assert_string_not_equal(first, second);
    assert_false(leaf_exists(first));
    check_that_none_is_left();
}

static void test_jobs_at_the_same_time_share_nothing(void **state)
{
    rein_job *jobs[CGROUP_SPARES_MAX + 2];

    need_leaves();
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        jobs[i] = start(&(struct rein_spec){.size = sizeof(struct rein_spec),
                                            .argv = (const char *const[]){"/bin/cat", NULL},
                                            .stdin_kind = REIN_STDIN_PIPE});
        assert_int_equal(own_leaves(), i + 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        assert_int_equal(rein_send_eof(jobs[i]), 0);
        auto_result result = finish(jobs[i]);
        check_end(&result, REIN_REASON_EXIT, 0);
        end_job(jobs[i]);
    }
    assert_int_equal(own_leaves(), CGROUP_SPARES_MAX);
    check_that_none_is_left();
}

static void write_in(const char *leaf, const char *file, const char *text)
{
    char path[128];
    auto_close int fd = -EBADF;

    (void)snprintf(path, sizeof(path), "%s/%s", leaf, file);
    fd = openat(parent_fd, path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

/* A leaf that is not as new would harm the next job: it goes, and another is made. */
static void test_spoilt_leaf_is_replaced(void **state)
{
    char path[128];

    need_leaves();
    auto_free char *first = leaf_of_script(SHOW_LEAF);
    write_in(first, "cgroup.freeze", "1");
    auto_free char *second = leaf_of_script(SHOW_LEAF);
    assert_string_not_equal(first, second);
    assert_false(leaf_exists(first));

    (void)snprintf(path, sizeof(path), "%s/below", second);
    assert_int_equal(mkdirat(parent_fd, path, 0755), 0);
    auto_free char *third = leaf_of_script(SHOW_LEAF);
    assert_string_not_equal(second, third);
    assert_false(leaf_exists(second));

    assert_int_equal(unlinkat(parent_fd, third, AT_REMOVEDIR), 0);
    auto_free char *fourth = leaf_of_script(SHOW_LEAF);
    assert_string_not_equal(third, fourth);
    check_that_none_is_left();
}

/* The job runs all the same, as it would without one. */
static void test_leaf_that_takes_nobody(void **state)
{
    need_leaves();
    auto_free char *first = leaf_of_script(SHOW_LEAF);
    write_in(first, "cgroup.kill", "1");
    auto_free char *second = leaf_of_script(SHOW_LEAF "exit 3");
    assert_int_not_equal(strncmp(second, "rein-", 5), 0);

    struct rein_spec spec = COMMAND("/does/not/exist");
    struct rein_error *error = start_fails(&spec, -ENOENT, "command_not_found");
    error = rein_error_free(error);
    check_that_none_is_left();
}

static void test_start_that_fails_leaves_none(void **state)
{
    need_leaves();
    for (int i = 0; i < 3; i++) {
        struct rein_spec spec = COMMAND("/does/not/exist");
        struct rein_error *error = start_fails(&spec, -ENOENT, "command_not_found");

        error = rein_error_free(error);
        assert_int_equal(own_leaves(), 0);
    }
    check_that_none_is_left();
}

static void test_groups_made_by_the_job_go_too(void **state)
{
    auto_free char *script = NULL;
    auto_free char *link = NULL;
    char here[4096];
    ssize_t n;

    need_leaves();
    assert_true(asprintf(&link, "/proc/self/fd/%d", parent_fd) > 0);
    n = readlink(link, here, sizeof(here) - 1);
    assert_true(n > 0);
    here[n] = '\0';
    assert_true(asprintf(&script,
                         SHOW_LEAF "leaf=$(sed -n 's,^0::.*/rein-,rein-,p' /proc/self/cgroup); "
                                   "cd '%s'/${leaf:?} && mkdir a a/b a/b/c || exit 1; exec >&-; "
                                   "sleep 60 & echo $! >a/b/cgroup.procs",
                         here) > 0);
    auto_free char *name = leaf_of_script(script);
    assert_int_equal(strncmp(name, "rein-", 5), 0);
    assert_false(leaf_exists(name));
    check_that_none_is_left();
}

/* What a job needs most comes first. */
static void test_few_descriptors(void **state)
{
    struct rlimit before, few;

    need_leaves();
    auto_close int dir_fd = fcntl(parent_fd, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){40, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    auto_free char *name = leaf_of_script(SHOW_LEAF);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(strncmp(name, "rein-", 5), 0);
    assert_int_equal(count_leaves(dir_fd, getpid()), 0);
}

static void test_without_leaves(void **state)
{
    need_leaves();
    auto_life life = life_new();
    context->test_fallbacks = WIRE_NO_CGROUP;
    auto_free char *name = leaf_of_script(SHOW_LEAF);
    assert_int_not_equal(strncmp(name, "rein-", 5), 0);
    rein_job *job =
        start_with_life((struct rein_spec)SCRIPT("setsid sleep 60 & echo up; wait"), &life);
    read_until(job, "up\n");
    assert_int_equal(own_leaves(), 0);
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(life_is_over(&life, 0));
}

/* ---- the end of a tree -------------------------------------------------------------------- */

/* storm N: N processes that, all at once, fork their successors as fast as they can, and end. */
static int play_storm(int argc, char **argv)
{
    char byte;
    int gate[2];

    if (pipe2(gate, O_CLOEXEC) < 0)
        return 1;
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (fork() != 0)
            continue;
        (void)close(gate[1]);
        (void)io_read(gate[0], &byte, 1);
        for (int generation = 0; generation < 20000; generation++)
            if (fork() != 0)
                _exit(0);
        wait_for_the_end();
    }
    (void)close(gate[1]);
    say("ready\n");
    wait_for_the_end();
    return 0;
}

static void test_storm(void **state)
{
    need_leaves();
    auto_life life = life_new();
    rein_job *job = start_with_life((struct rein_spec)ROLE("storm", "200"), &life);
    read_until(job, "ready\n");
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_true(life_is_over(&life, 0));
    assert_null(result.warnings[0]);
    end_job(job);
    assert_int_equal(own_leaves(), 0);
    check_that_none_is_left();
}

/* Whoever is in the leaf ends with the job, even if no walk over its descendants would meet it. */
static void test_stranger_in_the_leaf_ends(void **state)
{
    need_leaves();
    rein_job *job = start(&(struct rein_spec)COMMAND("/bin/sleep", "60"));
    pid_t pid = fork();
    char number[16];
    siginfo_t info;

    if (pid == 0)
        wait_for_the_end();
    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    write_in(job->leaf.name, "cgroup.procs", number);
    assert_int_equal(rein_stop(job, 0), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
    assert_int_equal(info.si_code, CLD_KILLED);
    assert_int_equal(info.si_status, SIGKILL);
    end_job(job);
    check_that_none_is_left();
}

static rein_job *start_tree_with_escapes(struct life *life)
{
    rein_job *job = start_with_life(
        (struct rein_spec)SCRIPT("setsid sleep 60 & (setsid sleep 60 &) ; echo up; sleep 60"),
        life);

    read_until(job, "up\n");
    return job;
}

static void test_killed_supervisor(void **state)
{
    need_leaves();
    for (int i = 0; i < 3; i++) {
        auto_life life = life_new();
        rein_job *job = start_tree_with_escapes(&life);

        assert_int_equal(kill(parent_of(rein_job_pid(job)), SIGKILL), 0);
        auto_result result = finish(job);
        assert_int_equal(result.reason, REIN_REASON_LOST);
        assert_true(life_is_over(&life, 0));
        end_job(job);
        assert_int_equal(own_leaves(), 0);
    }
    check_that_none_is_left();
}

/* Nobody is left but us. What got away from the main process's session is in the leaf still. */
static void test_killed_supervisor_and_guard(void **state)
{
    need_leaves();
    auto_life life = life_new();
    rein_job *job = start_tree_with_escapes(&life);
    pid_t supervisor = parent_of(rein_job_pid(job));

    assert_int_equal(sys_pidfd_signal(job->supervisor_fd, SIGKILL), 0); /* the guard */
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    auto_result result = finish(job);
    assert_int_equal(result.reason, REIN_REASON_LOST);
    assert_true(life_is_over(&life, PATIENCE_MS));
    end_job(job);
    assert_int_equal(own_leaves(), 0);
    check_that_none_is_left();
}

/* owner: starts a job and tells its leaf; ends by being killed. */
static int play_owner(int argc, char **argv)
{
    struct rein_spec spec = SCRIPT("setsid sleep 60 & sleep 60");
    rein *r = rein_open(
        &(struct rein_options){.size = sizeof(struct rein_options), .state_dir = argv[1]}, NULL);
    rein_job *job = NULL;

    for (int i = 0; i < 2; i++) /* the second one's leaf is of those that stay */
        if (!r || rein_start(r, &spec, &job, NULL) < 0)
            return 1;
    say(job->leaf.name);
    say("\n");
    wait_for_the_end();
    return 0;
}

static void test_killed_owner(void **state)
{
    char name[64] = "";
    siginfo_t info;
    int fds[2];
    pid_t pid;

    need_leaves();
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* guards come to us */
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        (void)dup2(fds[1], 1);
        (void)execl(self_path, self_path, "owner", in_temp_dir("state"), NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    for (size_t n = 0; !strchr(name, '\n') && n < sizeof(name) - 1; n++)
        assert_int_equal(io_read(fds[0], name + n, 1), 1);
    (void)close(fds[0]);
    name[strcspn(name, "\n")] = '\0';
    assert_true(leaf_exists(name));
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (waitid(P_ALL, 0, &info, WEXITED) == 0) /* the owner, two guards */
        continue;
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_leaves(parent_fd, pid), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/* ---- what stays, and the sweep ------------------------------------------------------------ */

/* stay: leaves a process that is there until its standard input ends. */
static int play_stay(int argc, char **argv)
{
    char byte;

    if (fork() == 0)
        (void)io_read(STDIN_FILENO, &byte, 1);
    return 0;
}

static void test_kept_process_stays_in_its_leaf(void **state)
{
    struct rein_spec spec = ROLE("stay");
    int fds[2];

    need_leaves();
    auto_life life = life_new();
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    auto_close int gate_fd = fds[1];
    auto_close int read_fd = fds[0];
    spec.after = REIN_AFTER_KEEP;
    spec.stdin_kind = REIN_STDIN_FD;
    spec.stdin_fd = read_fd;
    rein_job *job = start_with_life(spec, &life);
    auto_free char *name = strdup(job->leaf.name);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_EXIT, 0);
    assert_int_equal(result.n_left_running, 1);
    end_job(job);
    cgroup_sweep(&context->cgroup);
    assert_true(leaf_exists(name));
    assert_false(life_is_over(&life, 50));
    gate_fd = close_fd(gate_fd);
    auto_close int leaf_fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(cgroup_leaf_remove(leaf_fd, name, PATIENCE_MS), 0);
    assert_true(life_is_over(&life, 0));
}

/* A process that has ended and was waited for: its pid is free, and not the next to be given. */
static pid_t past_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    (void)waitpid(pid, NULL, 0);
    return pid;
}

static void test_sweep(void **state)
{
    pid_t gone = past_pid();
    char stale[64], busy[64], ours[64], other[64], below[80], number[16];
    pid_t pid;

    need_leaves();
    (void)snprintf(stale, sizeof(stale), "rein-%d-1", (int)gone);
    (void)snprintf(busy, sizeof(busy), "rein-%d-2", (int)gone);
    (void)snprintf(ours, sizeof(ours), "rein-%d-999999", (int)getpid());
    (void)snprintf(other, sizeof(other), "rein-%d-1x", (int)gone);
    (void)snprintf(below, sizeof(below), "%s/below", stale);
    const char *const all[] = {stale, below, busy, ours, other};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        assert_int_equal(mkdirat(parent_fd, all[i], 0755), 0);
    pid = fork();
    if (pid == 0)
        wait_for_the_end();
    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    write_in(busy, "cgroup.procs", number);

    cgroup_sweep(&context->cgroup);
    assert_false(leaf_exists(stale));
    assert_true(leaf_exists(busy));
    assert_true(leaf_exists(ours));
    assert_true(leaf_exists(other));

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(unlinkat(parent_fd, ours, AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(parent_fd, other, AT_REMOVEDIR), 0);
    cgroup_sweep(&context->cgroup);
    assert_false(leaf_exists(busy));
}

static const struct role roles[] = {
    {"storm", play_storm}, {"owner", play_owner}, {"stay", play_stay}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_mountinfo),
        job_test(test_groups_that_suit),
        job_test(test_first_leaf_goes_with_its_job),
        job_test(test_each_job_has_a_leaf),
        job_test(test_leaf_serves_again),
        job_test(test_killed_leaf_does_not_serve_again),
        job_test(test_jobs_at_the_same_time_share_nothing),
        job_test(test_spoilt_leaf_is_replaced),
        job_test(test_leaf_that_takes_nobody),
        job_test(test_start_that_fails_leaves_none),
        job_test(test_groups_made_by_the_job_go_too),
        job_test(test_few_descriptors),
        job_test(test_without_leaves),
        job_test(test_storm),
        job_test(test_stranger_in_the_leaf_ends),
        job_test(test_killed_supervisor),
        job_test(test_killed_supervisor_and_guard),
        job_test(test_killed_owner),
        job_test(test_kept_process_stays_in_its_leaf),
        job_test(test_sweep),
    };

    if (argc > 1)
        return play_role(roles, ARRAY_SIZE(roles), argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
