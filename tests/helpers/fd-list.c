/* fd-list - prints the descriptors it was started with, a line each: number, blank, target. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!dir) {
        perror("fd-list: /proc/self/fd");
        return 1;
    }
    while ((entry = readdir(dir))) {
        char target[4096];
        ssize_t n;

        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(dir))
            continue;
        n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));
        if (n >= 0)
            printf("%s %.*s\n", entry->d_name, (int)n, target);
    }
    (void)closedir(dir);
    return 0;
}
