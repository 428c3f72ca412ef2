/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: userns */
#include "changes/changes.h"

#include "trees.h"

#include <sys/resource.h>

/*
 * Trees that are deep or wide.  Each is scanned in a child whose ru_maxrss is
 * looked at, because the test itself may take what it likes.
 */
#define RSS_MAX_KB (64L << 10)
#define FDS_MAX	   256

/* A sanitizer keeps what was freed: then memory says nothing. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

struct expected {
	uint64_t n_changes;
	uint64_t n_conflicts;
};

static void scan_in_child(struct tree *t, struct expected want)
{
	const struct rlimit fds = { FDS_MAX, FDS_MAX };
	struct rusage usage;
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0 && setrlimit(RLIMIT_NOFILE, &fds) == 0) {
		struct changes *changes = scan(t);
		struct hb_error err = { 0 };
		struct change c;
		uint64_t n = 0;
		int r;

		while ((r = changes_next(changes, &c, &err)) == 1)
			n += !(c.flags & CHANGE_CARRIED);
		CHECK_INT(r, 0);
		CHECK_INT(n, want.n_changes);
		CHECK_INT(changes_summary(changes)->n_changes, want.n_changes);
		CHECK_INT(changes_summary(changes)->n_conflicts,
			  want.n_conflicts);
		changes_free(changes);
		_exit(0);
	}
	CHECK_INT(wait4(pid, &status, 0, &usage), pid);
	CHECK_INT(status, 0);
	printf("# ru_maxrss %ld KiB\n", usage.ru_maxrss);
	CHECK(IS_SANITIZED || usage.ru_maxrss <= RSS_MAX_KB);
}

/* Makes `depth` directories below each other and opens the last. */
static int dig(int dir, size_t depth, size_t n)
{
	char name[NAME_MAX + 1];
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);

	memset(name, 'd', n);
	name[n] = '\0';
	for (size_t i = 0; i < depth; i++) {
		int below;

		CHECK_INT(mkdirat(at, name, 0755), 0);
		below = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(below >= 0);
		(void)close(at);
		at = below;
	}
	return at;
}

static void a_new_tree_of_any_depth(void)
{
	struct tree t;
	int at;

	tree_init(&t, 1);
	at = dig(t.layers[0], 3000, 200);
	put_file(at, "f", "x");
	(void)close(at);
	scan_in_child(&t, (struct expected){ 3001, 0 });
	tree_done(&t);
}

static void a_change_at_any_depth(void)
{
	struct tree t;
	int base, layer;

	tree_init(&t, 2);
	base = dig(t.base, 3000, 200);
	layer = dig(t.layers[0], 3000, 200);
	put_file(base, "f", "x");
	put_file(base, "g", "x");
	put_file(layer, "f", "changed");
	put_whiteout(layer, "g");
	(void)close(base);
	(void)close(layer);
	/* On the way back the levels above still have something to show. */
	put_file(t.layers[0], "z", "x");
	put_file(t.layers[1], "y", "x");
	scan_in_child(&t, (struct expected){ 4, 0 });
	tree_done(&t);
}

static void siblings_on_the_way_back(void)
{
	struct changes *changes;
	struct change c;
	struct tree t;
	size_t n = 0;
	int at;

	tree_init(&t, 1);
	at = fcntl(t.layers[0], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 500; i++) {
		int below;

		put_dir(at, "d");
		put_file(at, "e", "x");
		below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(below >= 0);
		(void)close(at);
		at = below;
	}
	(void)close(at);
	changes = scan(&t);
	while (changes_next(changes, &c, NULL) == 1) {
		size_t len = strlen(c.path);

		/* d, d/d, ... and then their siblings from the bottom up. */
		if (n < 500)
			CHECK_INT(len, 2 * n + 1);
		else
			CHECK_INT(len, 2 * (999 - n) + 1);
		CHECK_INT(c.path[len - 1], n < 500 ? 'd' : 'e');
		n++;
	}
	CHECK_INT(n, 1000);
	changes_free(changes);
	tree_done(&t);
}

static void a_deleted_tree_of_any_depth(void)
{
	char name[201] = "";
	struct tree t;
	int at;

	tree_init(&t, 1);
	at = dig(t.base, 3000, 200);
	put_file(at, "f", "x");
	(void)close(at);
	memset(name, 'd', 200);
	put_whiteout(t.layers[0], name);
	scan_in_child(&t, (struct expected){ 3001, 0 });
	tree_done(&t);
}

static void the_longest_names_on_many_levels(void)
{
	struct tree t;

	tree_init(&t, 1);
	(void)close(dig(t.layers[0], 16, 255));
	scan_in_child(&t, (struct expected){ 16, 0 });
	tree_done(&t);
}

/* More levels than descriptors, all closed to their owner. */
static void dig_closed(void)
{
	struct changes *changes;
	int fds[300];
	struct stat st;
	struct tree t;

	tree_init(&t, 1);
	for (size_t i = 0; i < 300; i++)
		fds[i] = tree_dir(i > 0 ? fds[i - 1] : t.layers[0], "d");
	for (size_t i = 0; i < 300; i++)
		CHECK_INT(fchmod(fds[i], 0), 0);
	changes = scan(&t);
	CHECK_INT(changes_summary(changes)->n_changes, 300);
	changes_free(changes);
	for (size_t i = 0; i < 300; i++) {
		CHECK_INT(fstat(fds[i], &st), 0);
		CHECK_INT(st.st_mode & 07777, 0);
		CHECK_INT(fchmod(fds[i], 0700), 0);
		(void)close(fds[i]);
	}
	tree_done(&t);
}

static void closed_directories_at_any_depth(void)
{
	as_ordinary_user(dig_closed);
}

/* A hundred thousand names; a million when the long tests are asked for. */
static size_t many(void)
{
	if (IS_SANITIZED)
		return 20000;
	return getenv("HB_SOAK") ? 1000000 : 100000;
}

static void a_wide_directory(void)
{
	struct tree t;
	size_t n = many();

	tree_init(&t, 1);
	for (size_t i = 0; i < n; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "%0248zu", i * 7919 % n);
		CHECK_INT(mknodat(t.layers[0], name, S_IFREG | 0644, 0), 0);
	}
	scan_in_child(&t, (struct expected){ n, 0 });
	tree_done(&t);
}

static void a_wide_directory_that_is_gone(void)
{
	struct tree t;
	size_t n = many() / 10;
	int dir;

	tree_init(&t, 1);
	dir = tree_dir(t.base, "d");
	for (size_t i = 0; i < n; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "%zu", i);
		CHECK_INT(mknodat(dir, name, S_IFREG | 0644, 0), 0);
	}
	(void)close(dir);
	put_dir(t.layers[0], "d");
	set_opaque(t.layers[0], "d");
	scan_in_child(&t, (struct expected){ n, 0 });
	tree_done(&t);
}

static void many_directories(void)
{
	struct tree t;
	size_t n = many() / 10;

	tree_init(&t, 1);
	for (size_t i = 0; i < n; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "%zu", i);
		put_dir(t.layers[0], name);
	}
	scan_in_child(&t, (struct expected){ n, 0 });
	tree_done(&t);
}

TESTS(T(a_new_tree_of_any_depth), T(a_change_at_any_depth),
      T(siblings_on_the_way_back), T(a_deleted_tree_of_any_depth),
      T(the_longest_names_on_many_levels), T(closed_directories_at_any_depth),
      T(a_wide_directory), T(a_wide_directory_that_is_gone),
      T(many_directories))
