/* Starts the supervisor's program with one end of a socket. */
#ifndef REIN_JOB_LAUNCH_H
#define REIN_JOB_LAUNCH_H

/* Executes image_fd in a new process with null_fd, which is /dev/null, as its descriptors 0 to 2,
 * socket_fd as WIRE_SOCKET_FD, and nothing else of ours open. Costs the same from a host of any
 * size. *ret_pidfd is the caller's. 0 or a negative errno. */
int launch_supervisor(int image_fd, int null_fd, int socket_fd, int *ret_pidfd);

#endif
