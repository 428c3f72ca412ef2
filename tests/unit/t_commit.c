/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/txn.h"

#include "base/report.h"
#include "merge.h"
#include "scenes.h"
#include "sys/fault.h"
#include "txn/history.h"

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

/* There and back again, in every scene. */
static void commit_undo_redo(void)
{
	for (size_t i = 0; i < N_SCENES; i++) {
		const struct scene *s = &scenes[i];
		struct picture old, new;
		struct hb_error err = { 0 };
		struct world w;

		fault_plain_rename(s->is_plain);
		scene_open(s, &w);
		old = world_picture(&w);
		must(scene_commit(s, &w, &err), s->name, &err);
		CHECK(w.n_seen > 0);
		new = world_picture(&w);
		CHECK(!picture_is(&old, &new));
		must(undo(&w, &err), s->name, &err);
		check_picture(&w, &old, s->name, "undo");
		must(redo(&w, &err), s->name, &err);
		must(scene_sweep(s, &w, &err), s->name, &err);
		check_picture(&w, &new, s->name, "redo");
		must(undo(&w, &err), s->name, &err);
		check_picture(&w, &old, s->name, "undo again");
		picture_done(&old);
		picture_done(&new);
		world_done(&w);
	}
	fault_plain_rename(0);
}

/* What arrives is what the view showed, worked out by hand. */
static void the_base_is_what_was_seen(void)
{
	for (size_t i = 0; i < N_SCENES; i++) {
		const struct scene *s = &scenes[i];
		struct scene near = *s;
		struct hb_error err = { 0 };
		struct world w, model;

		if (s->only || s->except || s->deliver)
			continue;
		near.is_far = false;
		fault_plain_rename(s->is_plain);
		scene_open(s, &w);
		scene_open(&near, &model);
		must(scene_commit(s, &w, &err), s->name, &err);
		for (size_t k = 0; k < w.n; k++) {
			char *got, *want;
			struct stat top;

			CHECK_INT(fstat(model.upper[k], &top), 0);
			merge(model.upper[k], model.base[k]);
			if (model.tops[k] >= 0) {
				merge_xattrs(model.upper[k], model.base[k]);
				CHECK_INT(fchmod(model.base[k],
						 top.st_mode & 07777),
					  0);
			}
			tree_empty(model.upper[k]);
			got = digest(w.base[k]);
			want = digest(model.base[k]);
			if (strcmp(got, want) != 0) {
				printf("# %s\n", s->name);
				text_differ("base", got, want);
			}
			CHECK(strcmp(got, want) == 0);
			free(got);
			free(want);
		}
		world_done(&w);
		world_done(&model);
	}
	fault_plain_rename(0);
}

/* Afterwards nothing is pending, unless something was left out. */
static void nothing_is_pending_after(void)
{
	for (size_t i = 0; i < N_SCENES; i++) {
		const struct scene *s = &scenes[i];
		const struct txn_options dry = { .dry_run = true };
		struct txn_options o = scene_options(s);
		struct txn_result result;
		struct hb_error err = { 0 };
		struct world w;
		bool has_rest;

		scene_open(s, &w);
		must(txn_commit(&w.txn, &o, NULL, NULL, &result, &err), s->name,
		     &err);
		has_rest = result.has_rest;
		CHECK(has_rest == (s->only || s->except || s->holds));
		must(txn_commit(&w.txn, &dry, NULL, NULL, &result, &err),
		     s->name, &err);
		if ((result.summary.n_changes > 0) != has_rest)
			printf("# %s: %llu pending\n", s->name,
			       (unsigned long long)result.summary.n_changes);
		CHECK((result.summary.n_changes > 0) == has_rest);
		world_done(&w);
	}
}

/* The base has what was made, and the layer nothing that was settled. */
static void made_files_arrive(void)
{
	static const struct scene s = { "made", 1, .build = scene_made,
					.deliver = deliver_made };
	struct hb_error err = { 0 };
	struct world w;

	scene_open(&s, &w);
	must(scene_commit(&s, &w, &err), s.name, &err);
	for (size_t i = 0; i < N_MADE(made_rows); i++) {
		const struct made_row *r = &made_rows[i];
		const char *text = r->how == DELIVERED_MADE && r->is_delivered
					   ? r->text
				   : !r->is_delivered		 ? r->upper
				   : r->how == DELIVERED_SETTLED ? r->base
								 : NULL;
		struct stat st;

		if (text && !is_text(w.base[0], r->path, text))
			printf("# %s\n", r->path);
		CHECK(!text || is_text(w.base[0], r->path, text));
		/* Of `place` a directory was made. */
		CHECK(text || fstatat(w.base[0], r->path, &st, 0) < 0 ||
		      S_ISDIR(st.st_mode));
		CHECK(faccessat(w.upper[0], r->path, F_OK,
				AT_SYMLINK_NOFOLLOW) < 0);
	}
	world_done(&w);
}

