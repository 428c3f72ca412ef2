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

static void session_alone_commits(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two") "; " COMMIT("f2",
								     "three"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	CHECK_INT(world_how(&w, "refs/heads/master"), DELIVERY_MADE);
	world_apply(&w);
	check_base(&w, "master", "master");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	world_done(&w);
}

static void both_commit(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two") "; " COMMIT("f1",
								     "three"));
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK(world_says(&w, "master moved meanwhile: 2 commits are on "
			     "holdback/claude-1"));
	CHECK(strcmp(w.delivery.fix, "merge with: git merge "
				     "holdback/claude-1") == 0);
	CHECK_INT(world_how(&w, "refs/heads/master"), DELIVERY_STAYS);
	world_run(&w, "git -C session rev-parse master >of-session; "
		      "git -C base rev-parse master >of-base");
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-session) = "
			   "$(git -C base rev-parse holdback/claude-1)"));
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse master)"));
	/* A second commit of the same changes nothing, and overwrites nothing.
	 */
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse master)"));
	CHECK(!world_is(&w, "git -C base rev-parse -q --verify "
			    "refs/heads/holdback/claude-1-2"));
	/* One more commit moves our branch on. */
	world_run(&w, "cd session; git reset -q --hard; " COMMIT(
			      "f3",
			      "four") "; git rev-parse master >../of-session");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-session) = "
			   "$(git -C base rev-parse holdback/claude-1)"));
	/* Once the user has merged it, nothing is left. */
	world_run(&w, "cd base; git reset -q --hard; "
		      "git merge -q holdback/claude-1");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	CHECK_INT(world_how(&w, "refs/heads/master"), DELIVERY_SETTLED);
	world_done(&w);
}

static void a_taken_name_is_not_overwritten(void)
{
	struct gitworld w;

	world_init(&w, "git branch holdback/claude-1");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK(strcmp(w.delivery.branch, "holdback/claude-1-2") == 0);
	world_done(&w);
}

static void a_branch_called_holdback_is_no_obstacle(void)
{
	struct gitworld w;

	world_init(&w, "git branch holdback");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK(strcmp(w.delivery.branch, "holdback-claude-1") == 0);
	world_apply(&w);
	check_base(&w, "holdback-claude-1", "master");
	world_done(&w);
}

/* The session's view is live: it can build on the user's commit. */
static void session_builds_on_a_later_commit(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(
		&w,
		"cd base; " COMMIT(
			"f2",
			"user") "; cd ..; "
				"rm -rf session; cp -a base session; cd session; " COMMIT(
					"f1", "two"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	check_base(&w, "master", "master");
	world_done(&w);
}

static void a_commit_that_the_user_took_back_stays_away(void)
{
	struct gitworld w;

	world_init(&w, COMMIT("f2", "unwanted"));
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; git reset -q --hard HEAD~1; "
		      "git rev-parse HEAD >../of-base");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse master)"));
	world_done(&w);
}

static void branches_and_tags_by_value(void)
{
	struct gitworld w;

	world_init(&w, "git branch old; git branch gone; git branch theirs; "
		       "git tag t1; git pack-refs --all");
	world_run(&w, "cd session; git branch -D gone; git branch new; "
		      "git tag -a -m x t2; git checkout -q old; " COMMIT(
			      "f1", "two") "; git checkout -q master; "
					   "git branch -f theirs old");
	world_run(&w, "cd base; git checkout -q theirs; " COMMIT(
			      "f2", "user") "; git checkout -q master");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	CHECK(world_says(&w, "theirs moved meanwhile: 1 commit is on "
			     "holdback/claude-1"));
	world_apply(&w);
	check_base(&w, "old", "old");
	check_base(&w, "new", "new");
	check_base(&w, "t2", "t2");
	check_base(&w, "holdback/claude-1", "theirs");
	CHECK(!world_is(&w, "git -C base rev-parse -q --verify gone"));
	CHECK(world_is(&w, "git -C base rev-parse -q --verify t1"));
	CHECK(!world_is(&w, "grep gone base/.git/packed-refs"));
	world_done(&w);
}

