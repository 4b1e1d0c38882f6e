/*
 * The supervisor's reading of a plan, from arbitrary bytes that come over a socket pair: no crash,
 * nothing read beyond what was sent, and what is accepted is what the supervisor counts on.
 *
 * The first byte says what the rest is. RAW: a message as it is. Otherwise a count of edits to the
 * head of a good plan, each a field's number and its value, and then the strings. Bit IN_MEMFD puts
 * the strings into a memory file; the remaining bits are the number of descriptors.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* A supervisor has one plan and never gives its memory back; this does. */
static struct {
    void *at;
    size_t size;
} maps[4];
static size_t n_maps;

static void *remember_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *map = mmap(at, size, protection, flags, fd, offset);

    if (map != MAP_FAILED && n_maps < sizeof(maps) / sizeof(maps[0])) {
        maps[n_maps].at = map;
        maps[n_maps++].size = size;
    }
    return map;
}

#define mmap remember_mmap
#include "supervisor/plan-read.c"
#undef mmap

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RAW 0x80
#define IN_MEMFD 0x40
#define N_FDS 0x3f
#define MESSAGE_MAX (sizeof(struct wire_plan) + WIRE_PLAN_INLINE_MAX + 4096)

static void require(int condition)
{
    if (!condition)
        abort();
}

/* ---- what is sent ------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct wire_plan, name)

static const size_t fields[] = {
    FIELD(type),          FIELD(version),       FIELD(flags),        FIELD(fd_mask),
    FIELD(after),         FIELD(n_rlimits),     FIELD(n_pass_fds),   FIELD(pass_fds[0]),
    FIELD(pass_fds[1]),   FIELD(pass_fds[2]),   FIELD(pass_fds[63]), FIELD(process_id[0]),
    FIELD(process_id[4]), FIELD(process_id[8]), FIELD(argc),         FIELD(envc),
    FIELD(pathc),         FIELD(strings_size),  FIELD(notifyc),      FIELD(secretc),
};

struct remaining {
    const uint8_t *data;
    size_t size;
};

static uint32_t take(struct remaining *in, size_t n)
{
    uint32_t value = 0;

    n = MIN(n, in->size);
    memcpy(&value, in->data, n);
    in->data += n;
    in->size -= n;
    return value;
}

static struct wire_plan edited_head(struct remaining *in, uint8_t control)
{
    struct wire_plan head = {.type = WIRE_PLAN,
                             .version = WIRE_VERSION,
                             .flags = control & IN_MEMFD ? WIRE_PLAN_IN_MEMFD : 0,
                             .fd_mask = 1u << WIRE_FD_LOG,
                             .process_id = "01234567",
                             .argc = 1,
                             .pathc = 1};
    uint32_t n_edits = take(in, 1);
    struct {
        size_t offset;
        uint32_t value;
    } edits[256];

    for (uint32_t i = 0; i < n_edits; i++) {
        edits[i].offset = fields[take(in, 1) % ARRAY_SIZE(fields)];
        edits[i].value = take(in, sizeof(edits[i].value));
    }
    head.strings_size = (uint32_t)in->size;
    for (uint32_t i = 0; i < n_edits; i++)
        memcpy((char *)&head + edits[i].offset, &edits[i].value, sizeof(edits[i].value));
    return head;
}

static int memory_file(const void *data, size_t size)
{
    int fd = memfd_create("strings", MFD_CLOEXEC);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

static void send_plan(int fd, struct remaining in)
{
    uint8_t control = (uint8_t)take(&in, 1);
    struct socket_message message = {.n_fds = control & N_FDS};
    struct wire_plan head;
    int fds[N_FDS];

    in.size = MIN(in.size, MESSAGE_MAX);
    for (size_t i = 0; i < message.n_fds; i++)
        fds[i] = fd;
    message.fds = fds;
    if (control & RAW) {
        message.head = in.data;
        message.head_size = in.size;
    } else {
        head = edited_head(&in, control);
        message.head = &head;
        message.head_size = sizeof(head);
        message.body = in.data;
        message.body_size = in.size;
    }
    if (control & IN_MEMFD && message.n_fds > 0) {
        fds[0] = memory_file(in.data, in.size);
        message.body_size = 0;
    }
    require(socket_send(fd, &message, 0) == 0);
}

/* ---- what was made of it ------------------------------------------------------------------ */

static size_t strings_size(char *const *v, uint32_t n)
{
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++)
        size += strlen(v[i]) + 1;
    return size;
}

static void check_plan(const struct plan *plan)
{
    const struct wire_plan *head = plan->head;
    size_t size = strlen(plan->cwd) + strlen(plan->jobs_dir) + strlen(plan->job_json) +
                  strlen(plan->cleanup_dir) + N_TAIL_STRINGS;

    require(head->argc > 0 && head->pathc > 0);
    require(plan->argv[head->argc] == NULL && plan->env[head->envc] == NULL);
    require(plan->notify[head->notifyc] == NULL);
    size += strings_size(plan->argv, head->argc);
    size += strings_size(plan->env, head->envc);
    size += strings_size(plan->paths, head->pathc);
    size += strings_size(plan->notify, head->notifyc);
    size += strings_size(plan->secrets, head->secretc);
    require(head->secretc <= MASK_SECRETS_MAX);
    for (uint32_t i = 0; i < head->secretc; i++)
        require(strlen(plan->secrets[i]) >= MASK_SECRET_MIN &&
                strlen(plan->secrets[i]) <= MASK_SECRET_MAX);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan plan = {0};
    int sockets[2];

    if (size == 0)
        return 0;
    memset(small_pointers, 0, sizeof(small_pointers)); /* as in a process that has just begun */
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    send_plan(sockets[0], (struct remaining){data, size});
    if (plan_receive(sockets[1], &plan) == 0)
        check_plan(&plan);
    while (n_maps > 0) {
        n_maps--;
        (void)munmap(maps[n_maps].at, maps[n_maps].size);
    }
    /* whatever came along was opened after these two */
    (void)sys_close_range((unsigned)MIN(sockets[0], sockets[1]), ~0u);
    return 0;
}
