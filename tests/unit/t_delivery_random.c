/* SPDX-License-Identifier: Apache-2.0 */
#include "gitworld.h"

#include <stdint.h>

/*
 * Random commands of git on both sides at once, then a delivery.  Afterwards
 * the repository is whole, each commit that either side made is reached, and
 * the index is that of git's own merge.  HB_SEEDS is how many, HB_SEED the
 * first.
 */
#define SEEDS	   8
#define SEEDS_SOAK 2000
#define STEPS	   6

/* $n is a number, $f a file, $who the side.  A command may fail. */
static const char *const commands[] = {
	"echo $who$n >>$f; git add $f",
	"echo $who$n >>$f; git add $f; git commit -qm $who$n",
	"echo $who$n >>$f; git add $f; git commit -qm $who$n",
	"echo $who$n >$who$n; git add $who$n; git commit -qm new$n",
	"git rm -qf $f && git commit -qm gone$n",
	"git commit -q --amend -m amended$n",
	"git branch b$n",
	"git branch -D b$n",
	"git branch -f b$n HEAD~1",
	"git checkout -q -b $who-b$n",
	"git checkout -q b$n",
	"git checkout -q master",
	"git checkout -q --detach",
	"git merge -q -m merged b$n || git merge --abort",
	"git rebase -q b$n || git rebase --abort",
	"git tag t$n",
	"git tag -a -m x a$n",
	"git tag -d t$n",
	"echo x$n >>$f; git stash -q",
	"git stash pop -q || git reset -q --hard",
	"git stash drop -q",
	"git reset -q --hard HEAD~1",
	"git pack-refs --all",
	"git gc -q",
	"git worktree add -q ../$who-w$n b$n",
	"git cherry-pick b$n || git cherry-pick --abort",
	"git status",
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return *state >> 33;
}

static size_t number(const char *name, size_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

static void play(const struct gitworld *w, const char *dir, const char *who,
		 uint64_t *state)
{
	size_t n = next_random(state) % STEPS + 1;

	for (size_t i = 0; i < n; i++) {
		size_t which = next_random(state) %
			       (sizeof(commands) / sizeof(commands[0]));
		unsigned k = (unsigned)(next_random(state) % 3);
		unsigned f = (unsigned)(next_random(state) % 4) + 1;

		world_run(w, "cd %s; who=%s n=%u f=f%u; (%s) || true", dir, who,
			  k, f, commands[which]);
	}
}

/* The commits that all references of a repository reach, and its stashes. */
#define REACHED                                      \
	"reached() { git -C $1 rev-list --all HEAD " \
	"$(git -C $1 stash list --format=%%H) -- | sort -u; }; "

static void note_before(const struct gitworld *w)
{
	world_run(w, REACHED "reached then | sort -u >then.list; "
			     "for s in base session; do reached $s | sort -u | "
			     "comm -23 - then.list >$s.list; done; "
			     "cp -a base before");
}

/* Of the session's, those that wait with a pending reference may miss. */
static void check_after(struct gitworld *w, enum delivery_verdict verdict)
{
	CHECK(world_is(w, "cd base; git fsck --strict --no-dangling"));
	CHECK(world_is(w, "git -C base symbolic-ref -q HEAD || "
			  "git -C base rev-parse --verify HEAD"));
	CHECK(world_is(w, "cd base; git ls-files -s"));
	world_run(w, REACHED "reached base | sort -u >after.list; "
			     "comm -23 base.list after.list >lost.base; "
			     "comm -23 session.list after.list >lost.session");
	if (world_is(w, "test -s lost.base"))
		CHECK(!"each commit of the user is reached");
	if (verdict != DELIVERY_WAITS && world_is(w, "test -s lost.session"))
		CHECK(!"each commit of the session is reached");
}

static void check_index(struct gitworld *w)
{
	/* Only trees can be merged by git: no stages, no paths to be added. */
	if (!world_is(w, "git -C then write-tree >tree.then && "
			 "git -C before write-tree >tree.base && "
			 "git -C session.was write-tree >tree.session"))
		return;
	CHECK(world_is(
		w,
		"cp -r base oracle; cd oracle; rm .git/index; export "
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="
		"$PWD/../session.was/.git/objects:$PWD/../then/.git/objects:"
		"$PWD/../before/.git/objects; "
		"git read-tree -m --aggressive $(cat ../tree.then) "
		"$(cat ../tree.base) $(cat ../tree.session) && "
		"git ls-files -s >../want; git -C ../base ls-files -s >../got; "
		"cmp ../want ../got"));
}

static void one_seed(size_t seed)
{
	uint64_t state = seed * 2 + 1;
	enum delivery_verdict verdict;
	bool has_index = false;
	struct gitworld w;

	world_init(&w, "for i in 0 1 2; do git branch b$i; echo $i >>f1; "
		       "git commit -qam b$i; done; git branch -f b2");
	play(&w, "base", "user", &state);
	world_take(&w);
	world_run(&w, "rm -rf session; cp -a base session");
	play(&w, "session", "agent", &state);
	play(&w, "base", "user", &state);
	note_before(&w);
	verdict = world_decide(&w, DELIVERY_MODE_FF);
	printf("# seed %zu: verdict %d\n", seed, (int)verdict);
	if (verdict == DELIVERY_AS_FILES) {
		world_done(&w);
		return;
	}
	CHECK(verdict != DELIVERY_REFUSED);
	for (size_t i = 0; i < w.delivery.n; i++)
		has_index |= w.delivery.items[i].how == DELIVERY_INDEX;
	world_run(&w, "cp -a session session.was; cp -a then then.was");
	world_apply(&w);
	check_after(&w, verdict);
	world_run(&w, "rm -rf then; mv then.was then");
	if (has_index)
		check_index(&w);
	world_done(&w);
}

static void both_sides_survive(void)
{
	size_t first = number("HB_SEED", 1);
	size_t n = number("HB_SEEDS", getenv("HB_SOAK") ? SEEDS_SOAK : SEEDS);

	for (size_t i = 0; i < n; i++)
		one_seed(first + i);
}

TESTS(T(both_sides_survive))
