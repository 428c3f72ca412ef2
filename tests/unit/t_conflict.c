/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/conflict.h"

#include "trees.h"

/*
 * The session begins when begin() is called: what is done to the base after it
 * is done by the user.  The marker is touched twice, as the store does it.
 */
static void begin(struct tree *t)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		put_file(t->top, "marker", "");
		CHECK_INT(fstatat(t->top, "marker", &st, 0), 0);
	}
	t->resource.t0 = st.st_ctim;
}

static void edit(struct tree *t, const char *path, const char *text)
{
	int fd = openat(t->base, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

/* The base has `f`, the agent changed it. */
static void start(struct tree *t)
{
	tree_init(t, 1);
	put_file(t->base, "f", "old");
	put_file(t->base, "other", "old");
	put_file(t->layers[0], "f", "by the agent");
	set_origin(t->layers[0], "f");
}

static void check_why(struct tree *t, const char *path, enum conflict want)
{
	struct changes *changes = scan(t);
	struct change c;

	CHECK_INT(changes_summary(changes)->n_conflicts,
		  want == CONFLICT_NONE ? 0 : 1);
	while (changes_next(changes, &c, NULL) == 1) {
		if (strcmp(c.path, path) != 0)
			continue;
		if (want == CONFLICT_NONE) {
			CHECK(c.why == NULL);
		} else {
			CHECK(c.why != NULL);
			CHECK(strcmp(c.why, conflict_words(want)) == 0);
		}
		changes_free(changes);
		return;
	}
	CHECK(!"the path is in the set");
}

static void nothing_happened(struct tree *t)
{
	(void)t;
}

static void user_edits(struct tree *t)
{
	edit(t, "f", "by the user");
}

static void user_edits_another_link(struct tree *t)
{
	edit(t, "link", "by the user");
}

static void user_changes_the_mode(struct tree *t)
{
	CHECK_INT(fchmodat(t->base, "f", 0600, 0), 0);
}

static void user_makes_a_link(struct tree *t)
{
	CHECK_INT(linkat(t->base, "f", t->base, "new link", 0), 0);
}

static void user_moves_an_old_file_there(struct tree *t)
{
	CHECK_INT(renameat(t->base, "other", t->base, "f"), 0);
}

static void user_copies_an_old_file_there(struct tree *t)
{
	edit(t, "f", "old!");
	set_mtime(t->base, "f", 5);
}

static void user_edits_something_else(struct tree *t)
{
	edit(t, "other", "by the user");
	edit(t, "new", "by the user");
}

static void user_does_what_the_agent_did(struct tree *t)
{
	edit(t, "f", "by the agent");
}

static void actions_of_the_user(void)
{
	static const struct {
		void (*act)(struct tree *t);
		enum conflict want;
	} cases[] = {
		{ nothing_happened, CONFLICT_NONE },
		{ user_edits, CONFLICT_EDITED },
		{ user_edits_another_link, CONFLICT_EDITED },
		{ user_changes_the_mode, CONFLICT_METADATA },
		{ user_makes_a_link, CONFLICT_METADATA },
		{ user_moves_an_old_file_there, CONFLICT_METADATA },
		{ user_copies_an_old_file_there, CONFLICT_METADATA },
		{ user_edits_something_else, CONFLICT_NONE },
		{ user_does_what_the_agent_did, CONFLICT_NONE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree t;

		start(&t);
		CHECK_INT(linkat(t.base, "f", t.base, "link", 0), 0);
		begin(&t);
		cases[i].act(&t);
		check_why(&t, "f", cases[i].want);
		/* Nobody asks: nothing is found. */
		t.resource.t0 = (struct timespec){ 0 };
		check_why(&t, "f", CONFLICT_NONE);
		tree_done(&t);
	}
}

static void equality_counts(void)
{
	struct stat st;
	struct tree t;

	start(&t);
	CHECK_INT(fstatat(t.base, "f", &st, 0), 0);
	t.resource.t0 = st.st_ctim;
	CHECK_CHANGES(&t, "M f !\n");
	t.resource.t0.tv_nsec++;
	CHECK_CHANGES(&t, "M f\n");
	tree_done(&t);
}

static void a_deletion_meets_an_edit(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "f", "old");
	put_file(t.base, "g", "old");
	put_whiteout(t.layers[0], "f");
	put_whiteout(t.layers[0], "g");
	put_whiteout(t.layers[0], "h");
	begin(&t);
	edit(&t, "f", "by the user");
	CHECK_INT(unlinkat(t.base, "g", 0), 0); /* the same change */
	CHECK_CHANGES(&t, "D f !\n");
	tree_done(&t);
}

static void both_add_a_file(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_dir(t.layers[0], "d");
	put_file(t.layers[0], "d/agent", "x");
	put_file(t.layers[0], "d/both", "x");
	put_file(t.layers[0], "d/same", "x");
	begin(&t);
	edit(&t, "d/user", "x");
	edit(&t, "d/both", "y");
	edit(&t, "d/same", "x");
	CHECK_CHANGES(&t, "A d/agent\nM d/both !\nt d/same\n");
	tree_done(&t);
}

static void the_user_removed_what_was_changed(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "copied up", "old");
	put_file(t.base, "saved", "old");
	put_file(t.layers[0], "copied up", "new");
	set_origin(t.layers[0], "copied up");
	put_file(t.layers[0], "saved", "new"); /* an atomic save */
	begin(&t);
	CHECK_INT(unlinkat(t.base, "copied up", 0), 0);
	CHECK_INT(unlinkat(t.base, "saved", 0), 0);
	CHECK_CHANGES(&t, "A copied up !\nA saved\n");
	check_why(&t, "copied up", CONFLICT_MISSING);
	tree_done(&t);
}

static void the_agent_moved_a_file(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "from", "content");
	put_whiteout(t.layers[0], "from");
	put_file(t.layers[0], "to", "content");
	set_origin(t.layers[0], "to");
	put_file(t.layers[0], "to too", "changed");
	set_origin(t.layers[0], "to too");
	/* The user was not there: no evidence. */
	set_mtime(t.base, ".", TREE_TIME);
	begin(&t);
	CHECK_CHANGES(&t, "D from\nA to\nA to too\n");
	/* He was, and the content tells who moved it. */
	edit(&t, "something", "x");
	CHECK_CHANGES(&t, "D from\nA to\nA to too !\n");
	t.request.with_renames = true;
	CHECK_CHANGES(&t, "D from m\nA to r\nA to too !\n");
	tree_done(&t);
}

