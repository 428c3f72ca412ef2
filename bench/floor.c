/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_table.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * usage: floor [-e] [-s] [-o DIR] COMMAND...
 *
 * The yardstick: the fewest system calls we know that make a complete sandbox
 * for one command.  Its own user, mount, pid, net, ipc, uts and cgroup
 * namespaces; the host's tree read-only in a new root with a /dev, /proc and
 * /tmp of its own; loopback up; no capability, not even in the bounding set; an
 * init as pid 1.
 *
 *	-e	the command's status is told before the namespaces are torn
 *		down, as the real one does
 *	-s	with our default seccomp filter
 *	-o DIR	with an overlay on DIR, its upper layer in memory
 *
 * It is no sandbox to use: it knows one kernel, one layout and no terminal, it
 * forwards no signal, looks at no name twice, and any failure is a number.
 * What the real one takes longer is the price of all that.
 */

#define LAST_CAPABILITY 40
#define STACK_SIZE	16384
#define FAILURE		125

extern char **environ;

struct options {
	bool early;
	bool filter;
	const char *overlay;
	char **argv;
};

static const char *const nodes[] = { "null",   "zero",	  "full",
				     "random", "urandom", "tty" };

static const struct {
	const char *name, *target;
} links[] = {
	{ "stdin", "/proc/self/fd/0" },	 { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "fd", "/proc/self/fd" },
	{ "core", "/proc/kcore" },	 { "ptmx", "pts/ptmx" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

_Noreturn static void die(const char *what)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "floor: %s: errno %d\n", what,
			 errno);

	if (write(2, text, (size_t)n) < 0)
		_exit(FAILURE + 1);
	_exit(FAILURE);
}

/* The result of a call that has to succeed. */
static int must(long r, const char *what)
{
	if (r < 0)
		die(what);
	return (int)r;
}

static void write_file(const char *path, const char *text)
{
	int fd = must(open(path, O_WRONLY | O_CLOEXEC), path);

	must(write(fd, text, strlen(text)), path);
}

static void map_ids(unsigned uid, unsigned gid)
{
	char text[32];

	write_file("/proc/self/setgroups", "deny");
	(void)snprintf(text, sizeof(text), "%u %u 1", uid, uid);
	write_file("/proc/self/uid_map", text);
	(void)snprintf(text, sizeof(text), "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", text);
}

static int clone_tree(const char *path, unsigned flags)
{
	return must(syscall(SYS_open_tree, AT_FDCWD, path,
			    K_OPEN_TREE_CLONE | K_OPEN_TREE_CLOEXEC | flags),
		    path);
}

static void set_attributes(int mount, uint64_t attr)
{
	struct k_mount_attr a = { .set = attr, .propagation = K_MS_PRIVATE };

	must(syscall(SYS_mount_setattr, mount, "",
		     AT_EMPTY_PATH | K_AT_RECURSIVE, &a, sizeof(a)),
	     "mount_setattr");
}

static void attach(int mount, int dir, const char *name)
{
	must(syscall(SYS_move_mount, mount, "", dir, name, K_MOVE_F_EMPTY_PATH),
	     name);
}

static int open_fs(const char *type)
{
	return must(syscall(SYS_fsopen, type, K_FSOPEN_CLOEXEC), type);
}

static void set_string(int fs, const char *key, const char *value)
{
	must(syscall(SYS_fsconfig, fs, K_FSCONFIG_SET_STRING, key, value, 0),
	     key);
}

static void set_fd(int fs, const char *key, int fd)
{
	must(syscall(SYS_fsconfig, fs, K_FSCONFIG_SET_FD, key, NULL, fd), key);
}

static void set_flag(int fs, const char *key)
{
	must(syscall(SYS_fsconfig, fs, K_FSCONFIG_SET_FLAG, key, NULL, 0), key);
}

static int mount_fs(int fs, unsigned attr)
{
	must(syscall(SYS_fsconfig, fs, K_FSCONFIG_CREATE, NULL, NULL, 0),
	     "create");
	return must(syscall(SYS_fsmount, fs, K_FSMOUNT_CLOEXEC, attr),
		    "fsmount");
}

static int new_tmpfs(const char *mode, unsigned attr)
{
	int fs = open_fs("tmpfs");

	set_string(fs, "mode", mode);
	return mount_fs(fs, attr);
}

static int new_devpts(void)
{
	int fs = open_fs("devpts");

	set_string(fs, "ptmxmode", "0666");
	set_string(fs, "mode", "620");
	return mount_fs(fs, K_MOUNT_NOSUID | K_MOUNT_NOEXEC);
}

/* Returns the mount, whose nodes are still as free as the host's. */
static int place_dev(int root)
{
	int dev = new_tmpfs("0755", K_MOUNT_NOSUID | K_MOUNT_NOEXEC);
	char path[32];

	attach(dev, root, "dev");
	for (size_t i = 0; i < COUNT(nodes); i++) {
		(void)snprintf(path, sizeof(path), "/dev/%s", nodes[i]);
		must(mknodat(dev, nodes[i], S_IFREG | 0444, 0), nodes[i]);
		attach(clone_tree(path, 0), dev, nodes[i]);
	}
	for (size_t i = 0; i < COUNT(links); i++)
		must(symlinkat(links[i].target, dev, links[i].name),
		     links[i].name);
	must(mkdirat(dev, "shm", 0755), "shm");
	must(mkdirat(dev, "pts", 0755), "pts");
	attach(new_devpts(), dev, "pts");
	return dev;
}

