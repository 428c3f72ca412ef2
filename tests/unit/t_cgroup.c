/* SPDX-License-Identifier: Apache-2.0 */
#include "box/cgroup.h"

#include "base/error.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Groups with limits, by whichever controller this host has to give.  Where it
 * has none, or gives us none, only the refusal can be seen.
 */

static const struct cgroup_limit kinds[] = {
	{ "pids", "pids.max", "7", false },
	{ "hugetlb", "hugetlb.2MB.max", "0", false },
};

static const struct cgroup_limit *found;

/* A group for us alone, so that nobody else's boxes are in it. */
static char before[4096], ours[4096 + 32];

/* What the group above hands down because we told it to. */
static bool was_told[sizeof(kinds) / sizeof(kinds[0])];

static int write_to(const char *dir, const char *file, const char *text)
{
	char path[sizeof(ours) + 64];
	FILE *f;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "we");
	if (!f)
		return -1;
	r = fputs(text, f);
	return fclose(f) == 0 && r >= 0 ? 0 : -1;
}

static int write_new(const char *dir, const char *text)
{
	return write_to(dir, "pids.events", text);
}

static bool hands_down(const char *controller)
{
	char path[sizeof(before) + 64], text[1024] = " ", word[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", before);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[1 + fread(text + 1, 1, sizeof(text) - 3, f)] = '\0';
	(void)fclose(f);
	text[strcspn(text, "\n")] = ' ';
	(void)snprintf(word, sizeof(word), " %s ", controller);
	return strstr(text, word) != NULL;
}

static void find_before(void)
{
	char line[2048];
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3) != 0)
			continue;
		(void)snprintf(before, sizeof(before), "/sys/fs/cgroup%s%s",
			       access("/sys/fs/cgroup/unified", F_OK) == 0
				       ? "/unified"
				       : "",
			       line + 3);
	}
	if (f)
		(void)fclose(f);
}

/* Also of a check that fails; what was done is done once. */
static void leave_own(void)
{
	char path[sizeof(ours) + 64], word[64];

	if (access(ours, F_OK) == 0) {
		(void)write_to(before, "cgroup.procs", "0");
		(void)snprintf(path, sizeof(path), "%s/holdback", ours);
		(void)rmdir(path);
		(void)rmdir(ours);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		(void)snprintf(word, sizeof(word), "-%s", kinds[i].controller);
		if (was_told[i])
			(void)write_to(before, "cgroup.subtree_control", word);
		was_told[i] = false;
	}
}

static void enter_own(void)
{
	char word[64];
	int lock;

	find_before();
	/* Another one of us would tell it to stop in the midst. */
	lock = open(before, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0)
		(void)flock(lock, LOCK_EX);
	(void)atexit(leave_own);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (hands_down(kinds[i].controller))
			continue;
		(void)snprintf(word, sizeof(word), "+%s", kinds[i].controller);
		was_told[i] =
			write_to(before, "cgroup.subtree_control", word) == 0;
	}
	(void)snprintf(ours, sizeof(ours), "%s/hb-test-%d", before,
		       (int)getpid());
	if (mkdir(ours, 0755) == 0)
		(void)write_to(ours, "cgroup.procs", "0");
}

/* Also a check: who is not removed keeps the group above from going. */
static void nothing_is_left(void)
{
	bool told[sizeof(was_told) / sizeof(was_told[0])];

	(void)memcpy(told, was_told, sizeof(told));
	leave_own();
	CHECK(access(ours, F_OK) < 0);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		CHECK(!told[i] || !hands_down(kinds[i].controller));
}

static void read_at(int dir, const char *file, char *ret, size_t size)
{
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, file);
	f = fopen(path, "re");
	ret[0] = '\0';
	if (f) {
		ret[fread(ret, 1, size - 1, f)] = '\0';
		(void)fclose(f);
	}
}

static bool has(const struct cgroup *c, const char *file)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s%s", c->above,
		       c->name, file);
	return access(path, F_OK) == 0;
}

static void what_no_kernel_has_is_refused(void)
{
	const struct cgroup_limit none = { "no-such", "no-such.max", "1",
					   false };
	struct cgroup c = CGROUP_NONE;
	struct hb_error err = { 0 };

	CHECK_INT(cgroup_make(&none, 1, &c, &err), -HB_E_UNSUPPORTED);
	CHECK(strstr(err.text, "control group") != NULL);
	CHECK(strstr(err.fix, "systemd-run") != NULL);
	CHECK_INT(c.dir, -1);
}

static void find_one(void)
{
	enter_own();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct cgroup c = CGROUP_NONE;

		if (cgroup_make(&kinds[i], 1, &c, NULL) < 0)
			continue;
		found = &kinds[i];
		cgroup_remove(&c);
		return;
	}
}

