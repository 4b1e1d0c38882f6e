/* Decoding and rendering of pieces, and the lines of events. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "text/decode.h"
#include "text/screen.h"
#include "text/vt.h"
#include "tools/result-json.h"

/* One for each stream; REIN_STREAM_OUTPUT and _STDOUT share the first. Bytes go from the decoder to
 * the terminal's model, if there is one, and from there to the text. */
struct live_stream {
    struct decoder decoder;
    struct vt vt;
    struct screen screen; /* only for TEXT_CLEAN */
    int stream;           /* enum rein_stream of what was fed last */
    uint64_t cursor;      /* after what was fed last */
    struct buf text;      /* what came out of it */
};

struct live {
    int render;
    struct live_stream streams[2];
};

/* ---- rendering ---------------------------------------------------------------------------- */

static void add_to_text(void *ctx, const struct span *s)
{
    struct live_stream *stream = ctx;

    buf_add(&stream->text, s->text, s->len);
}

static void add_to_vt(void *ctx, const struct span *s)
{
    struct live_stream *stream = ctx;

    vt_feed(&stream->vt, s);
}

static void clean_text(void *ctx, const struct span *s)
{
    struct live_stream *stream = ctx;

    screen_text(&stream->screen, s);
}

static void clean_csi(void *ctx, const struct vt_csi *sequence, uint64_t end)
{
    struct live_stream *stream = ctx;

    screen_csi(&stream->screen, sequence, end);
}

static void clean_esc(void *ctx, char final, uint64_t end)
{
    struct live_stream *stream = ctx;

    screen_esc(&stream->screen, final, end);
}

static void ignore_csi(void *ctx, const struct vt_csi *sequence, uint64_t end) {}

static void ignore_esc(void *ctx, char final, uint64_t end) {}

static const struct {
    void (*add)(void *ctx, const struct span *s); /* what the decoder gives */
    struct vt_handler handler;
} renderers[] = {
    [TEXT_CLEAN] = {add_to_vt, {.text = clean_text, .csi = clean_csi, .esc = clean_esc}},
    [TEXT_PLAIN] = {add_to_vt, {.text = add_to_text, .csi = ignore_csi, .esc = ignore_esc}},
    [TEXT_RAW] = {add_to_text, {0}},
};

/* Lets go of what is held back in the hope of more. */
static void settle(const struct live *l, struct live_stream *s)
{
    vt_abort(&s->vt);
    if (l->render == TEXT_CLEAN)
        screen_flush(&s->screen, decoder_offset(&s->decoder));
}

/* ---- the object --------------------------------------------------------------------------- */

struct live *live_new(int render, int encoding)
{
    struct live *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->render = render;
    for (size_t i = 0; i < ARRAY_SIZE(l->streams); i++) {
        struct live_stream *s = &l->streams[i];

        decoder_init(&s->decoder, (enum text_encoding)encoding, /* eager= */ render == TEXT_RAW,
                     /* at_start= */ 1, (struct span_sink){.add = renderers[render].add, .ctx = s});
        vt_init(&s->vt, &renderers[render].handler, s);
        if (render == TEXT_CLEAN)
            screen_init(&s->screen, (struct span_sink){.add = add_to_text, .ctx = s});
    }
    return l;
}

struct live *live_free(struct live *l)
{
    for (size_t i = 0; l && i < ARRAY_SIZE(l->streams); i++) {
        buf_done(&l->streams[i].text);
        if (l->render == TEXT_CLEAN)
            screen_done(&l->streams[i].screen);
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
        decoder_end(&s->decoder, /* more= */ 0);
        settle(l, s);
        return s;
    }
    if (piece->skipped_bytes > 0) {
        decoder_gap(&s->decoder, piece->skipped_bytes);
        settle(l, s);
    }
    decoder_feed(&s->decoder, data, size);
    s->stream = piece->stream;
    s->cursor = piece->cursor;
    return s;
}

int live_text(
    void *userdata, const void *data, size_t size, const struct rein_piece *piece, struct buf *ret)
{
    struct live *l = userdata;
    const struct live_stream *s = feed(l, data, size, piece);

    buf_add(ret, s->text.data, s->text.len);
    if (l->render == TEXT_CLEAN && s->screen.error)
        return s->screen.error;
    return buf_error(&s->text);
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
    uint64_t held = s->decoder.offset - decoder_offset(&s->decoder);
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
