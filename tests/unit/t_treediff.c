/* SPDX-License-Identifier: Apache-2.0 */
/* needs: git */
#include "git/treediff.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/objectstore.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Trees in memory: hostile ones, which git would not write. */
#define TREES_MAX 64

struct trees {
	struct git_object list[TREES_MAX];
	struct git_id ids[TREES_MAX];
	size_t n;
};

static const struct git_id *add_tree(struct trees *t, enum git_type type,
				     const char *bytes, size_t n)
{
	struct git_object *o = &t->list[t->n];

	CHECK(t->n < TREES_MAX);
	*o = (struct git_object){ .type = type,
				  .data = malloc(n + 1),
				  .size = n };
	CHECK(o->data != NULL);
	memcpy(o->data, bytes, n);
	o->data[n] = '\0';
	git_object_name(o, 40, &t->ids[t->n]);
	return &t->ids[t->n++];
}

static void done(struct trees *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].data);
}

/* Of type treediff_read_fn. */
static int read_tree(void *ctx, const struct git_id *id, size_t max,
		     struct git_object *ret)
{
	const struct trees *t = ctx;

	for (size_t i = 0; i < t->n; i++) {
		if (!git_id_is_same(&t->ids[i], id))
			continue;
		if (t->list[i].size > max)
			return -EFBIG;
		*ret = t->list[i];
		ret->data = malloc(ret->size + 1);
		CHECK(ret->data != NULL);
		memcpy(ret->data, t->list[i].data, ret->size + 1);
		return 0;
	}
	return -ENOENT;
}

static void add_entry(struct buf *out, const char *mode, const char *name,
		      const struct git_id *id)
{
	CHECK_INT(buf_add_fmt(out, "%s %s", mode, name), 0);
	CHECK_INT(buf_add_char(out, '\0'), 0);
	for (size_t i = 0; i < 20; i++) {
		unsigned byte = 0;

		CHECK_INT(sscanf(id->hex + 2 * i, "%2x", &byte), 1);
		CHECK_INT(buf_add_char(out, (char)byte), 0);
	}
}

static const struct git_id *add_one(struct trees *t, const char *mode,
				    const char *name, const struct git_id *id)
{
	auto_buf struct buf bytes = BUF_INIT(1 << 20);

	add_entry(&bytes, mode, name, id);
	return add_tree(t, GIT_TREE, bytes.data, bytes.len);
}

static const struct git_id one = { "1111111111111111111111111111111111111111" };
static const struct git_id two = { "2222222222222222222222222222222222222222" };

/* As `git diff-tree -r --raw --no-abbrev -z` has it, but for the colon. */
static int write_line(void *ctx, const struct treediff_change *c)
{
	static const struct git_id none = {
		"0000000000000000000000000000000000000000"
	};
	struct buf *out = ctx;
	const bool is_type = (c->old.mode & 0170000) != (c->new.mode & 0170000);

	CHECK(c->old.mode || c->new.mode);
	return buf_add_fmt(out, "%06o %06o %s %s %c\n%s\n",
			   (unsigned)c->old.mode, (unsigned)c->new.mode,
			   c->old.mode ? c->old.id.hex : none.hex,
			   c->new.mode ? c->new.id.hex : none.hex,
			   !c->old.mode	  ? 'A'
			   : !c->new.mode ? 'D'
			   : is_type	  ? 'T'
					  : 'M',
			   c->path);
}

static int paths_only(void *ctx, const struct treediff_change *c)
{
	return buf_add_fmt(ctx, "%c%s\n", c->new.mode ? '+' : '-', c->path);
}

static int run(struct trees *t, const struct git_id *old,
	       const struct git_id *new, struct buf *out)
{
	struct treediff diff = {
		.read = read_tree, .ctx = t, .n_paths = 1000, .n_trees = 10000
	};

	buf_cut(out, 0);
	return treediff_run(&diff, old, new, paths_only, out);
}

