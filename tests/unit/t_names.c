/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/names.h"

#include "trees.h"

static void put_numbers(int dir, size_t n, size_t step, const char *prefix,
			int width)
{
	for (size_t i = 0; i < n; i++) {
		char name[NAME_MAX + 1];

		(void)snprintf(name, sizeof(name), "%s%0*d", prefix, width,
			       (int)(i * step % n));
		CHECK_INT(mknodat(dir, name, S_IFREG | 0644, 0), 0);
	}
}

/* Reads the list to its end; names rise and none comes twice. */
static size_t count_names(struct names *names)
{
	struct hb_error err = { 0 };
	char last[NAME_MAX + 1] = "";
	const char *name;
	size_t n = 0;
	int r;

	while ((r = names_next(names, &name, &err)) == 1) {
		CHECK(strcmp(last, name) < 0);
		(void)snprintf(last, sizeof(last), "%s", name);
		n++;
	}
	CHECK_INT(r, 0);
	CHECK_INT(names_next(names, &name, &err), 0);
	return n;
}

static void read_all(struct tree *t, struct names_pool *pool,
		     struct names *names)
{
	struct hb_error err = { 0 };
	int dirs[2] = {
		openat(t->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		openat(t->layers[0], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};

	CHECK_INT(names_read(pool, dirs, 2, names, &err), 0);
	(void)close(dirs[0]);
	(void)close(dirs[1]);
}

static void an_empty_directory_has_no_names(void)
{
	struct names_pool pool;
	struct names names;
	struct tree t;

	tree_init(&t, 1);
	names_pool_init(&pool, t.top);
	read_all(&t, &pool, &names);
	CHECK_INT(count_names(&names), 0);
	names_done(&names);
	names_pool_done(&pool);
	tree_done(&t);
}

static void the_union_is_sorted(void)
{
	struct names_pool pool;
	struct names names;
	struct tree t;

	tree_init(&t, 1);
	put_numbers(t.base, 100, 7, "", 1);
	put_numbers(t.layers[0], 150, 11, "", 1);
	names_pool_init(&pool, t.top);
	read_all(&t, &pool, &names);
	CHECK_INT(count_names(&names), 150);
	CHECK_INT(pool.file, -1);
	CHECK(pool.held > 0);
	names_done(&names);
	CHECK_INT(pool.held, 0);
	names_pool_done(&pool);
	tree_done(&t);
}

/* Every limit from one name per run on: one merge, many, and merges of those.
 */
static void runs_of_any_length_are_merged(void)
{
	static const size_t limits[] = { 1, 40, 300, 5000, 100000 };
	struct tree t;

	tree_init(&t, 1);
	put_numbers(t.base, 700, 13, "", 1);
	put_numbers(t.layers[0], 900, 7, "name ", 1);
	put_file(t.base, "name 5", "");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct names_pool pool;
		struct names names;

		names_pool_init(&pool, t.top);
		pool.max_sort = limits[i];
		read_all(&t, &pool, &names);
		CHECK_INT(count_names(&names), 1600);
		CHECK(limits[i] > 50000 || pool.file >= 0);
		names_done(&names);
		CHECK_INT(pool.end, 0);
		names_pool_done(&pool);
	}
	tree_done(&t);
}

static void lists_share_the_file_in_turns(void)
{
	struct names_pool pool;
	struct names outer, inner;
	char added[16];
	const char *name;
	struct tree t;

	tree_init(&t, 1);
	put_numbers(t.base, 3000, 7, "", 200);
	names_pool_init(&pool, t.top);
	read_all(&t, &pool, &outer);
	CHECK(outer.text == NULL);
	for (int i = 0; i < 10; i++) {
		CHECK_INT(names_next(&outer, &name, NULL), 1);
		CHECK_INT(atoi(name), i);
		/* Where another list lay before lies a longer one now. */
		(void)snprintf(added, sizeof(added), "+%d", i);
		put_file(t.base, added, "");
		read_all(&t, &pool, &inner);
		CHECK_INT(count_names(&inner), 3001 + i);
		names_done(&inner);
	}
	CHECK_INT(names_next(&outer, &name, NULL), 1);
	CHECK_INT(atoi(name), 10);
	names_done(&outer);
	names_pool_done(&pool);
	tree_done(&t);
}

/* A block that was read is not what was written there since. */
static void a_new_list_is_not_the_old_one(void)
{
	struct names_pool pool;
	const char *name;
	struct tree t;

	tree_init(&t, 1);
	names_pool_init(&pool, t.top);
	pool.max_sort = 1;
	for (int i = 0; i < 5; i++) {
		struct names names;
		char only[2] = { (char)('a' + i), '\0' };

		put_file(t.base, only, "");
		read_all(&t, &pool, &names);
		CHECK_INT(names_next(&names, &name, NULL), 1);
		CHECK(strcmp(name, only) == 0);
		CHECK_INT(names_next(&names, &name, NULL), 0);
		names_done(&names);
		CHECK_INT(unlinkat(t.base, only, 0), 0);
	}
	names_pool_done(&pool);
	tree_done(&t);
}

TESTS(T(an_empty_directory_has_no_names), T(the_union_is_sorted),
      T(runs_of_any_length_are_merged), T(lists_share_the_file_in_turns),
      T(a_new_list_is_not_the_old_one))
