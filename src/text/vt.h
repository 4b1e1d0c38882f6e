/*
 * Finds the escape sequences in decoded text, cut anywhere. It tells text from sequences and takes
 * those apart; what they do to a screen is not its business.
 *
 * Recognised as ECMA-48 and xterm have them: ESC with intermediate bytes and a final one, CSI, and
 * the strings OSC, DCS, SOS, PM and APC up to ST (for OSC also BEL). Only the forms that begin with
 * ESC: the C1 controls of one character occur in text that was decoded wrongly far more often than
 * as controls, and would swallow what follows.
 *
 * Output of programs that were killed is full of sequences without an end. So CAN, SUB or a new ESC
 * ends any sequence, LF ends all but DCS (and counts as LF), a character beyond ASCII ends all but
 * strings, and what is longer than the bounds below ends there.
 */
#ifndef REIN_TEXT_VT_H
#define REIN_TEXT_VT_H

#include "span.h"

#define VT_SEQUENCE_MAX 256        /* characters of ESC and CSI sequences */
#define VT_STRING_MAX (256 * 1024) /* bytes of a string */
#define VT_PARAMS_MAX 16           /* further ones are ignored */
#define VT_PARAM_VALUE_MAX 9999

struct vt_csi {
    char final;
    char mark;                      /* '?', '>', '=' or '<' before the parameters, else 0 */
    unsigned n_params;              /* how many are set below */
    unsigned params[VT_PARAMS_MAX]; /* 0 where one is missing */
};

struct vt_handler {
    /* Text without ESC; other control characters are in it, also those from inside a sequence. */
    void (*text)(void *ctx, const struct span *s);
    /* `end` is the input offset after the sequence; those with intermediate bytes are left out. */
    void (*csi)(void *ctx, const struct vt_csi *seq, uint64_t end);
    void (*esc)(void *ctx, char final, uint64_t end);
};

enum vt_state {
    VT_TEXT = 0,
    VT_ESC,    /* after ESC */
    VT_CSI,    /* after ESC [ */
    VT_OSC,    /* strings: after ESC ] */
    VT_DCS,    /* after ESC P */
    VT_STRING, /* after ESC X, ESC ^ and ESC _ */
    VT_STATE_MAX
};

struct vt {
    const struct vt_handler *handler;
    void *ctx;
    enum vt_state state;
    int intermediate;  /* the sequence has bytes 20…2F */
    size_t len;        /* of the sequence so far */
    uint64_t begin;    /* input offset of its ESC */
    struct vt_csi csi; /* what was read of it */
};

void vt_init(struct vt *v, const struct vt_handler *handler, void *ctx);
void vt_feed(struct vt *v, const struct span *s);

/* Gives up an unfinished sequence. */
void vt_abort(struct vt *v);

/* Is a sequence unfinished? Then *ret_begin is the input offset where it begins. */
int vt_is_unfinished(const struct vt *v, uint64_t *ret_begin);

#endif
