/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/compare.h"
#include "tree/entry.h"

#include "trees.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static int look(int dir, const char *name, struct entry *e)
{
	struct hb_error err = { 0 };
	int r = entry_read_layer(dir, name, e, &err);

	if (r < 0)
		CHECK_INT(err.code, -r);
	else
		CHECK_INT(err.code, 0);
	return r;
}

static void types_are_told_without_opening(void)
{
	struct entry e;
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "file", "four");
	put_dir(t.base, "dir");
	put_link(t.base, "nowhere", "link");
	CHECK_INT(mkfifoat(t.base, "fifo", 0600), 0);
	CHECK_INT(mknodat(t.base, "socket", S_IFSOCK | 0600, 0), 0);
	put_whiteout(t.base, "device");
#define TYPE_IS(name, want)                                            \
	do {                                                           \
		CHECK_INT(entry_read_base(t.base, name, &e, NULL), 0); \
		CHECK_INT(e.type, want);                               \
	} while (0)
	TYPE_IS("nothing", ENTRY_NONE);
	TYPE_IS("file", ENTRY_FILE);
	CHECK_INT(e.size, 4);
	CHECK_INT(e.mode, 0644);
	CHECK_INT(e.mtime.tv_sec, TREE_TIME);
	CHECK_INT(e.uid, geteuid());
	TYPE_IS("dir", ENTRY_DIR);
	TYPE_IS("link", ENTRY_LINK);
	TYPE_IS("fifo", ENTRY_FIFO);
	TYPE_IS("socket", ENTRY_SOCKET);
	CHECK(entry_is_special(&e));
	/* To a base it is what it is. */
	TYPE_IS("device", ENTRY_DEVICE);
	CHECK(!e.is_whiteout);
	tree_done(&t);
}

static void marks_of_the_kernel_are_read(void)
{
	struct entry e;
	struct tree t;

	tree_init(&t, 1);
	put_whiteout(t.layers[0], "a");
	CHECK_INT(look(t.layers[0], "a", &e), 0);
	CHECK_INT(e.type, ENTRY_NONE);
	CHECK(e.is_whiteout);

	put_file(t.layers[0], "b", "");
	set_xattr(t.layers[0], "b", "user.overlay.whiteout", "y", 1);
	CHECK_INT(look(t.layers[0], "b", &e), 0);
	CHECK_INT(e.type, ENTRY_NONE);
	CHECK(e.is_whiteout);

	put_dir(t.layers[0], "c");
	set_opaque(t.layers[0], "c");
	set_xattr(t.layers[0], "c", "user.overlay.impure", "y", 1);
	set_xattr(t.layers[0], "c", "user.overlay.uuid", "0123456789abcdef",
		  16);
	CHECK_INT(look(t.layers[0], "c", &e), 0);
	CHECK(e.is_opaque && !e.is_whiteout && !e.has_origin && !e.has_xattrs);

	put_file(t.layers[0], "d", "x");
	set_origin(t.layers[0], "d");
	CHECK_INT(look(t.layers[0], "d", &e), 0);
	CHECK(e.has_origin && !e.is_opaque && !e.has_xattrs);

	CHECK_INT(look(t.layers[0], "nothing", &e), 0);
	CHECK_INT(e.type, ENTRY_NONE);
	CHECK(!e.is_whiteout);
	tree_done(&t);
}

static void forged_marks_refuse_the_layer(void)
{
	static const struct {
		bool is_dir;
		const char *text, *name, *value;
	} forged[] = {
		{ true, NULL, "opaque", "x" },
		{ true, NULL, "opaque", "n" },
		{ true, NULL, "opaque", "yy" },
		{ true, NULL, "opaque", "" },
		{ true, NULL, "opaque", "Y" },
		{ false, "x", "opaque", "y" },
		{ false, "data", "whiteout", "y" },
		{ true, NULL, "whiteout", "y" },
		{ true, NULL, "redirect", "/etc" },
		{ false, "x", "redirect", "../../f" },
		{ false, "", "metacopy", "" },
		{ false, "x", "metacopy", "\0\x04" },
		{ false, "x", "protattr", "a" },
		{ false, "x", "verity", "a" },
		{ false, "x", "nlink", "U+1" },
		{ false, "x", "upper", "x" },
		{ false, "x", "originx", "" },
		{ false, "x", "overlay", "" },
	};

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		struct changes *changes = NULL;
		struct hb_error err = { 0 };
		char name[64];
		struct entry e;
		struct tree t;

		tree_init(&t, 1);
		put_dir(t.layers[0], "deep");
		if (forged[i].is_dir)
			put_dir(t.layers[0], "deep/x");
		else
			put_file(t.layers[0], "deep/x", forged[i].text);
		(void)snprintf(name, sizeof(name), "user.overlay.%s",
			       forged[i].name);
		set_xattr(t.layers[0], "deep/x", name, forged[i].value,
			  strlen(forged[i].value));
		CHECK_INT(look(t.layers[0], "deep/x", &e), -HB_E_CORRUPT);
		/* The whole set, with the path. */
		CHECK_INT(changes_scan(&t.request, &changes, &err),
			  -HB_E_CORRUPT);
		CHECK(strstr(err.text, "deep/x"));
		CHECK(strstr(err.text, forged[i].name));
		CHECK(changes == NULL);
		/* A base may have what it likes. */
		CHECK_INT(entry_read_base(t.layers[0], "deep/x", &e, &err), 0);
		tree_done(&t);
	}
}

