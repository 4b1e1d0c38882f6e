/*
 * Who talks to a supervisor: more of them than it has places for, some that send nonsense, some
 * that never read, some that are not allowed to; and those who wait for an open port.
 */
#include "background-test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* As in supervisor.h: the starter has one of the places. */
#define PLACES 127

/* ---- many --------------------------------------------------------------------------------- */

static rein_job *many[PLACES];

static int many_teardown(void **state)
{
    for (size_t i = 0; i < PLACES; i++)
        many[i] = rein_job_free(many[i]);
    return background_teardown(state);
}

static void fill_places(const rein_job *job)
{
    for (size_t i = 0; i < PLACES; i++)
        assert_int_equal(rein_attach(context, rein_job_id(job), &many[i], NULL), 0);
}

/* A child that attaches and waits for the end; it says when it is about to, and when it is in. */
struct visitor {
    pid_t pid;
    int fd;
};

static void be_visitor(const char *id, int fd)
{
    struct rein_result result = {.size = sizeof(result)};
    rein *r = open_context();
    rein_job *job = NULL;

    (void)alarm(60);
    for (size_t i = 0; i < PLACES; i++) /* whoever frees one of these shall be the only one */
        (void)close_fd(many[i]->socket_fd);
    (void)io_write_all(fd, "c", 1);
    if (rein_attach(r, id, &job, NULL) < 0)
        _exit(1);
    (void)io_write_all(fd, "i", 1);
    if (rein_wait(job, PATIENCE_MS, &result) < 0)
        _exit(2);
    _exit(result.reason == REIN_REASON_STOPPED ? 0 : 3);
}

static struct visitor start_visitor(const char *id)
{
    struct visitor v;
    int fds[2];
    char byte;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    v.pid = fork();
    if (v.pid == 0)
        be_visitor(id, fds[1]);
    (void)close(fds[1]);
    v.fd = fds[0];
    assert_int_equal(io_read_full(v.fd, &byte, 1), 1);
    return v;
}

static int is_in(const struct visitor *v, int timeout_ms)
{
    struct pollfd pfd = {.fd = v->fd, .events = POLLIN};
    char byte;

    return poll(&pfd, 1, timeout_ms) == 1 && read(v->fd, &byte, 1) == 1;
}

static int visitor_done(struct visitor *v)
{
    int status;

    assert_int_equal(waitpid(v->pid, &status, 0), v->pid);
    v->fd = close_fd(v->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Those who wait for a place, too, are told of the end. */
static void test_more_than_there_are_places(void **state)
{
    rein_job *job = start_stay(0);
    struct visitor visitors[10];

    fill_places(job);
    for (size_t i = 0; i < ARRAY_SIZE(visitors); i++)
        visitors[i] = start_visitor(rein_job_id(job));
    assert_int_equal(rein_stop(many[PLACES - 1], 0), 0);
    for (size_t i = 0; i < PLACES; i++) {
        auto_result result = finish(many[i]);
        check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
    }
    for (size_t i = 0; i < ARRAY_SIZE(visitors); i++)
        assert_int_equal(visitor_done(&visitors[i]), 0);
    auto_result result = finish(job);
    check_end(&result, REIN_REASON_STOPPED, -SIGKILL);
}

/* A place that is free again is given to who waits; also one in the middle. */
static void test_places_are_given_again(void **state)
{
    rein_job *job = start_stay(0);
    struct visitor visitor;

    fill_places(job);
    visitor = start_visitor(rein_job_id(job));
    assert_false(is_in(&visitor, 0));
    many[PLACES / 2] = rein_job_free(many[PLACES / 2]);
    assert_true(is_in(&visitor, PATIENCE_MS));
    assert_int_equal(rein_stop(job, 0), 0);
    assert_int_equal(visitor_done(&visitor), 0);
}

static void test_news_reaches_all(void **state)
{
    struct rein_spec spec = COMMAND("/bin/cat");
    rein_job *job;

    spec.stdin_kind = REIN_STDIN_PIPE;
    job = start_background(spec, 0);
    fill_places(job);
    assert_int_equal(rein_send(many[3], "hello\n", 6), 6);
    for (size_t i = 0; i < PLACES; i++)
        read_until(many[i], "hello\n");
    read_until(job, "hello\n");
}

/* ---- rude --------------------------------------------------------------------------------- */

static int connect_to(int dir_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/control", dir_fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return close_fd(fd);
    return fd;
}

static int connect_raw(const rein_job *job)
{
    auto_close int dir_fd =
        open(job_path(rein_job_id(job), ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = connect_to(dir_fd);

    assert_true(fd >= 0);
    return fd;
}

static rein_job *start_cat(void)
{
    struct rein_spec spec = COMMAND("/bin/cat");

    spec.stdin_kind = REIN_STDIN_PIPE;
    return start_background(spec, 0);
}

/* The job and those who behave have noticed nothing. */
static void check_unmoved(rein_job *job, rein_job *other)
{
    assert_int_equal(rein_send(other, "hello\n", 6), 6);
    read_until(job, "hello\n");
    read_until(attach(rein_job_id(job)), "hello\n");
    assert_int_equal(rein_send_eof(other), 0);
    auto_result result = finish(other);
    check_end(&result, REIN_REASON_EXIT, 0);
    auto_result same = finish(job);
    check_end(&same, REIN_REASON_EXIT, 0);
    check_output(attach(rein_job_id(job)), "hello\n");
}

static void test_nonsense(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 4, 5, 8, 16, 100, WIRE_MESSAGE_MAX, 100000};
    static char bytes[100000];
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));
    uint32_t seed = 12345;

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        auto_close int fd = connect_raw(job);

        for (uint32_t type = 0; type < 20; type++) {
            for (size_t k = 0; k < sizes[i]; k++)
                bytes[k] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
            if (type == WIRE_STOP || type == WIRE_SIGNAL || type == WIRE_INPUT)
                continue; /* these may be taken */
            memcpy(bytes, &type, MIN(sizeof(type), sizes[i]));
            (void)!send(fd, bytes, sizes[i], MSG_NOSIGNAL);
        }
    }
    check_unmoved(job, other);
}

