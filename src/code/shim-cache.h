/*
 * What shims were found to become: a small file, "shims", newest answer first. Text, so that people
 * can read it:
 *
 *   the key's lines
 *   = /path/of/the/interpreter
 *   (an empty line)
 *
 * It is a memory, not a record: whatever is wrong with it, it is as good as empty, and writing it
 * may fail in silence.
 */
#ifndef REIN_CODE_SHIM_CACHE_H
#define REIN_CODE_SHIM_CACHE_H

#define SHIM_CACHE_SIZE_MAX (64u << 10)
#define SHIM_CACHE_KEY_MAX (16u << 10) /* so that some entries always fit */

/* The answer for a key of shim_key(), or NULL. */
char *shim_cache_get(int dir_fd, const char *key);

/* Remembers an answer, forgetting the oldest ones where there is no room. */
void shim_cache_put(int dir_fd, const char *key, const char *interpreter);

#endif