static void the_top_of_a_layer_cannot_be_opaque(void)
{
	struct changes *changes = NULL;
	struct hb_error err = { 0 };
	struct tree t;

	tree_init(&t, 1);
	put_file(t.base, "all of the base", "x");
	set_opaque(t.layers[0], ".");
	CHECK_INT(changes_scan(&t.request, &changes, &err), -HB_E_CORRUPT);
	tree_done(&t);
}

static void escaped_marks_are_data(void)
{
	struct entry e;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.layers[0], "d");
	set_xattr(t.layers[0], "d", "user.overlay.overlay.opaque", "y", 1);
	CHECK_INT(look(t.layers[0], "d", &e), 0);
	CHECK(!e.is_opaque);
	CHECK(e.has_xattrs);
	put_file(t.layers[0], "f", "");
	set_xattr(t.layers[0], "f", "user.overlay.overlay.whiteout", "y", 1);
	set_xattr(t.layers[0], "f", "user.overlay.overlay.overlay.x", "y", 1);
	CHECK_INT(look(t.layers[0], "f", &e), 0);
	CHECK_INT(e.type, ENTRY_FILE);
	tree_done(&t);
}

static void a_list_of_any_length_is_read(void)
{
	struct entry e;
	struct tree t;

	tree_init(&t, 1);
	put_dir(t.layers[0], "d");
	for (int i = 0; i < 20; i++) {
		char name[128];

		(void)snprintf(name, sizeof(name), "user.%0100d", i);
		set_xattr(t.layers[0], "d", name, "", 0);
	}
	set_opaque(t.layers[0], "d");
	CHECK_INT(look(t.layers[0], "d", &e), 0);
	CHECK(e.is_opaque);
	set_xattr(t.layers[0], "d", "user.overlay.redirect", "x", 1);
	CHECK_INT(look(t.layers[0], "d", &e), -HB_E_CORRUPT);
	tree_done(&t);
}

/* A command may swap names at any time; it is no failure of the disk. */
static void a_link_that_is_a_file_by_now_changes_while_it_is_read(void)
{
	struct side a = { .name = "a" }, b = { .name = "b" };
	uint8_t digest[SHA256_SIZE];
	struct hb_error err = { 0 };
	struct entry e;
	struct tree t;

	tree_init(&t, 1);
	put_link(t.base, "nowhere", "a");
	put_link(t.base, "nowhere", "b");
	put_file(t.base, "file", "text");
	CHECK_INT(entry_read_base(t.base, "a", &e, NULL), 0);
	a.dir = b.dir = t.base;
	a.entry = b.entry = &e;
	CHECK_INT(side_same_target(&a, &a, &err), 1);
	CHECK_INT(side_same_target(&a, &b, NULL), -HB_E_BUSY);
	CHECK_INT(renameat(t.base, "file", t.base, "a"), 0);
	CHECK_INT(side_same_target(&a, &a, NULL), -HB_E_BUSY);
	CHECK_INT(side_content(&a, digest, &err), -HB_E_BUSY);
	CHECK_INT(err.code, HB_E_BUSY);
	tree_done(&t);
}

static _Noreturn void move_for_ever(const struct tree *t)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		(void)renameat(t->base, "d", t->layers[0], "d");
		(void)renameat(t->layers[0], "d", t->base, "d");
	}
}

/* The kernel says EXDEV of it, as if a mount were in the way. */
static void a_name_that_moves_away_is_no_mount(void)
{
	struct tree t;
	pid_t mover;

	tree_init(&t, 1);
	put_dir(t.base, "d");
	mover = fork();
	if (mover == 0)
		move_for_ever(&t);
	CHECK(mover > 0);
	for (int i = 0; i < 50000; i++) {
		int fd = sys_openat2(t.base, "d", O_RDONLY | O_DIRECTORY, 0,
				     K_RESOLVE_BENEATH | K_RESOLVE_NO_XDEV);

		CHECK(fd >= 0 || fd == -ENOENT);
		if (fd >= 0)
			(void)close(fd);
	}
	CHECK_INT(kill(mover, SIGKILL), 0);
	CHECK(waitpid(mover, NULL, 0) == mover);
	tree_done(&t);
}

TESTS(T(types_are_told_without_opening), T(marks_of_the_kernel_are_read),
      T(forged_marks_refuse_the_layer), T(the_top_of_a_layer_cannot_be_opaque),
      T(escaped_marks_are_data), T(a_list_of_any_length_is_read),
      T(a_link_that_is_a_file_by_now_changes_while_it_is_read),
      T(a_name_that_moves_away_is_no_mount))
