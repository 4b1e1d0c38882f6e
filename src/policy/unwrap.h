/*
 * The commands that a command starts: env, sudo, xargs, sh -c, find -exec, git's aliases. A table
 * tells for each such program how it reads its words.
 */
#ifndef REIN_POLICY_UNWRAP_H
#define REIN_POLICY_UNWRAP_H

#include "judged.h"

#define WRAPPER_WORDS_MAX 4096 /* of a command that a wrapper is given by words */

/* Rows of the table, for the test that reaches each of them. NULL behind the last one. */
const char *wrapper_names(size_t row);

/* ---- between the files of the unwrapping only ---- */
struct wrapper;
struct option_style;
const struct option_style *wrapper_style(const struct wrapper *wrapper);

/* Adds one; it is empty, labelled with the program and the detail (may be NULL). NULL: no memory,
 * or too many. */
struct inner *add_inner(struct judged *j, enum inner_kind kind, const char *detail);
/* What a caller returns that got NULL: 0 when there are too many. */
int failed_to_add(const struct judged *j);
int add_inner_words(struct judged *j, size_t from, size_t to);
int add_inner_joined(struct judged *j, size_t from, size_t to, const char *detail);
int add_inner_script(struct judged *j, const char *text, const char *detail);

int unwrap_find(struct judged *j, const struct wrapper *wrapper);
int unwrap_xargs(struct judged *j, const struct wrapper *wrapper);
int unwrap_parallel(struct judged *j, const struct wrapper *wrapper);
int unwrap_git(struct judged *j, const struct wrapper *wrapper);
int unwrap_shell(struct judged *j, const struct wrapper *wrapper);
int unwrap_source(struct judged *j, const struct wrapper *wrapper);
int unwrap_code(struct judged *j, const struct wrapper *wrapper);
int unwrap_option_values(struct judged *j);
/* What code gives to a shell, by the look of it. */
int unwrap_literals(struct judged *j);

#endif