static void odd_names_are_text(void)
{
	auto_buf struct buf bytes = BUF_INIT(1 << 16);
	auto_buf struct buf out = BUF_INIT(1 << 16);
	struct trees t = { 0 };
	const struct git_id *hook = add_one(&t, "100755", "pre-commit", &one);

	add_entry(&bytes, "40000", "..", hook);
	add_entry(&bytes, "40000", ".GIT", hook);
	add_entry(&bytes, "100644", "../../etc/passwd", &one);
	add_entry(&bytes, "100644", ".github/workflows/x.yml", &one);
	add_entry(&bytes, "100644", "/", &one);
	add_entry(&bytes, "40000", "a", hook);
	add_entry(&bytes, "100644", "a/", &one);
	CHECK_INT(run(&t, NULL, add_tree(&t, GIT_TREE, bytes.data, bytes.len),
		      &out),
		  0);
	CHECK(strcmp(buf_str(&out), "+../pre-commit\n+.GIT/pre-commit\n"
				    "+../../etc/passwd\n"
				    "+.github/workflows/x.yml\n+/\n"
				    "+a/pre-commit\n+a/\n") == 0);
	done(&t);
}

static void a_name_with_its_slash_is_no_directory(void)
{
	auto_buf struct buf out = BUF_INIT(1 << 16);
	struct trees t = { 0 };
	const struct git_id *hook = add_one(&t, "100755", "x", &one);
	const struct git_id *dir = add_one(&t, "40000", "a", hook);
	const struct git_id *file = add_one(&t, "100644", "a/", hook);

	CHECK_INT(run(&t, dir, file, &out), 0);
	CHECK(strcmp(buf_str(&out), "-a/x\n+a/\n") == 0);
	CHECK_INT(run(&t, file, dir, &out), 0);
	CHECK(strcmp(buf_str(&out), "+a/x\n-a/\n") == 0);
	done(&t);
}

/* git takes the first of two, or the last: both are told. */
static void no_order_and_no_repetition_hides_an_entry(void)
{
	auto_buf struct buf old = BUF_INIT(1 << 16);
	auto_buf struct buf new = BUF_INIT(1 << 16);
	auto_buf struct buf out = BUF_INIT(1 << 16);
	struct trees t = { 0 };

	add_entry(&old, "100644", "a", &one);
	add_entry(&old, "100644", "b", &one);
	add_entry(&new, "100644", "b", &one);
	add_entry(&new, "100644", "a", &one);
	add_entry(&new, "100644", "a", &two);
	CHECK_INT(run(&t, add_tree(&t, GIT_TREE, old.data, old.len),
		      add_tree(&t, GIT_TREE, new.data, new.len), &out),
		  0);
	CHECK(strcmp(buf_str(&out), "-a\n+a\n+a\n") == 0);
	done(&t);
}

static void trees_that_git_does_not_read_are_refused(void)
{
	static const char *const bad[] = {
		"",	   " a",       "1006x4 a",	"100644",
		"100644 ", "100644 a", "00000100644 a", "100644a b",
	};
	auto_buf struct buf out = BUF_INIT(1 << 16);
	struct trees t = { 0 };

	for (size_t i = 1; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char bytes[64];
		size_t n = strlen(bad[i]);

		/* With a whole id behind it, but for one byte. */
		memset(bytes, 7, sizeof(bytes));
		memcpy(bytes, bad[i], n + 1);
		CHECK_INT(run(&t, NULL,
			      add_tree(&t, GIT_TREE, bytes, n + 1 + 19), &out),
			  -EBADMSG);
		CHECK_INT(out.len, 0);
	}
	CHECK_INT(run(&t, NULL, add_tree(&t, GIT_BLOB, "x", 1), &out),
		  -EBADMSG);
	CHECK_INT(run(&t, &one, NULL, &out), -ENOENT);
	done(&t);
}

