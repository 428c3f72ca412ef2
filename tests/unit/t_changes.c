/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/changes.h"

#include "sys/fault.h"

#include "trees.h"

static void an_empty_layer_changes_nothing(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "f", "text");
	CHECK_CHANGES(&t, "");
	CHECK_INT(t.n_layers, 1);
	tree_done(&t);
}

static void every_kind_is_told(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "content", "old");
	put_file(t.layers[0], "content", "new!");
	put_file(t.base, "deleted", "x");
	put_whiteout(t.layers[0], "deleted");
	put_file(t.base, "mode", "x");
	put_file(t.layers[0], "mode", "x");
	CHECK_INT(fchmodat(t.layers[0], "mode", 0755, 0), 0);
	put_file(t.base, "same", "x");
	put_file(t.layers[0], "same", "x");
	set_origin(t.layers[0], "same");
	put_file(t.base, "same size", "abc");
	put_file(t.layers[0], "same size", "abd");
	put_link(t.base, "a", "target");
	put_link(t.layers[0], "b", "target");
	put_link(t.base, "a", "target same");
	put_link(t.layers[0], "a", "target same");
	put_file(t.base, "time", "x");
	put_file(t.layers[0], "time", "x");
	set_mtime(t.layers[0], "time", TREE_TIME + 1);
	put_file(t.base, "type", "x");
	put_link(t.layers[0], "x", "type");
	put_file(t.layers[0], "z", "added");
	CHECK_CHANGES(&t, "M content\n"
			  "D deleted\n"
			  "P mode\n"
			  "M same size\n"
			  "M target\n"
			  "t time\n"
			  "T type\n"
			  "A z\n");
	tree_done(&t);
}

static void both_whiteout_forms_delete(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "a", "x");
	put_file(t.base, "b", "x");
	put_whiteout(t.layers[0], "a");
	put_file(t.layers[0], "b", "");
	set_xattr(t.layers[0], "b", "user.overlay.whiteout", "y", 1);
	put_whiteout(t.layers[0], "nothing below");
	CHECK_CHANGES(&t, "D a\nD b\n");
	tree_done(&t);
}

static void a_deleted_directory_is_expanded(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_dir(t.base, "d/e");
	put_file(t.base, "d/e/f", "x");
	put_file(t.base, "d.x", "x");
	put_file(t.base, "d/g", "x");
	put_whiteout(t.layers[0], "d");
	CHECK_CHANGES(&t, "D d\nD d/e g\nD d/e/f g\nD d/g g\n");
	tree_done(&t);
}

static void an_opaque_directory_is_expanded(void)
{
	struct changes *changes;
	struct change c;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_dir(t.base, "d/e");
	put_file(t.base, "d/e/f", "x");
	put_file(t.base, "d/g", "x");
	put_file(t.base, "d/same", "x");
	put_dir(t.layers[0], "d");
	set_opaque(t.layers[0], "d");
	put_file(t.layers[0], "d/same", "x");
	put_file(t.layers[0], "d/new", "x");
	put_dir(t.layers[0], "d/e");
	CHECK_CHANGES(&t, "D d/e/f\nD d/g\nA d/new\n");
	/* Commit is told that all below goes. */
	changes = scan(&t);
	CHECK_INT(changes_next(changes, &c, NULL), 1);
	CHECK(strcmp(c.path, "d") == 0);
	CHECK_INT(c.flags, CHANGE_OPAQUE | CHANGE_CARRIED);
	CHECK_INT(c.kind, CHANGE_TIMES);
	changes_free(changes);
	tree_done(&t);
}

static void a_new_directory_is_descended(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.layers[0], "d");
	set_opaque(t.layers[0], "d");
	put_dir(t.layers[0], "d/e");
	put_file(t.layers[0], "d/e/f", "x");
	put_whiteout(t.layers[0], "d/gone");
	put_file(t.layers[0], "d!", "sorts behind what is in d");
	CHECK_CHANGES(&t, "A d\nA d/e n\nA d/e/f n\nA d!\n");
	tree_done(&t);
}

