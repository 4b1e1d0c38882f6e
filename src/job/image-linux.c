/* Puts the embedded supervisor where the kernel can execute it and nobody can change it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/syscall-linux.h"
#include "image.h"
#include "wire.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U /* since Linux 6.3; older ones refuse it and need no asking */
#endif

extern const unsigned char rein_supervisor_image[];
extern const size_t rein_supervisor_image_size;

static const struct {
    const char *name;
    uint32_t bit;
} fallback_names[] = {
    {"no-proc-children", WIRE_NO_PROC_CHILDREN},
    {"no-punch", WIRE_NO_PUNCH},
    {"no-cgroup", WIRE_NO_CGROUP},
    {"no-memfd-exec", WIRE_NO_MEMFD_EXEC},
};

uint32_t image_test_fallbacks(void)
{
    uint32_t bits = 0;
#if REIN_TEST_HOOKS
    const char *wanted = getenv("REIN_TEST_FALLBACKS");

    for (size_t i = 0; wanted && i < ARRAY_SIZE(fallback_names); i++)
        if (strstr(wanted, fallback_names[i].name))
            bits |= fallback_names[i].bit;
#else
    (void)fallback_names;
#endif
    return bits;
}

static int create_memfd(void)
{
    int fd = memfd_create("rein-supervisor", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("rein-supervisor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd < 0 ? -errno : fd;
}

static int write_image(int fd)
{
    return io_pwrite_all(fd, rein_supervisor_image, rein_supervisor_image_size, 0);
}

static int open_memfd(void)
{
    auto_close int fd = create_memfd();
    int r = fd < 0 ? fd : write_image(fd);

    if (r < 0)
        return r;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
        return -errno;
    return TAKE_FD(fd);
}

/* A file without a name, opened again for reading: a program open for writing cannot be executed.
 */
static int open_unnamed(const char *directory)
{
    auto_close int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
    char path[64];
    int again;
    int r = fd < 0 ? -errno : write_image(fd);

    if (r < 0)
        return r;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, O_RDONLY | O_CLOEXEC);
    return again < 0 ? -errno : again;
}

/* vm.memfd_noexec = 2 forbids it, and says so at the first of the two calls. */
static int open_executable_memfd(uint32_t fallbacks)
{
    return fallbacks & WIRE_NO_MEMFD_EXEC ? -EACCES : open_memfd();
}

int image_open(const char *directory, uint32_t fallbacks)
{
    const char *const places[] = {directory, getenv("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp"};
    int fd = open_executable_memfd(fallbacks);

    for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(places); i++)
        if (places[i] && places[i][0])
            fd = open_unnamed(places[i]);
    return fd;
}
