/* SPDX-License-Identifier: Apache-2.0 */
/* needs: git */
#include "changes/changes.h"

#include "overlay.h"
#include "snapshot.h"

static void nothing(void *ctx)
{
	(void)ctx;
}

/* Does the script in an overlay over what `base` made. */
static void session(struct tree *t, const char *base, const char *script)
{
	char *copy = strdup(script);
	int status;
	pid_t pid;

	tree_init(t, 1);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK_INT(fchdir(t->base), 0);
		(void)execl("/bin/sh", "sh", "-euc", base, (char *)NULL);
		_exit(127);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK(copy != NULL);
	CHECK(in_overlay(t, run_script, copy));
	free(copy);
}

static const char some_base[] = "echo x >f; echo x >g; mkdir -p d/e;"
				"echo x >d/x; echo x >d/e/y; ln -s f l;"
				"find . -exec touch -hd @1000000000 {} +";

static void scripts_leave_what_they_did(void)
{
	static const struct {
		const char *script, *want;
	} cases[] = {
		{ ":", "" },
		{ "cat f d/x >/dev/null; ls -lR . >/dev/null", "" },
		{ "echo y >n", "A n\n" },
		{ "echo y >n; rm n", "" },
		{ "echo yy >f", "M f\n" },
		{ "exec 3<>f", "" }, /* copied up, not written */
		{ "chmod 600 f; chmod 644 f; chmod 755 d; mkdir d/n; rmdir d/n",
		  "" },
		{ "chmod 700 f d", "P d\nP f\n" },
		{ "touch -d @5 f", "t f\n" },
		{ "touch -d @5 d", "" },
		{ "rm f", "D f\n" },
		{ "rm f; echo x >f; touch -d @1000000000 f", "" },
		{ "rm -r d", "D d\nD d/e g\nD d/e/y g\nD d/x g\n" },
		{ "rm -r d; mkdir d", "D d/e\nD d/e/y g\nD d/x\n" },
		{ "rm -r d; mkdir d; cp -p f d/x", "D d/e\nD d/e/y g\n" },
		{ "rm -r d; echo x >d", "T d\nD d/e g\nD d/e/y g\nD d/x g\n" },
		{ "rm f; mkdir -p f/a", "T f\nA f/a n\n" },
		{ "ln -sfn g l", "M l\n" },
		{ "rm l; mkdir l", "T l\n" },
		{ "mkfifo p", "A p s\n" },
		{ "mv f n", "D f m\nA n r\n" },
		{ "mkdir a; mv a b; echo x >b/c", "A b\nA b/c n\n" },
		{ "mv d n", "D d\nD d/e g\nD d/e/y g m\nD d/x g m\n"
			    "A n\nA n/e n\nA n/e/y n r\nA n/x n r\n" },
		{ "ln f n", "P f\nA n\n" },
		{ "ln f n; rm f", "D f m\nA n r\n" },
		{ "chmod 4755 f", "P f S\n" },
		{ "mkdir n; echo x >n/secret; chmod 0 n/secret n",
		  "A n\nA n/secret n\n" },
	};
	struct tree t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		printf("# %s\n", cases[i].script);
		session(&t, some_base, cases[i].script);
		t.request.with_renames = true;
		CHECK_CHANGES(&t, cases[i].want);
		tree_done(&t);
	}
}

static void set_marks(void *ctx)
{
	(void)ctx;
	CHECK_INT(mkdir("n", 0755), 0);
	/* Before 6.7 the kernel refuses what it does not escape. */
	if (setxattr("n", "user.overlay.opaque", "y", 1, 0) < 0)
		CHECK(errno == EPERM || errno == EOPNOTSUPP);
	if (setxattr("f", "user.overlay.metacopy", "", 0, 0) < 0)
		CHECK(errno == EPERM || errno == EOPNOTSUPP);
	CHECK_INT(setxattr("g", "user.mine", "1", 1, 0), 0);
	CHECK(mknod("w", S_IFCHR, makedev(0, 0)) < 0);
}

static void nobody_inside_can_forge_marks(void)
{
	struct changes *changes;
	struct change c;
	struct tree t;

	session(&t, some_base, ":");
	CHECK(in_overlay(&t, set_marks, NULL));
	changes = scan(&t);
	while (changes_next(changes, &c, NULL) == 1) {
		CHECK(!(c.flags & CHANGE_OPAQUE) && !c.new.is_opaque);
		if (!(c.flags & CHANGE_CARRIED) && c.kind != CHANGE_ADDED)
			CHECK_INT(c.what, CHANGED_XATTRS);
	}
	CHECK_INT(changes_summary(changes)->n_added, 1);
	changes_free(changes);
	tree_done(&t);
}

static const char repository[] =
	"export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null;"
	"git init -q .; git config user.name n; git config user.email e;"
	"mkdir d; for i in 1 2 3 4 5; do echo $i >d/$i; done; git add -A;"
	"git commit -qm first";

/*
 * The directory above has no mark that says so, and to the kernel it is a
 * whiteout all the same: what cannot be looked up is deleted.
 */
