/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout: 300
 *
 * Somebody writes to the base while it is committed to.  Whatever was written
 * is in the base or in undo afterwards, and if the commit was refused it is in
 * the base.  1000 rounds, HB_SOAK=1: 10000.
 */
#include "txn/txn.h"

#include "scenes.h"
#include "sys/fault.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int *go;

static void stamp_in_place(int base, const char *stamp)
{
	int fd = openat(base, "f", O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		_exit(1);
	if (write(fd, stamp, strlen(stamp)) < 0)
		_exit(1);
	(void)close(fd);
}

static void stamp_by_rename(int base, const char *stamp)
{
	put_file(base, "save", stamp);
	if (renameat(base, "save", base, "f") < 0)
		_exit(1);
}

/* Waits its turn, and then some, so that rounds differ in where they meet. */
static pid_t start_writer(int base, const char *stamp, int round)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid != 0)
		return pid;
	while (!atomic_load(go))
		(void)sched_yield();
	for (volatile int i = 0; i < round % 97 * 400; i++)
		;
	if (round % 2)
		stamp_in_place(base, stamp);
	else
		stamp_by_rename(base, stamp);
	_exit(0);
}

static bool holds(int dir, const char *name, const char *stamp)
{
	char text[512] = { 0 };
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	(void)close(fd);
	return n > 0 && strstr(text, stamp) != NULL;
}

static bool is_in_undo(struct world *w, const char *stamp)
{
	char name[32];

	for (int slot = 1; slot < 8; slot++) {
		(void)snprintf(name, sizeof(name), "undo/1/%d", slot);
		if (holds(w->spot[0], name, stamp))
			return true;
	}
	return false;
}

static void no_stamp_is_lost(void)
{
	int n = getenv("HB_SOAK") ? 10000 : 1000;
	int refused = 0, kept = 0, behind = 0;

	go = mmap(NULL, sizeof(*go), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(go != MAP_FAILED);
	for (int round = 0; round < n; round++) {
		struct hb_error err = { 0 };
		char stamp[32];
		struct world w;
		int status, r;
		bool in_base;
		pid_t pid;

		scene_open(&scenes[0], &w);
		(void)snprintf(stamp, sizeof(stamp), "stamp %d;", round);
		atomic_store(go, 0);
		pid = start_writer(w.base[0], stamp, round);
		atomic_store(go, 1);
		r = scene_commit(&scenes[0], &w, &err);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK_INT(status, 0);
		CHECK(r == 0 || r == -HB_E_CONFLICT);
		in_base = holds(w.base[0], "f", stamp);
		if (r < 0) {
			CHECK(in_base);
			CHECK(holds(w.upper[0], "f", "new text"));
			refused++;
		} else if (in_base) {
			behind++;
		} else {
			CHECK(is_in_undo(&w, stamp));
			kept++;
		}
		world_done(&w);
	}
	printf("# %d refused, %d written behind it, %d kept in undo\n", refused,
	       behind, kept);
}

/* A directory that goes as a whole; a file in it has a name outside as well. */
static void build_whole(struct world *w)
{
	int b = w->base[0], u = w->upper[0];

	put_dir(b, "d");
	lay_file(b, "d/f", "old\n", 0644, WORLD_OLD);
	lay_file(b, "d/twice", "twice\n", 0644, WORLD_OLD);
	CHECK_INT(linkat(b, "d/twice", b, "other", 0), 0);
	set_mtime(b, "d", WORLD_OLD);
	lay_whiteout(u, "d");
	lay_file(u, "other", "new\n", 0644, WORLD_NEW);
	w->resources[0].since = read_clock(w->session);
}

static const struct scene whole = { "whole",	 1,    false, false,
				    build_whole, NULL, NULL };

/* In a child that dies at the n-th call.  Whether it did. */
static bool die_in_commit(struct world *w, unsigned nth)
{
	struct hb_error err = { 0 };
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		fault_arm(FAULT_KILL, nth);
		_exit(scene_commit(&whole, w, &err) < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		return true;
	CHECK_INT(status, 0);
	return false;
}

static void recovery_finds_late_edits(void)
{
	int reversed = 0, after = 0;
	bool died = true;

	for (unsigned n = 1; died; n++) {
		enum txn_recovered what = RECOVERED_NOTHING;
		struct hb_error err = { 0 };
		struct world w;
		bool is_late;

		scene_open(&whole, &w);
		died = die_in_commit(&w, n);
		is_late = faccessat(w.base[0], "d/f", F_OK, 0) == 0;
		if (is_late)
			put_file(w.base[0], "d/f", "edited");
		world_reopen(&w);
		CHECK_INT(txn_recover(&w.txn, false, &what, &err), 0);
		CHECK(!is_late || holds(w.base[0], "d/f", "edited"));
		reversed += is_late && what == RECOVERED_BACK;
		after += !is_late;
		world_done(&w);
	}
	CHECK(reversed > 0);
	CHECK(after > 0);
}

/* Another name of a file in it is replaced by the same commit. */
static void other_names_are_no_edit(void)
{
	struct hb_error err = { 0 };
	struct world w;

	scene_open(&whole, &w);
	CHECK_INT(scene_commit(&whole, &w, &err), 0);
	CHECK(faccessat(w.base[0], "d", F_OK, 0) < 0);
	CHECK(holds(w.base[0], "other", "new"));
	world_done(&w);
}

TESTS(T(no_stamp_is_lost), T(recovery_finds_late_edits),
      T(other_names_are_no_edit))
