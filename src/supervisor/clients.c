/*
 * Who talks to the supervisor: the process that started the job, over the socket pair it was born
 * with, and whoever comes later through the control socket in the store. All have the same rights,
 * for they are of the same user; none can hold the job up.
 */
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "rein.h"
#include "supervisor.h"

void clients_lose_owner(struct supervisor *s)
{
    s->plan.fds[WIRE_FD_OWNER] = close_fd(s->plan.fds[WIRE_FD_OWNER]);
    s->input.fd = close_fd(s->input.fd);
    ending_begin(s, REIN_REASON_OWNER_GONE, s->plan.head->grace_ns);
}

void client_drop(struct supervisor *s, struct client *c)
{
    c->fd = close_fd(c->fd);
    c->port = 0;
    if (c == starter(s) && !is_background(s))
        clients_lose_owner(s);
    while (s->n_clients > 1 && s->clients[s->n_clients - 1].fd < 0)
        s->n_clients--;
}

/* A free place, or the one behind all others; NULL when there is none. The first stays the
 * starter's, after its end, too. */
static struct client *find_place(struct supervisor *s)
{
    for (int i = 1; i < s->n_clients; i++)
        if (s->clients[i].fd < 0)
            return &s->clients[i];
    return s->n_clients < CLIENTS_MAX ? &s->clients[s->n_clients] : NULL;
}

int clients_have_room(struct supervisor *s)
{
    return find_place(s) != NULL;
}

static void add(struct supervisor *s, struct client *place, int fd)
{
    *place = (struct client){.fd = fd};
    if (place == &s->clients[s->n_clients])
        s->n_clients++;
    report_hello(s, place);
}

/* The directory lets nobody else near the socket; this is the second lock on the door. */
static int is_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return 0;
    return peer.uid == geteuid() || peer.uid == 0;
}

void clients_accept(struct supervisor *s)
{
    struct client *place;

    while ((place = find_place(s))) {
        int fd = accept4(s->store.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            return;
        if (is_allowed(fd))
            add(s, place, fd);
        else
            (void)close_fd(fd);
    }
}
