/* Connects renderer and limiter. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "renderer.h"

_Static_assert(TEXT_LIMIT_MAX == LIMIT_MAX, "the limiter's bound is the one that callers see");

enum progress { TEXT_FEEDING, TEXT_ENDED, TEXT_FINISHED };

struct text {
    enum progress progress;
    uint64_t first_offset;
    uint64_t end; /* of the input that was dealt with, from 0; known when it has ended */
    struct renderer renderer;
    struct limiter limiter;
};

static void add_to_limiter(void *ctx, const struct span *s)
{
    text *t = ctx;

    limiter_add(&t->limiter, s);
}

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
    t->progress = TEXT_FEEDING;
    t->first_offset = first_offset;
    t->end = 0;
    renderer_init(&t->renderer, options->render, options->encoding,
                  /* eager= */ 0,
                  /* at_start= */ first_offset == 0,
                  (struct span_sink){.add = add_to_limiter, .ctx = t});
    limiter_init(&t->limiter, options->limit, options->limit_in_chars);
    t->limiter.keep_end = options->keep_end;
    *ret = t;
    return 0;
}

text *text_free(text *t)
{
    if (t) {
        renderer_done(&t->renderer);
        limiter_done(&t->limiter);
        free(t);
    }
    return NULL;
}

void text_feed(text *t, const void *data, size_t len)
{
    if (t && t->progress == TEXT_FEEDING && data && len > 0)
        renderer_feed(&t->renderer, data, len);
}

void text_gap(text *t, uint64_t bytes)
{
    if (!t || t->progress != TEXT_FEEDING || bytes == 0)
        return;
    renderer_gap(&t->renderer, bytes);
    limiter_gap(&t->limiter);
}

void text_skip(text *t, uint64_t bytes)
{
    if (!t || t->progress != TEXT_FEEDING || bytes == 0)
        return;
    renderer_gap(&t->renderer, bytes);
    limiter_skip(&t->limiter);
}

void text_end(text *t, int more)
{
    if (!t || t->progress != TEXT_FEEDING)
        return;
    t->progress = TEXT_ENDED;
    t->end = renderer_end(&t->renderer, more);
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
    r = renderer_error(&t->renderer);
    if (r < 0)
        return r;
    r = limiter_finish(&t->limiter, t->end, log_path, &out, &omitted);
    if (r < 0)
        return r;
    result.len = out.len;
    result.omitted_bytes = omitted.end - omitted.begin;
    if (result.omitted_bytes > 0)
        result.omitted_at = (int64_t)(t->first_offset + omitted.begin);
    result.cursor = t->first_offset + t->end;
    result.encoding = decoder_encoding(&t->renderer.decoder);
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
