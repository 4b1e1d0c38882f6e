/* Small things every file needs. Nothing here allocates or calls the system. */
#ifndef REIN_BASE_MACRO_H
#define REIN_BASE_MACRO_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define NSEC_PER_SEC 1000000000LL
#define NSEC_PER_MSEC 1000000LL
#define NSEC_PER_USEC 1000LL

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define REIN_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))

#endif
