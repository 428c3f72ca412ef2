/* SPDX-License-Identifier: Apache-2.0 */
#include "gitworld.h"

#define COMMIT(file, words)                                                   \
	"echo " words " >>" file "; git add " file "; git commit -qm '" words \
	"'"

/* The base is whole, and the session's commit is on this branch of it. */
static void check_base(const struct gitworld *w, const char *branch,
		       const char *of_session)
{
	CHECK(world_is(w, "cd base; git fsck --strict"));
	CHECK(world_is(w,
		       "test $(git -C base rev-parse %s) = "
		       "$(git -C session rev-parse %s)",
		       branch, of_session));
}

/* git would prune what lies below the boundary. */
static void shallow_cuts_nothing_off(void)
{
	struct gitworld w;

	world_init(&w, COMMIT("f1", "two"));
	world_run(&w, "cd session; git rev-parse HEAD >.git/shallow");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	CHECK(world_says(&w, "cuts off the history"));
	CHECK_INT(world_how(&w, "shallow"), DELIVERY_SETTLED);
	/* The first commit has nothing below it. */
	world_run(&w, "cd session; git rev-parse HEAD~1 >.git/shallow");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	world_done(&w);

	world_init(&w,
		   COMMIT("f1", "two") "; git rev-parse HEAD >.git/shallow; "
				       "git reflog expire --expire=now "
				       "--all; git gc -q --prune=now");
	world_run(&w, "cd session; rm .git/shallow");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	CHECK(world_says(&w, "history is missing below"));
	CHECK_INT(world_how(&w, "shallow"), DELIVERY_SETTLED);
	world_done(&w);
}

/* The user changed the commit of T0, and the session went on from that. */
static void a_changed_commit_is_gone_on_from(void)
{
	struct gitworld w;

	world_init(&w, COMMIT("f1", "two"));
	world_run(&w, "cd base; git commit -q --amend -m other; git rm -q f1; "
		      "git commit -qm gone; cd ..; rm -rf session; "
		      "cp -a base session; cd session; "
		      "git revert --no-edit HEAD");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	check_base(&w, "master", "master");
	/* The entry that neither side staged goes with the commit. */
	CHECK(world_is(&w, "cd base; git diff --cached --exit-code"));
	world_done(&w);

	/* What T0 had and the user took back does not come with it. */
	world_init(&w, COMMIT("f1", "two") "; " COMMIT("f2", "three"));
	world_run(&w, "cd base; git reset -q --hard HEAD~2; cd ../session; "
		      "git reset -q --hard HEAD~1; " COMMIT("f3", "four"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_done(&w);
}

/* Each side fetched another branch, without the history below it. */
static void shallow_of_both_sides(void)
{
	static const char origin[] =
		"mkdir o; cd o; git init -q -b master; for b in one two; do "
		"echo $b >$b; git add $b; git commit -qm $b-1; echo $b >>$b; "
		"git commit -qam $b-2; git branch $b; done; cd ..";
	static const char fetch[] =
		"cd %s; git fetch -q --depth=1 file://$PWD/../o "
		"%s:refs/heads/%s";
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, origin);
	world_run(&w, fetch, "session", "two", "two");
	world_run(&w, fetch, "base", "one", "one");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	check_base(&w, "two", "two");
	CHECK(world_is(&w, "cd base; git fsck --strict"));
	CHECK(world_is(&w, "test $(git -C base rev-list two | wc -l) = 1"));
	CHECK(world_is(&w, "test $(git -C base rev-list one | wc -l) = 1"));
	world_done(&w);
}

TESTS(T(shallow_cuts_nothing_off), T(shallow_of_both_sides),
      T(a_changed_commit_is_gone_on_from))
