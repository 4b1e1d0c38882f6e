/* The state machine: one function a state, each given one byte. */
#include "vt.h"

#include <string.h>

#include "base/macro.h"

#define BEL '\a'
#define CAN 0x18
#define SUB 0x1a
#define ESC 0x1b
#define DEL 0x7f

void vt_init(struct vt *v, const struct vt_handler *handler, void *ctx)
{
    memset(v, 0, sizeof(*v));
    v->handler = handler;
    v->ctx = ctx;
}

void vt_abort(struct vt *v)
{
    v->state = VT_TEXT;
}

int vt_is_unfinished(const struct vt *v, uint64_t *ret_begin)
{
    *ret_begin = v->begin;
    return v->state != VT_TEXT;
}

static void begin_sequence(struct vt *v, uint64_t src)
{
    v->state = VT_ESC;
    v->begin = src;
    v->len = 0;
    v->intermediate = 0;
}

static int is_intermediate(unsigned char c)
{
    return c >= 0x20 && c <= 0x2f;
}

static void after_esc(struct vt *v, unsigned char c, uint64_t end)
{
    static const enum vt_state introduces[128] = {
        ['['] = VT_CSI,    [']'] = VT_OSC,    ['P'] = VT_DCS,
        ['X'] = VT_STRING, ['^'] = VT_STRING, ['_'] = VT_STRING,
    };

    if (is_intermediate(c)) {
        v->intermediate = 1;
        return;
    }
    v->state = v->intermediate ? VT_TEXT : introduces[c];
    v->len = 0;
    memset(&v->csi, 0, sizeof(v->csi));
    if (v->state == VT_TEXT && !v->intermediate)
        v->handler->esc(v->ctx, (char)c, end);
}

static void add_digit(struct vt_csi *csi, unsigned digit)
{
    unsigned *param;

    if (csi->n_params > VT_PARAMS_MAX)
        return;
    if (csi->n_params == 0)
        csi->n_params = 1;
    param = &csi->params[csi->n_params - 1];
    *param = MIN(*param * 10 + digit, (unsigned)VT_PARAM_VALUE_MAX);
}

static void inside_csi(struct vt *v, unsigned char c, uint64_t end)
{
    struct vt_csi *csi = &v->csi;

    if (c >= '0' && c <= '9') {
        add_digit(csi, c - '0');
    } else if (c == ';' || c == ':') {
        csi->n_params = csi->n_params ? csi->n_params + 1 : 2;
    } else if (c >= '<' && c <= '?') {
        csi->mark = (char)c;
    } else if (is_intermediate(c)) {
        v->intermediate = 1;
    } else {
        v->state = VT_TEXT;
        csi->final = (char)c;
        csi->n_params = MIN(csi->n_params, (unsigned)VT_PARAMS_MAX);
        if (!v->intermediate)
            v->handler->csi(v->ctx, csi, end);
    }
}

static void inside_osc(struct vt *v, unsigned char c, uint64_t end)
{
    if (c == BEL)
        v->state = VT_TEXT;
}

static void inside_string(struct vt *v, unsigned char c, uint64_t end) {}

/* What a state does with characters, and what ends it before its time. */
static const struct state {
    void (*take)(struct vt *v, unsigned char c, uint64_t end);
    size_t len_max;
    int is_string; /* swallows control characters and what is not ASCII */
    int goes_over_lf;
} states[VT_STATE_MAX] = {
    [VT_ESC] = {.take = after_esc, .len_max = VT_SEQUENCE_MAX},
    [VT_CSI] = {.take = inside_csi, .len_max = VT_SEQUENCE_MAX},
    [VT_OSC] = {.take = inside_osc, .len_max = VT_STRING_MAX, .is_string = 1},
    [VT_DCS] = {.take = inside_string, .len_max = VT_STRING_MAX, .is_string = 1, .goes_over_lf = 1},
    [VT_STRING] = {.take = inside_string, .len_max = VT_STRING_MAX, .is_string = 1},
};

/* Looks at the character s->text[i] inside a sequence. True when it belongs to the sequence; else
 * the sequence is over and the character is text. */
static int take_byte(struct vt *v, const struct span *s, size_t i)
{
    const struct state *state = &states[v->state];
    unsigned char c = (unsigned char)s->text[i];
    int is_control = c < 0x20 || c == DEL;

    if (c == ESC) {
        begin_sequence(v, span_src_at(s, i));
        return 1;
    }
    if (c == CAN || c == SUB) {
        vt_abort(v);
        return 1;
    }
    if ((c == '\n' && !state->goes_over_lf) || (c >= 0x80 && !state->is_string) ||
        (v->len >= state->len_max && (c & 0xc0) != 0x80)) {
        vt_abort(v);
        return 0;
    }
    v->len++;
    if (is_control && !state->is_string) { /* a terminal obeys it and goes on with the sequence */
        struct span control = span_part(s, i, i + 1);

        v->handler->text(v->ctx, &control);
        return 1;
    }
    state->take(v, c, span_src_at(s, i + 1));
    return 1;
}

/* Hands on text up to the next ESC. Returns where that is, or the end. */
static size_t take_text(struct vt *v, const struct span *s, size_t i)
{
    const char *esc = memchr(s->text + i, ESC, s->len - i);
    size_t end = esc ? (size_t)(esc - s->text) : s->len;
    struct span text = span_part(s, i, end);

    if (text.len > 0)
        v->handler->text(v->ctx, &text);
    if (esc)
        begin_sequence(v, span_src_at(s, end++));
    return end;
}

void vt_feed(struct vt *v, const struct span *s)
{
    size_t i = 0;

    while (i < s->len) {
        if (v->state == VT_TEXT)
            i = take_text(v, s, i);
        else
            i += (size_t)take_byte(v, s, i);
    }
}
