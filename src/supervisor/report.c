/* Messages to clients. None of them may block the job: a client that does not read loses what does
 * not fit, and its place; it can come again, or look into the store. The exception is the starter
 * of a job in the foreground, whose EXIT has no other way: it waits for him to read or to go. */
#include <poll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/socket-util.h"
#include "supervisor.h"

static int may_wait(struct supervisor *s, const struct client *c)
{
    return c == starter(s) && !is_background(s);
}

static void deliver(struct supervisor *s, struct client *c, const struct socket_message *message)
{
    while (c->fd >= 0) {
        int r = socket_send(c->fd, message, MSG_DONTWAIT);

        if (r == 0)
            return;
        if ((r != -EAGAIN && r != -ENOBUFS) || !may_wait(s, c)) {
            client_drop(s, c);
            return;
        }
        (void)io_poll(c->fd, POLLOUT, -1);
    }
}

static void deliver_struct(struct supervisor *s, struct client *c, const void *head, size_t size)
{
    struct socket_message message = {.head = head, .head_size = size};

    deliver(s, c, &message);
}

/* A message that the descriptors of the log go along with. */
static void deliver_log(struct supervisor *s, struct client *c, const void *head, size_t size)
{
    int fds[2] = {s->log.fd, s->log.marks_fd};
    struct socket_message message = {
        .head = head, .head_size = size, .fds = fds, .n_fds = s->log.marks_fd >= 0 ? 2 : 1};

    deliver(s, c, &message);
}

void report_started(struct supervisor *s)
{
    struct wire_started message = {
        .type = WIRE_STARTED, .pid = s->main_pid, .log_in_store = (uint32_t)s->log.in_store};

    if (s->log.in_store)
        deliver_log(s, starter(s), &message, sizeof(message));
    else
        deliver_struct(s, starter(s), &message, sizeof(message));
}

void report_failed(struct supervisor *s, enum wire_step step, int err)
{
    struct wire_failed message = {.type = WIRE_FAILED, .step = step, .errnum = -err};

    deliver_struct(s, starter(s), &message, sizeof(message));
}

void report_hello(struct supervisor *s, struct client *c)
{
    struct wire_hello message = {.type = WIRE_HELLO,
                                 .version = WIRE_VERSION,
                                 .pid = s->main_pid,
                                 .log_in_store = (uint32_t)s->log.in_store,
                                 .started_ns = s->started_ns,
                                 .log = s->log.state};

    deliver_log(s, c, &message, sizeof(message));
}

void report_news(struct supervisor *s)
{
    struct wire_news news = {.type = WIRE_NEWS, .log = s->log.state};
    struct socket_message message = {.head = &news, .head_size = sizeof(news)};

    for (int i = 0; i < s->n_clients; i++) {
        struct client *c = &s->clients[i];

        if (c->fd >= 0 && c->armed && s->log.state.total > c->cursor &&
            socket_send(c->fd, &message, MSG_DONTWAIT) == 0)
            c->armed = 0;
    }
}

void report_log_moved(struct supervisor *s)
{
    struct wire_log head = {.type = WIRE_LOG};

    for (int i = 0; i < s->n_clients; i++)
        if (s->clients[i].fd >= 0)
            deliver_log(s, &s->clients[i], &head, sizeof(head));
}

void report_room(struct supervisor *s, struct client *c, uint32_t accepted, int errnum)
{
    struct wire_room message = {.type = WIRE_ROOM, .accepted = accepted, .errnum = errnum};

    deliver_struct(s, c, &message, sizeof(message));
}

void report_port_open(struct supervisor *s, struct client *c)
{
    struct wire_port message = {.type = WIRE_PORT_OPEN, .port = c->port};

    c->port = 0;
    deliver_struct(s, c, &message, sizeof(message));
}

/* Those who came later first: they are not waited for. */
void report_exit(struct supervisor *s)
{
    struct wire_exit head;
    struct socket_message message = {.head = &head,
                                     .head_size = sizeof(head),
                                     .body = s->left,
                                     .body_size = s->n_left_named * sizeof(s->left[0])};

    finish_describe(s, &head);
    s->reported = 1;
    for (int i = s->n_clients - 1; i >= 0; i--)
        deliver(s, &s->clients[i], &message);
}
