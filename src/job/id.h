/* Handles of jobs: 8 lowercase hexadecimal digits. */
#ifndef REIN_JOB_ID_H
#define REIN_JOB_ID_H

#define JOB_ID_LENGTH 8

/* Fills ret with a random handle. 0 or a negative errno. */
int job_id_new(char ret[static JOB_ID_LENGTH + 1]);

/* True when s is such a handle. */
int job_id_is_valid(const char *s);

#endif