/* Too short for what they say they are. */
static void test_messages_that_are_cut_off(void **state)
{
    static const uint32_t types[] = {WIRE_ARM, WIRE_STOP, WIRE_INPUT, WIRE_SIGNAL, WIRE_PORT};
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));
    auto_close int fd = connect_raw(job);

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        assert_int_equal(send(fd, &types[i], sizeof(types[i]), MSG_NOSIGNAL), sizeof(types[i]));
    check_unmoved(job, other);
}

/* The numbers of signals and ports that are none. */
static void test_numbers_that_mean_nothing(void **state)
{
    static const int32_t numbers[] = {0, -1, 65, 65536, INT32_MAX, INT32_MIN};
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));
    auto_close int fd = connect_raw(job);

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        struct wire_signal signal_message = {.type = WIRE_SIGNAL, .signo = numbers[i]};
        struct wire_port port_message = {.type = WIRE_PORT, .port = (uint32_t)numbers[i]};
        struct wire_arm arm_message = {.type = WIRE_ARM, .cursor = UINT64_MAX};

        assert_true(send(fd, &signal_message, sizeof(signal_message), MSG_NOSIGNAL) > 0);
        assert_true(send(fd, &port_message, sizeof(port_message), MSG_NOSIGNAL) > 0);
        assert_true(send(fd, &arm_message, sizeof(arm_message), MSG_NOSIGNAL) > 0);
    }
    check_unmoved(job, other);
}

/* One who sends what is answered and never reads loses his place, and holds nobody up. */
static void test_client_that_never_reads(void **state)
{
    struct wire_input message = {.type = WIRE_INPUT};
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));
    auto_close int fd = connect_raw(job);
    int n = 0;

    while (n < 1000000 && send(fd, &message, sizeof(message), MSG_NOSIGNAL) > 0)
        n++;
    assert_true(n < 1000000);
    assert_true(errno == EPIPE || errno == ECONNRESET);
    check_unmoved(job, other);
}

static void test_clients_that_come_and_go(void **state)
{
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));

    for (int i = 0; i < 1000; i++) {
        int fd = connect_raw(job);

        (void)close_fd(fd);
    }
    check_unmoved(job, other);
}

/* The starter of a job of the background may be stopped for ever. */
static void test_starter_that_never_reads(void **state)
{
    struct rein_spec spec = ROLE("lines", "20000");
    rein_job *job = start_background(spec, 0);
    rein_job *other = attach(rein_job_id(job));
    struct wire_input message = {.type = WIRE_INPUT};

    for (int i = 0; i < 100000 && job_tell(job, &message, sizeof(message)) == 0; i++)
        continue;
    auto_result result = finish(other);
    check_end(&result, REIN_REASON_EXIT, 0);
    check_whole(other, 65536, &result);
    auto_result same = finish(job); /* from the store, for nothing came through the socket */
    check_end(&same, REIN_REASON_EXIT, 0);
    check_whole(job, 65536, &result);
}

