/* Messages to the owner. None of them may block the job: one that does not fit is left out, but for
 * EXIT, which waits for the owner to read or to go. */
#include <poll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/socket-util.h"
#include "supervisor.h"

/* For messages that must arrive: waits while the owner is there and does not read. */
static void send_surely(struct supervisor *s, const struct socket_message *message)
{
    while (s->socket_fd >= 0) {
        int r = socket_send(s->socket_fd, message, MSG_DONTWAIT);

        if (r == 0)
            return;
        if (r != -EAGAIN && r != -ENOBUFS) {
            s->socket_fd = close_fd(s->socket_fd);
            return;
        }
        (void)io_poll(s->socket_fd, POLLOUT, -1);
    }
}

static void send_struct(struct supervisor *s, const void *head, size_t size)
{
    struct socket_message message = {.head = head, .head_size = size};

    send_surely(s, &message);
}

void report_started(struct supervisor *s)
{
    struct wire_started message = {.type = WIRE_STARTED, .pid = s->main_pid};

    send_struct(s, &message, sizeof(message));
}

void report_failed(struct supervisor *s, enum wire_step step, int err)
{
    struct wire_failed message = {.type = WIRE_FAILED, .step = step, .errnum = -err};

    send_struct(s, &message, sizeof(message));
}

void report_news(struct supervisor *s)
{
    struct wire_news news = {.type = WIRE_NEWS, .log = s->log.state};
    struct socket_message message = {.head = &news, .head_size = sizeof(news)};

    if (s->socket_fd < 0 || !s->armed || s->log.state.total <= s->reader_cursor)
        return;
    if (socket_send(s->socket_fd, &message, MSG_DONTWAIT) == 0)
        s->armed = 0;
}

void report_log_moved(struct supervisor *s)
{
    struct wire_log head = {.type = WIRE_LOG};
    int fds[2] = {s->log.fd, s->log.marks_fd};
    struct socket_message message = {.head = &head,
                                     .head_size = sizeof(head),
                                     .fds = fds,
                                     .n_fds = s->log.marks_fd >= 0 ? 2 : 1};

    send_surely(s, &message);
}

void report_room(struct supervisor *s, uint32_t accepted, int errnum)
{
    struct wire_room message = {.type = WIRE_ROOM, .accepted = accepted, .errnum = errnum};

    send_struct(s, &message, sizeof(message));
}

void report_exit(struct supervisor *s)
{
    struct wire_exit head = {
        .type = WIRE_EXIT,
        .reason = s->reason,
        .wait_status = s->wait_status,
        .has_status = (uint32_t)s->main_ended,
        .duration_ns = s->ended_ns - s->started_ns,
        .user_us = s->user_us,
        .system_us = s->system_us,
        .max_rss_bytes = s->max_rss_bytes,
        .log = s->log.state,
        .notes = s->notes,
        .log_errno = s->log.errnum,
        .n_left = s->n_left,
        .n_left_named = s->n_left_named,
    };

    struct socket_message message = {.head = &head,
                                     .head_size = sizeof(head),
                                     .body = s->left,
                                     .body_size = s->n_left_named * sizeof(s->left[0])};

    s->reported = 1;
    send_surely(s, &message);
}
