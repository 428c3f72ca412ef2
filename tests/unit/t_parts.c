/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/change_lines.h"
#include "changes/part.h"
#include "sys/durable.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "world.h"

/*
 * A resource that is no directory beside one that is: a ledger, of which the
 * real value lies in `value` of its store and the pending one in `pending`.
 */
#define LEDGER 1

/* What the next call of a function of the ledger does instead. */
static struct {
	int prepare, commit, undo;
	bool dies; /* commit() is killed when it is done */
} fails;

static void put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

static bool has(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, 0) == 0;
}

static void name_of(char *ret, size_t size, const char *dir, uint64_t id,
		    const char *name)
{
	(void)snprintf(ret, size, "%s/%llu/%s", dir, (unsigned long long)id,
		       name);
}

static int ledger_changes(const struct changes_request *request,
			  struct changes **ret, struct hb_error *err)
{
	const struct change line = { .kind = CHANGE_MODIFIED,
				     .what = CHANGED_CONTENT,
				     .path = "value" };
	int dir = request->resource->dir;
	char text[64] = { 0 };
	struct lines lines;
	int fd, r;

	r = lines_begin(&lines, request, err);
	fd = openat(dir, "pending", O_RDONLY | O_CLOEXEC);
	if (r >= 0 && fd >= 0) {
		ssize_t n = read(fd, text, sizeof(text));

		r = lines_add(&lines, &line, text, n > 0 ? (size_t)n : 0, err);
	}
	if (fd >= 0)
		(void)close(fd);
	if (r >= 0)
		r = lines_end(&lines, ret, err);
	lines_drop(&lines);
	return r;
}

static int ledger_prepare(const struct resource *resource, uint64_t id,
			  struct changes *changes,
			  const struct changes_choice *choice,
			  struct hb_error *err)
{
	char name[64];
	int r;

	(void)changes;
	(void)choice;
	if (fails.prepare < 0)
		return hb_fail(err, fails.prepare, "the ledger is closed");
	name_of(name, sizeof(name), "txn", id, "set-aside");
	r = sys_linkat(resource->dir, "pending", resource->dir, name);
	return r < 0 ? hb_fail(err, r, "cannot set the value aside") : 0;
}

/* Moves it if it is there, and is a place where the world can stop. */
static int shift(int dir, const char *from, const char *to,
		 struct hb_error *err)
{
	int r = has(dir, from) ? sys_renameat(dir, from, dir, to) : 0;

	return r < 0 ? hb_fail(err, r, "cannot move '%s'", from) : 0;
}

static int drop(int dir, const char *name, struct hb_error *err)
{
	int r = has(dir, name) ? sys_unlinkat(dir, name, 0) : 0;

	return r < 0 ? hb_fail(err, r, "cannot remove '%s'", name) : 0;
}

/* Each step by what lies where, so that twice is once. */
static int ledger_commit(const struct resource *resource, uint64_t id,
			 struct hb_error *err)
{
	char new[64], old[64];
	int dir = resource->dir;
	int r;

	name_of(new, sizeof(new), "txn", id, "set-aside");
	name_of(old, sizeof(old), "undo", id, "value");
	if (fails.commit < 0)
		return hb_fail(err, fails.commit, "the ledger is closed");
	r = has(dir, new) && !has(dir, old) ? shift(dir, "value", old, err) : 0;
	if (r < 0)
		return r;
	r = shift(dir, new, "value", err);
	if (r < 0)
		return r;
	r = drop(dir, "pending", err);
	if (r < 0)
		return r;
	if (fails.dies)
		_exit(0);
	return 0;
}

static int ledger_rollback(const struct resource *resource, uint64_t id,
			   struct hb_error *err)
{
	char kept[64];

	name_of(kept, sizeof(kept), "undo", id, "pending");
	return shift(resource->dir, "pending", kept, err);
}

static int ledger_undo(const struct resource *resource, uint64_t id,
		       struct hb_error *err)
{
	char value[64], kept[64];
	int dir = resource->dir;
	int r;

	if (fails.undo < 0)
		return hb_fail(err, fails.undo, "the ledger is closed");
	name_of(value, sizeof(value), "undo", id, "value");
	name_of(kept, sizeof(kept), "undo", id, "pending");
	if (!has(dir, value))
		return shift(dir, kept, "pending", err);
	/* A commit that is taken back may not have come to its last step. */
	r = has(dir, "pending") ? drop(dir, "value", err)
				: shift(dir, "value", "pending", err);
	return r < 0 ? r : shift(dir, value, "value", err);
}

static int ledger_redo(const struct resource *resource, uint64_t id,
		       struct hb_error *err)
{
	char value[64];
	int dir = resource->dir;
	int r;

	name_of(value, sizeof(value), "undo", id, "value");
	r = has(dir, "pending") && !has(dir, value)
		    ? shift(dir, "value", value, err)
		    : 0;
	return r < 0 ? r : shift(dir, "pending", "value", err);
}

static const struct part ledger = PART_OF(ledger);

