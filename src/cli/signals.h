/*
 * SIGINT, SIGTERM and SIGHUP as events: a person or a parent asks for the end of the job. One that
 * was ignored when rein started (nohup, a shell's background) stays ignored.
 */
#ifndef REIN_CLI_SIGNALS_H
#define REIN_CLI_SIGNALS_H

/* Blocks the signals and gives a descriptor that is readable when one has come. To be called after
 * the job's start: until then they end rein, and with it the job, in their own way. -errno on
 * failure. */
int signals_open(void);

/* The number of the next signal, or 0. */
int signals_take(int fd);

#endif
