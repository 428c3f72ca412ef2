/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout: 900
 * soak-modes: userns
 *
 * Every mutating call of commit, undo, redo, rollback and recovery fails, or
 * is the last thing we do; then recovery, killed as well.  After it everything
 * is wholly old or wholly new in every attribute, and goes on from there.
 *
 * A call that is interrupted, or that moves less than it was asked to, is no
 * failure: once for every wrapper.
 *
 * The build with sanitizers is slow, and visits a fourth of these calls.
 *
 * HB_SOAK=1 visits every call with every fault, and every seventh of recovery,
 * another seventh each time.  What this cannot show is what a disk loses that
 * was not synced.
 */
#include "txn/txn.h"

#include "meddle.h"
#include "sys/fault.h"
#include "txn/check.h"
#include "txn/step.h"

#include <signal.h>
#include <sys/mman.h>

enum deed {
	COMMIT,
	UNDO,
	REDO,
	ROLLBACK,
	ROLLBACK_SOME, /* of paths */
	UNDO_SOME,     /* of that */
	DEEDS
};

static const char *const deed_names[DEEDS] = {
	"commit",
	"undo",
	"redo",
	"rollback",
	"rollback of paths",
	"undo of a rollback of paths",
};

struct told {
	unsigned passages;
	int result;
	int code;
	char text[256];
};

static struct told *told; /* by the child */
static unsigned long long faults;

/* How often a kill has left each row of check.h. */
#define ROWS_MAX 64
static unsigned long long rows_left[ROWS_MAX];

/* How often each row of step.c has decided, forward and back; by children too.
 */
static unsigned (*steps_taken)[2];