/* The tag and the branch are two names of one commit. */
static void a_commit_that_neither_side_dropped_is_kept(void)
{
	static const char *const sides[][2] = {
		{ "session", "base" },
		{ "base", "session" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct gitworld w;

		world_init(
			&w,
			COMMIT("f1", "two") "; " COMMIT(
				"f1",
				"three") "; git branch b; git tag t; git tag u HEAD~1; "
					 "git rev-parse HEAD >../lost; "
					 "git reset -q --hard HEAD~2");
		world_run(&w, "cd %s; git tag -d t; git tag -d u", sides[i][0]);
		world_run(&w, "cd %s; git branch -f b", sides[i][1]);
		world_decide(&w, DELIVERY_MODE_FF);
		CHECK(world_says(&w, "it is kept as holdback/claude-1"));
		world_apply(&w);
		CHECK(world_is(&w,
			       "test $(cat lost) = "
			       "$(git -C base rev-parse holdback/claude-1)"));
		CHECK(world_is(&w, "test $(git -C base branch | wc -l) = 3"));
		world_done(&w);
	}
}

static void a_commit_that_one_side_dropped_goes(void)
{
	struct gitworld w;

	world_init(&w, COMMIT("f1", "two") "; git tag t; "
					   "git reset -q --hard HEAD~1; "
					   "git branch b");
	world_run(&w, "cd session; git tag -d t");
	world_run(&w, "cd base; git branch -D b");
	world_decide(&w, DELIVERY_MODE_FF);
	world_apply(&w);
	CHECK(world_is(&w, "test $(git -C base for-each-ref | wc -l) = 1"));
	world_done(&w);
}

static void packing_inside_is_no_change(void)
{
	struct gitworld w;

	world_init(&w, "git branch old; git tag t1");
	world_run(&w, "cd session; git pack-refs --all; git gc -q");
	world_run(&w, "cd base; git commit -q --amend -m other; "
		      "git rev-parse HEAD >../of-base");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	CHECK_INT(world_how(&w, "packed-refs"), DELIVERY_SETTLED);
	CHECK_INT(world_how(&w, "refs/heads/master"), DELIVERY_SETTLED);
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse master)"));
	CHECK(world_is(&w, "git -C base fsck --strict"));
	world_done(&w);
}

static void a_branch_of_another_worktree_stays(void)
{
	struct gitworld w;

	world_init(&w, "git branch side");
	world_run(&w, "cd session; git checkout -q side; " COMMIT(
			      "f1", "two") "; git checkout -q master");
	world_run(&w, "cd base; git worktree add -q ../other side; "
		      "git rev-parse side >../of-base");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	CHECK(world_says(&w, "side is checked out: 1 commit is on "
			     "holdback/claude-1"));
	world_apply(&w);
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse side)"));
	CHECK(world_is(&w, "git -C base rev-parse -q --verify "
			   "holdback/claude-1"));
	world_done(&w);
}

static void an_operation_under_way_stays(void)
{
	static const char *const scripts[] = {
		"git checkout -q -b x; echo a >f1; git commit -qam a; "
		"git checkout -q master; echo b >f1; git commit -qam b; "
		"git merge -q x || true; test -e .git/MERGE_HEAD",
		"git checkout -q -b x; echo a >f1; git commit -qam a; "
		"git checkout -q master; echo b >f1; git commit -qam b; "
		"git checkout -q x; git rebase -q master || true; "
		"test -e .git/rebase-merge",
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct gitworld w;

		world_init(&w, ":");
		world_run(&w, "cd session; " COMMIT("f3", "two"));
		world_run(&w, "cd base; %s", scripts[i]);
		world_run(&w, "cd base; git rev-parse master >../of-base");
		CHECK_INT(world_decide(&w, DELIVERY_MODE_FF),
			  DELIVERY_TO_BRANCH);
		CHECK(world_says(&w, "is under way: 1 commit is on "
				     "holdback/claude-1"));
		world_apply(&w);
		CHECK(world_is(&w, "test $(cat of-base) = "
				   "$(git -C base rev-parse master)"));
		world_done(&w);
	}
}

