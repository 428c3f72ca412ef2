/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/change_lines.h"
#include "changes/part.h"
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

	(void)changes;
	(void)choice;
	if (fails.prepare < 0)
		return hb_fail(err, fails.prepare, "the ledger is closed");
	name_of(name, sizeof(name), "txn", id, "set-aside");
	return linkat(resource->dir, "pending", resource->dir, name, 0) == 0
		       ? 0
		       : -errno;
}

/* Each step by what lies where, so that twice is once. */
static int ledger_commit(const struct resource *resource, uint64_t id,
			 struct hb_error *err)
{
	char new[64], old[64];
	int dir = resource->dir;

	name_of(new, sizeof(new), "txn", id, "set-aside");
	name_of(old, sizeof(old), "undo", id, "value");
	if (fails.commit < 0)
		return hb_fail(err, fails.commit, "the ledger is closed");
	if (has(dir, new)) {
		if (!has(dir, old))
			CHECK_INT(renameat(dir, "value", dir, old), 0);
		CHECK_INT(renameat(dir, new, dir, "value"), 0);
		(void)unlinkat(dir, "pending", 0);
	}
	if (fails.dies)
		_exit(0);
	return 0;
}

static int ledger_rollback(const struct resource *resource, uint64_t id,
			   struct hb_error *err)
{
	char kept[64];

	(void)err;
	name_of(kept, sizeof(kept), "undo", id, "pending");
	if (has(resource->dir, "pending"))
		CHECK_INT(
			renameat(resource->dir, "pending", resource->dir, kept),
			0);
	return 0;
}

static int ledger_undo(const struct resource *resource, uint64_t id,
		       struct hb_error *err)
{
	char value[64], kept[64];
	int dir = resource->dir;

	if (fails.undo < 0)
		return hb_fail(err, fails.undo, "the ledger is closed");
	name_of(value, sizeof(value), "undo", id, "value");
	name_of(kept, sizeof(kept), "undo", id, "pending");
	if (has(dir, value)) {
		CHECK_INT(renameat(dir, "value", dir, "pending"), 0);
		CHECK_INT(renameat(dir, value, dir, "value"), 0);
	} else if (has(dir, kept)) {
		CHECK_INT(renameat(dir, kept, dir, "pending"), 0);
	}
	return 0;
}

static int ledger_redo(const struct resource *resource, uint64_t id,
		       struct hb_error *err)
{
	char value[64];
	int dir = resource->dir;

	(void)err;
	name_of(value, sizeof(value), "undo", id, "value");
	if (has(dir, "pending")) {
		CHECK_INT(renameat(dir, "value", dir, value), 0);
		CHECK_INT(renameat(dir, "pending", dir, "value"), 0);
	}
	return 0;
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

TESTS(T(a_commit_undo_and_redo_take_both), T(a_rollback_takes_both),
      T(a_refusal_before_the_journal_changes_nothing),
      T(a_failure_after_the_journal_takes_the_directory_back),
      T(recovery_finishes_both_after_a_kill),
      T(recovery_takes_both_back_after_a_kill),
      T(a_path_of_it_cannot_be_rolled_back_alone))
