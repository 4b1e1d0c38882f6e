/* Decoding and rendering of pieces, and the lines of events. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "text/renderer.h"
#include "text/text.h"
#include "tools/result-json.h"

/* One for each stream; REIN_STREAM_OUTPUT and _STDOUT share the first. */
struct live_stream {
    struct renderer renderer;
    int stream;      /* enum rein_stream of what was fed last */
    uint64_t cursor; /* after what was fed last */
    struct buf text; /* what came out of it */
};

struct live {
    struct live_stream streams[2];
};

static void add_to_text(void *ctx, const struct span *s)
{
    struct live_stream *stream = ctx;

    buf_add(&stream->text, s->text, s->len);
}

/* ---- the object --------------------------------------------------------------------------- */

struct live *live_new(int render, int encoding, bool at_start)
{
    struct live *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(l->streams); i++) {
        struct live_stream *s = &l->streams[i];

        renderer_init(&s->renderer, render, encoding, /* eager= */ render == TEXT_RAW, at_start,
                      (struct span_sink){.add = add_to_text, .ctx = s});
    }
    return l;
}

struct live *live_free(struct live *l)
{
    for (size_t i = 0; l && i < ARRAY_SIZE(l->streams); i++) {
        buf_done(&l->streams[i].text);
        renderer_done(&l->streams[i].renderer);
    }
    free(l);
    return NULL;
}

/* Feeds what came last, or for a size of 0 the end of a stream. */
static struct live_stream *
feed(struct live *l, const void *data, size_t size, const struct rein_piece *piece)
{
    struct live_stream *s = &l->streams[piece->stream == REIN_STREAM_STDERR];

    buf_clear(&s->text);
    if (size == 0) {
        (void)renderer_end(&s->renderer, /* more= */ 0);
        return s;
    }
    if (piece->skipped_bytes > 0)
        renderer_gap(&s->renderer, piece->skipped_bytes);
    renderer_feed(&s->renderer, data, size);
    s->stream = piece->stream;
    s->cursor = piece->cursor;
    return s;
}

int live_text(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret)
{
    const struct live_stream *s = feed(userdata, data, size, piece);
    int r = renderer_error(&s->renderer);

    buf_add(ret, s->text.data, s->text.len);
    return r < 0 ? r : buf_error(&s->text);
}

/* ---- events ------------------------------------------------------------------------------- */

static const char *stream_name(int stream)
{
    static const char *const names[] = {
        [REIN_STREAM_OUTPUT] = "output",
        [REIN_STREAM_STDOUT] = "stdout",
        [REIN_STREAM_STDERR] = "stderr",
    };

    return names[stream];
}

static int add_event(const struct live_stream *s, struct buf *ret)
{
    /* bytes of an unfinished character are not part of the text, so the cursor is before them */
    const struct decoder *decoder = &s->renderer.decoder;
    uint64_t held = decoder->offset - decoder_offset(decoder);
    char *line;
    size_t len;

    if (s->text.len == 0 || buf_error(&s->text))
        return buf_error(&s->text);
    line = json_line_take(
        json_pack("{s:s, s:s, s:I, s:s%}", "event", "output", "stream", stream_name(s->stream),
                  "cursor", (json_int_t)(s->cursor - held), "text", s->text.data, s->text.len),
        &len);
    if (!line)
        return -ENOMEM;
    buf_add(ret, line, len);
    free(line);
    return 0;
}

int live_events(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret)
{
    return add_event(feed(userdata, data, size, piece), ret);
}

char *live_started_line(const rein_job *job, size_t *ret_len)
{
    return json_line_take(json_pack("{s:s, s:s, s:I}", "event", "started", "process_id",
                                    rein_job_id(job), "pid", (json_int_t)rein_job_pid(job)),
                          ret_len);
}

char *live_exit_line(json_t *take_result, size_t *ret_len)
{
    json_t *event = json_pack("{s:s}", "event", "exit");

    if (!event || !take_result || json_object_update(event, take_result) < 0) {
        json_decref(event);
        event = NULL;
    }
    json_decref(take_result);
    return json_line_take(event, ret_len);
}