/* 8 entries in each of 40 levels are the same: 8^40 paths. */
static void a_tree_of_itself_ends(void)
{
	auto_buf struct buf out = BUF_INIT(1 << 20);
	struct trees t = { 0 };
	struct git_id id = *add_one(&t, "100644", "f", &one);
	struct git_id empty = *add_tree(&t, GIT_TREE, "", 0);
	struct treediff diff = {
		.read = read_tree, .ctx = &t, .n_paths = 1000, .n_trees = 10000
	};

	for (int level = 0; level < 25; level++) {
		auto_buf struct buf bytes = BUF_INIT(1 << 16);

		for (char c = 'a'; c < 'i'; c++)
			add_entry(&bytes, "40000", (char[]){ c, 0 }, &id);
		id = *add_tree(&t, GIT_TREE, bytes.data, bytes.len);
	}
	CHECK_INT(treediff_run(&diff, NULL, &id, paths_only, &out), -EFBIG);
	CHECK_INT(diff.n_paths, 0);
	/* The same without a path: the trees end it. */
	id = empty;
	for (int level = 0; level < 25; level++) {
		auto_buf struct buf bytes = BUF_INIT(1 << 16);

		for (char c = 'a'; c < 'i'; c++)
			add_entry(&bytes, "40000", (char[]){ c, 0 }, &id);
		id = *add_tree(&t, GIT_TREE, bytes.data, bytes.len);
	}
	diff.n_paths = 1000;
	diff.n_trees = 10000;
	CHECK_INT(treediff_run(&diff, NULL, &id, paths_only, &out), -EFBIG);
	CHECK_INT(diff.n_trees, 0);
	CHECK_INT(diff.n_paths, 1000);
	done(&t);
}

/* One tree that holds itself is impossible; as deep as paths go is not. */
static int read_deep(void *ctx, const struct git_id *id, size_t max,
		     struct git_object *ret)
{
	auto_buf struct buf bytes = BUF_INIT(1 << 16);

	(void)max;
	(void)id;
	++*(size_t *)ctx;
	add_entry(&bytes, "40000", "d", &one);
	*ret = (struct git_object){ .type = GIT_TREE, .size = bytes.len };
	CHECK_INT(buf_take(&bytes, &ret->data, &ret->size), 0);
	return 0;
}

static void depth_has_an_end(void)
{
	auto_buf struct buf out = BUF_INIT(1 << 16);
	size_t n = 0;
	struct treediff diff = {
		.read = read_deep, .ctx = &n, .n_paths = 1000, .n_trees = 100000
	};

	CHECK_INT(treediff_run(&diff, NULL, &one, paths_only, &out), -EFBIG);
	CHECK_INT(n, TREEDIFF_PATH_MAX / 2 + 1);
}

static int stop(void *ctx, const struct treediff_change *c)
{
	(void)ctx;
	(void)c;
	return -EINTR;
}

static void the_caller_may_end_it(void)
{
	struct trees t = { 0 };
	struct treediff diff = {
		.read = read_tree, .ctx = &t, .n_paths = 10, .n_trees = 10
	};

	CHECK_INT(treediff_run(&diff, NULL, add_one(&t, "100644", "f", &one),
			       stop, NULL),
		  -EINTR);
	done(&t);
}

/*
 * Against git itself.  Each state is an index of random paths, written as a
 * tree; pairs of states are compared, loose and packed.
 */
#define STATES 24

static const char setup[] =
	"export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null\n"
	"export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x\n"
	"export GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x\n"
	"cd '%s'/r && exec 2>&1 || exit\n";

static FILE *shell(const char *dir, const char *mode, const char *script)
{
	auto_buf struct buf words = BUF_INIT(1 << 16);
	FILE *file;

	CHECK_INT(buf_add_fmt(&words, setup, dir), 0);
	CHECK_INT(buf_add_str(&words, script), 0);
	file = popen(words.data, mode);
	CHECK(file != NULL);
	return file;
}

static void say(const char *dir, const char *script, char *line, int size)
{
	FILE *file = shell(dir, "r", script);

	line[0] = '\0';
	if (fgets(line, size, file))
		line[strcspn(line, "\n")] = '\0';
	CHECK_INT(pclose(file), 0);
}

