/* The event loop of one job: children, time, the clients' messages, output, input. */
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

static void take_arm(struct supervisor *s, struct client *c, const void *data, size_t size)
{
    (void)size;
    c->armed = 1;
    c->cursor = MIN(((const struct wire_arm *)data)->cursor, s->log.state.total);
}

static void take_stop(struct supervisor *s, struct client *c, const void *data, size_t size)
{
    (void)c;
    (void)size;
    ending_begin(s, REIN_REASON_STOPPED, MAX(((const struct wire_stop *)data)->grace_ns, 0));
}

static void take_signal(struct supervisor *s, struct client *c, const void *data, size_t size)
{
    (void)c;
    (void)size;
    if (!s->main_ended)
        (void)sys_pidfd_signal(s->main_pidfd, ((const struct wire_signal *)data)->signo);
}

static void take_input(struct supervisor *s, struct client *c, const void *data, size_t size)
{
    input_take(s, c, data, size);
}

static void take_port(struct supervisor *s, struct client *c, const void *data, size_t size)
{
    (void)size;
    ports_ask(s, c, ((const struct wire_port *)data)->port);
}

static const struct {
    size_t size_min;
    void (*take)(struct supervisor *s, struct client *c, const void *data, size_t size);
} messages[] = {
    [WIRE_ARM] = {sizeof(struct wire_arm), take_arm},
    [WIRE_STOP] = {sizeof(struct wire_stop), take_stop},
    [WIRE_INPUT] = {sizeof(struct wire_input), take_input},
    [WIRE_SIGNAL] = {sizeof(struct wire_signal), take_signal},
    [WIRE_PORT] = {sizeof(struct wire_port), take_port},
};

static void take_messages(struct supervisor *s, struct client *c)
{
    while (c->fd >= 0) {
        ssize_t n = recv(c->fd, message, sizeof(message), MSG_DONTWAIT);
        uint32_t type;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < (ssize_t)sizeof(type)) { /* the end of the socket, or not words of ours */
            client_drop(s, c);
            return;
        }
        memcpy(&type, message, sizeof(type));
        if (type < ARRAY_SIZE(messages) && messages[type].take &&
            (size_t)n >= messages[type].size_min)
            messages[type].take(s, c, message, (size_t)n);
    }
}

void loop_wait_for_starter(struct supervisor *s)
{
    struct pollfd fds[2] = {{.fd = starter(s)->fd, .events = POLLIN},
                            {.fd = s->plan.fds[WIRE_FD_OWNER], .events = POLLIN}};

    if (poll(fds, ARRAY_SIZE(fds), -1) <= 0)
        return;
    take_messages(s, starter(s));
    if (fds[1].revents)
        clients_lose_owner(s);
}

struct watch {
    struct pollfd fds[CLIENTS_MAX + 5];
    nfds_t n;
};

/* Adds a descriptor; returns its place. */
static int watch_add(struct watch *w, int fd, short events)
{
    w->fds[w->n] = (struct pollfd){.fd = fd, .events = events};
    return (int)w->n++;
}

static void take_from_clients(struct supervisor *s, const struct pollfd *fds, int n)
{
    for (int i = 0; i < n; i++)
        if (fds[i].revents)
            take_messages(s, &s->clients[i]);
}

/* Where each kind of descriptor stands among those that are watched. */
struct places {
    int listen, owner, input, outputs, clients, n_clients;
};

static struct places watch_all(struct supervisor *s, struct watch *w)
{
    int paused = output_paused(s);
    struct places at;

    at.listen = watch_add(w, clients_have_room(s) ? s->store.listen_fd : -1, POLLIN);
    at.owner = watch_add(w, s->plan.fds[WIRE_FD_OWNER], POLLIN);
    at.input = watch_add(w, s->input.begin < s->input.end ? s->input.fd : -1, POLLOUT);
    at.outputs = (int)w->n;
    for (int i = 0; i < s->n_outputs; i++)
        (void)watch_add(w, paused ? -1 : s->outputs[i].fd, POLLIN);
    at.clients = (int)w->n;
    at.n_clients = s->n_clients;
    for (int i = 0; i < s->n_clients; i++)
        (void)watch_add(w, s->clients[i].fd, POLLIN);
    return at;
}

static void wait_for_events(struct supervisor *s, const sigset_t *open_mask)
{
    struct watch w;
    struct places at;
    int64_t next_ns = MIN(ending_next_ns(s), s->ports_next_ns);
    int64_t left_ns = next_ns == INT64_MAX ? 0 : MAX(next_ns - time_mono_ns(), 0);
    struct timespec timeout = {.tv_sec = left_ns / NSEC_PER_SEC, .tv_nsec = left_ns % NSEC_PER_SEC};

    w.n = 0;
    at = watch_all(s, &w);
    if (ppoll(w.fds, w.n, next_ns == INT64_MAX ? NULL : &timeout, open_mask) <= 0)
        return;
    take_from_clients(s, w.fds + at.clients, at.n_clients);
    if (w.fds[at.owner].revents)
        clients_lose_owner(s);
    if (w.fds[at.input].revents)
        input_flush(s);
    for (int i = 0; i < s->n_outputs; i++)
        if (w.fds[at.outputs + i].revents)
            output_drain(s, &s->outputs[i]);
    if (w.fds[at.listen].revents)
        clients_accept(s);
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
        ports_tick(s, time_mono_ns());
        if (s->state != STATE_DONE)
            wait_for_events(s, &open_mask);
    }
    s->ended_ns = time_mono_ns();
}
