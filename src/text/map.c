/* The list of runs behind struct map. */
#include "map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

void map_done(struct map *m)
{
    free(m->runs);
    memset(m, 0, sizeof(*m));
}

void map_clear(struct map *m)
{
    m->n = 0;
    m->error = 0;
}

static uint64_t run_src_at(const struct map_run *r, size_t pos)
{
    return r->src + (pos - r->pos) / r->text_step * r->src_step;
}

/* Would a run that begins at pos be the same run as r? */
static int continues(const struct map_run *r, size_t pos, const struct map_run *next)
{
    return r->text_step == next->text_step && r->src_step == next->src_step &&
           (pos - r->pos) % r->text_step == 0 && run_src_at(r, pos) == next->src;
}

static void add_run(struct map *m, const struct map_run *run)
{
    if (m->error)
        return;
    if (m->n > 0 && continues(&m->runs[m->n - 1], run->pos, run))
        return;
    if (m->n == m->allocated) {
        size_t want = MAX((size_t)4, m->allocated * 2);
        struct map_run *grown = reallocarray(m->runs, want, sizeof(*grown));

        if (!grown) {
            m->error = -ENOMEM;
            return;
        }
        m->runs = grown;
        m->allocated = want;
    }
    m->runs[m->n++] = *run;
}

void map_add(struct map *m, size_t pos, const struct span *s)
{
    add_run(m, &(struct map_run){
                   .pos = pos, .text_step = s->text_step, .src = s->src, .src_step = s->src_step});
}

void map_append(struct map *m, size_t pos, const struct map *other)
{
    if (other->error)
        m->error = other->error;
    for (size_t i = 0; i < other->n; i++) {
        struct map_run run = other->runs[i];

        run.pos += pos;
        add_run(m, &run);
    }
}

/* The last run that begins at or before pos; the first one when there is none. */
static const struct map_run *find_run(const struct map *m, size_t pos)
{
    size_t low = 0, high = m->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (m->runs[middle].pos <= pos)
            low = middle;
        else
            high = middle;
    }
    return &m->runs[low];
}

uint64_t map_begin(const struct map *m, size_t pos)
{
    return run_src_at(find_run(m, pos), pos);
}

uint64_t map_end(const struct map *m, size_t pos)
{
    return run_src_at(find_run(m, pos - 1), pos);
}

void map_drop(struct map *m, size_t pos)
{
    size_t kept;

    if (m->n == 0)
        return;
    kept = (size_t)(find_run(m, pos) - m->runs);
    m->runs[kept].src = run_src_at(&m->runs[kept], pos);
    m->runs[kept].pos = pos;
    m->n -= kept;
    memmove(m->runs, m->runs + kept, m->n * sizeof(*m->runs));
    for (size_t i = 0; i < m->n; i++)
        m->runs[i].pos -= pos;
}

struct span map_span(const struct map *m, size_t i, const char *text, size_t len)
{
    const struct map_run *r = &m->runs[i];
    size_t end = i + 1 < m->n ? m->runs[i + 1].pos : len;

    return (struct span){.text = text + r->pos,
                         .len = end - r->pos,
                         .src = r->src,
                         .src_step = r->src_step,
                         .text_step = r->text_step};
}
