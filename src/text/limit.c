/* The limiter: collecting, choosing the cuts, and writing the line between them. */
#include "limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "utf8.h"
#include "width.h"

/* ---- collecting -------------------------------------------------------------------------- */

void limiter_init(struct limiter *l, size_t limit, int in_chars)
{
    memset(l, 0, sizeof(*l));
    l->limit = MIN(limit, (size_t)LIMIT_MAX);
    l->in_chars = in_chars;
    l->size = limit == 0 ? SIZE_MAX : l->limit * (in_chars ? UTF8_LEN_MAX : 1);
}

static void part_done(struct limit_part *p)
{
    buf_done(&p->text);
    map_done(&p->map);
}

void limiter_done(struct limiter *l)
{
    part_done(&l->head);
    part_done(&l->tail);
}

static void part_add(struct limit_part *p, const struct span *s)
{
    map_add(&p->map, p->text.len, s);
    buf_add(&p->text, s->text, s->len);
}

static void part_clear(struct limit_part *p)
{
    p->text.len = 0; /* an error stays */
    p->map.n = 0;
}

static int part_error(const struct limit_part *p)
{
    return p->map.error ? p->map.error : buf_error(&p->text);
}

/* Lets go of all but the last `size` bytes, and of those a character that is cut. */
static void shorten_tail(struct limiter *l)
{
    struct buf *text = &l->tail.text;
    size_t from = text->len - l->size;

    while (from < text->len && utf8_is_continuation(text->data[from]))
        from++;
    memmove(text->data, text->data + from, text->len - from);
    text->len -= from;
    map_drop(&l->tail.map, from);
    l->dropped = 1;
}

/* Adds to the tail, which may grow to twice its size before it is shortened: so each byte is moved
 * once or twice, however small the pieces are. */
static void add_to_tail(struct limiter *l, const struct span *s)
{
    size_t from = 0;
    struct span part;

    if (s->len > l->size) { /* its beginning would be dropped at once */
        from = s->len - l->size;
        while (from < s->len && utf8_is_continuation(s->text[from]))
            from++;
        part_clear(&l->tail);
        l->dropped = 1;
    }
    part = span_part(s, from, s->len);
    part_add(&l->tail, &part);
    if (l->tail.text.len / 2 >= l->size && !part_error(&l->tail))
        shorten_tail(l);
}

void limiter_add(struct limiter *l, const struct span *s)
{
    size_t room = l->head_is_full ? 0 : l->size - l->head.text.len;
    size_t n = utf8_boundary(s->text, s->len, MIN(s->len, room));
    struct span part = span_part(s, 0, n);

    if (n > 0)
        part_add(&l->head, &part);
    if (n == s->len)
        return;
    l->head_is_full = 1;
    part = span_part(s, n, s->len);
    add_to_tail(l, &part);
}

void limiter_gap(struct limiter *l)
{
    l->head_is_full = 1;
    l->gap = 1;
    l->dropped = 0;
    part_clear(&l->tail);
}

void limiter_skip(struct limiter *l)
{
    l->head_is_full = 1;
    l->dropped = 1;
    part_clear(&l->tail);
}

/* ---- measuring --------------------------------------------------------------------------- */

/* Lengths in what the limit counts. */
static size_t measure(const struct limiter *l, const char *text, size_t len)
{
    return l->in_chars ? utf8_count(text, len) : len;
}

/* The largest position with at most n units before it. */
static size_t skip(const struct limiter *l, const char *text, size_t len, size_t n)
{
    return l->in_chars ? utf8_skip(text, len, n) : utf8_boundary(text, len, MIN(n, len));
}

/* The smallest position with at most n units after it. */
static size_t skip_back(const struct limiter *l, const char *text, size_t len, size_t n)
{
    size_t pos = len - MIN(n, len);

    if (l->in_chars)
        return utf8_skip_back(text, len, n);
    while (pos < len && utf8_is_continuation(text[pos]))
        pos++;
    return pos;
}