/* The build without a sanitizer visits all calls that this one leaves out. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED_STEP 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED_STEP 4
#endif
#endif
#ifndef SANITIZED_STEP
#define SANITIZED_STEP 1
#endif

static bool is_soak(void)
{
	return getenv("HB_SOAK") != NULL;
}

struct some {
	struct txn_path paths[64];
	char names[64][64];
	size_t n;
};

/* Every second name at the top of the upper, and some that lie deeper. */
static void add_some(struct some *some, int upper, size_t resource)
{
	static const char *const deeper[] = { "level0/f", "level0/level1/g",
					      "m/0003",	  "m/0001",
					      "stays/f",  "new/sub/take" };
	DIR *d = fdopendir(openat(upper, ".", O_RDONLY | O_CLOEXEC));
	struct dirent *e;

	CHECK(d != NULL);
	while ((e = readdir(d)) && some->n < 32) {
		/* By name: the order is not always the same. */
		if (e->d_name[0] == '.' ||
		    (e->d_name[strlen(e->d_name) - 1] % 2) != 0)
			continue;
		(void)snprintf(some->names[some->n], sizeof(some->names[0]),
			       "%.60s", e->d_name);
		some->n++;
	}
	(void)closedir(d);
	for (size_t i = 0; i < sizeof(deeper) / sizeof(deeper[0]); i++)
		if (faccessat(upper, deeper[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			(void)snprintf(some->names[some->n++],
				       sizeof(some->names[0]), "%s", deeper[i]);
	for (size_t i = 0; i < some->n; i++)
		if (!some->paths[i].path)
			some->paths[i] =
				(struct txn_path){ .resource = resource,
						   .path = some->names[i] };
}

static int rollback_some(struct world *w, struct hb_error *err)
{
	static struct some some;

	some = (struct some){ 0 };
	for (size_t i = 0; i < w->n; i++)
		add_some(&some, w->upper[i], i);
	CHECK(some.n > 0);
	return txn_rollback_paths(&w->txn, some.paths, some.n, NULL, err);
}

static int act(const struct scene *s, enum deed deed, struct world *w,
	       struct hb_error *err)
{
	struct txn_result result;
	int r;

	switch (deed) {
	case COMMIT:
		return scene_commit(s, w, err);
	case UNDO:
		return txn_undo(&w->txn, &result, err);
	case REDO:
		r = txn_redo(&w->txn, &result, err);
		return r < 0 ? r : scene_sweep(s, w, err);
	case UNDO_SOME:
		return txn_undo(&w->txn, &result, err);
	case ROLLBACK:
		return txn_rollback(&w->txn, err);
	case ROLLBACK_SOME:
		return rollback_some(w, err);
	case DEEDS:
	default:
		return -1;
	}
}

/* The scene, as it is before the deed. */
static void prepare(const struct scene *s, enum deed deed, struct world *w)
{
	struct hb_error err = { 0 };

	fault_arm(FAULT_NONE, 0);
	fault_plain_rename(s->is_plain);
	scene_open(s, w);
	if (deed == UNDO || deed == REDO)
		CHECK_INT(scene_commit(s, w, &err), 0);
	if (deed == REDO)
		CHECK_INT(act(s, UNDO, w, &err), 0);
	if (deed == UNDO_SOME)
		CHECK_INT(rollback_some(w, &err), 0);
	world_reopen(w);
}

static int recover(const struct scene *s, struct world *w, bool back,
		   struct hb_error *err)
{
	enum txn_recovered what;
	int r;

	world_reopen(w);
	r = txn_recover(&w->txn, back, &what, err);
	world_reopen(w);
	return r < 0 ? r : scene_sweep(s, w, err);
}

struct loop {
	const struct scene *scene;
	enum deed deed;
	struct picture old, new;
	unsigned n_calls;
	unsigned stride;  /* of the recovery's calls */
	const char *only; /* the calls that count, or NULL: all */
};

/* In a child, which may die of it.  Whether the n-th passage was reached. */
static bool act_in_child(const struct loop *l, bool recovers, bool back,
			 struct world *w, enum fault_mode mode, unsigned nth)
{
	int status;
	pid_t pid;

	*told = (struct told){ .result = 1 };
	(void)fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct hb_error err = { 0 };
		int r;

		fault_arm(mode, nth);
		fault_only(recovers ? NULL : l->only);
		r = recovers ? recover(l->scene, w, back, &err)
			     : act(l->scene, l->deed, w, &err);
		told->passages = fault_passages();
		told->result = r;
		told->code = err.code;
		(void)snprintf(told->text, sizeof(told->text), "%.200s",
			       err.text);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status)) {
		CHECK_INT(WTERMSIG(status), SIGKILL);
		faults++;
		return true;
	}
	CHECK_INT(status, 0);
	return told->passages >= nth;
}

/* Whatever was killed, its session is in a row; recovered, nothing is in
 * flight.
 */
static void check_row(const struct loop *l, const struct world *w,
		      const char *what, unsigned n)
{
	struct txn_state state = { 0 };
	struct hb_error err = { 0 };
	size_t n_rows;
	const struct txn_row *rows = txn_rows(&n_rows);
	int r;

	fault_arm(FAULT_NONE, 0);
	r = txn_check(&w->txn, &state, &err);
	if (r < 0)
		printf("# %s, %s, %s at %u: %s\n", l->scene->name,
		       deed_names[l->deed], what, n, err.text);
	CHECK_INT(r, 0);
	CHECK(n_rows <= ROWS_MAX);
	rows_left[state.row - rows]++;
	if (strcmp(what, "recovered") == 0)
		CHECK_INT(state.flight, FLIGHT_NONE);
}

static void fail_mixed(const struct loop *l, const struct picture *now,
		       const char *what, unsigned n, unsigned m)
{
	printf("# %s, %s: neither old nor new: %s at call %u, %u\n",
	       l->scene->name, deed_names[l->deed], what, n, m);
	printf("# against the old:\n");
	picture_differ(now, &l->old);
	printf("# against the new:\n");
	picture_differ(now, &l->new);
	CHECK(!"mixed");
}

/* Old or new, and from there the deed leads to the new. */
static void check_after(struct loop *l, struct world *w, const char *what,
			unsigned n, unsigned m)
{
	struct picture now = world_picture(w);
	struct hb_error err = { 0 };
	int r;

	if (picture_is(&now, &l->old)) {
		r = act(l->scene, l->deed, w, &err);
		if (r < 0)
			printf("# %s, %s: again: %s after %s at %u, %u\n",
			       l->scene->name, deed_names[l->deed], err.text,
			       what, n, m);
		CHECK_INT(r, 0);
		picture_done(&now);
		world_reopen(w);
		now = world_picture(w);
	}
	if (!picture_is(&now, &l->new))
		fail_mixed(l, &now, what, n, m);
	picture_done(&now);
}

static void learn(struct loop *l)
{
	struct hb_error err = { 0 };
	struct world w;
	int r;

	prepare(l->scene, l->deed, &w);
	l->old = world_picture(&w);
	fault_arm(FAULT_NONE, 0);
	fault_only(l->only);
	r = act(l->scene, l->deed, &w, &err);
	if (r < 0)
		printf("# %s: %s\n", l->scene->name, err.text);
	CHECK_INT(r, 0);
	l->n_calls = fault_passages();
	world_reopen(&w);
	l->new = world_picture(&w);
	CHECK(l->deed == ROLLBACK || !picture_is(&l->old, &l->new));
	world_done(&w);
}

/* The n-th call fails. */
static void errors(struct loop *l, unsigned n)
{
	static const enum fault_mode modes[] = { FAULT_EIO, FAULT_ENOSPC,
						 FAULT_EDQUOT, FAULT_EACCES,
						 FAULT_DEAD };

	for (size_t i = 0; i < 5; i++) {
		struct hb_error err = { 0 };
		struct picture now;
		struct world w;
		bool is_swept;
		int r;

		if (!is_soak() && i != 0 && i != 1 + n % 4)
			continue;
		prepare(l->scene, l->deed, &w);
		fault_arm(modes[i], n);
		fault_only(l->only);
		r = act(l->scene, l->deed, &w, &err);
		CHECK(fault_passages() >= n);
		faults++;
		check_row(l, &w, "errno", n);
		is_swept = l->scene->is_swept;
		/* What is not filed yet is swept after the recovery. */
		if (r == 0 && !(is_swept && w.txn.is_unfinished)) {
			/* Said to be done: then it is, before recovery. */
			world_reopen(&w);
			/* What may not be removed stays until the next one. */
			CHECK_INT(scene_sweep(l->scene, &w, NULL), 0);
			now = world_picture(&w);
			if (!picture_is(&now, &l->new))
				fail_mixed(l, &now, "success", n, 0);
			picture_done(&now);
		} else if (r < 0) {
			CHECK(err.code > 0 && err.text[0] != '\0');
		}
		err = (struct hb_error){ 0 };
		r = recover(l->scene, &w, n % 2, &err);
		if (r < 0)
			printf("# %s, %s at %u: recover: %s\n", l->scene->name,
			       deed_names[l->deed], n, err.text);
		CHECK_INT(r, 0);
		check_row(l, &w, "recovered", n);
		check_after(l, &w, "errno", n, 0);
		world_done(&w);
	}
}

/* The n-th call kills us, and the m-th of the recovery it. */
static void kills(struct loop *l, unsigned n, enum fault_mode mode, bool back)
{
	unsigned m = 0;
	bool hit;

	do {
		struct hb_error err = { 0 };
		struct world w;
		int r;

		prepare(l->scene, l->deed, &w);
		hit = act_in_child(l, false, false, &w, mode, n);
		CHECK(hit);
		check_row(l, &w, "killed", n);
		if (m > 0) {
			hit = act_in_child(
				l, true, back, &w,
				m % 2 ? FAULT_KILL : FAULT_KILL_AFTER, m);
			check_row(l, &w, "recovery killed", n);
		}
		/* Of a recovery that was killed the next may turn round. */
		r = recover(l->scene, &w, m % 4 > 1 ? !back : back, &err);
		if (r < 0)
			printf("# %s, %s killed at %u: recover: %s\n",
			       l->scene->name, deed_names[l->deed], n,
			       err.text);
		CHECK_INT(r, 0);
		check_row(l, &w, "recovered", n);
		check_after(l, &w, back ? "kill, back" : "kill", n, m);
		world_done(&w);
		if (l->stride == 0)
			return;
		m += m == 0 ? 1 + n % l->stride : l->stride;
	} while (hit);
}

/* In the fast set some calls of each scene, another part for each deed. */
static void loop(const struct scene *s, enum deed deed)
{
	unsigned step = is_soak() || s == &scenes[0] ? 1
			: deed > ROLLBACK	     ? 13
						     : 7;
	struct loop l = { .scene = s, .deed = deed };
	bool back = false;

	if (!is_soak())
		step *= SANITIZED_STEP;
	learn(&l);
	for (unsigned n = 1 + (unsigned)deed % step; n <= l.n_calls;
	     n += step, back = !back) {
		l.stride = is_soak() ? 7 : 37;
		kills(&l, n, FAULT_KILL, back);
		l.stride = is_soak() ? 7 : 0;
		kills(&l, n, FAULT_KILL_AFTER, !back);
		errors(&l, n);
	}
	picture_done(&l.old);
	picture_done(&l.new);
}

static void every_scene(enum deed deed)
{
	unsigned long long before = faults;

	for (size_t i = 0; i < N_SCENES; i++)
		loop(&scenes[i], deed);
	printf("# %s: %llu faults injected\n", deed_names[deed],
	       faults - before);
}

static void commit_survives(void)
{
	every_scene(COMMIT);
}

static void undo_survives(void)
{
	every_scene(UNDO);
}

static void redo_survives(void)
{
	every_scene(REDO);
}

static void rollback_survives(void)
{
	every_scene(ROLLBACK);
}

static void rollback_of_paths_survives(void)
{
	every_scene(ROLLBACK_SOME);
	every_scene(UNDO_SOME);
}

/*
 * Four entries of scene_many() are a replacement, an addition, a deletion and
 * another replacement: the renames of each, and those before it in the four.
 */
static const struct {
	unsigned n, before;
} renames_of[4] = { { 2, 0 }, { 1, 2 }, { 2, 3 }, { 2, 5 } };

#define RENAMES_OF_FOUR 7
#define RENAMES_OF_1000 (250 * RENAMES_OF_FOUR)

/* The first of its renames, counted from the other end by an undo. */
static unsigned first_rename(unsigned entry, enum deed deed)
{
	unsigned at =
		entry / 4 * RENAMES_OF_FOUR + renames_of[entry % 4].before;

	return deed == UNDO ? RENAMES_OF_1000 - at - renames_of[entry % 4].n + 1
			    : at + 1;
}

static void one_of_a_thousand(struct loop *l, unsigned entry)
{
	for (unsigned i = 0; i < renames_of[entry % 4].n; i++) {
		unsigned n = first_rename(entry, l->deed) + i;

		if (!is_soak() && i != entry / 4 % renames_of[entry % 4].n)
			continue;
		kills(l, n, entry % 2 ? FAULT_KILL : FAULT_KILL_AFTER, i % 2);
		if (!is_soak())
			continue;
		kills(l, n, entry % 2 ? FAULT_KILL_AFTER : FAULT_KILL, i % 2);
		errors(l, n);
	}
}

/* Of each kind of operation the first, the one in the middle and the last. */
static void a_thousand_entries_survive(void)
{
	static const struct scene s = { "1000 entries", 1,
					.build = scene_1000 };
	static const unsigned groups[] = { 0, 125, 249 };
	unsigned long long before = faults;

	for (enum deed deed = COMMIT; deed <= REDO; deed++) {
		struct loop l = { .scene = &s,
				  .deed = deed,
				  .only = "renameat2" };

		learn(&l);
		CHECK_INT(l.n_calls, RENAMES_OF_1000);
		for (size_t i = 0; i < 3; i++)
			for (unsigned kind = 0; kind < 3; kind++)
				one_of_a_thousand(&l, 4 * groups[i] + kind);
		picture_done(&l.old);
		picture_done(&l.new);
	}
	printf("# 1000 entries: %llu faults injected\n", faults - before);
}

/* Every wrapper that these deeds go through. */
static struct wrapper {
	const char *name;
	bool moves_bytes;
	unsigned n_interrupted, n_short;
} wrappers[] = {
	{ "openat" },	    { "renameat2" },   { "renameat" },
	{ "linkat" },	    { "unlinkat" },    { "mkdirat" },
	{ "symlinkat" },    { "fsync" },       { "syncfs" },
	{ "utimensat" },    { "touch" },       { "chmod_fd" },
	{ "setxattr" },	    { "removexattr" }, { "ftruncate" },
	{ "clone" },	    { "pread" },       { "pread_full", true },
	{ "pwrite", true }, { "write", true }, { "copy_file_range", true },
	{ "openat2" },
};

#define N_WRAPPERS (sizeof(wrappers) / sizeof(wrappers[0]))

/* The n-th call of that name; false: there are fewer. */
static bool disturb(struct loop *l, struct wrapper *wrapper,
		    enum fault_mode mode, unsigned n)
{
	struct hb_error err = { 0 };
	struct picture now;
	struct world w;
	bool hit;
	int r;

	prepare(l->scene, l->deed, &w);
	fault_arm(mode, n);
	fault_only(wrapper->name);
	r = act(l->scene, l->deed, &w, &err);
	hit = fault_passages() >= n;
	fault_arm(FAULT_NONE, 0);
	if (r < 0)
		printf("# %s, %s: %s: %s\n", l->scene->name,
		       deed_names[l->deed], wrapper->name, err.text);
	CHECK_INT(r, 0);
	world_reopen(&w);
	now = world_picture(&w);
	if (!picture_is(&now, &l->new))
		fail_mixed(l, &now, wrapper->name, n, 0);
	picture_done(&now);
	world_done(&w);
	if (!hit)
		return false;
	faults++;
	if (mode == FAULT_EINTR)
		wrapper->n_interrupted++;
	else
		wrapper->n_short++;
	return true;
}

/* In the fast set the commit and some other deed of each scene, once each. */
static void disturb_all(struct loop *l, unsigned turn)
{
	for (size_t i = 0; i < N_WRAPPERS; i++) {
		struct wrapper *w = &wrappers[i];
		unsigned n_max = is_soak() ? 1000 : 1;

		if (!is_soak() && l->deed != COMMIT &&
		    (turn + i) % DEEDS != l->deed)
			continue;
		for (unsigned n = 1; n <= n_max; n++)
			if (!disturb(l, w, FAULT_EINTR, n))
				break;
		for (unsigned n = 1; w->moves_bytes && n <= n_max; n++)
			if (!disturb(l, w, FAULT_SHORT, n))
				break;
	}
}

static void interrupted_and_short_calls_go_on(void)
{
	unsigned long long before = faults;
	int missed = 0;

	for (size_t i = 0; i < N_SCENES; i++)
		for (enum deed deed = COMMIT; deed < DEEDS; deed++) {
			struct loop l = { .scene = &scenes[i], .deed = deed };

			learn(&l);
			disturb_all(&l, (unsigned)i);
			picture_done(&l.old);
			picture_done(&l.new);
		}
	for (size_t i = 0; i < N_WRAPPERS; i++) {
		const struct wrapper *w = &wrappers[i];

		if (w->n_interrupted > 0 && (!w->moves_bytes || w->n_short > 0))
			continue;
		printf("# %s: never disturbed\n", w->name);
		missed++;
	}
	CHECK_INT(missed, 0);
	printf("# interrupted or short: %llu faults injected\n",
	       faults - before);
}

static void meddle_after_kill(struct loop *l, unsigned n, enum meddling how,
			      bool back)
{
	struct txn_state state = { 0 };
	struct hb_error err = { 0 };
	enum txn_recovered what;
	struct world w;
	size_t n_his, n_inside;
	int r;

	prepare(l->scene, l->deed, &w);
	w.resources[0].since = read_clock(w.session);
	CHECK(act_in_child(l, false, false, &w, FAULT_KILL_AFTER, n));
	meddle(&w, how);
	n_his = meddle_count(w.upper[0]);
	n_inside = meddle_count_inside(w.base[0]);
	world_reopen(&w);
	r = txn_recover(&w.txn, back, &what, &err);
	if (r != 0 && r != -HB_E_STATE)
		printf("# %s, %s, %s %u, meddled %d: %d: %s\n", l->scene->name,
		       deed_names[l->deed], l->only, n, (int)how, r, err.text);
	CHECK(r == 0 || r == -HB_E_STATE);
	/* All is done but what is his, unless he spoilt what is ours. */
	if (how != MEDDLE_SOURCE && how != MEDDLE_UNDO) {
		CHECK(r == 0 || w.txn.n_left > 0);
		CHECK_INT(txn_check(&w.txn, &state, &err), 0);
		CHECK_INT(state.flight, FLIGHT_NONE);
	}
	CHECK(how != MEDDLE_OTHER || meddle_count(w.base[0]) == N_MEDDLED);
	CHECK(how != MEDDLE_UPPER || meddle_count(w.upper[0]) == n_his);
	if (how == MEDDLE_INSIDE && meddle_count_inside(w.base[0]) != n_inside)
		printf("# %s, %s, %s %u, %s: his files are not in the base\n",
		       l->scene->name, deed_names[l->deed], l->only, n,
		       back ? "back" : "forward");
	CHECK(how != MEDDLE_INSIDE ||
	      meddle_count_inside(w.base[0]) == n_inside);
	/* The way forward has no use for the name any more. */
	CHECK(how != MEDDLE_UPPER || back || l->deed == UNDO || r == 0);
	world_done(&w);
}

/* At each call that moves something; in the fast set in one direction each. */
static void meddle_scene(const struct scene *s, enum deed deed)
{
	static const char *const calls[] = { "renameat2", "linkat",
					     "unlinkat" };

	for (size_t i = 0; i < 3; i++) {
		struct loop l = { .scene = s, .deed = deed, .only = calls[i] };

		learn(&l);
		for (unsigned n = 1; n <= l.n_calls; n++)
			for (int how = 0; how < MEDDLINGS; how++) {
				bool back = (n + (unsigned)how / 2) % 2;

				meddle_after_kill(&l, n, (enum meddling)how,
						  back);
				if (is_soak())
					meddle_after_kill(&l, n,
							  (enum meddling)how,
							  !back);
			}
		picture_done(&l.old);
		picture_done(&l.new);
	}
}

static void what_somebody_else_wrote_after_a_kill_stays(void)
{
	static const struct scene all[] = {
		{ "one of each", 1, .build = scene_meddled },
		{ "one of each, no flags for rename", 1, false, true,
		  .build = scene_meddled },
		{ "one of each, another file system", 1, true,
		  .build = scene_meddled },
		{ "one of each, directories that cannot move", 1,
		  .build = scene_meddled, .is_overlay = true },
	};
	unsigned long long before = faults;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (enum deed deed = COMMIT; deed <= REDO; deed++)
			meddle_scene(&all[i], deed);
	fault_overlay(0);
	printf("# meddled: %llu faults injected\n", faults - before);
}

static void every_row_of_the_steps_was_taken(void)
{
	size_t n = step_rows();
	int missed = 0;

	CHECK(n <= ROWS_MAX);
	for (size_t i = 0; i < n; i++) {
		printf("# row %zu of step.c: %u forward, %u back\n", i,
		       steps_taken[i][0], steps_taken[i][1]);
		missed += steps_taken[i][0] == 0 && steps_taken[i][1] == 0;
	}
	CHECK_INT(missed, 0);
}

/* A row that no kill leaves would be one that nobody needs. */
static void every_row_but_a_damaged_journal_was_left(void)
{
	size_t n;
	const struct txn_row *rows = txn_rows(&n);

	for (size_t i = 0; i < n; i++) {
		printf("# %s: %llu times\n", rows[i].name, rows_left[i]);
		CHECK(rows[i].flight == FLIGHT_DAMAGED || rows_left[i] > 0);
	}
}

static void set_up(void)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(told != MAP_FAILED);
	steps_taken =
		mmap(NULL, ROWS_MAX * sizeof(*steps_taken),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(steps_taken != MAP_FAILED);
	fault_count_rows(&steps_taken[0][0], 2 * ROWS_MAX);
	world_mount();
}

static void tear_down(void)
{
	world_unmount();
	printf("# %llu faults injected in all\n", faults);
}

TESTS(T(set_up), T(commit_survives), T(undo_survives), T(redo_survives),
      T(rollback_survives), T(rollback_of_paths_survives),
      T(a_thousand_entries_survive), T(interrupted_and_short_calls_go_on),
      T(what_somebody_else_wrote_after_a_kill_stays),
      T(every_row_of_the_steps_was_taken),
      T(every_row_but_a_damaged_journal_was_left), T(tear_down))
