/* Receives the plan and checks it. What it says is done elsewhere. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/mask.h"
#include "base/socket-util.h"
#include "base/syscall-linux.h"
#include "supervisor.h"

#define N_TAIL_STRINGS 4   /* cwd, jobs_dir, job_json, cleanup_dir */
#define SMALL_POINTERS 512 /* argv, environment and paths of an ordinary job */

static _Alignas(8) char inline_plan[sizeof(struct wire_plan) + WIRE_PLAN_INLINE_MAX];
static char *small_pointers[SMALL_POINTERS];

struct received {
    size_t size;
    int fds[WIRE_FDS_MAX];
    size_t n_fds;
};

static int receive(int socket_fd, struct received *ret)
{
    ssize_t n = socket_receive(socket_fd, inline_plan, sizeof(inline_plan), ret->fds,
                               ARRAY_SIZE(ret->fds), &ret->n_fds, 0);

    ret->size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? (int)n : 0;
}

/* Maps the strings. A file that is shorter would be our end at the first look behind its own. */
static const char *map_strings(int fd, size_t size)
{
    struct stat st;
    void *map;

    if (fstat(fd, &st) < 0 || st.st_size < (off_t)size)
        return NULL;
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Where the strings are: behind the head, or in a memfd when they are many. */
static const char *find_strings(const struct wire_plan *head, struct received *got)
{
    const char *strings;

    if (!(head->flags & WIRE_PLAN_IN_MEMFD))
        return got->size == sizeof(*head) + head->strings_size ? inline_plan + sizeof(*head) : NULL;
    if (got->size != sizeof(*head) || got->n_fds == 0)
        return NULL;
    strings = map_strings(got->fds[0], head->strings_size);
    (void)close_fd(got->fds[0]);
    memmove(got->fds, got->fds + 1, --got->n_fds * sizeof(int));
    return strings;
}

/* Hands the descriptors to their places. */
static int place_fds(struct plan *plan, const struct received *got)
{
    const struct wire_plan *head = plan->head;
    size_t next = 0;

    for (int kind = 0; kind < WIRE_FD_KINDS; kind++) {
        plan->fds[kind] = -EBADF;
        if (!(head->fd_mask & 1u << kind))
            continue;
        if (next == got->n_fds)
            return -EPROTO;
        plan->fds[kind] = got->fds[next++];
    }
    if (got->n_fds - next != head->n_pass_fds || plan->fds[WIRE_FD_LOG] < 0)
        return -EPROTO;
    memcpy(plan->pass_fds, got->fds + next, head->n_pass_fds * sizeof(int));
    return 0;
}

/* Fills v with n strings that begin at *p, and moves *p behind them. */
static int take_strings(char **v, uint32_t n, const char **p, const char *end)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *nul = memchr(*p, '\0', (size_t)(end - *p));

        if (!nul)
            return -EPROTO;
        v[i] = (char *)(uintptr_t)*p;
        *p = nul + 1;
    }
    return 0;
}

/* Room for all the pointers: [free] argv NULL env NULL paths notify NULL secrets. */
static char **pointer_room(const struct wire_plan *head)
{
    size_t n = (size_t)head->argc + head->envc + head->pathc + head->notifyc + head->secretc + 4;
    void *map;

    if (n <= SMALL_POINTERS)
        return small_pointers;
    map =
        mmap(NULL, n * sizeof(char *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static int check_secrets(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->head->secretc; i++) {
        size_t size = strlen(plan->secrets[i]);

        if (size < MASK_SECRET_MIN || size > MASK_SECRET_MAX)
            return -EPROTO;
    }
    return 0;
}

static int unpack_strings(struct plan *plan, const char *strings)
{
    const struct wire_plan *head = plan->head;
    const char *p = strings;
    const char *end = strings + head->strings_size;
    char **room = pointer_room(head);
    char *tail[N_TAIL_STRINGS];

    if (!room)
        return -ENOMEM;
    plan->argv = room + 1;
    plan->env = plan->argv + head->argc + 1;
    plan->paths = plan->env + head->envc + 1;
    plan->notify = plan->paths + head->pathc;
    plan->secrets = plan->notify + head->notifyc + 1;
    if (take_strings(plan->argv, head->argc, &p, end) < 0 ||
        take_strings(plan->env, head->envc, &p, end) < 0 ||
        take_strings(plan->paths, head->pathc, &p, end) < 0 ||
        take_strings(plan->notify, head->notifyc, &p, end) < 0 ||
        take_strings(plan->secrets, head->secretc, &p, end) < 0 || check_secrets(plan) < 0 ||
        take_strings(tail, N_TAIL_STRINGS, &p, end) < 0 || p != end)
        return -EPROTO;
    plan->cwd = tail[0];
    plan->jobs_dir = tail[1];
    plan->job_json = tail[2];
    plan->cleanup_dir = tail[3];
    return 0;
}

static int check_head(const struct wire_plan *head, size_t received)
{
    if (received < sizeof(*head) || head->type != WIRE_PLAN || head->version != WIRE_VERSION)
        return -EPROTO;
    if (head->n_rlimits > WIRE_RLIMITS_MAX || head->n_pass_fds > WIRE_PASS_FDS_MAX ||
        head->secretc > MASK_SECRETS_MAX)
        return -EPROTO;
    if (!memchr(head->process_id, '\0', sizeof(head->process_id)))
        return -EPROTO;
    if (head->strings_size == 0 || head->strings_size > WIRE_PLAN_MAX)
        return -EPROTO;
    /* Each string has at least its NUL, so the counts cannot be larger than the bytes. */
    if (head->argc == 0 || head->argc > head->strings_size || head->envc > head->strings_size ||
        head->pathc == 0 || head->pathc > head->strings_size || head->notifyc > head->strings_size)
        return -EPROTO;
    for (uint32_t i = 0; i < head->n_pass_fds; i++)
        if (head->pass_fds[i] < 3 || head->pass_fds[i] > WIRE_PASS_FD_NUMBER_MAX ||
            (i > 0 && head->pass_fds[i] <= head->pass_fds[i - 1]))
            return -EPROTO;
    return 0;
}

int plan_receive(int socket_fd, struct plan *ret)
{
    struct received got;
    const char *strings;
    int r = receive(socket_fd, &got);

    if (r < 0)
        return r;
    ret->head = (const struct wire_plan *)(const void *)inline_plan;
    r = check_head(ret->head, got.size);
    if (r < 0)
        return r;
    strings = find_strings(ret->head, &got);
    if (!strings)
        return -EPROTO;
    r = place_fds(ret, &got);
    if (r < 0)
        return r;
    return unpack_strings(ret, strings);
}