static size_t part_measure(const struct limiter *l, const struct limit_part *p)
{
    return p->text.len ? measure(l, p->text.data, p->text.len) : 0;
}

int limiter_omits(const struct limiter *l)
{
    if (l->gap || l->dropped)
        return 1;
    return l->limit > 0 && part_measure(l, &l->head) + part_measure(l, &l->tail) > l->limit;
}

/* ---- the line between -------------------------------------------------------------------- */

/* From the most telling to the shortest. */
enum form { FORM_PATH, FORM_BYTES, FORM_DOTS, FORM_NONE };

static void add_grouped(struct buf *b, uint64_t n)
{
    char digits[sizeof("18446744073709551615")];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_add_char(b, ',');
        buf_add_char(b, digits[i]);
    }
}

/* A path may hold any bytes; the line stays one line of UTF-8. */
static void add_path(struct buf *b, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < len;) {
        size_t n = utf8_valid_prefix(path + i, len - i);
        int cut_off;

        for (size_t end = i + n; i < end; i++)
            if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
                buf_add_str(b, UTF8_REPLACEMENT_TEXT);
            else
                buf_add_char(b, path[i]);
        if (i < len) {
            i += utf8_broken_prefix(path + i, len - i, &cut_off);
            buf_add_str(b, UTF8_REPLACEMENT_TEXT);
        }
    }
}

void limit_add_line(struct buf *b, uint64_t bytes, const char *path, int kept)
{
    buf_add_str(b, "[… ");
    add_grouped(b, bytes);
    buf_add_str(b, " bytes omitted");
    if (path) {
        buf_add_str(b, kept ? "; kept output: " : "; full output: ");
        add_path(b, path);
    }
    buf_add_str(b, " …]");
}

/* Appends the line without its LF. */
static void
add_line(const struct limiter *l, struct buf *b, enum form form, uint64_t bytes, const char *path)
{
    if (form == FORM_NONE)
        return;
    if (form == FORM_DOTS) {
        buf_add_str(b, "…");
        return;
    }
    limit_add_line(b, bytes, form == FORM_PATH ? path : NULL, l->gap);
}

/* Chooses the form. *ret_len is how much it takes at most, with a LF before and after it. */
static int choose_form(const struct limiter *l,
                       uint64_t bytes_max,
                       const char *path,
                       enum form *ret_form,
                       size_t *ret_len)
{
    for (enum form form = FORM_PATH;; form++) {
        auto_buf struct buf line = {0};
        size_t len;

        add_line(l, &line, form, bytes_max, path);
        if (buf_error(&line))
            return buf_error(&line);
        len = form == FORM_NONE ? 0 : measure(l, line.data, line.len) + 2;
        if (form == FORM_NONE || l->limit == 0 || len <= l->limit - l->limit / 4) {
            *ret_form = form;
            *ret_len = len;
            return 0;
        }
    }
}

/* ---- cutting ----------------------------------------------------------------------------- */

/* Does a combining character begin at pos? A cut before it would tear it from what it belongs to.
 */
static int is_joined(const struct limit_part *part, size_t pos)
{
    uint32_t code;

    if (pos >= part->text.len)
        return 0;
    (void)utf8_get(part->text.data + pos, &code);
    return width_of(code) == 0;
}

/* Where the head ends when it may have that many units. */
static size_t cut_head(const struct limiter *l, const struct limit_part *head, size_t units)
{
    const char *text = head->text.data;
    size_t pos = head->text.len ? skip(l, text, head->text.len, units) : 0;
    const char *lf;

    if (pos == head->text.len)
        return pos;
    for (int i = 0; i < LIMIT_JOINED_MAX && is_joined(head, pos); i++)
        pos = utf8_skip_back(text, pos, 1);
    lf = memrchr(text + pos / 2, '\n', pos - pos / 2);
    return lf ? (size_t)(lf - text) + 1 : pos;
}

