/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "sys/kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAP_COUNT 64
#define FD_LIMIT  4096

static unsigned long long bits(int option, int sub)
{
	unsigned long long set = 0;

	for (int cap = 0; cap < CAP_COUNT; cap++) {
		int r = sub ? prctl(option, sub, cap, 0, 0)
			    : prctl(option, cap, 0, 0, 0);

		if (r == 1)
			set |= 1ULL << cap;
	}
	return set;
}

/* One line: every capability set, no_new_privs, dumpable. */
int look_privileges(int argc, char **argv)
{
	struct k_cap_header head = { K_CAP_VERSION_3, 0 };
	struct k_cap_data d[2] = { { 0 } };

	(void)argc;
	(void)argv;
	if (syscall(SYS_capget, &head, d) < 0)
		return answer(-1);
	(void)printf("effective=%x%08x permitted=%x%08x inheritable=%x%08x "
		     "bounding=%llx ambient=%llx no_new_privs=%d\n",
		     d[1].effective, d[0].effective, d[1].permitted,
		     d[0].permitted, d[1].inheritable, d[0].inheritable,
		     bits(PR_CAPBSET_READ, 0), bits(K_PR_CAP_AMBIENT, 1),
		     prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	return 0;
}

/* The numbers of all open descriptors; needs no /proc. */
int look_fds(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int fd = 0; fd < FD_LIMIT; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			(void)printf("%s%d", fd ? " " : "", fd);
	(void)putchar('\n');
	return 0;
}

static int is_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* "closed" if nothing lies above /, and the working directory is below it. */
int look_root(int argc, char **argv)
{
	char cwd[4096];

	(void)argc;
	(void)argv;
	if (!is_same("/", "/..") || !is_same("/", "/proc/self/root"))
		(void)puts("open");
	else if (!getcwd(cwd, sizeof(cwd)) || cwd[0] != '/')
		(void)puts("outside");
	else
		(void)puts("closed");
	return 0;
}

int look_ids(int argc, char **argv)
{
	uid_t ids[6];

	(void)argc;
	(void)argv;
	if (getresuid(&ids[0], &ids[1], &ids[2]) < 0 ||
	    getresgid(&ids[3], &ids[4], &ids[5]) < 0)
		return answer(-1);
	(void)printf("uid=%u,%u,%u gid=%u,%u,%u\n", ids[0], ids[1], ids[2],
		     ids[3], ids[4], ids[5]);
	return 0;
}

/* The pids that /proc shows, in the order it has them. */
int look_pids(int argc, char **argv)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;

	(void)argc;
	(void)argv;
	if (!dir)
		return answer(-1);
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			(void)printf("%s ", e->d_name);
	(void)printf("self %d\n", (int)getpid());
	(void)closedir(dir);
	return 0;
}

int look_limits(int argc, char **argv)
{
	struct rlimit core;

	(void)argc;
	(void)argv;
	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return answer(-1);
	(void)printf("core=%llu,%llu\n", (unsigned long long)core.rlim_cur,
		     (unsigned long long)core.rlim_max);
	return 0;
}
