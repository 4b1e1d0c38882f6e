/*
 * Looks behind a version manager's shim. A shim is a program named python3, ruby, … that picks one
 * of several installed versions and becomes it; that costs a tenth of a second and more at each
 * start. So it is asked once which interpreter it becomes, and the answer is remembered as long as
 * nothing changes that it depends on.
 *
 * The interpreter is used in its place only when that makes no difference to the job: a wrapper
 * that also sets variables or adds arguments is left in charge.
 */
#ifndef REIN_CODE_SHIM_H
#define REIN_CODE_SHIM_H

#include "interpreter.h"

/* What to run instead of shim: an absolute path, shim's own included; NULL when that is not known,
 * for whatever reason, so that the shim has to be run. May take as long as one start of the shim.
 * place->cwd must be there. */
char *shim_resolve(rein *r,
                   const struct language *language,
                   const char *shim,
                   const struct rein_spec *spec,
                   const struct interpreter_place *place);

#endif
