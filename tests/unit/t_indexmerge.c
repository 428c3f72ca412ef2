/* SPDX-License-Identifier: Apache-2.0 */
#include "git/indexmerge.h"

#include "base/buf.h"
#include "gitworld.h"

#define LIMIT ((size_t)64 << 20)

/* An index in memory. */
struct version {
	char *data;
	size_t size;
};

static ssize_t read_version(void *ctx, void *to, size_t size, uint64_t offset)
{
	const struct version *v = ctx;
	size_t n;

	if (offset >= v->size)
		return 0;
	n = v->size - (size_t)offset;
	n = n > size ? size : n;
	memcpy(to, v->data + offset, n);
	return (ssize_t)n;
}

static struct version load(const struct gitworld *w, const char *of)
{
	struct version v = { 0 };
	char path[PATH_MAX];
	struct stat st;
	int fd;

	CHECK(snprintf(path, sizeof(path), "%s/.git/index", of) > 0);
	fd = openat(w->top, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return v;
	CHECK(fstat(fd, &st) == 0);
	v.size = (size_t)st.st_size;
	v.data = malloc(v.size);
	CHECK(v.data != NULL);
	CHECK(read(fd, v.data, v.size) == (ssize_t)v.size);
	(void)close(fd);
	return v;
}

struct merged {
	struct indexmerge_result result;
	char conflicts[256]; /* each with a blank behind it */
	int r;
};

static int note_conflict(void *ctx, const char *path)
{
	struct merged *m = ctx;
	size_t n = strlen(m->conflicts);

	CHECK(snprintf(m->conflicts + n, sizeof(m->conflicts) - n, "%s ",
		       path) > 0);
	return 0;
}

static struct indexmerge_side side(struct version *v)
{
	return (struct indexmerge_side){ .read = v->data ? read_version : NULL,
					 .ctx = v,
					 .size = v->size };
}

/* Merges the world's three; the result becomes the base's, if there is one. */
static struct merged merge(const struct gitworld *w)
{
	struct version then = load(w, "then"), base = load(w, "base");
	struct version session = load(w, "session");
	struct merged m = { 0 };
	struct stat st;
	struct indexmerge_request q = {
		.then = side(&then),
		.base = side(&base),
		.session = side(&session),
		.id_size = 20,
		.conflict = note_conflict,
		.ctx = &m,
	};
	struct buf out = BUF_INIT(LIMIT);
	int fd;

	if (fstatat(w->top, "base/.git/index", &st, 0) == 0)
		q.base_mtime = st.st_mtim;
	m.r = indexmerge(&q, &out, &m.result);
	if (m.r >= 0 && m.result.n_conflicts == 0) {
		fd = openat(w->top, "base/.git/index",
			    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		CHECK(fd >= 0);
		CHECK(write(fd, out.data, out.len) == (ssize_t)out.len);
		(void)close(fd);
	}
	buf_done(&out);
	free(then.data);
	free(base.data);
	free(session.data);
	return m;
}

/* What git's own three-way merge of the trees of the indexes has. */
static bool is_as_git_merges(const struct gitworld *w)
{
	return world_is(
		w,
		"set -e; rm -rf oracle; cp -a base oracle; cd oracle; "
		"tree() { GIT_INDEX_FILE=../$1/.git/index git -C ../$1 "
		"write-tree; }; export "
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/../session/.git/objects;"
		"t=$(tree then); b=$(cat ../of-base); s=$(tree session); "
		"rm .git/index; git read-tree -m --aggressive $t $b $s; "
		"git ls-files -s >../want; cd ../base; "
		"git ls-files -s >../got; cmp ../want ../got");
}

static void different_entries_are_merged(void)
{
	static const char *const versions[] = { "2", "4" };

	for (size_t i = 0; i < 2; i++) {
		struct merged m;
		struct gitworld w;

		world_init(&w, ":");
		world_run(&w,
			  "cd session; git update-index --index-version %s; "
			  "echo s >>f1; git add f1; git rm -q f3; "
			  "mkdir d; echo n >d/new; git add d; "
			  "git update-index --chmod=+x f4",
			  versions[i]);
		world_run(&w, "cd base; echo b >>f2; echo b >other; "
			      "git add f2 other; git write-tree >../of-base");
		m = merge(&w);
		CHECK_INT(m.r, 0);
		CHECK_INT(m.result.n_conflicts, 0);
		CHECK_INT(m.result.n_taken, 4);
		CHECK(m.result.is_changed);
		CHECK(is_as_git_merges(&w));
		CHECK(world_is(&w, "cd base; git ls-files | grep -qx d/new"));
		CHECK(!world_is(&w, "cd base; git ls-files | grep -qx f3"));
		world_done(&w);
	}
}

static void a_refresh_is_no_change(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "touch -d 2001-01-01 base/f1; git -C base status; "
		      "touch -d 2002-02-02 session/f1; git -C session status");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK(!m.result.is_changed);
	CHECK_INT(m.result.n_conflicts, 0);
	world_done(&w);
}

static void the_same_entry_differently_is_a_conflict(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; echo s >>f1; echo same >>f2; git add f1 f2; "
		      "git rm -q f3; echo s >n; git add n");
	world_run(&w, "cd base; echo b >>f1; echo same >>f2; echo b >>f3; "
		      "git add f1 f2 f3; echo b >n; git add n");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK_INT(m.result.n_conflicts, 3);
	CHECK(strcmp(m.conflicts, "f1 f3 n ") == 0);
	world_done(&w);
}

