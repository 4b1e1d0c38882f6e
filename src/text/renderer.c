/* Connects decoder, escape sequences and screen. */
#include "renderer.h"

#include "text.h"

/* A reader that comes back for an unfinished escape sequence has to read this much of it again. */
#define HELD_MAX 4096

static void hand_on(void *ctx, const struct span *s)
{
    struct renderer *r = ctx;

    span_sink_add(&r->out, s);
}

static void add_to_vt(void *ctx, const struct span *s)
{
    struct renderer *r = ctx;

    vt_feed(&r->vt, s);
}

static void ignore_csi(void *ctx, const struct vt_csi *seq, uint64_t end) {}

static void ignore_esc(void *ctx, char final, uint64_t end) {}

static void clean_text(void *ctx, const struct span *s)
{
    struct renderer *r = ctx;

    screen_text(&r->screen, s);
}

static void clean_csi(void *ctx, const struct vt_csi *seq, uint64_t end)
{
    struct renderer *r = ctx;

    screen_csi(&r->screen, seq, end);
}

static void clean_esc(void *ctx, char final, uint64_t end)
{
    struct renderer *r = ctx;

    screen_esc(&r->screen, final, end);
}

/* Where decoded text goes, and what happens to its parts. */
static const struct {
    void (*add)(void *ctx, const struct span *s);
    struct vt_handler handler;
} kinds[TEXT_RENDER_MAX] = {
    [TEXT_CLEAN] = {add_to_vt, {.text = clean_text, .csi = clean_csi, .esc = clean_esc}},
    [TEXT_PLAIN] = {add_to_vt, {.text = hand_on, .csi = ignore_csi, .esc = ignore_esc}},
    [TEXT_RAW] = {hand_on, {0}},
};

void renderer_init(
    struct renderer *r, int render, int encoding, int eager, int at_start, struct span_sink out)
{
    r->render = render;
    r->out = out;
    decoder_init(&r->decoder, (enum text_encoding)encoding, eager, at_start,
                 (struct span_sink){.add = kinds[render].add, .ctx = r});
    vt_init(&r->vt, &kinds[render].handler, r);
    screen_init(&r->screen, out);
}

void renderer_done(struct renderer *r)
{
    screen_done(&r->screen);
}

void renderer_feed(struct renderer *r, const void *data, size_t len)
{
    decoder_feed(&r->decoder, data, len);
}

/* Nothing that comes later can change what was handed on so far. */
static void settle(struct renderer *r)
{
    vt_abort(&r->vt);
    if (r->render == TEXT_CLEAN)
        screen_flush(&r->screen, decoder_offset(&r->decoder));
}

void renderer_gap(struct renderer *r, uint64_t bytes)
{
    decoder_gap(&r->decoder, bytes);
    settle(r);
}

uint64_t renderer_end(struct renderer *r, int more)
{
    uint64_t sequence;
    uint64_t end;

    decoder_end(&r->decoder, more);
    end = decoder_offset(&r->decoder);
    if (more && vt_is_unfinished(&r->vt, &sequence) && end - sequence <= HELD_MAX)
        end = sequence;
    settle(r);
    return end;
}

int renderer_error(const struct renderer *r)
{
    return r->screen.error;
}
