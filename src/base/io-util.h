/* Reading and writing that knows about EINTR and short counts. The only place that does. */
#ifndef REIN_BASE_IO_UTIL_H
#define REIN_BASE_IO_UTIL_H

#include <stdint.h>
#include <sys/types.h>

/* One read/pread/write that is repeated after EINTR. Returns the count or a negative errno. */
ssize_t io_read(int fd, void *buf, size_t size);
ssize_t io_pread(int fd, void *buf, size_t size, uint64_t offset);
ssize_t io_write(int fd, const void *buf, size_t size);

/* Writes all of it; 0 or a negative errno. On a non-blocking descriptor waits until it takes more.
 */
int io_write_all(int fd, const void *buf, size_t size);
int io_pwrite_all(int fd, const void *buf, size_t size, uint64_t offset);

/* Reads until size bytes or the end of the file; returns how many, or a negative errno. */
ssize_t io_read_full(int fd, void *buf, size_t size);

/* flock() that waits at most timeout_ms for another process. 0, -ETIMEDOUT, or another negative
 * errno. */
int io_lock(int fd, int operation, int timeout_ms);

/* Waits at most timeout_ms (-1: for ever) for events on fd. 1, 0 after the time, negative errno. */
int io_poll(int fd, short events, int timeout_ms);

#endif