/* ---- strangers ---------------------------------------------------------------------------- */

static int stranger_dir_fd;

/* 0: refused at the door; 1: let in and shown out at once; 2: spoken to. */
static int visit_as_stranger(void)
{
    auto_close int fd = connect_to(stranger_dir_fd);
    char hello[256];
    ssize_t n;

    if (fd < 0)
        return 0;
    n = recv(fd, hello, sizeof(hello), 0);
    return n > 0 ? 2 : 1;
}

static void test_strangers_are_not_spoken_to(void **state)
{
    rein_job *job = start_cat();
    rein_job *other = attach(rein_job_id(job));

    if (getuid() != 0)
        skip();
    stranger_dir_fd = open(job_path(rein_job_id(job), ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(as_nobody(visit_as_stranger), 0); /* the modes keep them out */
    assert_int_equal(chmod(job_path(rein_job_id(job), ""), 0777), 0);
    assert_int_equal(chmod(job_path(rein_job_id(job), "control"), 0777), 0);
    assert_int_equal(as_nobody(visit_as_stranger), 1);
    assert_int_equal(visit_as_stranger(), 2); /* ourselves, by the same way */
    stranger_dir_fd = close_fd(stranger_dir_fd);
    check_unmoved(job, other);
}

/* ---- ports -------------------------------------------------------------------------------- */

static union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

/* Bound to any free port of the loopback interface, but not listening yet; -1 without IPv6. */
static int bind_any(int family, int *ret_port)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(address);

    memset(&address, 0, sizeof(address));
    address.any.sa_family = (sa_family_t)family;
    if (family == AF_INET)
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        address.v6.sin6_addr = in6addr_loopback;
    if (fd < 0 || bind(fd, &address.any, family == AF_INET ? sizeof(address.v4) : size) < 0 ||
        getsockname(fd, &address.any, &size) < 0)
        return close_fd(fd);
    *ret_port = ntohs(family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
    return fd;
}

/* Families, as arguments. */
#define V4 "4"
#define V6 "6"

/* listen FAMILY DEPTH: tells its port, and listens once it is told to; after so many forks. */
static int play_listen(int argc, char **argv)
{
    char text[32];
    char byte;
    int port = 0;
    int fd;

    for (int i = atoi(argv[2]); i > 0; i--) {
        pid_t pid = fork();

        if (pid != 0) {
            (void)waitpid(pid, NULL, 0);
            return 0;
        }
        (void)setsid();
    }
    fd = bind_any(strcmp(argv[1], V4) == 0 ? AF_INET : AF_INET6, &port);
    (void)snprintf(text, sizeof(text), "%d\n", port);
    say(text);
    if (io_read(STDIN_FILENO, &byte, 1) != 1 || listen(fd, 1) < 0)
        return 1;
    wait_for_the_end();
    return 0;
}

/* connect PORT: goes there, tells its own port, and stays connected. */
static int play_connect(int argc, char **argv)
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(argv[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[32];
    int port = 0;
    int fd = bind_any(AF_INET, &port);

    if (connect(fd, (const struct sockaddr *)&there, sizeof(there)) < 0)
        return 1;
    (void)snprintf(text, sizeof(text), "%d\n", port);
    say(text);
    wait_for_the_end();
    return 0;
}

static int read_port(rein_job *job)
{
    char text[16] = "";

    for (size_t n = 0; !strchr(text, '\n');) {
        ssize_t got = rein_read(job, text + n, sizeof(text) - 1 - n, PATIENCE_MS, NULL);

        assert_true(got > 0);
        n += (size_t)got;
    }
    return atoi(text);
}

static rein_job *start_listener(const char *family, const char *depth, int *ret_port)
{
    struct rein_spec spec = ROLE("listen", family, depth);
    rein_job *job;

    spec.stdin_kind = REIN_STDIN_PIPE;
    job = start_background(spec, 0);
    *ret_port = read_port(job);
    return job;
}

static void check_port(const char *family, const char *depth)
{
    int port;
    rein_job *job = start_listener(family, depth, &port);
    rein_job *other;

    if (port == 0)
        skip(); /* no IPv6 here */
    other = attach(rein_job_id(job));
    assert_int_equal(rein_wait_port(job, port, 0), -EAGAIN);
    assert_int_equal(rein_wait_port(other, port, 0), -EAGAIN);
    assert_int_equal(rein_send(job, "+", 1), 1);
    assert_int_equal(rein_wait_port(job, port, PATIENCE_MS), 0);
    assert_int_equal(rein_wait_port(other, port, PATIENCE_MS), 0);
    assert_int_equal(rein_wait_port(attach(rein_job_id(job)), port, -1), 0);
}

static void test_port(void **state)
{
    check_port(V4, "0");
}

static void test_port_of_a_grandchild(void **state)
{
    check_port(V4, "2");
}

static void test_port_of_the_other_family(void **state)
{
    check_port(V6, "0");
}

/* Somebody else's does not count, and neither does another one of the job's. */
static void test_port_of_somebody_else(void **state)
{
    int own, theirs;
    auto_close int fd = bind_any(AF_INET, &theirs);
    rein_job *job = start_listener(V4, "0", &own);

    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(rein_send(job, "+", 1), 1);
    assert_int_equal(rein_wait_port(job, own, PATIENCE_MS), 0); /* it does look */
    assert_int_equal(rein_wait_port(job, theirs, 300), -EAGAIN);
    assert_false(rein_port_is_open(job));
}

/* One end of a connection listens to nobody. */
static void test_port_of_a_connection(void **state)
{
    char text[16];
    int port;
    auto_close int fd = bind_any(AF_INET, &port);

    assert_int_equal(listen(fd, 1), 0);
    (void)snprintf(text, sizeof(text), "%d", port);
    rein_job *job = start_background((struct rein_spec)ROLE("connect", text), 0);
    assert_int_equal(rein_wait_port(job, read_port(job), 300), -EAGAIN);
}

static void test_end_before_the_port(void **state)
{
    int port;
    rein_job *job = start_listener(V4, "0", &port);
    rein_job *other = attach(rein_job_id(job));

    assert_int_equal(rein_send_eof(job), 0); /* which is not what it waits for */
    assert_int_equal(rein_wait_port(other, port, PATIENCE_MS), -ESRCH);
    assert_int_equal(rein_wait_port(attach(rein_job_id(job)), port, PATIENCE_MS), -ESRCH);
}

static void test_ports_that_are_none(void **state)
{
    static const int ports[] = {0, -1, 65536, INT32_MAX};
    rein_job *job = start_stay(0);

    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        assert_int_equal(rein_wait_port(job, ports[i], 0), -EINVAL);
        assert_int_equal(rein_port_ask(job, ports[i]), -EINVAL);
    }
    assert_int_equal(rein_port_ask(NULL, 80), -EINVAL);
    assert_false(rein_port_is_open(NULL));
}

/* For one who polls. The question asked last counts. */
static void test_port_is_news(void **state)
{
    struct rein_result result = {.size = sizeof(result)};
    int port;
    rein_job *job = start_listener(V4, "0", &port);
    rein_job *other = attach(rein_job_id(job));
    struct pollfd pfd = {.fd = rein_job_fd(other), .events = POLLIN};

    assert_int_equal(rein_port_ask(other, 1), 0);
    assert_int_equal(rein_port_ask(other, port), 0);
    assert_false(rein_port_is_open(other));
    assert_int_equal(rein_send(job, "+", 1), 1);
    while (!rein_port_is_open(other)) {
        assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
        assert_int_equal(rein_wait(other, 0, &result), -EAGAIN);
        rein_result_done(&result);
        result.size = sizeof(result);
    }
    assert_int_equal(rein_port_ask(other, port), 0);
    assert_false(rein_port_is_open(other)); /* until it was seen again */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_more_than_there_are_places, job_setup, many_teardown),
        cmocka_unit_test_setup_teardown(test_places_are_given_again, job_setup, many_teardown),
        cmocka_unit_test_setup_teardown(test_news_reaches_all, job_setup, many_teardown),
        background_test(test_nonsense),
        background_test(test_messages_that_are_cut_off),
        background_test(test_numbers_that_mean_nothing),
        background_test(test_client_that_never_reads),
        background_test(test_clients_that_come_and_go),
        background_test(test_starter_that_never_reads),
        background_test(test_strangers_are_not_spoken_to),
        background_test(test_port),
        background_test(test_port_of_a_grandchild),
        background_test(test_port_of_the_other_family),
        background_test(test_port_of_somebody_else),
        background_test(test_port_of_a_connection),
        background_test(test_end_before_the_port),
        background_test(test_ports_that_are_none),
        background_test(test_port_is_news),
    };

    if (argc > 1 && strcmp(argv[1], "listen") == 0)
        return play_listen(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "connect") == 0)
        return play_connect(argc - 1, argv + 1);
    if (argc > 1)
        return play_background_role(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
