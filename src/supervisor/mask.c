/* Secrets that the plan names become stars on their way from a pipe to the log, so that no reader
 * of the log ever has them. */
#include "base/mask.h"

#include <string.h>

#include "supervisor.h"

static struct mask declared;
static char masked[MASK_SECRET_MAX + CHUNK_SIZE];

/* Two for each pipe, one of which holds: a supervisor that is killed leaves the guard the state
 * before a piece, or the one after it, but never one in between. */
static struct mask_stream streams[2][2];

void mask_prepare(const struct supervisor *s)
{
    for (uint32_t i = 0; i < s->plan.head->secretc; i++)
        mask_add(&declared, s->plan.secrets[i], strlen(s->plan.secrets[i]));
}

static struct mask_stream *stream_of(const struct supervisor *s, const struct output *o, int side)
{
    return &streams[o - s->outputs][side];
}

static void change_side(struct output *o)
{
    __atomic_store_n(&o->mask_side, !o->mask_side, __ATOMIC_RELEASE);
}

void mask_append(struct supervisor *s, struct output *o, const char *data, size_t size)
{
    size_t n = mask_feed(&declared, stream_of(s, o, o->mask_side), stream_of(s, o, !o->mask_side),
                         data, size, masked);

    change_side(o);
    if (n > 0)
        log_append(s, o->stream, masked, n);
}

void mask_flush(struct supervisor *s, struct output *o)
{
    const struct mask_stream *last = stream_of(s, o, o->mask_side);

    if (last->n_held == 0)
        return;
    *stream_of(s, o, !o->mask_side) = (struct mask_stream){0};
    change_side(o);
    log_append(s, o->stream, last->held, last->n_held);
}

/* A command line that was cut may end with the beginning of a secret. */
void mask_command(char *command, size_t size)
{
    static const struct mask_stream nothing;
    static struct mask_stream end;
    size_t length = strnlen(command, size);

    (void)mask_feed(&declared, &nothing, &end, command, length, masked);
    if (length + 1 >= size)
        memset(masked + length - end.n_held, MASK_BYTE, end.n_held);
    memcpy(command, masked, length);
}