static void the_user_removed_a_directory(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_file(t.base, "d/f", "old");
	put_dir(t.layers[0], "d");
	set_origin(t.layers[0], "d");
	put_file(t.layers[0], "d/f", "new");
	set_origin(t.layers[0], "d/f");
	begin(&t);
	CHECK_INT(unlinkat(t.base, "d/f", 0), 0);
	CHECK_INT(unlinkat(t.base, "d", AT_REMOVEDIR), 0);
	CHECK_CHANGES(&t, "A d !\nA d/f n !\n");
	tree_done(&t);
}

static void what_is_added_to_a_lost_directory(void)
{
	struct tree t;

	for (int is_opaque = 0; is_opaque < 2; is_opaque++) {
		tree_init(&t, 1);
		put_dir(t.base, "d");
		put_dir(t.base, "d/e");
		put_file(t.base, "d/e/old", "x");
		if (is_opaque) {
			put_dir(t.layers[0], "d");
			set_opaque(t.layers[0], "d");
		} else {
			put_whiteout(t.layers[0], "d");
		}
		begin(&t);
		CHECK_CHANGES(&t, is_opaque ? "D d/e\nD d/e/old g\n"
					    : "D d\nD d/e g\nD d/e/old g\n");
		edit(&t, "d/e/user", "x");
		put_dir(t.base, "d/new");
		CHECK_CHANGES(&t,
			      is_opaque ? "D d/e\nD d/e/old g\nD d/e/user g !\n"
					  "D d/new !\n"
					: "D d\nD d/e g\nD d/e/old g\n"
					  "D d/e/user g !\nD d/new g !\n");
		tree_done(&t);
	}
}

static void a_directory_has_its_metadata_only(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_dir(t.base, "e");
	put_dir(t.layers[0], "d");
	CHECK_INT(fchmodat(t.layers[0], "d", 0700, 0), 0);
	put_dir(t.layers[0], "e");
	begin(&t);
	CHECK_CHANGES(&t, "P d\n");
	edit(&t, "e/f", "x");
	CHECK_CHANGES(&t, "P d\n");
	CHECK_INT(fchmodat(t.base, "d", 0750, 0), 0);
	CHECK_CHANGES(&t, "P d !\n");
	check_why(&t, "d", CONFLICT_DIR);
	/* Both did the same. */
	CHECK_INT(fchmodat(t.base, "d", 0700, 0), 0);
	CHECK_CHANGES(&t, "");
	tree_done(&t);
}