static void lay_ledger(struct world *w)
{
	struct resource *resource = &w->resources[LEDGER];

	w->records[LEDGER].source = (char *)(uintptr_t) "ledger";
	resource->part = &ledger;
	resource->base = -1;
	resource->layers = NULL;
	resource->n_layers = 0;
}

static void begin(struct world *w)
{
	memset(&fails, 0, sizeof(fails));
	world_init(w, 2, false);
	lay_ledger(w);
	lay_file(w->base[0], "f", "old", 0644, WORLD_OLD);
	lay_file(w->upper[0], "f", "new", 0644, WORLD_NEW);
	put(w->dir[LEDGER], "value", "1");
	put(w->dir[LEDGER], "pending", "2");
}

static int commit(struct world *w, struct txn_result *ret)
{
	const struct txn_options options = { 0 };
	struct hb_error err = { 0 };
	int r = txn_commit(&w->txn, &options, world_seen, w, ret, &err);

	if (r < 0)
		printf("# %s\n", err.text);
	return r;
}

/* The directory and the ledger are both at this side. */
static void check_side(const struct world *w, bool is_new)
{
	CHECK(is_text(w->base[0], "f", is_new ? "new" : "old"));
	CHECK(is_text(w->dir[LEDGER], "value", is_new ? "2" : "1"));
	CHECK(has(w->dir[LEDGER], "pending") == !is_new);
}

static void a_commit_undo_and_redo_take_both(void)
{
	struct txn_result result = { 0 };
	struct world w;

	begin(&w);
	CHECK_INT(commit(&w, &result), 0);
	CHECK_INT(result.n_operations, 2);
	CHECK_INT(result.summary.n_modified, 2);
	check_side(&w, true);
	CHECK_INT(txn_undo(&w.txn, &result, NULL), 0);
	check_side(&w, false);
	CHECK_INT(txn_redo(&w.txn, &result, NULL), 0);
	check_side(&w, true);
	world_done(&w);
}

static void a_rollback_takes_both(void)
{
	struct txn_result result = { 0 };
	struct world w;

	begin(&w);
	CHECK_INT(txn_rollback(&w.txn, NULL), 0);
	CHECK(!has(w.dir[LEDGER], "pending"));
	CHECK(is_text(w.dir[LEDGER], "value", "1"));
	world_reopen(&w);
	lay_ledger(&w);
	CHECK_INT(txn_undo(&w.txn, &result, NULL), 0);
	check_side(&w, false);
	world_done(&w);
}

static void a_refusal_before_the_journal_changes_nothing(void)
{
	struct txn_result result = { 0 };
	struct world w;

	begin(&w);
	fails.prepare = -EPERM;
	CHECK_INT(commit(&w, &result), -EPERM);
	check_side(&w, false);
	CHECK(!has(w.session, "journal"));
	fails.prepare = 0;
	CHECK_INT(commit(&w, &result), 0);
	check_side(&w, true);
	world_done(&w);
}

static void a_failure_after_the_journal_takes_the_directory_back(void)
{
	struct txn_result result = { 0 };
	struct world w;

	begin(&w);
	fails.commit = -EIO;
	CHECK_INT(commit(&w, &result), -EIO);
	check_side(&w, false);
	CHECK(!has(w.session, "journal"));
	world_done(&w);
}