static void a_directory_has_metadata(void)
{
	struct changes *changes;
	struct change c;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "mode");
	put_dir(t.layers[0], "mode");
	CHECK_INT(fchmodat(t.layers[0], "mode", 0700, 0), 0);
	put_dir(t.base, "xattr");
	put_dir(t.layers[0], "xattr");
	set_xattr(t.layers[0], "xattr", "user.x", "1", 1);
	put_dir(t.base, "time");
	put_dir(t.layers[0], "time");
	set_mtime(t.layers[0], "time", 5);
	CHECK_CHANGES(&t, "P mode\nP xattr\n");
	changes = scan(&t);
	CHECK_INT(changes_summary(changes)->n_changes, 2);
	CHECK_INT(changes_summary(changes)->n_times, 0);
	CHECK_INT(changes_next(changes, &c, NULL), 1);
	CHECK_INT(c.what & CHANGED_MODE, CHANGED_MODE);
	CHECK_INT(changes_next(changes, &c, NULL), 1);
	CHECK(strcmp(c.path, "time") == 0);
	CHECK_INT(c.flags, CHANGE_CARRIED);
	CHECK_INT(c.new.mtime.tv_sec, 5);
	changes_free(changes);
	tree_done(&t);
}

/* What lies in the base at `x`, and in the layer: all pairs. */
static void put_type(int dir, int type)
{
	switch (type) {
	case 0:
		put_file(dir, "x", "text");
		break;
	case 1:
		put_dir(dir, "x");
		put_file(dir, "x/in", "text");
		break;
	case 2:
		put_link(dir, "/etc/passwd", "x");
		break;
	default:
		CHECK_INT(mkfifoat(dir, "x", 0644), 0);
	}
}

static void types_replace_each_other(void)
{
	static const char *const want[4][4] = {
		{ "", "T x\nA x/in n\n", "T x\n", "T x s\n" },
		{ "T x\nD x/in g\n", "", "T x\nD x/in g\n",
		  "T x s\nD x/in g\n" },
		{ "T x\n", "T x\nA x/in n\n", "", "T x s\n" },
		{ "T x\n", "T x\nA x/in n\n", "T x\n", "" },
	};

	for (int from = 0; from < 4; from++) {
		for (int to = 0; to < 4; to++) {
			struct tree t;

			tree_init(&t, 1);
			put_type(t.base, from);
			put_type(t.layers[0], to);
			if (from == 3 && to == 3)
				set_mtime(t.base, "x", TREE_TIME);
			if (from == 3 && to == 3)
				set_mtime(t.layers[0], "x", TREE_TIME);
			CHECK_CHANGES(&t, want[from][to]);
			tree_done(&t);
		}
	}
}

static void higher_layers_hide_lower_ones(void)
{
	struct changes *changes;
	struct change c;
	struct tree t;

	tree_init(&t, 3);
	put_file(t.base, "a", "0");
	put_file(t.layers[2], "a", "two");
	put_file(t.layers[0], "a", "0"); /* back to what it was */
	put_file(t.base, "b", "0");
	put_whiteout(t.layers[1], "b");
	put_file(t.layers[2], "b", "two");
	put_dir(t.base, "d");
	put_file(t.base, "d/base", "x");
	put_dir(t.layers[2], "d");
	put_file(t.layers[2], "d/two", "x");
	put_dir(t.layers[1], "d");
	put_file(t.layers[1], "d/one", "x");
	put_dir(t.layers[0], "d");
	put_file(t.layers[0], "d/zero", "x");
	put_whiteout(t.layers[0], "d/two");
	put_dir(t.layers[2], "o");
	put_file(t.layers[2], "o/two", "x");
	put_dir(t.layers[0], "o");
	set_opaque(t.layers[0], "o");
	put_dir(t.base, "p"); /* a lower file ends what shines through */
	put_file(t.base, "p/base", "x");
	put_file(t.layers[1], "p", "x");
	put_dir(t.layers[0], "p");
	put_file(t.layers[2], "z", "only there");
	CHECK_CHANGES(&t, "D b\nA d/one\nA d/zero\nA o\nD p/base\nA z\n");
	changes = scan(&t);
	while (changes_next(changes, &c, NULL) == 1)
		if (strcmp(c.path, "z") == 0)
			CHECK_INT(c.layer, 2);
	changes_free(changes);
	tree_done(&t);
}

