/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_SIGNAL_H
#define HB_SYS_SIGNAL_H

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/* Signals, polling and the terminal; conventions of sys/file.h. */

struct sys_signal {
	int number;
	int code;   /* SI_USER, SI_KERNEL, ... */
	pid_t from; /* as seen from here, 0 if outside of our pid namespace */
};

/* Blocks `set` and returns what was blocked before. */
int sys_block_signals(const sigset_t *set, sigset_t *ret_old);
int sys_restore_signals(const sigset_t *old);

/* A descriptor that tells of the blocked signals in `set`; does not block. */
int sys_signalfd(const sigset_t *set);

/* 1: a signal, 0: none pending. */
int sys_signalfd_next(int fd, struct sys_signal *ret_signal);

/*
 * Dies or stops of `sig` as if nothing had ever caught it.  Returns after a
 * stop, with `sig` blocked again.
 */
int sys_raise_default(int sig);

/* Milliseconds since some start that never moves. */
int64_t sys_now_ms(void);

int sys_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

int sys_isatty(int fd);

/* How wide a terminal is; 0 if it does not say. */
unsigned sys_tty_columns(int fd);

/* Whether `fd` is the controlling terminal of this session. */
int sys_is_controlling_tty(int fd);

/* Types `byte` for the user: what no box may do. */
int sys_tty_type(int fd, char byte);

/*
 * A new terminal: the side of who shows it, which does not block, and in
 * *ret_peer that of who works at it.
 */
int sys_open_terminal(int *ret_peer);

/* A session of our own, which works at the terminal `fd`. */
int sys_work_at_terminal(int fd);

int sys_copy_tty_size(int from, int to);
pid_t sys_tcgetpgrp(int fd);
pid_t sys_tcgetsid(int fd);
int sys_tcsetpgrp(int fd, pid_t group);
int sys_tcgetattr(int fd, struct termios *ret_modes);
int sys_tcsetattr(int fd, const struct termios *modes);

/* The same without waiting for what is still being shown. */
int sys_tcsetattr_now(int fd, const struct termios *modes);

/* What was typed and not read is forgotten. */
void sys_forget_typed(int fd);

#endif
