/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* What `probe signals` ends with when it is told to. */
#define STATUS_AFTER_TERM 42

int act_open(int argc, char **argv)
{
	static const struct {
		const char *how;
		int flags;
	} table[] = {
		{ "r", O_RDONLY },  { "w", O_WRONLY },
		{ "rw", O_RDWR },   { "create", O_WRONLY | O_CREAT | O_EXCL },
		{ "path", O_PATH },
	};

	(void)argc;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].how, argv[0]) == 0)
			return answer(open(argv[1],
					   table[i].flags | O_NONBLOCK |
						   O_NOCTTY | O_CLOEXEC,
					   0600));
	return 2;
}

int act_unlink(int argc, char **argv)
{
	(void)argc;
	return answer(unlink(argv[0]));
}

int act_mknod(int argc, char **argv)
{
	unsigned major_nr = (unsigned)strtoul(argv[1], NULL, 0);
	unsigned minor_nr = (unsigned)strtoul(argv[2], NULL, 0);

	(void)argc;
	return answer(
		mknod(argv[0], S_IFCHR | 0600, makedev(major_nr, minor_nr)));
}

/* The third argument of the call is a space, which TIOCSTI would type. */
int act_ioctl(int argc, char **argv)
{
	int fd = (int)strtol(argv[0], NULL, 0);
	unsigned long request = strtoul(argv[1], NULL, 0);
	char byte[8] = " ";

	(void)argc;
	/* As the system call: libc's wrappers cut the request to 32 bits. */
	return answer(syscall(SYS_ioctl, fd, request, byte));
}

int act_connect(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(argv[0]);
	int fd;

	(void)argc;
	if (len >= sizeof(to.sun_path))
		return 2;
	memcpy(to.sun_path, argv[0], len + 1);
	len += offsetof(struct sockaddr_un, sun_path);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return answer(fd < 0 ? -1 : connect(fd, (void *)&to, (socklen_t)len));
}

static long attach(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
		return -1;
	(void)waitpid(pid, &status, 0);
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

int act_ptrace(int argc, char **argv)
{
	(void)argc;
	return answer(attach((pid_t)strtol(argv[0], NULL, 0)));
}

/* A debugger's call on a process of one's own. */
int act_ptrace_child(int argc, char **argv)
{
	pid_t pid = fork();
	int status;

	(void)argc;
	(void)argv;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	status = answer(attach(pid));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return status;
}

int act_kill(int argc, char **argv)
{
	(void)argc;
	return answer(kill((pid_t)strtol(argv[0], NULL, 0),
			   (int)strtol(argv[1], NULL, 0)));
}

/* A segment that is there already. */
int act_shm(int argc, char **argv)
{
	(void)argc;
	return answer(shmget((key_t)strtol(argv[0], NULL, 0), 0, 0));
}

int act_queue(int argc, char **argv)
{
	mqd_t queue = mq_open(argv[0], O_RDONLY);

	(void)argc;
	return answer(queue);
}

int act_socket(int argc, char **argv)
{
	(void)argc;
	return answer(socket((int)strtol(argv[0], NULL, 0),
			     (int)strtol(argv[1], NULL, 0),
			     (int)strtol(argv[2], NULL, 0)));
}

static volatile sig_atomic_t n_int;

/* From the handler itself, because that is what is counted. */
static void tell(int sig)
{
	struct winsize size = { 0 };
	char line[64];
	int n = 0;

	if (sig == SIGINT)
		n = snprintf(line, sizeof(line), "<int %d>\n", (int)++n_int);
	if (sig == SIGUSR1)
		n = snprintf(line, sizeof(line), "<total %d>\n", (int)n_int);
	if (sig == SIGCONT)
		n = snprintf(line, sizeof(line), "<cont>\n");
	if (sig == SIGTERM)
		n = snprintf(line, sizeof(line), "<term>\n");
	if (sig == SIGWINCH) {
		(void)ioctl(0, TIOCGWINSZ, &size);
		n = snprintf(line, sizeof(line), "<size %dx%d>\n", size.ws_col,
			     size.ws_row);
	}
	if (write(1, line, (size_t)n) != n || sig == SIGTERM)
		_exit(STATUS_AFTER_TERM);
}

/* Tells of every signal; ends with its own status on SIGTERM. */
int act_signals(int argc, char **argv)
{
	static const int all[] = { SIGINT, SIGUSR1, SIGCONT, SIGTERM,
				   SIGWINCH };
	struct sigaction action = { .sa_handler = tell };

	(void)argc;
	(void)argv;
	/* One at a time, or two lines could be written into one another. */
	(void)sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		(void)sigaction(all[i], &action, NULL);
	(void)printf("<ready %d>\n", (int)getpid());
	for (;;)
		(void)pause();
}

/*
 * Keeps giving birth to orphans, whose deaths their reaper hears of: more often
 * than anybody's patience is long.
 */
static void breed(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				_exit(0);
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
		(void)poll(NULL, 0, 200);
	}
}

/*
 * Leaves COUNT processes behind and ends.  They are there when this returns;
 * "deaf" ones do not listen to SIGTERM.
 */
int act_linger(int argc, char **argv)
{
	long n = strtol(argv[0], NULL, 0);
	int is_forking = argc > 1 && strcmp(argv[1], "forking") == 0;
	int is_deaf = is_forking || (argc > 1 && strcmp(argv[1], "deaf") == 0);
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return answer(-1);
	for (long i = 0; i < n; i++) {
		if (fork() != 0)
			continue;
		if (is_deaf)
			(void)signal(SIGTERM, SIG_IGN);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		if (is_forking)
			breed();
		for (;;)
			(void)pause();
	}
	for (long i = 0; i < n; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	return 0;
}

/* Through a descriptor of a directory to wherever that leads. */
int act_leave(int argc, char **argv)
{
	(void)argc;
	return answer(fchdir((int)strtol(argv[0], NULL, 0)));
}