static bool has_lock_of_ours(const struct world *w)
{
	for (size_t i = 0; i < N_MADE(made_rows); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s.lock",
			       made_rows[i].path);
		if (!is_text(w->base[0], path, "git") &&
		    faccessat(w->base[0], path, F_OK, 0) == 0)
			return true;
	}
	return false;
}

/* Whoever holds it is waited for, and then nothing happens. */
static void a_lock_of_git_stops_the_commit(void)
{
	static const struct scene s = { "locked", 1, .build = scene_made,
					.deliver = deliver_made };
	static const char *const held[] = { MADE_GIT("index.lock"),
					    MADE_HEADS "master.lock",
					    MADE_GIT("packed-refs.lock"),
					    MADE_GIT("gc.pid") };
	char pid[32];

	(void)snprintf(pid, sizeof(pid), "%d host", (int)getpid());
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		struct hb_error err = { 0 };
		struct picture old;
		struct world w;

		scene_open(&s, &w);
		put_file(w.base[0], held[i],
			 strstr(held[i], "pid") ? pid : "git");
		CHECK_INT(utimensat(w.base[0], held[i], NULL, 0), 0);
		set_mtime(w.base[0], ".git", WORLD_OLD);
		old = world_picture(&w);
		CHECK_INT(scene_commit(&s, &w, &err), -HB_E_BUSY);
		check_picture(&w, &old, held[i], "busy");
		CHECK(!has_lock_of_ours(&w));
		CHECK_INT(unlinkat(w.base[0], held[i], 0), 0);
		must(scene_commit(&s, &w, &err), held[i], &err);
		CHECK(!has_lock_of_ours(&w));
		picture_done(&old);
		world_done(&w);
	}
}

/* A garbage collector that is dead, or was begun yesterday, is none. */
static void a_dead_collector_stops_nothing(void)
{
	static const struct scene s = { "dead", 1, .build = scene_made,
					.deliver = deliver_made };
	struct hb_error err = { 0 };
	struct world w;
	char pid[32];

	for (int i = 0; i < 2; i++) {
		scene_open(&s, &w);
		(void)snprintf(pid, sizeof(pid), "%d host",
			       i == 0 ? 4194304 : (int)getpid());
		put_file(w.base[0], MADE_GIT("gc.pid"), pid);
		set_mtime(w.base[0], MADE_GIT("gc.pid"),
			  time(NULL) - (i == 0 ? 0 : 13 * 3600));
		must(scene_commit(&s, &w, &err), pid, &err);
		world_done(&w);
	}
}

static int read_digit(int dir, const char *name)
{
	char c = 'x';
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(read(fd, &c, 1), 1);
	(void)close(fd);
	return c - '0';
}

static void several_commits_and_undos(void)
{
	struct picture at[4];
	struct world w;
	char name[16];

	world_init(&w, 1, false);
	for (int i = 0; i < 4; i++) {
		set_mtime(w.upper[0], ".", WORLD_NEW + i);
		at[i] = world_picture(&w);
		if (i == 3)
			break;
		(void)snprintf(name, sizeof(name), "%d", i);
		lay_file(w.upper[0], "f", name, 0644, WORLD_NEW + i);
		lay_file(w.upper[0], name, name, 0644, WORLD_NEW);
		set_mtime(w.upper[0], ".", WORLD_NEW + i);
		MUST(commit_all(&w, &err));
	}
	/* Of one path: the layer keeps the newest, the base goes back. */
	for (int i = 2; i >= 0; i--) {
		char *base;

		MUST(undo(&w, &err));
		base = digest(w.base[0]);
		CHECK(strcmp(base + strcspn(base, "\n"),
			     at[i].base[0] + strcspn(at[i].base[0], "\n")) ==
		      0);
		free(base);
		CHECK_INT(read_digit(w.upper[0], "f"), 2);
	}
	CHECK_INT(undo(&w, NULL), -HB_E_STATE);
	for (int i = 0; i < 3; i++) {
		MUST(redo(&w, &err));
		CHECK_INT(read_digit(w.base[0], "f"), i);
	}
	CHECK_INT(redo(&w, NULL), -HB_E_STATE);
	for (int i = 0; i < 4; i++)
		picture_done(&at[i]);
	world_done(&w);
}

