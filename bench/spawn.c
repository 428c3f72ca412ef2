/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * usage: spawn [-t] ROUNDS --- NAME COMMAND... [--- NAME COMMAND...]...
 *
 * How long commands take from vfork() to the end, side by side.  With -t they
 * are at a terminal, of which a thread of ours reads everything, and in front.
 *
 *	(a) Every round runs every command once, in a new order: what one
 *	    leaves to the kernel to clean up disturbs all others alike.
 *	(b) The next command starts when nothing of the one before is alive.
 *	    We are the subreaper, so what outlives its command is our child.
 *	(c) A command that fails, or whose processes stay, ends the run: its
 *	    time would be that of something else.
 *
 * One line per command, tab-separated, in microseconds: NAME, then median, p25
 * and minimum until the command's end, then the median until its last process
 * is gone.
 */

#define COMMANDS_MAX 32
#define ROUNDS_MAX   100000
#define WARM_UP	     3
#define STAY_SECONDS 10

extern char **environ;

struct command {
	const char *name;
	char **argv;
	double *ended;
	double *gone;
};

struct run {
	struct command commands[COMMANDS_MAX];
	size_t n;
	size_t rounds;
	uint64_t seed;
	int null;
	bool has_terminal;
	int master; /* the other side of the commands' terminal */
	int tty;    /* their side */
	sigset_t child_set;
};

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* The same sequence in every run: orders differ, results can be repeated. */
static size_t random_below(struct run *run, size_t limit)
{
	run->seed ^= run->seed << 13;
	run->seed ^= run->seed >> 7;
	run->seed ^= run->seed << 17;
	return (size_t)(run->seed % limit);
}

static void shuffle(struct run *run, size_t *order)
{
	for (size_t i = 0; i < run->n; i++)
		order[i] = i;
	for (size_t i = run->n; i > 1; i--) {
		size_t j = random_below(run, i), other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

static int complain(const struct command *command, const char *what, int number)
{
	(void)fprintf(stderr, "spawn: %s: %s %d\n", command->name, what,
		      number);
	return -1;
}

static pid_t start(const struct run *run, const struct command *command)
{
	pid_t pid = vfork();

	if (pid != 0)
		return pid;
	(void)sigprocmask(SIG_UNBLOCK, &run->child_set, NULL);
	(void)dup2(run->has_terminal ? run->tty : run->null, 0);
	if (run->has_terminal) {
		(void)dup2(run->tty, 1);
		(void)dup2(run->tty, 2);
	} else {
		/* Ours has the figures. */
		(void)dup2(run->null, 1);
	}
	(void)execve(command->argv[0], command->argv, environ);
	_exit(127);
}

/* Reaps until nobody is left.  The number that stays, 0 if none. */
static int await_silence(const struct run *run)
{
	const struct timespec patience = { .tv_sec = STAY_SECONDS };
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0)
			return 0;
		if (pid == 0 &&
		    sigtimedwait(&run->child_set, NULL, &patience) < 0 &&
		    errno == EAGAIN)
			return 1;
	}
}

