/* A directory of its own for each test that writes files, and the few things done in it. */
#ifndef REIN_TESTS_TEMP_DIR_H
#define REIN_TESTS_TEMP_DIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Made by temp_dir_setup(), removed by temp_dir_teardown(). Absolute, without links. */
static char temp_dir[64];

static inline int temp_dir_setup(void **state)
{
    (void)snprintf(temp_dir, sizeof(temp_dir), "/tmp/rein-test-XXXXXX");
    return mkdtemp(temp_dir) ? 0 : -1;
}

static inline int
temp_dir_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

static inline int temp_dir_teardown(void **state)
{
    return nftw(temp_dir, temp_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of a name in the directory; in one of a few buffers that are used in turn. */
static inline const char *in_temp_dir(const char *name)
{
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", temp_dir, name);
    return path;
}

/* Makes the directories that lead to a name in the directory. */
static inline void make_parents(const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
    for (char *slash = path + strlen(temp_dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
}

/* Writes a file, replacing an old one, and gives its path. */
static inline const char *write_temp_file(const char *name, mode_t mode, const char *text)
{
    const char *path = in_temp_dir(name);
    FILE *file;

    make_parents(name);
    (void)unlink(path);
    file = fopen(path, "we");
    if (!file || fputs(text, file) == EOF || fclose(file) == EOF || chmod(path, mode) < 0)
        abort();
    return path;
}

#endif