static void xattrs_are_compared_but_for_those_of_overlays(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "escaped", "x");
	put_file(t.layers[0], "escaped", "x");
	set_xattr(t.layers[0], "escaped", "user.overlay.overlay.mine", "1", 1);
	put_file(t.base, "reserved", "x");
	set_xattr(t.base, "reserved", "user.overlay.mine", "1", 1);
	put_file(t.layers[0], "reserved", "x");
	set_xattr(t.layers[0], "reserved", "user.overlay.overlay.mine", "2", 1);
	put_dir(t.base, "dir");
	set_xattr(t.base, "dir", "user.overlay.mine", "1", 1);
	put_dir(t.layers[0], "dir");
	put_file(t.base, "order", "x");
	set_xattr(t.base, "order", "user.a", "1", 1);
	set_xattr(t.base, "order", "user.b", "2", 1);
	put_file(t.layers[0], "order", "x");
	set_xattr(t.layers[0], "order", "user.b", "2", 1);
	set_xattr(t.layers[0], "order", "user.a", "1", 1);
	put_file(t.base, "value", "x");
	set_xattr(t.base, "value", "user.a", "1", 1);
	put_file(t.layers[0], "value", "x");
	set_xattr(t.layers[0], "value", "user.a", "2", 1);
	CHECK_CHANGES(&t, "P value\n");
	tree_done(&t);
}

static void files_with_holes_are_compared(void)
{
	static const char *const names[] = { "holes", "data" };
	const off_t size = (off_t)4 << 40;
	struct tree t;
	int fd;

	tree_init(&t, 1);
	for (size_t i = 0; i < 2; i++) {
		int dirs[2] = { t.base, t.layers[0] };

		for (size_t j = 0; j < 2; j++) {
			fd = openat(dirs[j], names[i],
				    O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			CHECK(fd >= 0);
			CHECK_INT(ftruncate(fd, size), 0);
			/* Zeroes that are written are not a difference. */
			if (j == 0)
				CHECK_INT(pwrite(fd, "\0\0\0", 3, 70000), 3);
			if (i == 1 && j == 1)
				CHECK_INT(pwrite(fd, "x", 1, size - 1), 1);
			(void)close(fd);
			set_mtime(dirs[j], names[i], TREE_TIME);
		}
	}
	/* Data on one side alone, and holes to the end on the other. */
	put_file(t.base, "one", "");
	put_file(t.layers[0], "one", "");
	fd = openat(t.layers[0], "one", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, "y", 1, (off_t)1 << 30), 1);
	CHECK_INT(ftruncate(fd, size), 0);
	(void)close(fd);
	fd = openat(t.base, "one", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, size), 0);
	(void)close(fd);
	CHECK_CHANGES(&t, "M data\nM one\n");
	tree_done(&t);
}

static void hard_links_share_a_group(void)
{
	struct changes *changes;
	struct change c[3];
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "a", "x");
	put_file(t.layers[0], "a", "x");
	CHECK_INT(linkat(t.layers[0], "a", t.layers[0], "b", 0), 0);
	put_file(t.layers[0], "c", "alone");
	CHECK_CHANGES(&t, "P a\nA b\nA c\n");
	changes = scan(&t);
	for (int i = 0; i < 3; i++)
		CHECK_INT(changes_next(changes, &c[i], NULL), 1);
	CHECK_INT(c[0].what, CHANGED_LINKS);
	CHECK(c[0].link_group != 0);
	CHECK(c[0].link_group == c[1].link_group);
	CHECK(c[2].link_group == 0);
	changes_free(changes);
	tree_done(&t);
}

