/*
 * Directories of projects whose rules count: a list of the user's in the state directory. What is
 * trusted is a directory with the file as it was then: whoever changes the file has to be trusted
 * anew.
 */
#ifndef REIN_POLICY_TRUST_H
#define REIN_POLICY_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "rein.h"

#define TRUST_MAX 1024           /* directories */
#define PROJECT_FILE ".rein.ini" /* in a project's directory */

/* The directory at or above dir (absolute) that has a project file; NULL when there is none, or no
 * memory. */
char *trust_find_project(const char *dir);

/* Is a directory trusted with a file of this text? false for whatever cannot be read. */
bool trust_holds(const char *state_dir, const char *dir, const char *text, size_t size);

/* Trusts a directory's file as it is, or no longer. -ENOENT when there is
 * no such file, or it was not trusted. */
int trust_add(const char *state_dir, const char *dir, struct rein_error **reterr);
int trust_remove(const char *state_dir, const char *dir, struct rein_error **reterr);

#endif