static void mode_branch_moves_nothing_of_the_users(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "git -C base rev-parse HEAD >of-base");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_BRANCH), DELIVERY_TO_BRANCH);
	CHECK(world_says(&w, "1 commit is on holdback/claude-1"));
	CHECK_INT(world_how(&w, "index"), DELIVERY_STAYS);
	world_apply(&w);
	check_base(&w, "holdback/claude-1", "master");
	CHECK(world_is(&w, "test $(cat of-base) = "
			   "$(git -C base rev-parse master)"));
	world_done(&w);
}

static void the_session_switches(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w,
		  "cd session; git checkout -q -b topic; " COMMIT("f1", "two"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	check_base(&w, "topic", "topic");
	CHECK(world_is(&w, "test $(git -C base symbolic-ref HEAD) = "
			   "refs/heads/topic"));
	world_done(&w);

	/* The user went on meanwhile: HEAD stays, the branch is there. */
	world_init(&w, ":");
	world_run(&w,
		  "cd session; git checkout -q -b topic; " COMMIT("f1", "two"));
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK(strcmp(w.delivery.branch, "topic") == 0);
	CHECK(world_says(&w, "master moved meanwhile: 1 commit is on topic"));
	world_apply(&w);
	CHECK(world_is(&w, "test $(git -C base symbolic-ref HEAD) = "
			   "refs/heads/master"));
	CHECK(world_is(&w, "git -C base rev-parse -q --verify topic"));
	world_done(&w);
}

static void a_detached_head(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w,
		  "cd session; git checkout -q --detach; " COMMIT("f1", "two"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_apply(&w);
	CHECK(world_is(&w, "git -C base log --format=%%s holdback/claude-1 | "
			   "grep -x two"));
	world_done(&w);
}

static void an_unborn_branch(void)
{
	struct gitworld w;

	world_init(&w, "git checkout -q --orphan fresh; git rm -rqf .");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	check_base(&w, "fresh", "fresh");
	world_done(&w);
}

static void a_repository_without_a_record_is_files(void)
{
	struct gitworld w;

	world_init(&w, ":");
	kept_refs_done(&w.kept);
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_AS_FILES);
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FILES), DELIVERY_AS_FILES);
	world_done(&w);
}

static void odd_references_of_the_session(void)
{
	struct gitworld w;

	world_init(&w, "git branch side");
	world_run(&w, "cd session/.git/refs/heads; cp master 'a..b'; "
		      ": >empty; echo nonsense >side; "
		      "echo 'ref: refs/heads/loop' >loop; cd ../..; "
		      ": >index.lock; : >refs/heads/master.lock; "
		      ": >objects/pack/tmp_pack_x; : >gc.pid");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	CHECK_INT(world_how(&w, "refs/heads/loop"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "refs/heads/a..b"), DELIVERY_DROPPED);
	CHECK_INT(world_how(&w, "refs/heads/empty"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "refs/heads/side"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "index.lock"), DELIVERY_DROPPED);
	CHECK_INT(world_how(&w, "refs/heads/master.lock"), DELIVERY_DROPPED);
	CHECK_INT(world_how(&w, "objects/pack/tmp_pack_x"), DELIVERY_DROPPED);
	CHECK_INT(world_how(&w, "gc.pid"), DELIVERY_DROPPED);
	world_run(&w, "cd session/.git; rm HEAD; mkdir HEAD");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_REFUSED);
	world_done(&w);
}

static void the_index_is_merged(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; echo user >>f2; git add f2; echo new >n; "
		      "git add n; git status");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	CHECK_INT(world_how(&w, "index"), DELIVERY_INDEX);
	world_apply(&w);
	CHECK(world_is(&w, "cd base; git diff --cached --name-only >../got; "
			   "printf 'f2\\nn\\n' | cmp - ../got"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	world_done(&w);
}

/* Only staged, no commit: the user's own commits are no obstacle. */
static void staged_entries_go_beside_a_commit(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; echo s >>f1; git add f1");
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "cd base; test \"$(git diff --cached "
			   "--name-only)\" = f1"));
	world_done(&w);
}

