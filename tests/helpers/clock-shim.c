/*
 * clock-shim.so - for LD_PRELOAD: a wall clock that is set during a run. The first answer of the
 * process is right, all later ones are CLOCK_SHIM_JUMP seconds off (it may be negative). Other
 * clocks are untouched. With CLOCK_SHIM_LOG the file of that name gets a line "loaded" for each
 * process and a line "jumped" for each that saw the jump, so that a test knows that it was real.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int asked;

static void note(const char *line)
{
    const char *path = getenv("CLOCK_SHIM_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    (void)!write(fd, line, strlen(line));
    (void)close(fd);
}

__attribute__((constructor)) static void loaded(void)
{
    note("loaded\n");
}

static long jump(void)
{
    const char *seconds = getenv("CLOCK_SHIM_JUMP");
    int calls = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);

    if (!seconds || calls == 0)
        return 0;
    if (calls == 1)
        note("jumped\n");
    return atol(seconds);
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    static int (*real)(clockid_t, struct timespec *);
    int r;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    r = real(clock, ts);
    if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ts->tv_sec += jump();
    return r;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;
    int r = clock_gettime(CLOCK_REALTIME, &ts);

    (void)zone;
    if (r == 0) {
        tv->tv_sec = ts.tv_sec;
        tv->tv_usec = ts.tv_nsec / 1000;
    }
    return r;
}

time_t time(time_t *ret)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    if (ret)
        *ret = ts.tv_sec;
    return ts.tv_sec;
}