static int sample(const struct run *run, const struct command *command,
		  double *ret_ended, double *ret_gone)
{
	double begin = now_us();
	int status = 0;
	pid_t pid;

	pid = start(run, command);
	if (pid < 0)
		return complain(command, "cannot start, errno", errno);
	if (waitpid(pid, &status, 0) != pid)
		return complain(command, "cannot wait, errno", errno);
	*ret_ended = now_us() - begin;
	if (await_silence(run) != 0)
		return complain(command, "processes stay, seconds",
				STAY_SECONDS);
	*ret_gone = now_us() - begin;
	if (WIFSIGNALED(status))
		return complain(command, "was killed by signal",
				WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return complain(command, "ended with status",
				WEXITSTATUS(status));
	return 0;
}

static int measure(struct run *run)
{
	size_t order[COMMANDS_MAX];

	for (size_t round = 0; round < WARM_UP + run->rounds; round++) {
		shuffle(run, order);
		for (size_t i = 0; i < run->n; i++) {
			struct command *command = &run->commands[order[i]];
			double ended, gone;

			if (sample(run, command, &ended, &gone) < 0)
				return -1;
			if (round < WARM_UP)
				continue;
			command->ended[round - WARM_UP] = ended;
			command->gone[round - WARM_UP] = gone;
		}
	}
	return 0;
}

static void print(const struct run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		const struct command *command = &run->commands[i];

		qsort(command->ended, run->rounds, sizeof(double), by_size);
		qsort(command->gone, run->rounds, sizeof(double), by_size);
		(void)printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\n", command->name,
			     command->ended[run->rounds / 2],
			     command->ended[run->rounds / 4], command->ended[0],
			     command->gone[run->rounds / 2]);
	}
}

/* Cuts the arguments at each separator.  -1: they are not as they should be. */
static int parse(struct run *run, int argc, char **argv)
{
	char *end;

	run->has_terminal = argc > 1 && strcmp(argv[1], "-t") == 0;
	if (run->has_terminal)
		argv++, argc--;
	if (argc < 5)
		return -1;
	run->rounds = strtoul(argv[1], &end, 10);
	if (*end || run->rounds == 0 || run->rounds > ROUNDS_MAX)
		return -1;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "---") != 0)
			continue;
		if (run->n == COMMANDS_MAX || i + 2 >= argc)
			return -1;
		argv[i] = NULL;
		run->commands[run->n].name = argv[i + 1];
		run->commands[run->n++].argv = &argv[i + 2];
	}
	return run->n > 0 ? 0 : -1;
}

/* A terminal that takes what it is given as fast as it can. */
static void *drain(void *data)
{
	const struct run *run = data;
	static char bytes[1 << 16];

	while (read(run->master, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

/* Ours by being the leader of a session of its own, and so in front. */
static int make_terminal(struct run *run)
{
	const int flags = O_RDWR | O_CLOEXEC;
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	pthread_t thread;

	run->master = posix_openpt(flags | O_NOCTTY);
	if (run->master < 0 || grantpt(run->master) < 0 ||
	    unlockpt(run->master) < 0 || setsid() < 0)
		return -1;
	run->tty = open(ptsname(run->master), flags);
	if (run->tty < 0 || ioctl(run->tty, TIOCSCTTY, 0) < 0 ||
	    ioctl(run->tty, TIOCSWINSZ, &size) < 0)
		return -1;
	errno = pthread_create(&thread, NULL, drain, run);
	return errno ? -1 : 0;
}

static int prepare(struct run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		struct command *command = &run->commands[i];

		command->ended = calloc(run->rounds, sizeof(double));
		command->gone = calloc(run->rounds, sizeof(double));
		if (!command->ended || !command->gone)
			return -1;
	}
	run->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (run->null < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -1;
	(void)sigemptyset(&run->child_set);
	(void)sigaddset(&run->child_set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &run->child_set, NULL) < 0)
		return -1;
	return run->has_terminal ? make_terminal(run) : 0;
}

static void done(struct run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		free(run->commands[i].ended);
		free(run->commands[i].gone);
	}
}

int main(int argc, char **argv)
{
	struct run run = { .seed = 0x9e3779b97f4a7c15, .null = -1, .tty = -1 };
	int r;

	if (parse(&run, argc, argv) < 0) {
		(void)fputs("usage: spawn [-t] ROUNDS --- NAME COMMAND... "
			    "[--- NAME COMMAND...]...\n",
			    stderr);
		return 2;
	}
	r = prepare(&run);
	if (r < 0)
		(void)fprintf(stderr, "spawn: cannot prepare, errno %d\n",
			      errno);
	else
		r = measure(&run);
	if (r >= 0)
		print(&run);
	done(&run);
	return r < 0 ? 1 : 0;
}