static void an_entry_of_both_sides_waits(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; echo user >>f1; git add f1");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_WAITS);
	CHECK_INT(w.delivery.n_conflicts, 1);
	CHECK(strcmp(w.delivery.conflicts[0], "f1") == 0);
	CHECK_INT(world_how(&w, "refs/heads/master"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "index"), DELIVERY_STAYS);
	/* The record of what it is based on stays. */
	CHECK(strcmp(kept_refs_value(&w.delivery.next, "refs/heads/master"),
		     kept_refs_value(&w.kept, "refs/heads/master")) == 0);
	world_done(&w);
}

static void a_held_path_keeps_the_unit(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two") "; git branch other");
	w.held = "f2";
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	w.held = "f1";
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_WAITS);
	CHECK_INT(w.delivery.n_held, 1);
	CHECK_INT(world_how(&w, "refs/heads/other"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "logs/HEAD"), DELIVERY_STAYS);
	world_apply(&w);
	CHECK(world_is(&w, "test $(git -C base rev-list --all | wc -l) = 1"));
	/* Nothing was forgotten: the next commit delivers it. */
	w.held = NULL;
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_done(&w);
}

static void what_is_missing_is_named(void)
{
	static const char *const revisions[] = { "HEAD~1", "HEAD^{tree}",
						 "HEAD:f2", "HEAD" };

	for (size_t i = 0; i < sizeof(revisions) / sizeof(*revisions); i++) {
		struct gitworld w;

		world_init(&w, ":");
		world_run(
			&w,
			"cd session; " COMMIT("f1", "two") "; " COMMIT(
				"f2",
				"three") "; id=$(git rev-parse %s); "
					 "echo $id >../full; "
					 "echo $id | cut -c 1-12 >../id; "
					 "p=.git/objects/$(echo $id | cut -c 1-2)/$(echo "
					 "$id | cut -c 3-); rm -f $p",
			revisions[i]);
		CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_REFUSED);
		CHECK_INT(w.delivery.n, 0);
		CHECK_INT(w.delivery.n_words, 1);
		CHECK(world_is(&w, "echo '%s' | grep -q $(cat id)",
			       w.delivery.words[0]));
		/* An object with another content is as good as missing. */
		if (i == 1) {
			world_run(&w, "cd session/.git/objects; "
				      "id=$(cat ../../../full); "
				      "d=$(echo $id | cut -c 1-2); "
				      "mkdir -p $d; "
				      "cp $(find . -type f | head -1) "
				      "$d/$(echo $id | cut -c 3-)");
			CHECK_INT(world_decide(&w, DELIVERY_MODE_FF),
				  DELIVERY_REFUSED);
		}
		world_done(&w);
	}
}

static void a_shallow_repository_is_whole(void)
{
	struct gitworld w;

	world_init(&w, COMMIT("f1", "two") "; " COMMIT("f2", "three"));
	world_run(&w, "mv base full; git clone -q --depth 1 "
		      "file://$PWD/full base; rm -rf session; "
		      "cp -a base session; cd session; " COMMIT("f3", "four"));
	world_take(&w);
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	/* A boundary of the session's own is no excuse for a commit. */
	world_run(&w,
		  "cd session; " COMMIT(
			  "f3",
			  "five") "; id=$(git rev-parse HEAD~1); "
				  "rm -f .git/objects/$(echo $id | cut -c 1-2)/"
				  "$(echo $id | cut -c 3-)");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_REFUSED);
	world_done(&w);
}

static void paths_of_the_commits_stay_until_the_merge(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w,
		  "cd session; " COMMIT(
			  "f1", "two") "; git rm -q f4; "
				       "mkdir d; " COMMIT(
					       "d/n", "three") "; echo u >>f3");
	world_run(&w, "cd base; " COMMIT("f2", "user"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK(delivery_stays(&w.delivery, "f1"));
	CHECK(delivery_stays(&w.delivery, "f4"));
	CHECK(delivery_stays(&w.delivery, "d/n"));
	CHECK(!delivery_stays(&w.delivery, "f2"));
	CHECK(!delivery_stays(&w.delivery, "f3"));
	world_apply(&w);
	/* What is not committed is written; the printed command works. */
	world_run(&w, "cp session/f3 base/f3; cd base; "
		      "git merge -q --no-edit holdback/claude-1");
	world_done(&w);
}

static void logs_are_added_to_in_chain(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(
		&w,
		"cd session; " COMMIT("f1", "two") "; git checkout -q -b x; " COMMIT(
			"f2",
			"three") "; git checkout -q master; "
				 "git merge -q x; git branch -D x; git branch y");
	world_run(&w, "for l in HEAD refs/heads/master refs/heads/y; do "
		      "cat session/.git/logs/$l; done >want");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "for l in HEAD refs/heads/master refs/heads/y; do "
			   "cat base/.git/logs/$l; done | cmp - want"));
	CHECK(world_is(&w, "cd base; git fsck --strict && "
			   "git rev-parse master@{1}"));
	world_done(&w);
}

