/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/txn.h"

#include "scenes.h"
#include "sys/fault.h"
#include "txn/history.h"

#include <sys/wait.h>

static void must(int r, const char *name, const struct hb_error *err)
{
	if (r < 0)
		printf("# %s: %s (%d)\n", name, err->text, err->code);
	CHECK_INT(r, 0);
}

#define MUST(call)                           \
	do {                                 \
		struct hb_error err = { 0 }; \
		must((call), #call, &err);   \
	} while (0)

static const struct scene plain = { "plain", 1, .build = scene_one };

static int commit_all(struct world *w, struct hb_error *err)
{
	return scene_commit(&plain, w, err);
}

static int undo(struct world *w, struct hb_error *err)
{
	struct txn_result result;

	return txn_undo(&w->txn, &result, err);
}

static int redo(struct world *w, struct hb_error *err)
{
	struct txn_result result;

	return txn_redo(&w->txn, &result, err);
}

static void check_picture(struct world *w, const struct picture *want,
			  const char *name, const char *when)
{
	struct picture now = world_picture(w);

	if (!picture_is(&now, want)) {
		printf("# %s: %s\n", name, when);
		picture_differ(&now, want);
	}
	CHECK(picture_is(&now, want));
	picture_done(&now);
}

/* What was undone can be redone until something else is in effect. */
static void a_commit_that_fails_loses_no_redo(void)
{
	const struct txn_options all = { .with_ignored = true };
	unsigned n = 0;
	int r;

	do {
		struct txn_result result;
		struct picture old;
		struct world w;
		uint64_t id = 0;

		scene_open(&plain, &w);
		MUST(commit_all(&w, &err));
		MUST(undo(&w, &err));
		old = world_picture(&w);
		fault_arm(FAULT_ENOSPC, ++n);
		r = txn_commit(&w.txn, &all, world_seen, &w, &result, NULL);
		fault_arm(FAULT_NONE, 0);
		if (r < 0) {
			check_picture(&w, &old, "redo", "after a failure");
			CHECK_INT(history_last(w.session, HISTORY_UNDONE, &id,
					       NULL),
				  0);
			CHECK_INT(id, 1);
			/* Nothing had moved yet. */
			if (n < 3)
				MUST(redo(&w, &err));
		} else if (!w.txn.is_unfinished) {
			CHECK_INT(history_last(w.session, HISTORY_UNDONE, &id,
					       NULL),
				  -ENOENT);
			CHECK(!history_has(w.session, 1));
		}
		picture_done(&old);
		world_done(&w);
	} while (r < 0 || n < 200);
}

static void a_rollback_that_fails_loses_no_redo(void)
{
	struct txn_path path = { .path = "nothing-has-this-name" };
	const struct txn_path *missing = NULL;
	struct world w;

	scene_open(&plain, &w);
	MUST(commit_all(&w, &err));
	MUST(undo(&w, &err));
	CHECK_INT(txn_rollback_paths(&w.txn, &path, 1, &missing, NULL),
		  -ENOENT);
	CHECK(missing != NULL);
	MUST(redo(&w, &err));
	world_done(&w);
}

/* Everything is in place when the disk dies: that is no failure. */
static void what_is_in_place_is_no_failure(void)
{
	unsigned n_unfinished = 0;

	for (unsigned n = 1;; n++) {
		enum txn_recovered what = RECOVERED_NOTHING;
		struct hb_error why = { 0 };
		struct picture old, now;
		struct world w;
		unsigned n_passed;
		bool is_old;
		int r;

		scene_open(&plain, &w);
		old = world_picture(&w);
		fault_arm(FAULT_DEAD, n);
		r = commit_all(&w, &why);
		n_passed = fault_passages();
		fault_arm(FAULT_NONE, 0);
		world_reopen(&w);
		now = world_picture(&w);
		is_old = picture_is(&now, &old);
		picture_done(&now);
		picture_done(&old);
		n_unfinished += r == 0 && n_passed >= n;
		/* A plan that may be there is told, with a way on. */
		if (r < 0 && is_old && why.code == HB_E_STATE)
			CHECK(strstr(why.fix, "holdback recover") != NULL);
		CHECK(r < 0 || !is_old);
		MUST(txn_recover(&w.txn, false, &what, &err));
		if (r == 0 && n_passed < n) {
			world_done(&w);
			break;
		}
		world_done(&w);
	}
	CHECK(n_unfinished > 0);
}

/* Whether that is told before the first step. */
static void a_plan_that_may_be_on_disk_is_told(void)
{
	bool was_told = false;

	for (unsigned n = 1; n < 200 && !was_told; n++) {
		struct hb_error err = { 0 };
		struct world w;

		scene_open(&plain, &w);
		fault_arm(FAULT_DEAD, n);
		fault_only("fsync");
		(void)commit_all(&w, &err);
		fault_arm(FAULT_NONE, 0);
		was_told = strstr(err.text, "may be on disk or not") &&
			   strstr(err.fix, "holdback recover");
		world_done(&w);
	}
	CHECK(was_told);
}

/* It is waited for, and not for ever. */
static void a_clock_that_stands_still_stops_nothing(void)
{
	struct picture old, new;
	struct world w;

	scene_open(&plain, &w);
	old = world_picture(&w);
	fault_still_clock(1);
	MUST(commit_all(&w, &err));
	fault_still_clock(0);
	new = world_picture(&w);
	CHECK(!picture_is(&old, &new));
	picture_done(&old);
	picture_done(&new);
	world_done(&w);
}

/* Holds the base until its parent sleeps, which waits for it. */
static void hold_base(struct world *w, int ready, int go)
{
	char path[64], stat[256] = "", byte;
	int fd = openat(w->base[0], ".", O_RDONLY | O_CLOEXEC);

	(void)flock(fd, LOCK_EX);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
	if (write(ready, "x", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(1);
	while (!strstr(stat, ") S ")) {
		int at = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(at, stat, sizeof(stat) - 1);

		(void)close(at);
		stat[n > 0 ? n : 0] = '\0';
	}
	_exit(0);
}

/* The lock that was waited for is the one that is had. */
static void a_locked_base_is_waited_for(void)
{
	struct world w;
	pid_t child;
	int ready[2], go[2];
	char byte;

	scene_open(&plain, &w);
	CHECK_INT(pipe(ready), 0);
	CHECK_INT(pipe(go), 0);
	child = fork();
	if (child == 0)
		hold_base(&w, ready[1], go[0]);
	CHECK_INT(read(ready[0], &byte, 1), 1);
	CHECK_INT(commit_all(&w, NULL), -HB_E_BUSY);
	w.txn.lock_wait = 10000;
	CHECK_INT(write(go[1], "x", 1), 1);
	MUST(commit_all(&w, &err));
	CHECK_INT(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 2; i++) {
		(void)close(ready[i]);
		(void)close(go[i]);
	}
	world_done(&w);
}

TESTS(T(a_commit_that_fails_loses_no_redo),
      T(a_rollback_that_fails_loses_no_redo), T(what_is_in_place_is_no_failure),
      T(a_plan_that_may_be_on_disk_is_told),
      T(a_clock_that_stands_still_stops_nothing),
      T(a_locked_base_is_waited_for))