static void place_overlay(int root, const char *path)
{
	int scratch = new_tmpfs("0755", K_MOUNT_NOSUID | K_MOUNT_NODEV);
	int fs = open_fs("overlay");

	/* Layers have to lie in this mount namespace; /tmp is covered later. */
	attach(scratch, AT_FDCWD, "/tmp");
	must(mkdirat(scratch, "upper", 0755), "upper");
	must(mkdirat(scratch, "work", 0755), "work");
	set_fd(fs, "lowerdir+",
	       must(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), path));
	set_fd(fs, "upperdir",
	       must(openat(scratch, "upper", O_PATH | O_CLOEXEC), "upper"));
	set_fd(fs, "workdir",
	       must(openat(scratch, "work", O_PATH | O_CLOEXEC), "work"));
	set_flag(fs, "userxattr");
	set_string(fs, "index", "off");
	set_string(fs, "xino", "off");
	set_flag(fs, "volatile");
	attach(mount_fs(fs, K_MOUNT_NOSUID | K_MOUNT_NODEV), root, path + 1);
}

static void build_root(const struct options *options)
{
	int root = clone_tree("/", K_AT_RECURSIVE);
	int dev;

	set_attributes(root, K_MOUNT_RDONLY | K_MOUNT_NOSUID);
	dev = place_dev(root);
	attach(mount_fs(open_fs("proc"),
			K_MOUNT_NOSUID | K_MOUNT_NODEV | K_MOUNT_NOEXEC),
	       root, "proc");
	if (options->overlay)
		place_overlay(root, options->overlay);
	attach(new_tmpfs("0755", K_MOUNT_NOSUID | K_MOUNT_NODEV), root, "tmp");
	attach(root, AT_FDCWD, "/");
	/* Not earlier: below a detached root the kernel refuses it. */
	set_attributes(dev, K_MOUNT_NOSUID | K_MOUNT_NOEXEC);
	must(fchdir(root), "fchdir");
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(syscall(SYS_umount2, ".", 2), "umount");
}

static void raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo",
				 .ifr_flags = IFF_UP | IFF_RUNNING };
	int s = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");

	must(ioctl(s, SIOCSIFFLAGS, &request), "lo");
}

static void drop_privileges(const struct options *options)
{
	struct k_cap_header header = { .version = K_CAP_VERSION_3 };
	const struct k_cap_data none[2] = { { 0 }, { 0 } };

	for (int i = 0; i <= LAST_CAPABILITY; i++)
		must(prctl(PR_CAPBSET_DROP, i, 0, 0, 0), "bounding set");
	must(syscall(SYS_capset, &header, none), "capset");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	if (options->filter)
		must(syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, 0,
			     &filter_table[FILTER_DEFAULT]),
		     "seccomp");
}

static int execute(void *arg)
{
	const struct options *options = arg;

	must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "pdeathsig");
	(void)execve(options->argv[0], options->argv, environ);
	die(options->argv[0]);
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
					: WEXITSTATUS(wait_status);
}

/* pid 1: starts the command, reaps, and tells how the command ended. */
_Noreturn static void init(struct options *options, int told)
{
	static char stack[STACK_SIZE] __attribute__((aligned(16)));
	int status = 0, result = FAILURE;
	pid_t command, pid;

	command = must(clone(execute, stack + sizeof(stack),
			     CLONE_VM | CLONE_VFORK | SIGCHLD, options),
		       "clone");
	must(syscall(SYS_close_range, told + 1, ~0U, 0), "close_range");
	while ((pid = waitpid(-1, &status, 0)) > 0) {
		if (pid != command)
			continue;
		result = status_of(status);
		if (options->early)
			must(write(told, &result, sizeof(result)), "write");
	}
	_exit(result);
}

_Noreturn static void child(struct options *options, int told, unsigned uid,
			    unsigned gid)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		die("getcwd");
	must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "pdeathsig");
	map_ids(uid, gid);
	raise_loopback();
	build_root(options);
	must(chdir(cwd), cwd);
	drop_privileges(options);
	must(setsid(), "setsid");
	init(options, told);
}

/* Options end at the first word that is none. */
static int parse(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+eso:")) != -1) {
		switch (option) {
		case 'e':
			options->early = true;
			break;
		case 's':
			options->filter = true;
			break;
		case 'o':
			options->overlay = optarg;
			break;
		default:
			return -1;
		}
	}
	if (options->overlay && options->overlay[0] != '/')
		return -1;
	options->argv = argv + optind;
	return optind < argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	const unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
				    CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
				    CLONE_NEWCGROUP;
	struct options options = { 0 };
	unsigned uid = getuid(), gid = getgid();
	int told[2], status = 0, result;
	pid_t pid;

	if (parse(&options, argc, argv) < 0) {
		(void)fputs("usage: floor [-e] [-s] [-o DIR] COMMAND...\n",
			    stderr);
		return 2;
	}
	must(pipe2(told, O_CLOEXEC), "pipe");
	pid = must(syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL),
		   "clone");
	if (pid == 0)
		child(&options, told[1], uid, gid);
	must(close(told[1]), "close");
	if (options.early &&
	    read(told[0], &result, sizeof(result)) == sizeof(result))
		_exit(result);
	must(waitpid(pid, &status, 0), "wait");
	_exit(status_of(status));
}