static void logs_of_both_sides(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd session; " COMMIT("f1", "two") "; " COMMIT("f1",
								     "three"));
	world_run(
		&w,
		"cd base; " COMMIT(
			"f2",
			"user") "; cat .git/logs/HEAD .git/logs/refs/heads/master "
				">../want");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	CHECK_INT(world_how(&w, "logs/HEAD"), DELIVERY_STAYS);
	CHECK_INT(world_how(&w, "logs/refs/heads/master"), DELIVERY_STAYS);
	world_run(&w, "tail -n 2 session/.git/logs/refs/heads/master >lines");
	world_apply(&w);
	CHECK(world_is(&w, "cd base/.git/logs; cat HEAD refs/heads/master | "
			   "cmp - ../../../want"));
	CHECK(world_is(&w, "cmp lines base/.git/logs/refs/heads/holdback/"
			   "claude-1"));
	/* It goes on there. */
	world_run(&w, "cd session; git reset -q --hard; " COMMIT("f1", "four"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_TO_BRANCH);
	world_apply(&w);
	CHECK(world_is(&w, "test $(wc -l <base/.git/logs/refs/heads/holdback/"
			   "claude-1) = 3"));
	world_done(&w);

	/* The user looked at another branch: HEAD's log has more, in chain. */
	world_init(&w, "git branch x");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	world_run(&w, "cd base; git checkout -q x; git checkout -q master");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "test $(wc -l <base/.git/logs/HEAD) = 4"));
	CHECK(world_is(&w,
		       "test $(git -C base rev-parse HEAD) = "
		       "$(tail -n 1 base/.git/logs/HEAD | cut -d ' ' -f 2)"));
	world_done(&w);
}

static void a_log_without_a_chain_gets_one_line(void)
{
	struct gitworld w;

	world_init(&w, ":");
	world_run(
		&w,
		"cd session; " COMMIT(
			"f1",
			"two") "; echo nonsense >.git/logs/refs/heads/master");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "tail -n 1 base/.git/logs/refs/heads/master | "
			   "grep 'holdback: commit of a session'"));
	CHECK(world_is(&w, "test $(git -C base rev-parse master@{1}) = "
			   "$(git -C base rev-parse master~1)"));
	world_done(&w);
}

static void a_stash_is_a_list(void)
{
	struct gitworld w;

	world_init(&w, "for i in a b c; do echo $i >>f1; "
		       "git stash push -q -m $i; done");
	world_run(&w, "cd session; git stash drop -q stash@{1}; echo s >>f2; "
		      "git stash push -q -m s");
	world_run(&w, "cd base; git stash drop -q stash@{0}; echo u >>f3; "
		      "git stash push -q -m u");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "cd base; git stash list --format=%%gs | "
			   "sed 's/.* //' >../got; "
			   "printf 's\\nu\\na\\n' | cmp - ../got"));
	CHECK(world_is(&w, "cd base; git fsck --strict && git stash pop"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_NOTHING);
	world_done(&w);

	/* The last one is dropped inside, packed or not. */
	world_init(&w, "echo a >>f1; git stash; git pack-refs --all");
	world_run(&w, "cd session; git stash drop");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_apply(&w);
	CHECK(world_is(&w, "cd base; test -z \"$(git stash list)\" && "
			   "! git rev-parse -q --verify refs/stash"));
	world_done(&w);

	/* An entry below the last is looked at as well. */
	world_init(&w, ":");
	world_run(&w, "cd session; echo a >>f1; git stash; echo b >>f1; "
		      "git stash; id=$(git rev-parse stash@{1}:f1); "
		      "rm -f .git/objects/$(echo $id | cut -c 1-2)/"
		      "$(echo $id | cut -c 3-)");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_REFUSED);
	world_done(&w);
}

