/* SHA-256 as text: what names a request, and what ties a line of the audit trail to the one before.
 */
#ifndef REIN_POLICY_DIGEST_H
#define REIN_POLICY_DIGEST_H

#include <stddef.h>

#define DIGEST_TEXT_SIZE 65 /* 64 hexadecimal digits and the end */

/* ret: lower case, terminated. */
void digest_text(const void *data, size_t size, char ret[static DIGEST_TEXT_SIZE]);

#endif
