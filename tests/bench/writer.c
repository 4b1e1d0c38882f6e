/*
 * usage: bench-writer TOTAL BLOCK [FIFO]
 *
 * Writes TOTAL bytes of text to standard output, BLOCK bytes at a time. With FIFO it then waits
 * there until somebody has opened it for writing and closed it again, so that whoever reads the
 * output can be looked at.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int write_all(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDOUT_FILENO, data, size);

        if (n < 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

static void fill_with_lines(char *block, size_t size)
{
    static const char line[] = "all that is written is kept, up to the bound of the log\n";

    for (size_t i = 0; i < size; i++)
        block[i] = line[i % (sizeof(line) - 1)];
}

static int wait_at(const char *fifo)
{
    char byte;
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);

    return fd >= 0 && read(fd, &byte, 1) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    unsigned long long left = argc >= 3 ? strtoull(argv[1], NULL, 10) : 0;
    size_t size = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
    char *block = size ? malloc(size) : NULL;

    if (!block) {
        (void)fputs("usage: bench-writer TOTAL BLOCK [FIFO]\n", stderr);
        return 2;
    }
    fill_with_lines(block, size);
    while (left > 0) {
        size_t n = left < size ? (size_t)left : size;

        if (write_all(block, n) < 0)
            return 1;
        left -= n;
    }
    return argc > 3 && wait_at(argv[3]) < 0;
}