/* Of different paths: back to the first, and forward in the same order. */
static void undone_ones_are_redone_in_order(void)
{
	struct picture at[4];
	struct world w;
	char name[16];

	world_init(&w, 1, false);
	for (int i = 0; i < 4; i++) {
		set_mtime(w.base[0], ".", WORLD_OLD);
		set_mtime(w.upper[0], ".", WORLD_OLD);
		at[i] = world_picture(&w);
		if (i == 3)
			break;
		(void)snprintf(name, sizeof(name), "f%d", i);
		lay_file(w.upper[0], name, name, 0644, WORLD_NEW);
		set_mtime(w.upper[0], ".", WORLD_OLD);
		MUST(commit_all(&w, &err));
	}
	for (int i = 2; i >= 0; i--)
		MUST(undo(&w, &err));
	CHECK_INT(undo(&w, NULL), -HB_E_STATE);
	for (int i = 0; i < 3; i++)
		MUST(redo(&w, &err));
	CHECK_INT(redo(&w, NULL), -HB_E_STATE);
	check_picture(&w, &at[3], "three", "redone");
	for (int i = 0; i < 4; i++)
		picture_done(&at[i]);
	world_done(&w);
}

static void what_the_user_changed_stops_undo(void)
{
	struct picture before;
	struct world w;

	world_init(&w, 1, false);
	lay_file(w.upper[0], "f", "f", 0644, WORLD_NEW);
	put_dir(w.upper[0], "d");
	lay_file(w.upper[0], "d/f", "f", 0644, WORLD_NEW);
	MUST(commit_all(&w, &err));
	for (int i = 0; i < 4; i++) {
		if (i == 0)
			put_file(w.base[0], "f", "edited");
		else if (i == 1)
			put_file(w.base[0], "d/mine", "mine");
		else if (i == 2)
			CHECK_INT(fchmodat(w.base[0], "d/f", 0600, 0), 0);
		else
			put_file(w.upper[0], "f", "pending");
		before = world_picture(&w);
		CHECK_INT(undo(&w, NULL), -HB_E_CONFLICT);
		check_picture(&w, &before, "undo", "refused");
		picture_done(&before);
	}
	world_done(&w);
}

static void rollback_comes_back(void)
{
	struct picture old, empty;
	struct world w;

	scene_open(&scenes[1], &w);
	old = world_picture(&w);
	MUST(txn_rollback(&w.txn, &err));
	world_reopen(&w);
	empty = world_picture(&w);
	CHECK(strcmp(empty.base[0], old.base[0]) == 0);
	/* An empty upper with the attributes of the base's root. */
	CHECK(empty.upper[0][strcspn(empty.upper[0], "\n") + 1] == '\0');
	CHECK(strncmp(empty.upper[0], empty.base[0],
		      strcspn(empty.base[0], "\n")) == 0);
	MUST(undo(&w, &err));
	world_reopen(&w);
	check_picture(&w, &old, "rollback", "undone");
	MUST(redo(&w, &err));
	world_reopen(&w);
	check_picture(&w, &empty, "rollback", "redone");
	put_file(w.upper[0], "new", "work");
	CHECK_INT(undo(&w, NULL), -HB_E_CONFLICT);
	picture_done(&old);
	picture_done(&empty);
	world_done(&w);
}

static void expected_or_nothing(void)
{
	struct txn_options o = { .dry_run = true };
	struct txn_result result;
	struct picture old;
	uint8_t hash[32];
	struct world w;

	scene_open(&scenes[1], &w);
	old = world_picture(&w);
	MUST(txn_commit(&w.txn, &o, NULL, NULL, &result, &err));
	check_picture(&w, &old, "dry run", "changes nothing");
	memcpy(hash, result.summary.hash, sizeof(hash));
	o = (struct txn_options){ .expect = hash };
	put_file(w.upper[0], "late", "one more");
	CHECK_INT(txn_commit(&w.txn, &o, NULL, NULL, &result, NULL),
		  -HB_E_CONFLICT);
	CHECK_INT(unlinkat(w.upper[0], "late", 0), 0);
	set_mtime(w.upper[0], ".", WORLD_NEW);
	check_picture(&w, &old, "not expected", "changes nothing");
	MUST(txn_commit(&w.txn, &o, NULL, NULL, &result, &err));
	picture_done(&old);
	world_done(&w);
}

