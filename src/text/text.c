/* Connects decoder, renderer and limiter. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "limit.h"
#include "screen.h"
#include "vt.h"

_Static_assert(TEXT_LIMIT_MAX == LIMIT_MAX, "the limiter's bound is the one that callers see");

/* A reader that comes back for an unfinished escape sequence has to read this much of it again. */
#define TEXT_HELD_MAX 4096

enum progress { TEXT_FEEDING, TEXT_ENDED, TEXT_FINISHED };

struct text {
    int render;
    enum progress progress;
    uint64_t first_offset;
    uint64_t end; /* of the input that was dealt with, from 0; known when it has ended */
    struct decoder decoder;
    struct vt vt;
    struct screen screen; /* only for TEXT_CLEAN */
    struct limiter limiter;
};

/* ---- renderers --------------------------------------------------------------------------- */

static void add_to_limiter(void *ctx, const struct span *s)
{
    text *t = ctx;

    limiter_add(&t->limiter, s);
}

static void add_to_vt(void *ctx, const struct span *s)
{
    text *t = ctx;

    vt_feed(&t->vt, s);
}

static void ignore_csi(void *ctx, const struct vt_csi *seq, uint64_t end) {}

static void ignore_esc(void *ctx, char final, uint64_t end) {}

static void clean_text(void *ctx, const struct span *s)
{
    text *t = ctx;

    screen_text(&t->screen, s);
}

static void clean_csi(void *ctx, const struct vt_csi *seq, uint64_t end)
{
    text *t = ctx;

    screen_csi(&t->screen, seq, end);
}

static void clean_esc(void *ctx, char final, uint64_t end)
{
    text *t = ctx;

    screen_esc(&t->screen, final, end);
}

/* Where decoded text goes, and what happens to its parts. */
static const struct {
    void (*add)(void *ctx, const struct span *s);
    struct vt_handler handler;
} renderers[TEXT_RENDER_MAX] = {
    [TEXT_CLEAN] = {add_to_vt, {.text = clean_text, .csi = clean_csi, .esc = clean_esc}},
    [TEXT_PLAIN] = {add_to_vt, {.text = add_to_limiter, .csi = ignore_csi, .esc = ignore_esc}},
    [TEXT_RAW] = {add_to_limiter, {0}},
};

/* ---- the object -------------------------------------------------------------------------- */

static int in_range(int value, int max)
{
    return value >= 0 && value < max;
}

int text_new(const struct text_options *options, uint64_t first_offset, text **ret)
{
    text *t;

    if (!options || !ret || !in_range(options->render, TEXT_RENDER_MAX) ||
        !in_range(options->encoding, TEXT_ENC_MAX))
        return -EINVAL;
    t = malloc(sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->render = options->render;
    t->progress = TEXT_FEEDING;
    t->first_offset = first_offset;
    t->end = 0;
    decoder_init(&t->decoder, (enum text_encoding)options->encoding,
                 /* eager= */ 0,
                 /* at_start= */ first_offset == 0,
                 (struct span_sink){.add = renderers[t->render].add, .ctx = t});
    vt_init(&t->vt, &renderers[t->render].handler, t);
    screen_init(&t->screen, (struct span_sink){.add = add_to_limiter, .ctx = t});
    limiter_init(&t->limiter, options->limit, options->limit_in_chars);
    *ret = t;
    return 0;
}

text *text_free(text *t)
{
    if (t) {
        screen_done(&t->screen);
        limiter_done(&t->limiter);
        free(t);
    }
    return NULL;
}

void text_feed(text *t, const void *data, size_t len)
{
    if (t && t->progress == TEXT_FEEDING && data && len > 0)
        decoder_feed(&t->decoder, data, len);
}

/* Nothing that comes later can change what was shown so far. */
static void settle(text *t)
{
    vt_abort(&t->vt);
    if (t->render == TEXT_CLEAN)
        screen_flush(&t->screen, decoder_offset(&t->decoder));
}

void text_gap(text *t, uint64_t bytes)
{
    if (!t || t->progress != TEXT_FEEDING || bytes == 0)
        return;
    decoder_gap(&t->decoder, bytes);
    settle(t);
    limiter_gap(&t->limiter);
}

void text_end(text *t, int more)
{
    uint64_t sequence;

    if (!t || t->progress != TEXT_FEEDING)
        return;
    t->progress = TEXT_ENDED;
    decoder_end(&t->decoder, more);
    t->end = decoder_offset(&t->decoder);
    if (more && vt_is_unfinished(&t->vt, &sequence) && t->end - sequence <= TEXT_HELD_MAX)
        t->end = sequence;
    settle(t);
}

int text_would_omit(text *t)
{
    text_end(t, /* more= */ 0);
    return t && limiter_omits(&t->limiter);
}

int text_finish(text *t, const char *log_path, struct text_result *ret)
{
    auto_buf struct buf out = {0};
    struct limit_omitted omitted;
    struct text_result result = {.omitted_at = -1};
    int r;

    if (!t || !ret || t->progress == TEXT_FINISHED)
        return -EINVAL;
    text_end(t, /* more= */ 0);
    t->progress = TEXT_FINISHED;
    if (t->screen.error)
        return t->screen.error;
    r = limiter_finish(&t->limiter, t->end, log_path, &out, &omitted);
    if (r < 0)
        return r;
    result.len = out.len;
    result.omitted_bytes = omitted.end - omitted.begin;
    if (result.omitted_bytes > 0)
        result.omitted_at = (int64_t)(t->first_offset + omitted.begin);
    result.cursor = t->first_offset + t->end;
    result.encoding = decoder_encoding(&t->decoder);
    result.text = buf_take(&out);
    if (!result.text)
        return -ENOMEM;
    *ret = result;
    return 0;
}

void text_result_done(struct text_result *result)
{
    if (!result)
        return;
    free(result->text);
    memset(result, 0, sizeof(*result));
}