static void dangerous_objects_are_flagged(void)
{
	struct tree t;

	tree_init(&t, 1);
	CHECK_INT(mkfifoat(t.layers[0], "fifo", 0644), 0);
	put_file(t.layers[0], "setuid", "x");
	CHECK_INT(fchmodat(t.layers[0], "setuid", 04755, 0), 0);
	put_file(t.base, "setgid", "x");
	put_file(t.layers[0], "setgid", "x");
	CHECK_INT(fchmodat(t.layers[0], "setgid", 02755, 0), 0);
	put_dir(t.layers[0], "shared");
	CHECK_INT(fchmodat(t.layers[0], "shared", 02755, 0), 0);
	CHECK_CHANGES(&t, "A fifo s\nP setgid S\nA setuid S\nA shared\n");
	tree_done(&t);
}

static void names_are_bytes(void)
{
	static const char *const names[] = {
		"\n",	 "\033]0;x\007",     " ",    "-rf",  "..x",
		"\xc3(", "\xe2\x80\xae.exe", "a\\b", "\xff",
	};
	char longest[256];
	struct tree t;

	tree_init(&t, 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_file(t.layers[0], names[i], "x");
	memset(longest, 'l', 255);
	longest[255] = '\0';
	put_file(t.base, longest, "x");
	put_whiteout(t.layers[0], longest);
	CHECK_CHANGES(&t, "A \n\nA \033]0;x\007\nA  \nA -rf\nA ..x\nA a\\b\n"
			  "D lllllllllllllllllllllllllllllllllllllllllllllllll"
			  "lllllllllllllllllllllllllllllllllllllllllllllllllll"
			  "lllllllllllllllllllllllllllllllllllllllllllllllllll"
			  "lllllllllllllllllllllllllllllllllllllllllllllllllll"
			  "lllllllllllllllllllllllllllllllllllllllllllllllllll"
			  "ll\nA \xc3(\nA \xe2\x80\xae.exe\nA \xff\n");
	tree_done(&t);
}

static void links_are_never_followed(void)
{
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_file(t.base, "d/f", "x");
	/* The base has a link where the layer has a directory. */
	put_link(t.base, "/etc", "link");
	put_dir(t.layers[0], "link");
	put_file(t.layers[0], "link/passwd", "x");
	/* The layer has a link to a directory where the base has one. */
	put_link(t.layers[0], "/etc", "d");
	put_link(t.layers[0], "loop", "loop");
	CHECK_CHANGES(&t, "T d\nD d/f g\nT link\nA link/passwd n\nA loop\n");
	tree_done(&t);
}

static void our_own_names_are_skipped(void)
{
	struct tree t;

	tree_init(&t, 1);
	t.resource.store_name = ".holdback";
	put_dir(t.base, ".holdback");
	put_whiteout(t.layers[0], ".holdback");
	put_dir(t.base, ".holdback-1");
	put_whiteout(t.layers[0], ".holdback-1");
	put_dir(t.layers[0], "d");
	put_dir(t.layers[0], "d/.holdback-1");
	/* Nobody's store: made inside. */
	put_dir(t.layers[0], ".holdback-2");
	put_file(t.layers[0], ".holdback.conf", "x");
	CHECK_CHANGES(&t, "A .holdback-2\nA .holdback.conf\nA d\n"
			  "A d/.holdback-1 n\n");
	tree_done(&t);
}

static void our_own_name_is_skipped_where_the_base_has_none(void)
{
	struct tree t;

	tree_init(&t, 1);
	t.resource.store_name = ".holdback";
	put_dir(t.layers[0], ".holdback");
	put_file(t.layers[0], ".holdback/x", "x");
	put_file(t.layers[0], "f", "x");
	CHECK_CHANGES(&t, "A f\n");
	tree_done(&t);
}

static void the_hash_names_exactly_this(void)
{
	uint8_t first[32], hash[32];
	struct changes *changes;
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "f", "x");
	put_file(t.layers[0], "f", "abc");
	put_dir(t.layers[0], "d");

#define HASH_INTO(to)                                                   \
	do {                                                            \
		changes = scan(&t);                                     \
		memcpy(to, changes_summary(changes)->hash, sizeof(to)); \
		changes_free(changes);                                  \
	} while (0)
	HASH_INTO(first);
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) == 0);
	/* The same size and the same time. */
	put_file(t.layers[0], "f", "abd");
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) != 0);
	put_file(t.layers[0], "f", "abc");
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) == 0);
	CHECK_INT(fchmodat(t.layers[0], "f", 0600, 0), 0);
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) != 0);
	CHECK_INT(fchmodat(t.layers[0], "f", 0644, 0), 0);
	CHECK_INT(renameat(t.layers[0], "d", t.layers[0], "e"), 0);
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) != 0);
	CHECK_INT(renameat(t.layers[0], "e", t.layers[0], "d"), 0);
	/* A directory's time is not what anybody reviews. */
	set_mtime(t.layers[0], "d", 7);
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) == 0);
	set_xattr(t.layers[0], "f", "user.x", "1", 1);
	HASH_INTO(first);
	CHECK(memcmp(first, hash, sizeof(hash)) != 0);
	set_xattr(t.layers[0], "f", "user.x", "2", 1);
	HASH_INTO(hash);
	CHECK(memcmp(first, hash, sizeof(hash)) != 0);
	tree_done(&t);
}

