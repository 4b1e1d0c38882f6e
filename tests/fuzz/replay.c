/*
 * Stands in for libFuzzer: gives each file of a corpus directory to the target, one TAP test a
 * file. A file that makes the target crash ends the program, which the suite's runner counts as a
 * failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Reads a whole file into memory of exactly its size, so that reading past it is noticed. */
static uint8_t *read_file(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *data = NULL;
    long size = -1;

    if (f && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (size >= 0)
        data = malloc(size ? (size_t)size : 1);
    if (data) {
        rewind(f);
        *ret_size = fread(data, 1, (size_t)size, f);
        if (*ret_size != (size_t)size) {
            free(data);
            data = NULL;
        }
    }
    if (f)
        (void)fclose(f);
    return data;
}

static int replay(const char *directory, const char *name)
{
    auto_free char *path = NULL;
    auto_free uint8_t *data = NULL;
    size_t size = 0;

    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return -1;
    data = read_file(path, &size);
    if (!data)
        return -1;
    (void)LLVMFuzzerTestOneInput(data, size);
    return 0;
}

int main(int argc, char *argv[])
{
    struct dirent **entries = NULL;
    int n = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : 0;
    int failed = 0;

    if (n <= 0) { /* an empty corpus tests nothing */
        fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
        return 2;
    }
    printf("1..1\n");
    for (int i = 0; i < n; i++) {
        printf("# %s\n", entries[i]->d_name);
        (void)fflush(stdout); /* names the culprit of a crash */
        if (replay(argv[1], entries[i]->d_name) < 0)
            failed = 1;
        free(entries[i]);
    }
    free(entries);
    printf("%s 1 - %d inputs\n", failed ? "not ok" : "ok", n);
    return failed;
}
