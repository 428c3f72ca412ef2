/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/known.h"

#include "trees.h"

#include "tap.h"

/*
 * What is remembered is told from what is found by a lie: the kept stream has
 * the flag S at each file, which none of them deserves.
 */
#define NAME "compared-0"

static void begin(struct tree *t)
{
	tree_init(t, 1);
	put_dir(t->base, "d");
	put_dir(t->layers[0], "d");
	for (int i = 0; i < 2; i++) {
		static const char *const names[] = { "d.x", "d/f" };

		put_file(t->base, names[i], "old");
		put_file(t->layers[0], names[i], "new");
	}
	t->request.known = NAME;
	t->request.boot = "this boot";
	t->request.without_hash = true;
}

static void lie(struct tree *t)
{
	struct changes *changes = scan(t);
	struct spilled record = { 0 };
	struct spill spill;

	CHECK_INT(spill_init(&spill, t->top, NULL), 0);
	CHECK_INT(changes_rewind(changes, NULL), 0);
	while (changes_next(changes, &record.change, NULL) == 1) {
		if (record.change.new.type == ENTRY_FILE)
			record.change.flags |= CHANGE_SETID;
		CHECK_INT(spill_add(&spill, &record, NULL), 0);
	}
	CHECK_INT(spill_rewind(&spill, NULL), 0);
	known_keep(&spill, t->top, NAME, t->request.boot);
	spill_done(&spill);
	changes_free(changes);
	CHECK_INT(faccessat(t->top, NAME ".new", F_OK, 0), -1);
}

static void what_is_untouched_is_not_read_again(void)
{
	struct tree t;

	begin(&t);
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	lie(&t);
	CHECK_CHANGES(&t, "M d/f S\nM d.x S\n");
	tree_done(&t);
}

static void what_was_touched_is(void)
{
	struct tree t;

	begin(&t);
	lie(&t);
	/* The same bytes and the same times, but somebody was there. */
	put_file(t.base, "d/f", "old");
	CHECK_CHANGES(&t, "M d/f\nM d.x S\n");
	lie(&t);
	put_file(t.layers[0], "d.x", "new");
	CHECK_CHANGES(&t, "M d/f S\nM d.x\n");
	lie(&t);
	put_file(t.layers[0], "d.x", "old");
	put_file(t.base, "d/f", "new");
	CHECK_CHANGES(&t, "");
	tree_done(&t);
}

static void a_mark_that_came_is_seen(void)
{
	struct tree t;

	begin(&t);
	lie(&t);
	set_xattr(t.layers[0], "d/f", "user.overlay.redirect", "/x", 2);
	CHECK_INT(changes_scan(&t.request, &(struct changes *){ NULL }, NULL),
		  -HB_E_CORRUPT);
	tree_done(&t);
}

static void a_hash_is_of_what_is_there(void)
{
	struct changes *changes;
	uint8_t first[32];
	struct tree t;

	begin(&t);
	t.request.without_hash = false;
	changes = scan(&t);
	memcpy(first, changes_summary(changes)->hash, sizeof(first));
	changes_free(changes);
	lie(&t);
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	changes = scan(&t);
	CHECK(memcmp(first, changes_summary(changes)->hash, sizeof(first)) ==
	      0);
	changes_free(changes);
	tree_done(&t);
}

static unsigned what_of(struct tree *t, const char *path)
{
	struct changes *changes = scan(t);
	struct change c;
	unsigned what = 0;

	while (changes_next(changes, &c, NULL) == 1)
		if (strcmp(c.path, path) == 0)
			what = c.what;
	changes_free(changes);
	return what & (CHANGED_CONTENT | CHANGED_XATTRS | CHANGED_MAYBE_XATTRS);
}

/* What was not looked at is not known either, to whom it matters. */
static void a_list_of_names_leaves_attributes_open(void)
{
	struct tree t;

	begin(&t);
	t.request.keeps_known = true;
	set_xattr(t.base, "d/f", "user.k", "v", 1);
	for (int i = 0; i < 2; i++) {
		t.request.names_only = true;
		CHECK_INT(what_of(&t, "d/f"),
			  i == 0 ? CHANGED_CONTENT | CHANGED_MAYBE_XATTRS
				 : CHANGED_CONTENT | CHANGED_XATTRS);
		t.request.names_only = false;
		CHECK_INT(what_of(&t, "d/f"), CHANGED_CONTENT | CHANGED_XATTRS);
	}
	/* Where nothing else differs they are what is to be found. */
	put_file(t.layers[0], "d.x", "old");
	set_xattr(t.layers[0], "d.x", "user.k", "v", 1);
	t.request.names_only = true;
	CHECK_INT(what_of(&t, "d.x"), CHANGED_XATTRS);
	tree_done(&t);
}

static void another_boot_or_a_damaged_file_is_not_believed(void)
{
	struct tree t;
	int fd;

	begin(&t);
	lie(&t);
	t.request.boot = "that boot";
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	t.request.boot = "this boot";
	fd = openat(t.top, NAME, O_RDWR);
	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, "\xff\xff\xff\xff", 4, SPILL_HEAD), 4);
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	for (off_t size = SPILL_HEAD + 100; size >= 0; size -= 10) {
		CHECK_INT(ftruncate(fd, size), 0);
		CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	}
	(void)close(fd);
	tree_done(&t);
}

static void it_is_kept_only_by_who_may_and_when_there_is_news(void)
{
	struct stat before, after;
	struct tree t;

	begin(&t);
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	CHECK_INT(fstatat(t.top, NAME, &before, 0), -1);
	t.request.keeps_known = true;
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	CHECK_INT(fstatat(t.top, NAME, &before, 0), 0);
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	CHECK_INT(fstatat(t.top, NAME, &after, 0), 0);
	CHECK(before.st_ino == after.st_ino);
	put_file(t.layers[0], "d/f", "newer");
	CHECK_CHANGES(&t, "M d/f\nM d.x\n");
	CHECK_INT(fstatat(t.top, NAME, &after, 0), 0);
	CHECK(before.st_ino != after.st_ino);
	tree_done(&t);
}

TESTS(T(what_is_untouched_is_not_read_again), T(what_was_touched_is),
      T(a_mark_that_came_is_seen), T(a_hash_is_of_what_is_there),
      T(a_list_of_names_leaves_attributes_open),
      T(another_boot_or_a_damaged_file_is_not_believed),
      T(it_is_kept_only_by_who_may_and_when_there_is_news))
