/* The parts that plan.c puts together. */
#ifndef REIN_JOB_PLAN_PARTS_H
#define REIN_JOB_PLAN_PARTS_H

#include "plan.h"

/* plan-limits.c. 0 or -ENOMEM. */
int plan_add_limits(struct plan_message *plan, const struct rein_spec *spec);

/* plan-fds.c */
int plan_add_fds(rein *r,
                 const struct rein_spec *spec,
                 const struct job_extras *extras,
                 struct plan_message *plan,
                 struct rein_error **reterr);

#endif
