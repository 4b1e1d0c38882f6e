/*
 * usage: bench-sleepers COUNT FD
 *
 * A tree of COUNT + 1 processes that sleep for ever. All of them hold FD; a byte written there says
 * that they are all alive, the end of file that none of them is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void sleep_for_ever(void)
{
    for (;;)
        (void)pause();
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) : -1;
    int fd = argc == 3 ? atoi(argv[2]) : -1;

    for (int i = 0; i < count; i++) {
        pid_t pid = fork();

        if (pid < 0) {
            perror("bench-sleepers: fork");
            return 1;
        }
        if (pid == 0)
            sleep_for_ever();
    }
    if (write(fd, "r", 1) != 1) {
        perror("bench-sleepers: write");
        return 1;
    }
    sleep_for_ever();
}