static void the_summary_counts(void)
{
	const struct changes_summary *sum;
	struct changes *changes;
	struct tree t;

	tree_init(&t, 1);
	t.request.with_renames = true;
	put_file(t.layers[0], "new", "12345");
	put_file(t.base, "gone", "x");
	put_whiteout(t.layers[0], "gone");
	put_file(t.base, "m", "x");
	put_file(t.layers[0], "m", "123");
	put_file(t.base, "from", "moved");
	put_whiteout(t.layers[0], "from");
	put_file(t.layers[0], "to", "moved");
	CHECK_CHANGES(&t, "D from m\nD gone\nM m\nA new\nA to r\n");
	changes = scan(&t);
	sum = changes_summary(changes);
	CHECK_INT(sum->n_changes, 5);
	CHECK_INT(sum->n_added, 1);
	CHECK_INT(sum->n_deleted, 1);
	CHECK_INT(sum->n_modified, 1);
	CHECK_INT(sum->n_renamed, 1);
	CHECK_INT(sum->n_conflicts, 0);
	CHECK_INT(sum->bytes, 13);
	changes_free(changes);
	tree_done(&t);
}

static void a_rename_prefers_its_own_name(void)
{
	struct hb_error err = { 0 };
	struct changes *changes;
	struct change c;
	struct tree t;
	bool found = false;

	tree_init(&t, 1);
	t.request.with_renames = true;
	put_file(t.base, "a", "same");
	put_dir(t.base, "d");
	put_file(t.base, "d/name", "same");
	put_whiteout(t.layers[0], "a");
	put_whiteout(t.layers[0], "d");
	put_dir(t.layers[0], "z");
	put_file(t.layers[0], "z/name", "same");
	/* Of two that are as good it is the first. */
	put_file(t.base, "b", "two");
	put_file(t.base, "c", "two");
	put_whiteout(t.layers[0], "b");
	put_whiteout(t.layers[0], "c");
	put_file(t.layers[0], "y", "two");
	CHECK_CHANGES(&t, "D a\nD b m\nD c\nD d\nD d/name g m\n"
			  "A y r\nA z\nA z/name n r\n");
	changes = scan(&t);
	while (changes_next(changes, &c, &err) == 1) {
		if (!(c.flags & CHANGE_RENAMED))
			continue;
		CHECK(strcmp(c.from, c.path[0] == 'y' ? "b" : "d/name") == 0);
		found = true;
	}
	CHECK(found);
	changes_free(changes);
	tree_done(&t);
}