static void fifos_only_if_asked(void)
{
	struct txn_options o = { .with_special = true };
	struct txn_result result;
	struct picture old;
	struct stat st;
	struct world w;

	world_init(&w, 1, false);
	CHECK_INT(mkfifoat(w.upper[0], "pipe", 0640), 0);
	put_file(w.upper[0], "f", "f");
	old = world_picture(&w);
	CHECK_INT(commit_all(&w, NULL), -HB_E_DENIED);
	check_picture(&w, &old, "fifo", "refused");
	MUST(txn_commit(&w.txn, &o, NULL, NULL, &result, &err));
	CHECK_INT(fstatat(w.base[0], "pipe", &st, 0), 0);
	CHECK(S_ISFIFO(st.st_mode));
	picture_done(&old);
	world_done(&w);
}

/* Names that together are longer than any path the kernel takes. */
static void beyond_the_longest_path(void)
{
	struct world w;
	char name[201];
	int u, b, next;

	world_init(&w, 1, false);
	memset(name, 'n', 200);
	name[200] = '\0';
	u = fcntl(w.upper[0], F_DUPFD_CLOEXEC, 3);
	b = fcntl(w.base[0], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 60; i++) {
		CHECK_INT(mkdirat(u, name, 0755), 0);
		next = openat(u, name, O_RDONLY | O_CLOEXEC);
		(void)close(u);
		u = next;
		if (i >= 40)
			continue;
		CHECK_INT(mkdirat(b, name, 0755), 0);
		next = openat(b, name, O_RDONLY | O_CLOEXEC);
		(void)close(b);
		b = next;
	}
	lay_file(b, "f", "old", 0644, WORLD_OLD);
	put_file(u, "leaf", "deep");
	(void)close(u);
	u = fcntl(w.upper[0], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 40; i++) {
		next = openat(u, name, O_RDONLY | O_CLOEXEC);
		(void)close(u);
		u = next;
	}
	lay_file(u, "f", "newer", 0644, WORLD_NEW);
	MUST(commit_all(&w, &err));
	CHECK_INT(faccessat(u, "f", F_OK, 0), -1);
	CHECK_INT(faccessat(b, name, F_OK, 0), 0);
	MUST(undo(&w, &err));
	CHECK_INT(faccessat(u, "f", F_OK, 0), 0);
	CHECK_INT(faccessat(b, name, F_OK, 0), -1);
	(void)close(u);
	(void)close(b);
	world_done(&w);
}

static void conflicts_leave_everything(void)
{
	struct txn_options o = { 0 };
	static const char *const ours[] = { "f" };
	struct txn_result result = { 0 };
	struct picture old;
	struct stat st;
	struct world w;

	world_init(&w, 1, false);
	lay_file(w.base[0], "f", "theirs", 0644, WORLD_OLD);
	lay_file(w.upper[0], "f", "session's", 0644, WORLD_NEW);
	lay_file(w.upper[0], "g", "g", 0644, WORLD_NEW);
	CHECK_INT(fstatat(w.base[0], "f", &st, 0), 0);
	w.resources[0].t0 = st.st_ctim;
	old = world_picture(&w);
	CHECK_INT(txn_commit(&w.txn, &o, NULL, NULL, &result, NULL),
		  -HB_E_CONFLICT);
	CHECK_INT(result.summary.n_conflicts, 1);
	check_picture(&w, &old, "conflict", "changes nothing");
	o.choice.ours = ours;
	o.choice.n_ours = 1;
	MUST(txn_commit(&w.txn, &o, NULL, NULL, &result, &err));
	CHECK(result.has_rest);
	CHECK_INT(faccessat(w.base[0], "g", F_OK, 0), 0);
	CHECK_INT(fstatat(w.base[0], "f", &st, 0), 0);
	CHECK_INT(st.st_size, 6);
	o = (struct txn_options){ .choice.theirs = ours, .choice.n_theirs = 1 };
	MUST(txn_commit(&w.txn, &o, NULL, NULL, &result, &err));
	CHECK_INT(fstatat(w.base[0], "f", &st, 0), 0);
	CHECK_INT(st.st_size, 9);
	picture_done(&old);
	world_done(&w);
}

