/*
 * A stream of bytes that describes itself: numbered lines of 16 bytes, a letter, fourteen digits, a
 * newline. So every byte is known by its offset in its stream, and a reader that has lost some
 * finds its place again.
 */
#ifndef REIN_TESTS_LINES_H
#define REIN_TESTS_LINES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io-util.h"
#include "base/macro.h"

#define LINE_SIZE 16u
#define LINES_AT_ONCE 4096u

static inline void format_line(char text[static LINE_SIZE + 1], char letter, uint64_t number)
{
    text[0] = letter;
    for (int i = 14; i > 0; i--, number /= 10)
        text[i] = (char)('0' + number % 10);
    text[15] = '\n';
    text[16] = '\0';
}

/* Writes lines [first, first + n) to a descriptor, many at once. */
static inline void write_lines(int fd, char letter, uint64_t first, uint64_t n)
{
    static char block[LINES_AT_ONCE * LINE_SIZE + 1];

    while (n > 0) {
        uint64_t count = MIN(n, LINES_AT_ONCE);

        for (uint64_t i = 0; i < count; i++)
            format_line(block + i * LINE_SIZE, letter, first + i);
        if (io_write_all(fd, block, (size_t)(count * LINE_SIZE)) < 0)
            return;
        first += count;
        n -= count;
    }
}

/* Are these the bytes of a stream that begin at the offset? */
static inline int are_lines(const char *data, size_t size, char letter, uint64_t offset)
{
    char line[LINE_SIZE + 1];

    for (size_t i = 0; i < size; i++, offset++) {
        if (i == 0 || offset % LINE_SIZE == 0)
            format_line(line, letter, offset / LINE_SIZE);
        if (data[i] != line[offset % LINE_SIZE]) {
            fprintf(stderr, "byte %" PRIu64 " of %c is 0x%02x instead of 0x%02x\n", offset, letter,
                    (unsigned char)data[i], (unsigned char)line[offset % LINE_SIZE]);
            return 0;
        }
    }
    return 1;
}

/* Finds the place of bytes in their stream, from the first whole line among them. False when there
 * is none. */
static inline int find_place(const char *data, size_t size, char letter, uint64_t *ret_offset)
{
    const char *line = memchr(data, letter, size);
    char digits[LINE_SIZE];
    uint64_t number;

    if (!line || (size_t)(data + size - line) < LINE_SIZE)
        return 0;
    memcpy(digits, line + 1, LINE_SIZE - 1);
    digits[LINE_SIZE - 2] = '\0';
    number = strtoull(digits, NULL, 10);
    if (number * LINE_SIZE < (uint64_t)(line - data))
        return 0;
    *ret_offset = number * LINE_SIZE - (uint64_t)(line - data);
    return 1;
}

#endif