static void a_file_and_a_directory_are_a_conflict(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; mkdir x; echo s >x/y; git add x");
	world_run(&w, "cd base; echo b >x; echo b >x-y; git add x x-y");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK(strcmp(m.conflicts, "x/y ") == 0);
	world_done(&w);
}

/* An edit of the same size, in the moment of `git add`: git must see it. */
static void no_edit_is_taken_for_clean(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, "echo 1111 >f1; git add f1; git commit -qm x");
	world_run(&w, "cd session; echo s >>f2; git add f2");
	/* Its times are those of the index, and stay when it is edited. */
	world_run(&w, "cd base; touch -d 2021-01-01 f1 f4; git add f1 f4; "
		      "touch -d 2021-01-01 .git/index; "
		      "echo 2222 >f1; touch -d 2021-01-01 f1");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK_INT(m.result.n_taken, 1);
	CHECK(world_is(&w, "cd base; git diff-files --name-only | grep -x f1"));
	/* An entry of the session has no data: git looks at the file. */
	CHECK(world_is(&w, "cd base; git ls-files --debug f2 | grep -q "
			   "'size: 0'"));
	world_done(&w);
}

static void entries_keep_stages_and_flags(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, "git checkout -q -b x; echo a >f1; git commit -qam a; "
		       "git checkout -q master; echo b >f1; git commit -qam b");
	world_run(&w, "cd session; git merge -q x || true; "
		      "git update-index --skip-worktree f2; "
		      "git update-index --assume-unchanged f3; "
		      "echo n >n; git add -N n; "
		      "git ls-files -s >../want; git ls-files -v >>../want");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK_INT(m.result.n_taken, 4);
	CHECK(world_is(&w, "cd base; git ls-files -s >../got; "
			   "git ls-files -v >>../got; cmp ../want ../got"));
	world_done(&w);
}

static void no_index_is_an_empty_one(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, "git rm -qrf .; rm .git/index");
	world_run(&w, "rm -f base/.git/index then/.git/index; "
		      "cd session; echo s >f1; git add f1");
	m = merge(&w);
	CHECK_INT(m.r, 0);
	CHECK(world_is(&w, "cd base; test \"$(git ls-files)\" = f1"));
	world_done(&w);
}

static void a_damaged_index_is_refused(void)
{
	static const char *const damages[] = {
		/* a wrong sum, a split index, no index, one that is cut */
		"printf x | dd of=.git/index bs=1 seek=70 conv=notrunc",
		"git update-index --split-index; echo x >>f1; git add f1",
		"echo nonsense >.git/index",
		"truncate -s -9 .git/index",
		": >.git/index",
	};

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct merged m;
		struct gitworld w;

		world_init(&w, ":");
		world_run(&w, "cd session; %s", damages[i]);
		m = merge(&w);
		CHECK_INT(m.r, -EBADMSG);
		world_done(&w);
	}
}

/* Entries out of order could hide one behind another. */
static void wrong_order_is_refused(void)
{
	struct merged m;
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w,
		  "python3 - session/.git/index <<'END'\n"
		  "import hashlib, sys\n"
		  "p = sys.argv[1]; d = bytearray(open(p, 'rb').read()[:-20])\n"
		  "a, b = d.index(b'f1'), d.index(b'f2')\n"
		  "d[a:a+2], d[b:b+2] = b'f2', b'f1'\n"
		  "d = d[:d.index(b'TREE')] if b'TREE' in d else d\n"
		  "open(p, 'wb').write(d + hashlib.sha1(d).digest())\n"
		  "END");
	m = merge(&w);
	CHECK_INT(m.r, -EBADMSG);
	world_done(&w);
}

TESTS(T(different_entries_are_merged), T(a_refresh_is_no_change),
      T(the_same_entry_differently_is_a_conflict),
      T(a_file_and_a_directory_are_a_conflict), T(no_edit_is_taken_for_clean),
      T(entries_keep_stages_and_flags), T(no_index_is_an_empty_one),
      T(a_damaged_index_is_refused), T(wrong_order_is_refused))