static void recovery_finishes_both_after_a_kill(void)
{
	enum txn_recovered what = RECOVERED_NOTHING;
	struct txn_result result = { 0 };
	struct world w;
	pid_t pid;
	int status;

	begin(&w);
	pid = fork();
	if (pid == 0) {
		fails.dies = true;
		(void)commit(&w, &result);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(has(w.session, "journal"));
	CHECK_INT(txn_recover(&w.txn, false, &what, NULL), 0);
	CHECK_INT(what, RECOVERED_FORWARD);
	check_side(&w, true);
	world_done(&w);
}

static void recovery_takes_both_back_after_a_kill(void)
{
	enum txn_recovered what = RECOVERED_NOTHING;
	struct txn_result result = { 0 };
	struct world w;
	pid_t pid;
	int status;

	begin(&w);
	pid = fork();
	if (pid == 0) {
		fails.dies = true;
		(void)commit(&w, &result);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_INT(txn_recover(&w.txn, true, &what, NULL), 0);
	CHECK_INT(what, RECOVERED_BACK);
	check_side(&w, false);
	world_done(&w);
}

static void a_path_of_it_cannot_be_rolled_back_alone(void)
{
	struct txn_path path = { .resource = LEDGER, .path = "value" };
	struct world w;

	begin(&w);
	CHECK_INT(txn_rollback_paths(&w.txn, &path, 1, NULL, NULL),
		  -HB_E_UNSUPPORTED);
	check_side(&w, false);
	path.resource = 0;
	path.path = "f";
	CHECK_INT(txn_rollback_paths(&w.txn, &path, 1, NULL, NULL), 0);
	CHECK(has(w.dir[LEDGER], "pending"));
	world_done(&w);
}

/*
 * Every call that changes something fails, or kills us, for the transaction's
 * own calls as for the ledger's.  Directory and ledger are then on one side.
 */
enum deed {
	COMMIT,
	UNDO,
	REDO,
	ROLLBACK,
	DEEDS
};

static int act(struct world *w, enum deed deed, struct hb_error *err)
{
	const struct txn_options options = { 0 };
	struct txn_result result = { 0 };

	switch (deed) {
	case COMMIT:
		return txn_commit(&w->txn, &options, world_seen, w, &result,
				  err);
	case UNDO:
		return txn_undo(&w->txn, &result, err);
	case REDO:
		return txn_redo(&w->txn, &result, err);
	case ROLLBACK:
		return txn_rollback(&w->txn, err);
	case DEEDS:
	default:
		return -1;
	}
}

static void prepare(struct world *w, enum deed deed)
{
	fault_arm(FAULT_NONE, 0);
	begin(w);
	if (deed == UNDO || deed == REDO)
		CHECK_INT(act(w, COMMIT, NULL), 0);
	if (deed == REDO)
		CHECK_INT(act(w, UNDO, NULL), 0);
}

static void reopen(struct world *w)
{
	world_reopen(w);
	lay_ledger(w);
}

/* In a child, which the n-th call may kill.  Whether there was an n-th call. */
static bool dies(struct world *w, enum deed deed, bool recovers,
		 enum fault_mode mode, unsigned nth)
{
	enum txn_recovered what;
	int status;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fault_arm(mode, nth);
		if (recovers)
			(void)txn_recover(&w->txn, false, &what, NULL);
		else
			(void)act(w, deed, NULL);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status);
}

/* Nothing is in flight, and which side directory and ledger are both on. */
static bool is_done(struct world *w, enum deed deed)
{
	int upper = w->upper[0], dir = w->dir[LEDGER];
	bool is_pending = has(upper, "f");
	bool is_new = deed == ROLLBACK ? !is_pending
				       : is_text(w->base[0], "f", "new");

	CHECK(!has(w->session, "journal"));
	CHECK(has(dir, "pending") == is_pending);
	if (deed == ROLLBACK)
		CHECK(is_text(dir, "value", "1") &&
		      is_text(w->base[0], "f", "old"));
	else
		check_side(w, is_new);
	return deed == UNDO ? !is_new : is_new;
}

static void recover(struct world *w, bool back)
{
	enum txn_recovered what;
	struct hb_error err = { 0 };
	int r;

	fault_arm(FAULT_NONE, 0);
	reopen(w);
	r = txn_recover(&w->txn, back, &what, &err);
	if (r < 0)
		printf("# %s\n", err.text);
	CHECK_INT(r, 0);
	reopen(w);
}

/* False where there is no n-th call. */
static bool fail_at(enum deed deed, enum fault_mode mode, unsigned n)
{
	struct hb_error err = { 0 };
	struct world w;
	bool hit;
	int r;

	prepare(&w, deed);
	fault_arm(mode, n);
	r = act(&w, deed, &err);
	hit = fault_passages() >= n;
	fault_arm(FAULT_NONE, 0);
	CHECK(r == 0 || err.text[0] != '\0');
	if (r == 0 && !w.txn.is_unfinished) {
		reopen(&w);
		CHECK(is_done(&w, deed));
	}
	recover(&w, n % 2);
	(void)is_done(&w, deed);
	world_done(&w);
	return hit;
}

/* The n-th call kills us, and the m-th of the recovery it. */
static bool kill_at(enum deed deed, enum fault_mode mode, unsigned n,
		    unsigned m)
{
	bool hit, had_journal;
	struct world w;

	prepare(&w, deed);
	hit = dies(&w, deed, false, mode, n);
	reopen(&w);
	had_journal = has(w.session, "journal");
	if (m > 0)
		(void)dies(&w, deed, true, mode, m);
	recover(&w, false);
	CHECK(is_done(&w, deed) || !had_journal);
	world_done(&w);
	return hit;
}

static void both_survive_every_failure(void)
{
	static const enum fault_mode modes[] = { FAULT_EIO, FAULT_ENOSPC,
						 FAULT_DEAD };

	for (enum deed deed = COMMIT; deed < DEEDS; deed++)
		for (size_t i = 0; i < 3; i++) {
			unsigned n = 1;

			while (fail_at(deed, modes[i], n))
				n++;
			CHECK(n > 10);
		}
}

static void both_survive_every_kill(void)
{
	for (enum deed deed = COMMIT; deed < DEEDS; deed++) {
		unsigned n = 1;

		/* Not every m for every n, but another one for each. */
		while (kill_at(deed, FAULT_KILL, n, n * 5 % 31) &&
		       kill_at(deed, FAULT_KILL_AFTER, n, n * 7 % 31))
			n++;
		CHECK(n > 10);
	}
}

TESTS(T(both_survive_every_failure), T(both_survive_every_kill),
      T(a_commit_undo_and_redo_take_both), T(a_rollback_takes_both),
      T(a_refusal_before_the_journal_changes_nothing),
      T(a_failure_after_the_journal_takes_the_directory_back),
      T(recovery_finishes_both_after_a_kill),
      T(recovery_takes_both_back_after_a_kill),
      T(a_path_of_it_cannot_be_rolled_back_alone))
