/*
 * The supervisor's reading of a plan, from arbitrary bytes that come over a socket pair: no crash,
 * nothing read beyond what was sent, and what is accepted is what the supervisor counts on.
 *
 * The first byte says how many descriptors come along, and whether the strings (what is behind the
 * head) travel in the first of them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/plan-read.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FDS_BITS 0x7f
#define IN_MEMFD 0x80
#define BODY_MAX (WIRE_PLAN_INLINE_MAX + 4096)

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_strings(char *const *v, uint32_t n, size_t *size)
{
    for (uint32_t i = 0; i < n; i++)
        *size += strlen(v[i]) + 1;
}

static void check_plan(const struct plan *plan)
{
    const struct wire_plan *head = plan->head;
    size_t size = strlen(plan->cwd) + strlen(plan->jobs_dir) + strlen(plan->job_json) +
                  strlen(plan->cleanup_dir) + N_TAIL_STRINGS;

    require(head->argc > 0 && head->pathc > 0);
    require(plan->argv[head->argc] == NULL && plan->env[head->envc] == NULL);
    check_strings(plan->argv, head->argc, &size);
    check_strings(plan->env, head->envc, &size);
    check_strings(plan->paths, head->pathc, &size);
    require(size == head->strings_size);
    require(strlen(head->process_id) < sizeof(head->process_id));
    require(head->n_rlimits <= WIRE_RLIMITS_MAX);
    require(plan->fds[WIRE_FD_LOG] >= 0);
    for (int kind = 0; kind < WIRE_FD_KINDS; kind++)
        require((plan->fds[kind] >= 0) == ((head->fd_mask & 1u << kind) != 0));
    for (uint32_t i = 0; i < head->n_pass_fds; i++)
        require(plan->pass_fds[i] >= 0 && head->pass_fds[i] >= 3 &&
                (i == 0 || head->pass_fds[i] > head->pass_fds[i - 1]));
    plan->argv[-1] = NULL; /* room for the shell */
}

/* A supervisor has one plan and never gives its memory back. */
static void unmap(const struct plan *plan)
{
    const struct wire_plan *head = plan->head;
    size_t n = (size_t)head->argc + head->envc + head->pathc + N_TAIL_STRINGS + 3;

    if (head->flags & WIRE_PLAN_IN_MEMFD)
        (void)munmap(plan->argv[0], head->strings_size);
    if (plan->argv - 1 != small_pointers)
        (void)munmap(plan->argv - 1, n * sizeof(char *));
}

static int memory_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("strings", MFD_CLOEXEC);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

static void send_plan(int fd, const uint8_t *data, size_t size)
{
    size_t head_size = MIN(size - 1, sizeof(struct wire_plan));
    struct socket_message message = {.head = data + 1,
                                     .head_size = head_size,
                                     .body = data + 1 + head_size,
                                     .body_size = MIN(size - 1 - head_size, BODY_MAX)};
    int fds[FDS_BITS];

    message.fds = fds;
    message.n_fds = data[0] & FDS_BITS;
    for (size_t i = 0; i < message.n_fds; i++)
        fds[i] = fd;
    if (data[0] & IN_MEMFD && message.n_fds > 0) {
        fds[0] = memory_file(message.body, message.body_size);
        message.body_size = 0;
    }
    require(socket_send(fd, &message, 0) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan plan = {0};
    int sockets[2];

    if (size < 2)
        return 0;
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    send_plan(sockets[0], data, size);
    if (plan_receive(sockets[1], &plan) == 0) {
        check_plan(&plan);
        unmap(&plan);
    }
    /* whatever came along was opened after them */
    (void)sys_close_range((unsigned)MIN(sockets[0], sockets[1]), ~0u);
    return 0;
}