/* A commit, or an undo, that is killed at the n-th call of a name. */
static void kill_at(const char *call, unsigned n, struct world *w,
		    int (*deed)(struct world *, struct hb_error *))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		fault_arm(FAULT_KILL, n);
		fault_only(call);
		(void)deed(w, NULL);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
}

/* Atomically, as editors save. */
static void save_over(int base, const char *name)
{
	put_file(base, "save", "the user's third version");
	CHECK_INT(renameat(base, "save", base, name), 0);
}

static void what_can_no_longer_be_finished_is_reversed(void)
{
	enum txn_recovered what;
	struct world w;

	scene_open(&scenes[0], &w);
	kill_at("renameat2", 1, &w, commit_all);
	save_over(w.base[0], "f");
	CHECK_INT(commit_all(&w, NULL), -HB_E_STATE);
	MUST(txn_recover(&w.txn, false, &what, &err));
	CHECK_INT(what, RECOVERED_BACK);
	CHECK_INT(w.txn.n_left, 0);
	CHECK(is_text(w.base[0], "f", "the user's third version"));
	CHECK(is_text(w.upper[0], "f", "new text\n"));
	MUST(txn_recover(&w.txn, false, &what, &err));
	CHECK_INT(what, RECOVERED_NOTHING);
	world_done(&w);
}

struct left_seen {
	struct hb_listener listener;
	unsigned n;
	char path[64];
	bool has_old, has_new;
};

static bool see_left(void *ctx, const struct hb_report *report)
{
	struct left_seen *seen = ctx;

	if (report->kind != HB_REPORT_LEFT)
		return false;
	seen->n++;
	(void)snprintf(seen->path, sizeof(seen->path), "%.60s", report->path);
	seen->has_old = report->text != NULL;
	seen->has_new = report->n == 1;
	return false;
}

/* a, b and c change; b is in place when it is interrupted, and c is not. */
static void open_three(struct world *w, struct left_seen *seen)
{
	world_init(w, 1, false);
	for (const char *name = "a\0b\0c\0"; *name; name += 2) {
		lay_file(w->base[0], name, "old", 0644, WORLD_OLD);
		lay_file(w->upper[0], name, "new!", 0644, WORLD_NEW);
	}
	*seen = (struct left_seen){ 0 };
	seen->listener =
		(struct hb_listener){ .hear = see_left, .context = seen };
	w->txn.listener = &seen->listener;
}

static void one_misfit_leaves_no_other_half_way(void)
{
	struct hb_error why = { 0 };
	enum txn_recovered what;
	struct left_seen seen;
	struct world w;

	/* Two renames each, so the fifth is about c. */
	open_three(&w, &seen);
	kill_at("renameat2", 5, &w, commit_all);
	CHECK(is_text(w.base[0], "b", "new!"));
	save_over(w.base[0], "b");
	save_over(w.base[0], "c");
	CHECK_INT(txn_recover(&w.txn, false, &what, &why), -HB_E_STATE);
	CHECK_INT(w.txn.n_left, 1);
	CHECK(strstr(why.text, ": b") != NULL && why.fix[0] != '\0');
	CHECK(strcmp(seen.path, "b") == 0 && seen.has_old && !seen.has_new);
	CHECK(is_text(w.base[0], "a", "old"));
	CHECK(is_text(w.upper[0], "a", "new!"));
	CHECK(is_text(w.base[0], "b", "the user's third version"));
	CHECK(is_text(w.spot[0], "undo/1/2", "old"));
	CHECK(is_text(w.base[0], "c", "the user's third version"));
	CHECK(is_text(w.upper[0], "c", "new!"));
	MUST(txn_recover(&w.txn, false, &what, &err));
	CHECK_INT(what, RECOVERED_NOTHING);
	world_done(&w);
}

static void what_was_replaced_after_us_is_left_and_told(void)
{
	struct hb_error why = { 0 };
	enum txn_recovered what;
	struct left_seen seen;
	struct world w;

	open_three(&w, &seen);
	kill_at("renameat2", 5, &w, commit_all);
	save_over(w.base[0], "b");
	CHECK_INT(txn_recover(&w.txn, false, &what, &why), -HB_E_STATE);
	CHECK(seen.n == 1 && strcmp(seen.path, "b") == 0 && seen.has_old);
	CHECK(is_text(w.base[0], "a", "new!"));
	CHECK(is_text(w.base[0], "b", "the user's third version"));
	CHECK(is_text(w.base[0], "c", "new!"));
	world_done(&w);
	/* And the other way. */
	open_three(&w, &seen);
	kill_at("renameat2", 5, &w, commit_all);
	save_over(w.base[0], "b");
	CHECK_INT(txn_recover(&w.txn, true, &what, &why), -HB_E_STATE);
	CHECK(is_text(w.base[0], "a", "old"));
	CHECK(is_text(w.base[0], "b", "the user's third version"));
	CHECK(is_text(w.base[0], "c", "old"));
	CHECK(is_text(w.upper[0], "c", "new!"));
	world_done(&w);
}

