/*
 * The ends of background jobs that went through the gate. Nobody of the gate is there when such a
 * job ends, and its supervisor knows nothing of a trail: so a note is left in the store, and
 * whoever comes next (a call that starts something, `rein audit`) writes the line.
 *
 *   $REIN_STATE/audit/open/<process_id>       the note: tool and request
 *                          <process_id>.end   the job's record, when the job was forgotten first
 */
#ifndef REIN_POLICY_AUDIT_ENDS_H
#define REIN_POLICY_AUDIT_ENDS_H

#include "gate.h"

/* Leaves a note about a job that was started. */
int audit_ends_expect(const struct gate *gate,
                      const char *tool,
                      const char *digest,
                      const char *process_id,
                      struct rein_error **reterr);

/* Writes the lines of those that have ended. 0 or a negative errno; what fails is left for the next
 * time. */
int audit_ends_collect(const struct gate *gate);

#endif
