/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/tree.h"

#include "sys/fault.h"
#include "world.h"

#include <sys/resource.h>

static struct world w;

static void make_deep(int dir, const char *name, int depth)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);

	for (int i = 0; i < depth; i++) {
		const char *n = i == 0 ? name : "deeper";
		int next;

		CHECK_INT(mkdirat(at, n, 0700), 0);
		next = openat(at, n, O_RDONLY | O_CLOEXEC);
		CHECK(next >= 0);
		put_file(at, i == 0 ? "beside" : "f", "f");
		(void)close(at);
		at = next;
	}
	(void)close(at);
}

/* With few descriptors, whatever the depth. */
static void five_thousand_levels_go(void)
{
	struct rlimit few = { 40, 40 }, before;

	world_init(&w, 1, false);
	make_deep(w.top, "deep", 5000);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_INT(tree_remove(w.top, "deep", NULL), 0);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
	CHECK_INT(faccessat(w.top, "deep", F_OK, 0), -1);
	CHECK_INT(faccessat(w.top, "beside", F_OK, 0), 0);
	world_done(&w);
}

/* As an overlay leaves its work directory. */
static void closed_directories_go(void)
{
	world_init(&w, 1, false);
	put_dir(w.top, "work");
	put_dir(w.top, "work/work");
	put_dir(w.top, "work/work/incompat");
	put_dir(w.top, "work/work/incompat/volatile");
	CHECK_INT(fchmodat(w.top, "work/work/incompat", 0, 0), 0);
	CHECK_INT(fchmodat(w.top, "work/work", 0, 0), 0);
	CHECK_INT(tree_remove(w.top, "work", NULL), 0);
	CHECK_INT(faccessat(w.top, "work", F_OK, 0), -1);
	CHECK_INT(tree_remove(w.top, "work", NULL), 0);
	world_done(&w);
}

static int count_visit(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err)
{
	(void)err;
	*(unsigned *)ctx += visit->when == TREE_ENTER;
	return 0;
}

/* Each of them is closed, so that ".." can be opened only before it is again.
 */
static void closed_directories_are_closed_again(void)
{
	struct stat st;
	unsigned n = 0;

	world_init(&w, 1, false);
	put_dir(w.top, "d");
	put_dir(w.top, "d/shut");
	put_dir(w.top, "d/shut/too");
	CHECK_INT(fchmodat(w.top, "d/shut/too", 0, 0), 0);
	CHECK_INT(fchmodat(w.top, "d/shut", 0, 0), 0);
	CHECK_INT(tree_walk(w.top, "d", TREE_OURS, count_visit, &n, NULL), 0);
	CHECK_INT(n, 2);
	CHECK_INT(fstatat(w.top, "d/shut", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0);
	CHECK_INT(tree_remove(w.top, "d", NULL), 0);
	world_done(&w);
}

static void links_are_not_followed(void)
{
	world_init(&w, 1, false);
	put_dir(w.top, "keep");
	put_file(w.top, "keep/f", "f");
	put_dir(w.top, "trash");
	put_link(w.top, "../keep", "trash/link");
	put_link(w.top, w.path, "trash/up");
	CHECK_INT(linkat(w.top, "keep/f", w.top, "trash/f", 0), 0);
	CHECK_INT(tree_remove(w.top, "trash", NULL), 0);
	CHECK_INT(faccessat(w.top, "keep/f", F_OK, 0), 0);
	put_link(w.top, "keep", "trash");
	CHECK_INT(tree_remove(w.top, "trash", NULL), 0);
	CHECK_INT(faccessat(w.top, "keep/f", F_OK, 0), 0);
	world_done(&w);
}

/* In a child: the mount is nobody else's. */
static void mounts_are_not_crossed(void)
{
	char there[256];
	int status;
	pid_t pid;

	world_init(&w, 1, false);
	put_dir(w.top, "trash");
	put_dir(w.top, "trash/m");
	(void)fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct hb_error err = { 0 };
		int at;

		world_mount();
		if (world_far[0] == '\0') {
			printf("# SKIP no mount namespace\n");
			(void)fflush(stdout);
			_exit(0);
		}
		world_unmount();
		(void)snprintf(there, sizeof(there), "%s/trash/m", w.path);
		CHECK_INT(mount("m", there, "tmpfs", 0, NULL), 0);
		at = open(there, O_RDONLY | O_CLOEXEC);
		put_file(at, "f", "f");
		world_reopen(&w);
		CHECK_INT(tree_remove(w.top, "trash", &err), -EXDEV);
		CHECK(strstr(err.text, "mounted") != NULL);
		CHECK_INT(faccessat(at, "f", F_OK, 0), 0);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	world_done(&w);
}

static void many_names_go(void)
{
	char name[16];

	world_init(&w, 1, false);
	put_dir(w.top, "d");
	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "d/%d", i);
		if (i % 3)
			put_file(w.top, name, "");
		else
			put_dir(w.top, name);
	}
	CHECK_INT(tree_remove(w.top, "d", NULL), 0);
	CHECK_INT(faccessat(w.top, "d", F_OK, 0), -1);
	world_done(&w);
}

/* Killed at each call, and then again. */
static void every_kill(void)
{
	unsigned n = 1;
	int status = -1;

	while (status != 0) {
		pid_t pid;

		world_init(&w, 1, false);
		make_deep(w.top, "d", 6);
		CHECK_INT(fchmodat(w.top, "d/deeper", 0, 0), 0);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			fault_arm(FAULT_KILL, n);
			_exit(tree_remove(w.top, "d", NULL) ? 1 : 0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK_INT(tree_remove(w.top, "d", NULL), 0);
		CHECK_INT(faccessat(w.top, "d", F_OK, 0), -1);
		world_done(&w);
		n++;
	}
	CHECK(n > 10);
}

TESTS(T(five_thousand_levels_go), T(closed_directories_go),
      T(closed_directories_are_closed_again), T(links_are_not_followed),
      T(mounts_are_not_crossed), T(many_names_go), T(every_kill))
