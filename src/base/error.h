/*
 * The detail of a failure: struct rein_error of the public header, made here and nowhere else.
 * Always used on the return line, so that it cannot go stale:
 *
 *   return rein_fail(reterr, -errno, "bad_cwd", "chdir", "cannot enter '%s'", path);
 */
#ifndef REIN_BASE_ERROR_H
#define REIN_BASE_ERROR_H

#include "cleanup.h"
#include "macro.h"
#include "rein.h"

/* Sets *reterr (which may be NULL) and returns err, a negative errno. code and step are string
 * constants. Where no memory is left *reterr becomes a static out-of-memory error. */
int rein_fail(struct rein_error **reterr,
              int err,
              const char *code,
              const char *step,
              const char *format,
              ...) REIN_PRINTF(5, 6);

/* rein_fail() with a hint, a string constant or one that is copied. */
int rein_fail_hint(struct rein_error **reterr,
                   int err,
                   const char *code,
                   const char *step,
                   const char *hint,
                   const char *format,
                   ...) REIN_PRINTF(6, 7);

/* Puts "context: " in front of the message of *reterr. Returns err. */
int rein_wrap(struct rein_error **reterr, int err, const char *format, ...) REIN_PRINTF(3, 4);

/* Out of memory: "internal", -ENOMEM. */
int rein_oom(struct rein_error **reterr);

static inline void rein_error_freep(struct rein_error **p)
{
    *p = rein_error_free(*p);
}
#define auto_error auto_(rein_error_freep)

#endif
