/*
 * usage: bench-sleepers COUNT FD
 *
 * A tree of COUNT + 1 processes that sleep. All of them hold FD, the writing end of a pipe; a byte
 * written there says that they are all alive, the end of file that none of them is. Nobody has to
 * end them when a measurement fails: they end by themselves when nobody can read any more.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void sleep_while_read(int fd)
{
    struct pollfd p = {.fd = fd};

    (void)poll(&p, 1, -1);
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
        if (pid == 0) {
            sleep_while_read(fd);
            _exit(0);
        }
    }
    if (write(fd, "r", 1) != 1) {
        perror("bench-sleepers: write");
        return 1;
    }
    sleep_while_read(fd);
    return 0;
}
