/*
 * Writes JSON text for the store's small files. For documents of any shape there is jansson; this
 * is for the one that every start of a job writes, whose strings may be any bytes.
 */
#ifndef REIN_BASE_JSON_WRITE_H
#define REIN_BASE_JSON_WRITE_H

#include "buf.h"

/* Appends s as a JSON string, or null for NULL. Bytes that are not UTF-8 become U+FFFD. */
void json_write_string(struct buf *b, const char *s);

/* Appends an array of strings from a NULL-terminated vector. */
void json_write_strings(struct buf *b, const char *const *v);

#endif
