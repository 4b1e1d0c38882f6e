/* What a spec may ask for. */
#ifndef REIN_JOB_SPEC_CHECK_H
#define REIN_JOB_SPEC_CHECK_H

#include "rein.h"

/* 0, or bad_request with the field that is wrong and what is allowed. */
int spec_check(const struct rein_spec *spec, struct rein_error **reterr);

#endif