static const char *const names[] = { "a",  "a-b", "a.c",      "a0", "b",
				     "ab", "B",	  "\xc3\xbc", "a b" };
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Files beside directories of nearly the same name: git's odd order. */
static void add_paths(FILE *out, unsigned *seed, const char *blob,
		      const char *other)
{
	static const char *const modes[] = { "100644", "100644", "100755",
					     "120000" };

	for (size_t i = 0; i < NAMES; i++) {
		if (rand_r(seed) % 3 == 0)
			continue;
		if (rand_r(seed) % 2) {
			(void)fprintf(
				out, "%s %s\t%s\n", modes[rand_r(seed) % 4],
				rand_r(seed) % 2 ? blob : other, names[i]);
			continue;
		}
		for (size_t k = 0; k < NAMES; k++)
			if (rand_r(seed) % 3 == 0)
				(void)fprintf(out, "%s %s\t%s/%s%s\n",
					      modes[rand_r(seed) % 4],
					      rand_r(seed) % 2 ? blob : other,
					      names[i], names[k],
					      k % 2 ? "/deep/x" : "");
	}
	if (rand_r(seed) % 2)
		(void)fprintf(out, "160000 %s\tmodule\n", one.hex);
}

static void compare(const char *dir, int root, const struct git_id *a,
		    const struct git_id *b)
{
	auto_buf struct buf want = BUF_INIT(1 << 22);
	auto_buf struct buf got = BUF_INIT(1 << 22);
	struct objectstore *store = objectstore_new();
	struct treediff diff = { .read = treediff_read,
				 .ctx = store,
				 .n_paths = TREEDIFF_PATHS,
				 .n_trees = TREEDIFF_TREES };
	char script[256];
	FILE *file;
	int c;

	(void)snprintf(script, sizeof(script),
		       "git diff-tree -r --raw --no-abbrev --no-renames -z "
		       "%s %s\n",
		       a->hex, b->hex);
	file = shell(dir, "r", script);
	while ((c = fgetc(file)) != EOF)
		if (c != ':')
			CHECK_INT(buf_add_char(&want, c ? (char)c : '\n'), 0);
	CHECK_INT(pclose(file), 0);
	CHECK_INT(objectstore_add(store, root, "r/.git"), 0);
	CHECK_INT(treediff_run(&diff, a, b, write_line, &got), 0);
	if (strcmp(buf_str(&want), buf_str(&got)) != 0)
		printf("# git:\n%s# we:\n%s", buf_str(&want), buf_str(&got));
	CHECK(strcmp(buf_str(&want), buf_str(&got)) == 0);
	objectstore_free(store);
}

static void random_trees_differ_as_git_says(void)
{
	char dir[] = "/var/tmp/holdback-test-XXXXXX";
	char line[128], command[64], blobs[2][128];
	struct git_id ids[STATES];
	unsigned seed = 20;
	auto_fd int root = -1;

	CHECK(mkdtemp(dir) != NULL);
	root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(root >= 0);
	(void)snprintf(command, sizeof(command), "git init -q '%s'/r", dir);
	CHECK_INT(system(command), 0);
	say(dir, "echo one | git hash-object -w --stdin\n", blobs[0], 128);
	say(dir, "echo two | git hash-object -w --stdin\n", blobs[1], 128);
	for (size_t i = 0; i < STATES; i++) {
		FILE *out = shell(dir, "w",
				  "rm -f .git/index\n"
				  "git update-index --index-info\n");

		add_paths(out, &seed, blobs[0], blobs[1]);
		CHECK_INT(pclose(out), 0);
		say(dir,
		    "t=$(git write-tree --missing-ok) &&"
		    "c=$(git commit-tree -m x $t) &&"
		    "git update-ref refs/heads/t$t $c && echo $t\n",
		    line, sizeof(line));
		CHECK(git_id_parse(line, strlen(line), &ids[i]));
	}
	for (size_t i = 1; i < STATES; i++)
		compare(dir, root, &ids[i - 1], &ids[i]);
	say(dir, "git repack -q -a -d -f --depth=50 && git prune-packed\n",
	    line, sizeof(line));
	for (size_t i = 1; i < STATES; i++)
		compare(dir, root, &ids[i], &ids[i / 2]);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	CHECK_INT(system(command), 0);
}

TESTS(T(odd_names_are_text), T(a_name_with_its_slash_is_no_directory),
      T(no_order_and_no_repetition_hides_an_entry),
      T(trees_that_git_does_not_read_are_refused), T(a_tree_of_itself_ends),
      T(depth_has_an_end), T(the_caller_may_end_it),
      T(random_trees_differ_as_git_says))