static void a_split_index_is_files(void)
{
	struct gitworld w;

	world_init(&w, "git update-index --split-index");
	world_run(&w, "cd session; " COMMIT("f1", "two"));
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_AS_FILES);
	CHECK(world_says(&w, "treated as files"));
	world_done(&w);
}

/* git takes a file that is there for the user's content, and writes none. */
static void a_file_of_an_object_has_its_content(void)
{
	struct gitworld w;

	world_init(&w, ":");
	/* Longer than the window of zlib data, and packed by it or not. */
	world_run(&w, "cd session; seq 100000 >f1; "
		      "head -c 300000 /dev/urandom >f2; git add f1 f2; "
		      "git commit -qm large");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	/* No reference leads to it. */
	world_run(&w,
		  "cd session; id=$(echo precious | git hash-object "
		  "--stdin); d=.git/objects/$(echo $id | cut -c 1-2); "
		  "mkdir -p $d; e=$(echo evil | git hash-object -w "
		  "--stdin); cp .git/objects/$(echo $e | cut -c 1-2)/$(echo "
		  "$e | cut -c 3-) $d/$(echo $id | cut -c 3-)");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_REFUSED);
	CHECK(world_says(&w, "has another content"));
	/* What the base has is never replaced, and not looked at. */
	world_run(&w, "cd base; echo precious | git hash-object -w --stdin");
	CHECK_INT(world_decide(&w, DELIVERY_MODE_FF), DELIVERY_FORWARD);
	world_done(&w);
}

static void the_command_is_safe_to_paste(void)
{
	static const char *const names[] = { "a;touch${IFS}x", "-s", "$(id)" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct gitworld w;

		world_init(&w, ":");
		world_run(&w,
			  "cd session; git symbolic-ref HEAD 'refs/heads/%s'; "
			  "git reset -q --soft master; " COMMIT(
				  "f1", "two") "; git rev-parse HEAD >../id",
			  names[i]);
		world_run(&w, "cd base; " COMMIT("f2", "user"));
		CHECK_INT(world_decide(&w, DELIVERY_MODE_FF),
			  DELIVERY_TO_BRANCH);
		CHECK(strcmp(w.delivery.branch, names[i]) == 0);
		CHECK(world_is(&w,
			       "test \"%s\" = \"merge with: git merge "
			       "$(cat id)\"",
			       w.delivery.fix));
		world_done(&w);
	}
}

TESTS(T(a_file_of_an_object_has_its_content), T(the_command_is_safe_to_paste),
      T(a_stash_is_a_list), T(logs_are_added_to_in_chain),
      T(logs_of_both_sides), T(a_log_without_a_chain_gets_one_line),
      T(the_index_is_merged), T(staged_entries_go_beside_a_commit),
      T(an_entry_of_both_sides_waits), T(a_held_path_keeps_the_unit),
      T(what_is_missing_is_named), T(a_shallow_repository_is_whole),
      T(paths_of_the_commits_stay_until_the_merge), T(a_split_index_is_files),
      T(session_alone_commits), T(both_commit),
      T(a_taken_name_is_not_overwritten),
      T(a_branch_called_holdback_is_no_obstacle),
      T(session_builds_on_a_later_commit),
      T(a_commit_that_the_user_took_back_stays_away),
      T(branches_and_tags_by_value),
      T(a_commit_that_neither_side_dropped_is_kept),
      T(a_commit_that_one_side_dropped_goes), T(packing_inside_is_no_change),
      T(a_branch_of_another_worktree_stays), T(an_operation_under_way_stays),
      T(mode_branch_moves_nothing_of_the_users), T(the_session_switches),
      T(a_detached_head), T(an_unborn_branch),
      T(a_repository_without_a_record_is_files),
      T(odd_references_of_the_session))