/* Where the tail begins when it may have that many units. */
static size_t cut_tail(const struct limiter *l, const struct limit_part *tail, size_t units)
{
    const char *text = tail->text.data;
    size_t len = tail->text.len;
    size_t pos = len ? skip_back(l, text, len, units) : 0;
    const char *lf;

    if (pos == 0 || text[pos - 1] == '\n')
        return pos;
    for (int i = 0; i < LIMIT_JOINED_MAX && is_joined(tail, pos); i++)
        pos += utf8_skip(text + pos, len - pos, 1);
    lf = memchr(text + pos, '\n', (len - pos) / 2);
    return lf ? (size_t)(lf - text) + 1 : pos;
}

struct cuts {
    const struct limit_part *tail; /* the part that the tail is from: without a hole, the head's */
    size_t head_end, tail_begin;
};

/* Room: what the line leaves. */
static struct cuts choose_cuts(const struct limiter *l, size_t room)
{
    struct cuts c = {.tail = l->gap || l->dropped ? &l->tail : &l->head};
    size_t head = l->keep_end ? 0 : room / 4, tail_all;

    if (l->gap) {
        tail_all = l->dropped ? room : MIN(part_measure(l, &l->tail), room);
        head = MAX(head, room - tail_all);
    }
    c.head_end = cut_head(l, &l->head, head);
    head = c.head_end ? measure(l, l->head.text.data, c.head_end) : 0;
    c.tail_begin = cut_tail(l, c.tail, room - head);
    return c;
}

static struct limit_omitted
find_omitted(const struct limiter *l, const struct cuts *c, uint64_t input_end)
{
    struct limit_omitted o = {.end = input_end};

    if (c->head_end > 0)
        o.begin = map_end(&l->head.map, c->head_end);
    if (c->tail_begin < c->tail->text.len)
        o.end = map_begin(&c->tail->map, c->tail_begin);
    /* Lines that one sequence made stand for no bytes of their own; still something is missing. */
    o.end = MAX(o.end, o.begin + 1);
    return o;
}

static void put_together(const struct limiter *l,
                         const struct cuts *c,
                         enum form form,
                         uint64_t bytes,
                         const char *path,
                         struct buf *ret)
{
    buf_add(ret, l->head.text.data, c->head_end);
    if (form != FORM_NONE) {
        if (ret->len > 0 && ret->data[ret->len - 1] != '\n')
            buf_add_char(ret, '\n');
        add_line(l, ret, form, bytes, path);
        buf_add_char(ret, '\n');
    }
    if (c->tail->text.len > c->tail_begin)
        buf_add(ret, c->tail->text.data + c->tail_begin, c->tail->text.len - c->tail_begin);
}

/* Without a hole between them head and tail become one text. */
static void join(struct limiter *l)
{
    if (l->gap || l->dropped || l->tail.text.len == 0)
        return;
    map_append(&l->head.map, l->head.text.len, &l->tail.map);
    buf_add(&l->head.text, l->tail.text.data, l->tail.text.len);
    part_clear(&l->tail);
}

int limiter_finish(struct limiter *l,
                   uint64_t end,
                   const char *path,
                   struct buf *ret,
                   struct limit_omitted *ret_omitted)
{
    enum form form = FORM_NONE;
    size_t line_len = 0;
    struct cuts cuts;
    int omits = limiter_omits(l);
    int r;

    join(l);
    r = part_error(&l->head) ? part_error(&l->head) : part_error(&l->tail);
    if (r < 0)
        return r;
    *ret_omitted = (struct limit_omitted){0};
    if (!omits) {
        *ret = l->head.text;
        memset(&l->head.text, 0, sizeof(l->head.text));
        return 0;
    }
    r = choose_form(l, end, path, &form, &line_len);
    if (r < 0)
        return r;
    cuts = choose_cuts(l, l->limit ? l->limit - line_len : SIZE_MAX);
    *ret_omitted = find_omitted(l, &cuts, end);
    put_together(l, &cuts, form, ret_omitted->end - ret_omitted->begin, path, ret);
    return buf_error(ret);
}
