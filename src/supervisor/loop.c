/* The event loop of one job: children, time, the owner's messages, output, input. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "base/time-util.h"
#include "rein.h"
#include "supervisor.h"

static volatile sig_atomic_t got_child = 1;
static volatile sig_atomic_t got_stop;

static _Alignas(8) char message[WIRE_MESSAGE_MAX];

static void on_signal(int signo)
{
    if (signo == SIGCHLD)
        got_child = 1;
    else
        got_stop = 1;
}

/* Signals are blocked but for the time in ppoll, so nothing is missed between a look and a wait. */
static void set_handlers(sigset_t *ret_open_mask)
{
    static const int wanted[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    *ret_open_mask = all;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        (void)sigaction(wanted[i], &action, NULL);
        (void)sigdelset(ret_open_mask, wanted[i]);
    }
}

static void owner_gone(struct supervisor *s)
{
    s->socket_fd = close_fd(s->socket_fd);
    s->plan.fds[WIRE_FD_OWNER] = close_fd(s->plan.fds[WIRE_FD_OWNER]);
    s->input.fd = close_fd(s->input.fd);
    ending_begin(s, REIN_REASON_OWNER_GONE, s->plan.head->grace_ns);
}

static void take_arm(struct supervisor *s, const void *data, size_t size)
{
    (void)size;
    s->armed = 1;
    s->reader_cursor = MIN(((const struct wire_arm *)data)->cursor, s->log.state.total);
}

static void take_stop(struct supervisor *s, const void *data, size_t size)
{
    (void)size;
    ending_begin(s, REIN_REASON_STOPPED, MAX(((const struct wire_stop *)data)->grace_ns, 0));
}

static void take_signal(struct supervisor *s, const void *data, size_t size)
{
    (void)size;
    if (!s->main_ended)
        (void)sys_pidfd_signal(s->main_pidfd, ((const struct wire_signal *)data)->signo);
}

static void take_input(struct supervisor *s, const void *data, size_t size)
{
    input_take(s, data, size);
}

static const struct {
    size_t size_min;
    void (*take)(struct supervisor *s, const void *data, size_t size);
} messages[] = {
    [WIRE_ARM] = {sizeof(struct wire_arm), take_arm},
    [WIRE_STOP] = {sizeof(struct wire_stop), take_stop},
    [WIRE_INPUT] = {sizeof(struct wire_input), take_input},
    [WIRE_SIGNAL] = {sizeof(struct wire_signal), take_signal},
};

static void take_messages(struct supervisor *s)
{
    while (s->socket_fd >= 0) {
        ssize_t n = recv(s->socket_fd, message, sizeof(message), MSG_DONTWAIT);
        uint32_t type;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < (ssize_t)sizeof(type)) { /* the end of the socket, or not our owner's words */
            owner_gone(s);
            return;
        }
        memcpy(&type, message, sizeof(type));
        if (type < ARRAY_SIZE(messages) && messages[type].take &&
            (size_t)n >= messages[type].size_min)
            messages[type].take(s, message, (size_t)n);
    }
}

void loop_wait_for_owner(struct supervisor *s)
{
    struct pollfd fds[2] = {{.fd = s->socket_fd, .events = POLLIN},
                            {.fd = s->plan.fds[WIRE_FD_OWNER], .events = POLLIN}};

    if (poll(fds, ARRAY_SIZE(fds), -1) <= 0)
        return;
    take_messages(s);
    if (fds[1].revents)
        owner_gone(s);
}

struct watch {
    struct pollfd fds[5];
    nfds_t n;
};

/* Adds a descriptor; returns its place. */
static int watch_add(struct watch *w, int fd, short events)
{
    w->fds[w->n] = (struct pollfd){.fd = fd, .events = events};
    return (int)w->n++;
}

static void wait_for_events(struct supervisor *s, const sigset_t *open_mask)
{
    struct watch w = {.n = 0};
    int64_t next_ns = ending_next_ns(s);
    int64_t left_ns = next_ns == INT64_MAX ? 0 : MAX(next_ns - time_mono_ns(), 0);
    struct timespec timeout = {.tv_sec = left_ns / NSEC_PER_SEC, .tv_nsec = left_ns % NSEC_PER_SEC};
    int paused = output_paused(s);
    int socket_at = watch_add(&w, s->socket_fd, POLLIN);
    int owner_at = watch_add(&w, s->plan.fds[WIRE_FD_OWNER], POLLIN);
    int input_at = watch_add(&w, s->input.begin < s->input.end ? s->input.fd : -1, POLLOUT);
    int output_at = (int)w.n;

    for (int i = 0; i < s->n_outputs; i++)
        (void)watch_add(&w, paused ? -1 : s->outputs[i].fd, POLLIN);
    if (ppoll(w.fds, w.n, next_ns == INT64_MAX ? NULL : &timeout, open_mask) <= 0)
        return;
    if (w.fds[socket_at].revents)
        take_messages(s);
    if (w.fds[owner_at].revents)
        owner_gone(s);
    if (w.fds[input_at].revents)
        input_flush(s);
    for (int i = 0; i < s->n_outputs; i++)
        if (w.fds[output_at + i].revents)
            output_drain(s, &s->outputs[i]);
    report_news(s);
}

/* Before time is looked at: what has ended by itself did not run into its deadline. */
static void look_at_children(struct supervisor *s)
{
    int had_ended = s->main_ended;

    if (!got_child && s->state != STATE_KILLING)
        return;
    got_child = 0;
    (void)reap_children(s);
    if (s->main_ended && !had_ended)
        ending_dispatch(s, EVENT_MAIN_ENDED);
    if (s->tree_empty)
        ending_dispatch(s, EVENT_TREE_EMPTY);
}

void loop_run(struct supervisor *s)
{
    sigset_t open_mask;

    set_handlers(&open_mask);
    while (s->state != STATE_DONE) {
        look_at_children(s);
        if (s->state == STATE_DONE)
            break;
        if (got_stop) {
            got_stop = 0;
            ending_begin(s, REIN_REASON_STOPPED, s->plan.head->grace_ns);
        }
        ending_tick(s, time_mono_ns());
        if (s->state != STATE_DONE)
            wait_for_events(s, &open_mask);
    }
    s->ended_ns = time_mono_ns();
}
