/* Handles of jobs. */
#include "id.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int job_id_new(char ret[static JOB_ID_LENGTH + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[JOB_ID_LENGTH / 2];
    ssize_t n;

    do
        n = getrandom(bytes, sizeof(bytes), 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(bytes))
        return n < 0 ? -errno : -EIO;
    for (int i = 0; i < JOB_ID_LENGTH; i++)
        ret[i] = digits[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
    ret[JOB_ID_LENGTH] = '\0';
    return 0;
}

int job_id_is_valid(const char *s)
{
    return strlen(s) == JOB_ID_LENGTH && strspn(s, "0123456789abcdef") == JOB_ID_LENGTH;
}
