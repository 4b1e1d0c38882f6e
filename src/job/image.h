/* The supervisor's program: embedded bytes made into something that can be executed. */
#ifndef REIN_JOB_IMAGE_H
#define REIN_JOB_IMAGE_H

#include <stdint.h>
#include <sys/types.h>

/* In the environment of a test build: names of newer kernel calls to do without. 0 elsewhere. */
uint32_t image_test_fallbacks(void);

/* A close-on-exec descriptor of the program: a sealed memfd, or an unnamed file in a directory
 * where memfds may not be executed. Or a negative errno. */
int image_open(const char *directory, uint32_t fallbacks);

#define REIN_STRINGIFY_(x) #x
#define REIN_STRINGIFY(x) REIN_STRINGIFY_(x)
#define REIN_VERSION_STRING                                                                        \
    REIN_STRINGIFY(REIN_VERSION_MAJOR)                                                             \
    "." REIN_STRINGIFY(REIN_VERSION_MINOR) "." REIN_STRINGIFY(REIN_VERSION_PATCH)

#endif
