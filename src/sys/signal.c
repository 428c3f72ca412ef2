/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/signal.h"

#include "sys/result.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

int sys_block_signals(const sigset_t *set, sigset_t *ret_old)
{
	return RESULT(sigprocmask(SIG_BLOCK, set, ret_old));
}

int sys_restore_signals(const sigset_t *old)
{
	return RESULT(sigprocmask(SIG_SETMASK, old, NULL));
}

int sys_signalfd(const sigset_t *set)
{
	return RESULT(signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int sys_signalfd_next(int fd, struct sys_signal *ret_signal)
{
	struct signalfd_siginfo info;
	ssize_t n;

	do
		n = read(fd, &info, sizeof(info));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if ((size_t)n != sizeof(info))
		return -EBADMSG;
	*ret_signal = (struct sys_signal){
		.number = (int)info.ssi_signo,
		.code = info.ssi_code,
		.from = (pid_t)info.ssi_pid,
	};
	return 1;
}

int sys_raise_default(int sig)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, saved;
	sigset_t one;

	if (sig == SIGSTOP || sig == SIGKILL)
		return RESULT(kill(getpid(), sig));
	if (sigaction(sig, &action, &saved) < 0)
		return -errno;
	(void)sigemptyset(&one);
	(void)sigaddset(&one, sig);
	/* To ourselves as a process: musl's raise() trusts a stale thread id.
	 */
	(void)kill(getpid(), sig);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	return RESULT(sigaction(sig, &saved, NULL));
}

int64_t sys_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int sys_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	int r;

	do
		r = poll(fds, n, timeout_ms);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

int sys_isatty(int fd)
{
	return isatty(fd);
}

unsigned sys_tty_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}

int sys_is_controlling_tty(int fd)
{
	pid_t session;

	/* Only the controlling terminal knows our session. */
	if (ioctl(fd, TIOCGSID, &session) < 0)
		return 0;
	return session == getsid(0);
}

int sys_tty_type(int fd, char byte)
{
	return RESULT(ioctl(fd, TIOCSTI, &byte));
}

int sys_open_terminal(int *ret_peer)
{
	int locked = 0;
	int fd, r;

	fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = RESULT(ioctl(fd, TIOCSPTLCK, &locked));
	if (r >= 0)
		r = RESULT(
			ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	*ret_peer = r;
	return fd;
}

int sys_work_at_terminal(int fd)
{
	if (setsid() < 0)
		return -errno;
	return RESULT(ioctl(fd, TIOCSCTTY, 0));
}

int sys_copy_tty_size(int from, int to)
{
	struct winsize size;

	if (ioctl(from, TIOCGWINSZ, &size) < 0)
		return -errno;
	return RESULT(ioctl(to, TIOCSWINSZ, &size));
}

pid_t sys_tcgetpgrp(int fd)
{
	return RESULT(tcgetpgrp(fd));
}

pid_t sys_tcgetsid(int fd)
{
	return RESULT(tcgetsid(fd));
}

int sys_tcsetpgrp(int fd, pid_t group)
{
	return RESULT(tcsetpgrp(fd, group));
}

int sys_tcgetattr(int fd, struct termios *ret_modes)
{
	return RESULT(tcgetattr(fd, ret_modes));
}

int sys_tcsetattr(int fd, const struct termios *modes)
{
	return RESULT(tcsetattr(fd, TCSADRAIN, modes));
}

int sys_tcsetattr_now(int fd, const struct termios *modes)
{
	return RESULT(tcsetattr(fd, TCSANOW, modes));
}

void sys_forget_typed(int fd)
{
	(void)tcflush(fd, TCIFLUSH);
}