static void what_its_owner_cannot_read_is_read(void)
{
	struct stat st;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.layers[0], "d");
	put_dir(t.layers[0], "d/e");
	put_file(t.layers[0], "d/e/f", "x");
	put_dir(t.base, "o");
	put_file(t.base, "o/f", "x");
	put_dir(t.layers[0], "o");
	set_opaque(t.layers[0], "o");
	put_file(t.base, "secret", "abc");
	put_file(t.layers[0], "secret", "abc");
	CHECK_INT(fchmodat(t.layers[0], "secret", 0, 0), 0);
	CHECK_INT(fchmodat(t.layers[0], "o", 0, 0), 0);
	CHECK_INT(fchmodat(t.layers[0], "d/e", 0, 0), 0);
	CHECK_INT(fchmodat(t.layers[0], "d", 0300, 0), 0);
	CHECK_CHANGES(&t, "A d\nA d/e n\nA d/e/f n\nP o o\nD o/f\nP secret\n");
	CHECK_INT(fstatat(t.layers[0], "d", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0300);
	CHECK_INT(fstatat(t.layers[0], "d/e", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0);
	CHECK_INT(fstatat(t.layers[0], "o", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0);
	CHECK_INT(fstatat(t.layers[0], "secret", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0);
	tree_done(&t);
}

static void unreadable_layers_are_read(void)
{
	as_ordinary_user(what_its_owner_cannot_read_is_read);
}

static void what_the_base_hides_is_in_doubt(void)
{
	struct stat st;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	put_file(t.base, "d/f", "x");
	put_whiteout(t.layers[0], "d");
	put_file(t.base, "g", "abc");
	put_file(t.layers[0], "g", "abc");
	put_dir(t.base, "m");
	put_dir(t.layers[0], "m");
	put_file(t.layers[0], "m/f", "x");
	CHECK_INT(fchmodat(t.base, "d", 0, 0), 0);
	CHECK_INT(fchmodat(t.base, "m", 0, 0), 0);
	CHECK_INT(fchmodat(t.base, "g", 0, 0), 0);
	CHECK_CHANGES(&t, "D d !\nM g\nP m\nA m/f !\n");
	CHECK_INT(fstatat(t.base, "d", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0);
	tree_done(&t);
}

static void unreadable_bases_are_in_doubt(void)
{
	as_ordinary_user(what_the_base_hides_is_in_doubt);
}

/* Version 2: user::rw-, user:us:rw-, group::r--, mask::rw-, other::r-- */
static void make_acl(unsigned char acl[44])
{
	static const unsigned char entries[5][2] = {
		{ 1, 6 }, { 2, 6 }, { 4, 4 }, { 16, 6 }, { 32, 4 },
	};
	const uint32_t uid = geteuid();

	memset(acl, 0, 44);
	acl[0] = 2;
	for (size_t i = 0; i < 5; i++) {
		unsigned char *e = acl + 4 + 8 * i;

		e[0] = entries[i][0];
		e[2] = entries[i][1];
		/* Somebody who is mapped wherever this runs. */
		for (int k = 0; k < 4; k++)
			e[4 + k] =
				i == 1 ? (unsigned char)(uid >> (8 * k)) : 255;
	}
}

static void acls_and_capabilities_are_attributes(void)
{
	/* cap_net_raw=ep, version 2 */
	static const unsigned char capability[20] = { 1, 0, 0, 2, 0, 32 };
	unsigned char acl[44];
	struct changes *changes;
	struct change c;
	struct tree t;
	int fd;

	make_acl(acl);
	tree_init(&t, 1);
	put_file(t.base, "acl", "x");
	put_file(t.layers[0], "acl", "x");
	set_xattr(t.layers[0], "acl", "system.posix_acl_access", acl,
		  sizeof(acl));
	CHECK_INT(fchmodat(t.base, "acl", 0664, 0), 0);
	CHECK_CHANGES(&t, "P acl\n");
	changes = scan(&t);
	CHECK_INT(changes_next(changes, &c, NULL), 1);
	CHECK_INT(c.what, CHANGED_XATTRS);
	changes_free(changes);
	set_xattr(t.base, "acl", "system.posix_acl_access", acl, sizeof(acl));
	CHECK_CHANGES(&t, "");
	put_file(t.layers[0], "cap", "x");
	fd = openat(t.layers[0], "cap", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	/* For whoever may give one. */
	if (fsetxattr(fd, "security.capability", capability, sizeof(capability),
		      0) == 0)
		CHECK_CHANGES(&t, "A cap S\n");
	(void)close(fd);
	tree_done(&t);
}

static void any_time_is_a_time(void)
{
	static const struct timespec times[] = {
		{ -1, 0 },
		{ -1, 999999999 },
		{ (time_t)1 << 33, 1 },
		{ 0, 0 },
	};
	struct changes *changes;
	struct change c;
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "f", "x");
	put_file(t.layers[0], "f", "x");
	for (size_t i = 0; i < 4; i++) {
		const struct timespec both[2] = { times[i], times[i] };

		CHECK_INT(utimensat(t.layers[0], "f", both, 0), 0);
		changes = scan(&t);
		CHECK_INT(changes_next(changes, &c, NULL), 1);
		CHECK_INT(c.kind, CHANGE_TIMES);
		CHECK_INT(c.new.mtime.tv_sec, times[i].tv_sec);
		CHECK_INT(c.new.mtime.tv_nsec, times[i].tv_nsec);
		changes_free(changes);
		CHECK_INT(utimensat(t.base, "f", both, 0), 0);
		CHECK_CHANGES(&t, "");
	}
	tree_done(&t);
}

#ifdef HB_FAULTS
/* Of a full disk: the list is kept in memory then. */
static void fail_each_write_as(enum fault_mode mode)
{
	unsigned n = 0, passed;
	struct stat st;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.layers[0], "d");
	put_dir(t.layers[0], "d/e");
	for (int i = 0; i < 400; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "d/%0250d", i);
		put_file(t.layers[0], name, "");
	}
	CHECK_INT(fchmodat(t.layers[0], "d/e", 0, 0), 0);
	do {
		struct changes *changes = NULL;
		struct hb_error err = { 0 };
		int r;

		fault_arm(mode, ++n);
		r = changes_scan(&t.request, &changes, &err);
		passed = fault_passages();
		fault_arm(FAULT_NONE, 0);
		if (r < 0 || mode != FAULT_ENOSPC)
			CHECK(r == 0 ? passed < n : err.code == -r);
		CHECK((r == 0) == (changes != NULL));
		changes_free(changes);
		/* Whatever fails but the way back itself, it is gone. */
		CHECK_INT(fstatat(t.layers[0], "d/e", &st, 0), 0);
		if (r < 0 && strstr(err.text, "give a mode back"))
			CHECK_INT(fchmodat(t.layers[0], "d/e", 0, 0), 0);
		else
			CHECK_INT(st.st_mode & 07777, 0);
	} while (passed >= n);
	/* The names and the changes; a mode twice, but not for root. */
	CHECK(n > 3);
	tree_done(&t);
}

static void fail_each_write(void)
{
	fail_each_write_as(FAULT_EIO);
	fail_each_write_as(FAULT_ENOSPC);
}

static void every_write_may_fail(void)
{
	as_ordinary_user(fail_each_write);
}
#else
static void every_write_may_fail(void)
{
	printf("# not built with fault points\n");
}
#endif

TESTS(T(an_empty_layer_changes_nothing), T(every_kind_is_told),
      T(both_whiteout_forms_delete), T(a_deleted_directory_is_expanded),
      T(an_opaque_directory_is_expanded), T(a_new_directory_is_descended),
      T(a_directory_has_metadata), T(types_replace_each_other),
      T(higher_layers_hide_lower_ones),
      T(xattrs_are_compared_but_for_those_of_overlays),
      T(files_with_holes_are_compared), T(hard_links_share_a_group),
      T(dangerous_objects_are_flagged), T(names_are_bytes),
      T(links_are_never_followed), T(our_own_names_are_skipped),
      T(our_own_name_is_skipped_where_the_base_has_none),
      T(the_hash_names_exactly_this), T(the_summary_counts),
      T(a_rename_prefers_its_own_name), T(unreadable_layers_are_read),
      T(unreadable_bases_are_in_doubt), T(acls_and_capabilities_are_attributes),
      T(any_time_is_a_time), T(every_write_may_fail))