static void a_process_is_in_it_until_it_ends(void)
{
	struct cgroup c = CGROUP_NONE;
	char text[4096], want[64];
	pid_t child;

	if (!found)
		return;
	CHECK_INT(cgroup_make(found, 1, &c, NULL), 0);
	read_at(c.dir, found->file, text, sizeof(text));
	CHECK(strncmp(text, found->value, strlen(found->value)) == 0);
	child = fork();
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	CHECK_INT(cgroup_enter(&c, child, NULL), 0);
	(void)snprintf(want, sizeof(want), "%d\n", (int)child);
	read_at(c.dir, "box/cgroup.procs", text, sizeof(text));
	CHECK(strcmp(text, want) == 0);
	/* The limits are not in the group that the process itself can see. */
	read_at(c.dir, "cgroup.procs", text, sizeof(text));
	CHECK(strcmp(text, "") == 0);
	(void)kill(child, SIGKILL);
	CHECK_INT(waitpid(child, NULL, 0), child);
	cgroup_remove(&c);
	CHECK_INT(c.dir, -1);
}

static void each_has_its_own(void)
{
	struct cgroup a = CGROUP_NONE, b = CGROUP_NONE;

	if (!found)
		return;
	CHECK_INT(cgroup_make(found, 1, &a, NULL), 0);
	CHECK_INT(cgroup_make(found, 1, &b, NULL), 0);
	CHECK(strcmp(a.name, b.name) != 0);
	CHECK(has(&a, "/box") && has(&b, "/box"));
	cgroup_remove(&a);
	CHECK(has(&b, "/box"));
	cgroup_remove(&b);
}

static void what_a_kill_left_is_used_again(void)
{
	struct cgroup a = CGROUP_NONE, b = CGROUP_NONE;
	char name[sizeof(a.name)];

	if (!found)
		return;
	CHECK_INT(cgroup_make(found, 1, &a, NULL), 0);
	(void)memcpy(name, a.name, sizeof(name));
	/* As the kernel does for who is killed. */
	(void)close(a.dir);
	(void)close(a.above);
	CHECK_INT(cgroup_make(found, 1, &b, NULL), 0);
	CHECK(strcmp(b.name, name) == 0);
	CHECK(has(&b, "/box"));
	cgroup_remove(&b);
}

/* Files as a kernel with the controller has them, which this one need not be.
 */
static void a_refused_process_is_read_where_the_kernel_counts_it(void)
{
	static const struct {
		const char *above, *below;
		uint64_t want;
	} rows[] = {
		{ "max 0\n", "max 0\n", 0 },
		{ "max 3\nother 4\n", "max 0\n", 3 },
		{ "max 0\n", "max 12\n", 12 },
		{ "other 4\n", "", 0 },
	};
	struct cgroup c = CGROUP_NONE;
	char top[] = "/tmp/t_cgroup.XXXXXX", below[sizeof(top) + 8];

	CHECK_INT(cgroup_refused_pids(&c), 0);
	CHECK(mkdtemp(top));
	(void)snprintf(below, sizeof(below), "%s/box", top);
	CHECK_INT(mkdir(below, 0700), 0);
	c.dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(cgroup_refused_pids(&c), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(write_new(top, rows[i].above), 0);
		CHECK_INT(write_new(below, rows[i].below), 0);
		CHECK_INT(cgroup_refused_pids(&c), rows[i].want);
	}
	CHECK_INT(unlinkat(c.dir, "box/pids.events", 0), 0);
	CHECK_INT(unlinkat(c.dir, "pids.events", 0), 0);
	CHECK_INT(rmdir(below), 0);
	CHECK_INT(rmdir(top), 0);
	(void)close(c.dir);
}

static void nobody_enters_what_is_gone(void)
{
	struct cgroup c = CGROUP_NONE, gone;
	struct hb_error err = { 0 };

	if (!found)
		return;
	CHECK_INT(cgroup_make(found, 1, &c, NULL), 0);
	gone = c;
	gone.dir = dup(c.dir);
	cgroup_remove(&c);
	CHECK_INT(cgroup_enter(&gone, getpid(), &err), -HB_E_UNSUPPORTED);
	(void)close(gone.dir);
}

TESTS(T(what_no_kernel_has_is_refused), T(find_one),
      T(a_process_is_in_it_until_it_ends), T(each_has_its_own),
      T(what_a_kill_left_is_used_again), T(nobody_enters_what_is_gone),
      T(a_refused_process_is_read_where_the_kernel_counts_it),
      T(nothing_is_left))
