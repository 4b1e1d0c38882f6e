/*
 * SIGINT, SIGTERM and SIGHUP as events: a person or a parent asks for the end of the job. One that
 * was ignored when rein started (nohup, a shell's background) stays ignored.
 */
#ifndef REIN_CLI_SIGNALS_H
#define REIN_CLI_SIGNALS_H

/* Keeps the signals until signals_take(). To be called before the job's start, so that none that
 * comes meanwhile ends rein without its result. */
void signals_hold(void);

/* A descriptor that is readable when a held signal has come, or a negative errno. */
int signals_open(void);

/* The number of the next signal, or 0. */
int signals_take(int fd);

#endif
