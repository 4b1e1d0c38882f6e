/* rein output --follow: what is there, then what comes, until the job ends. */
#ifndef REIN_CLI_FOLLOW_H
#define REIN_CLI_FOLLOW_H

#include "show.h"

/* Keeps the signals that end following. To be called before the job is attached. */
void follow_prepare(void);

/* Gives the exit status, or a negative errno with *reterr. */
int follow(struct show *show, struct rein_error **reterr);

#endif