static void a_whiteout_by_attribute_is_one_to_the_kernel(void)
{
	char look[] = "[ -e d/g ]; if [ -e f ] || [ -e d/f ]; "
		      "then : >../shown; fi";
	struct stat st;
	struct tree t;

	session(&t, "echo x >f; mkdir d; echo y >d/f; echo z >d/g", ":");
	put_file(t.layers[0], "f", "");
	set_xattr(t.layers[0], "f", "user.overlay.whiteout", "y", 1);
	put_dir(t.layers[0], "d");
	put_file(t.layers[0], "d/f", "");
	set_xattr(t.layers[0], "d/f", "user.overlay.whiteout", "y", 1);
	CHECK(in_overlay(&t, run_script, look));
	if (fstatat(t.top, "shown", &st, 0) == 0)
		printf("# before Linux 6.7 there are none\n");
	else
		CHECK_CHANGES(&t, "D d/f\nD f\n");
	tree_done(&t);
}

static void git_status_changes_nothing(void)
{
	static const char *const versions[] = { "2", "4" };
	char base[sizeof(repository) + 64];
	struct stat st;
	struct tree t;

	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(base, sizeof(base),
			       "%s; git update-index --index-version %s",
			       repository, versions[i]);
		session(&t, base,
			"export GIT_CONFIG_GLOBAL=/dev/null; git status "
			">/dev/null; touch -d @9 d/1; git status >/dev/null");
		/* git did write, and it was not for nothing that we look. */
		CHECK_INT(fstatat(t.layers[0], ".git/index", &st, 0), 0);
		CHECK(st.st_size > 0);
		CHECK_CHANGES(&t, "t d/1\n");
		tree_done(&t);
	}
	/*
	 * The index has another time, or git writes it only if its files are
	 * of the same second as itself.
	 */
	(void)snprintf(base, sizeof(base), "%s; touch -d @9 d/1", repository);
	session(&t, base,
		"export GIT_CONFIG_GLOBAL=/dev/null; git status >/dev/null");
	CHECK_INT(fstatat(t.layers[0], ".git/index", &st, 0), 0);
	CHECK_CHANGES(&t, "");
	tree_done(&t);
}

static void a_git_commit_is_a_unit(void)
{
	const struct changes_summary *sum;
	struct changes *changes;
	bool has_index = false;
	struct change c;
	struct tree t;

	session(&t, repository,
		"export GIT_CONFIG_GLOBAL=/dev/null; echo new >d/1;"
		"git commit -qam second; echo evil >.git/hooks/pre-commit;"
		"git config core.pager evil");
	changes = scan(&t);
	sum = changes_summary(changes);
	CHECK_INT(sum->n_modified, 2); /* d/1 and the configuration */
	CHECK_INT(sum->n_added, 1);    /* the hook */
	CHECK(sum->n_git >= 5);
	while (changes_next(changes, &c, NULL) == 1) {
		bool is_unit = c.flags & CHANGE_GIT;

		if (strcmp(c.path, ".git/index") == 0)
			has_index = is_unit;
		if (strstr(c.path, "hooks") || strstr(c.path, "config"))
			CHECK(!is_unit);
		if (strncmp(c.path, ".git/objects/", 13) == 0)
			CHECK(is_unit);
	}
	CHECK(has_index);
	changes_free(changes);
	tree_done(&t);
}

/* A random walk of operations on few names, so that they meet. */
static void meddle(void *ctx)
{
	unsigned seed = *(unsigned *)ctx;

	for (int i = 0; i < 40; i++)
		meddle_once(&seed, true);
	snapshot_write("../after");
}

static void random_sessions_are_told_exactly(void)
{
	int n = getenv("HB_SOAK") ? 5000 : 100;

	for (int i = 0; i < n; i++) {
		unsigned seed = 1 + (unsigned)i;
		struct snapshot before, after;
		struct buf want = BUF_INIT((size_t)1 << 20);
		struct tree t;

		session(&t, some_base, ":");
		for (unsigned k = 0, s = seed + 7777; k < 30; k++)
			CHECK_INT(meddle_in(t.base, &s), 0);
		snapshot_take(t.base, &before);
		CHECK(in_overlay(&t, meddle, &seed));
		snapshot_read(t.top, "after", &after);
		snapshot_diff(&before, &after, &want);
		t.resource.t0 = (struct timespec){ 0 };
		compare_with(&t, buf_str(&want), seed);
		buf_done(&want);
		snapshot_free(&before);
		snapshot_free(&after);
		tree_done(&t);
	}
}

#define ALL                                                               \
	T(scripts_leave_what_they_did), T(nobody_inside_can_forge_marks), \
		T(a_whiteout_by_attribute_is_one_to_the_kernel),          \
		T(git_status_changes_nothing), T(a_git_commit_is_a_unit), \
		T(random_sessions_are_told_exactly)

int main(void)
{
	static const struct test all[] = { ALL };
	size_t n = sizeof(all) / sizeof(all[0]);
	struct tree t;
	bool can;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	tree_init(&t, 1);
	can = in_overlay(&t, nothing, NULL);
	tree_done(&t);
	if (!can) {
		printf("1..0 # SKIP no overlay in a user namespace here\n");
		return 0;
	}
	printf("1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		all[i].run();
		printf("ok %zu - %s\n", i + 1, all[i].name);
	}
	return 0;
}