static void a_directory_that_was_put_in_place(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_file(t.base, "d/f", "x");
	put_dir(t.base, "old");
	put_dir(t.base, "old/e");
	put_file(t.base, "old/f", "older");
	put_file(t.base, "old/untouched", "older");
	set_mtime(t.base, "old", TREE_TIME);
	put_dir(t.layers[0], "d");
	put_dir(t.layers[0], "d/e");
	put_file(t.layers[0], "d/e/g", "x");
	put_file(t.layers[0], "d/f", "by the agent");
	begin(&t);
	CHECK_CHANGES(&t, "A d/e\nA d/e/g n\nM d/f\n");
	CHECK_INT(renameat(t.base, "d", t.base, "away"), 0);
	CHECK_INT(renameat(t.base, "old", t.base, "d"), 0);
	CHECK_CHANGES(&t, "A d/e/g !\nM d/f !\n");
	tree_done(&t);
}

struct seen_one {
	const char *path;
	struct seen seen;
};

static bool look_up(void *ctx, const char *path, struct seen *ret)
{
	const struct seen_one *one = ctx;

	if (strcmp(path, one->path) != 0)
		return false;
	*ret = one->seen;
	return true;
}

static void remember(struct tree *t, struct seen_one *one, const char *path)
{
	struct stat st;

	*one = (struct seen_one){ .path = path };
	if (fstatat(t->base, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		one->seen.base_ino = st.st_ino;
		one->seen.base_ctime = st.st_ctim;
	}
	if (fstatat(t->layers[0], path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		one->seen.layer_ino = st.st_ino;
		one->seen.layer_ctime = st.st_ctim;
	}
	t->request.seen = look_up;
	t->request.seen_ctx = one;
}

static void what_was_committed_is_no_conflict(void)
{
	struct seen_one one;
	struct tree t;

	start(&t);
	begin(&t);
	edit(&t, "f", "committed from here");
	CHECK_CHANGES(&t, "M f !\n");
	remember(&t, &one, "f");
	one.seen.layer_ino = 0;
	CHECK_CHANGES(&t, "M f\n");
	/* And then the user edits it. */
	edit(&t, "f", "by the user");
	CHECK_CHANGES(&t, "M f !\n");
	tree_done(&t);
}

static void what_was_committed_is_not_pending(void)
{
	struct seen_one one;
	struct tree t;

	start(&t);
	begin(&t);
	remember(&t, &one, "f");
	CHECK_CHANGES(&t, "");
	edit(&t, "f", "by the user, later");
	CHECK_CHANGES(&t, "");
	put_file(t.layers[0], "f", "by the agent, later");
	CHECK_CHANGES(&t, "M f !\n");
	tree_done(&t);

	/* A deletion: what the user puts there again stays. */
	tree_init(&t, 1);
	put_whiteout(t.layers[0], "d");
	begin(&t);
	remember(&t, &one, "d");
	put_dir(t.base, "d");
	edit(&t, "d/f", "by the user");
	CHECK_CHANGES(&t, "");
	tree_done(&t);
}

static void directories_that_commit_touched_are_known(void)
{
	struct seen_one one;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_file(t.base, "d/f", "x");
	put_dir(t.layers[0], "d");
	put_file(t.layers[0], "d/f", "new");
	begin(&t);
	/* As after a commit: the time is put back, so it looks moved. */
	set_mtime(t.base, "d", TREE_TIME);
	CHECK_CHANGES(&t, "M d/f !\n");
	remember(&t, &one, "d");
	one.seen.layer_ino = 0;
	CHECK_CHANGES(&t, "M d/f\n");
	tree_done(&t);
}

TESTS(T(actions_of_the_user), T(equality_counts), T(a_deletion_meets_an_edit),
      T(both_add_a_file), T(the_user_removed_what_was_changed),
      T(the_agent_moved_a_file), T(the_user_removed_a_directory),
      T(what_is_added_to_a_lost_directory),
      T(a_directory_has_its_metadata_only),
      T(a_directory_that_was_put_in_place),
      T(what_was_committed_is_no_conflict),
      T(what_was_committed_is_not_pending),
      T(directories_that_commit_touched_are_known))