/* It cannot go on at a, and c is back already. */
static void an_undo_leaves_no_other_half_way(void)
{
	struct hb_error why = { 0 };
	enum txn_recovered what;
	struct left_seen seen;
	struct world w;

	open_three(&w, &seen);
	MUST(commit_all(&w, &err));
	kill_at("renameat2", 5, &w, undo);
	CHECK(is_text(w.base[0], "c", "old"));
	save_over(w.base[0], "a");
	save_over(w.base[0], "c");
	CHECK_INT(txn_recover(&w.txn, false, &what, &why), -HB_E_STATE);
	/* a, which stopped it, has his version on top of the committed. */
	CHECK(seen.n == 2 && strcmp(seen.path, "c") == 0 && seen.has_new);
	CHECK(is_text(w.base[0], "b", "new!"));
	CHECK(is_text(w.upper[0], "c", "new!"));
	CHECK_INT(undo(&w, NULL), -HB_E_CONFLICT);
	world_done(&w);
}

/* It cannot go on at c, and b is in place already. */
static void a_redo_that_left_one_can_be_repeated(void)
{
	struct hb_error why = { 0 };
	enum txn_recovered what;
	struct left_seen seen;
	struct world w;

	open_three(&w, &seen);
	MUST(commit_all(&w, &err));
	MUST(undo(&w, &err));
	kill_at("renameat2", 5, &w, redo);
	save_over(w.base[0], "b");
	CHECK_INT(renameat(w.base[0], "c", w.base[0], "away"), 0);
	CHECK_INT(txn_recover(&w.txn, false, &what, &why), -HB_E_STATE);
	CHECK(seen.n == 1 && strcmp(seen.path, "b") == 0 && seen.has_old);
	CHECK(is_text(w.base[0], "a", "old"));
	CHECK_INT(renameat(w.base[0], "away", w.base[0], "c"), 0);
	MUST(redo(&w, &err));
	CHECK(is_text(w.base[0], "a", "new!"));
	CHECK(is_text(w.base[0], "b", "the user's third version"));
	CHECK(is_text(w.base[0], "c", "new!"));
	world_done(&w);
}

static void in_the_way(void)
{
	struct picture old;
	struct world w;

	world_init(&w, 1, false);
	put_dir(w.base[0], "d");
	lay_file(w.base[0], "d/f", "f", 0644, WORLD_OLD);
	put_dir(w.upper[0], "d");
	lay_file(w.upper[0], "d/f", "new", 0644, WORLD_NEW);
	lay_file(w.upper[0], "a", "a", 0644, WORLD_NEW);
	w.spot[0] = openat(w.top, "session", O_RDONLY | O_CLOEXEC);
	old = world_picture(&w);
	/* A session that somebody else commits to. */
	CHECK_INT(flock(w.base[0], LOCK_EX), 0);
	CHECK_INT(commit_all(&w, NULL), -HB_E_BUSY);
	CHECK_INT(flock(w.base[0], LOCK_UN), 0);
	check_picture(&w, &old, "locked", "changes nothing");
	picture_done(&old);
	world_done(&w);
}

TESTS(T(commit_undo_redo), T(the_base_is_what_was_seen), T(made_files_arrive),
      T(a_lock_of_git_stops_the_commit), T(a_dead_collector_stops_nothing),
      T(nothing_is_pending_after), T(several_commits_and_undos),
      T(undone_ones_are_redone_in_order), T(what_the_user_changed_stops_undo),
      T(rollback_comes_back), T(expected_or_nothing), T(fifos_only_if_asked),
      T(beyond_the_longest_path), T(conflicts_leave_everything),
      T(what_can_no_longer_be_finished_is_reversed),
      T(one_misfit_leaves_no_other_half_way),
      T(what_was_replaced_after_us_is_left_and_told),
      T(an_undo_leaves_no_other_half_way),
      T(a_redo_that_left_one_can_be_repeated), T(in_the_way))
