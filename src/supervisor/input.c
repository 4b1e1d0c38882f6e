/* What clients send to the job's standard input: buffered here, so that a job that does not read
 * blocks nobody. */
#include <string.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "supervisor.h"

static char bytes[INPUT_BUFFER_MAX];

static uint32_t room(const struct input *in)
{
    return INPUT_BUFFER_MAX - (in->end - in->begin);
}

static void make_contiguous(struct input *in)
{
    memmove(bytes, bytes + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
}

void input_take(struct supervisor *s,
                struct client *c,
                const struct wire_input *message,
                size_t size)
{
    struct input *in = &s->input;
    uint32_t offered = (uint32_t)(size - sizeof(*message));
    uint32_t n = MIN(offered, room(in));

    if (in->fd < 0 || in->eof_wanted) {
        report_room(s, c, 0, EPIPE);
        return;
    }
    make_contiguous(in);
    memcpy(bytes + in->end, message + 1, n);
    in->end += n;
    if (message->eof && n == offered)
        in->eof_wanted = 1;
    input_flush(s);
    report_room(s, c, n, 0);
}

void input_flush(struct supervisor *s)
{
    struct input *in = &s->input;

    while (in->fd >= 0 && in->begin < in->end) {
        ssize_t n = io_write(in->fd, bytes + in->begin, in->end - in->begin);

        if (n == -EAGAIN)
            return;
        if (n < 0) { /* the job closed it: what waits has nobody to read it */
            in->fd = close_fd(in->fd);
            return;
        }
        in->begin += (uint32_t)n;
    }
    if (in->eof_wanted)
        in->fd = close_fd(in->fd);
}
