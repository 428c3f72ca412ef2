#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# What commit and undo do to a repository that the host's git goes on using.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_in() {
	(cd "$project" && git "$@")
}
new_repository() {
	new_session 'git init -q -b main . && echo f >f && git add f && git commit -qm one'
}
id='-c user.name=n -c user.email=e'

new_repository
in_box "echo more >>f; git $id commit -qam two; : >.git/index.lock; : >.git/refs/heads/x.lock
	: >.git/gc.pid; : >.git/objects/tmp_obj_x; mkdir -p .git/objects/pack; : >.git/objects/pack/tmp_pack_x
	git init -q new && : >new/.git/index.lock"
like 'status counts the locks' "$(hb status @s)" '*6 files of git left behind*'
out=$(hb commit -y --no-gate @s 2>&1)
is 'a commit with locks in it' "$?" 0
like 'says in its line that they stay' "$out" '*6 files of git left behind*'
is 'none arrives' "$(cd "$project" && find . -name '*.lock' -o -name 'tmp_*' -o -name gc.pid)" ''
check 'a repository that is new arrives without its lock' test -e "$project/new/.git/HEAD"
check 'the host can commit' git_in commit -q --allow-empty -m three

new_repository
in_box "echo more >>f; git $id commit -qam two; git $id commit -q --allow-empty -m three; git repack -q; echo x >other"
before=$(git_in rev-parse HEAD)
check 'commits from inside' hb commit -y @s
after=$(git_in rev-parse HEAD)
check 'a branch on the host' git_in branch keep
out=$(hb undo @s 2>&1)
is 'undo is refused while a branch of the host has the commits' "$?" 5
like 'the branch is named' "$out" '*.git/refs/heads/keep has commits of the session*'
git_in branch -q -D keep
out=$(hb undo @s 2>&1)
is 'undo' "$?" 0
like 'says that objects stay' "$out" 'undid * · new objects of git stay in the repository'
is 'the branch is what it was' "$(git_in rev-parse HEAD)" "$before"
is 'undo in a repository restores the tree' "$(cat "$project/f")" f
check 'the objects of the commits are still there' git_in cat-file -e "$after"
check 'the repository is whole' git_in fsck --strict
is 'what is pending is pending' "$(hb diff --name-status --only f @s | tr '\t\n' ' ,')" 'M f,'
check 'redo' hb redo @s
is 'puts the commits back' "$(git_in rev-parse HEAD)" "$after"
check 'undo again' hb undo @s
check 'a commit instead of a redo' hb commit -y @s
is 'does as well' "$(git_in rev-parse HEAD)" "$after"
check 'the repository is whole afterwards' git_in fsck --strict

new_session 'echo f >f'
in_box "git init -q -b main . && git add f && git $id commit -qm one"
hb commit -y --no-gate @s >/dev/null
check 'a repository that is new' hb undo @s
check 'goes whole' test ! -e "$project/.git"

# A worktree, whose repository is a resource of its own.
new_repository
git_in worktree add -q ../tree
cd "$work/tree" || bail 'no worktree'
run() {
	HOME=$work XDG_STATE_HOME=$work/xdg "$HB_BIN" "$@"
}
run run -q -s w -- sh -c "echo more >>f; git $id commit -qam two" >/dev/null 2>&1
is "the repository of a worktree is folded" "$(run status @w | grep "objects\|logs")" ""
like 'status names the repository of a worktree' "$(run status @w)" "*M $project/.git/
*1 changed · git*"
check 'commit in a worktree' run commit -y @w
git update-index --force-write-index
check 'git status on the host leaves undo possible' run undo @w
is 'undo in a worktree takes the commit back' "$(git rev-list --count HEAD)" 1
run cleanup -y @w >/dev/null 2>&1
git -C "$project" worktree add -q "$work/third"
for place in "$work/tree" "$project"; do
	cd "$place" || bail 'no directory'
	run run -q -s u -- sh -c 'git worktree prune; git worktree list; echo x >x' >"$work/list" 2>/dev/null
	is "no worktree is prunable in ${place##*/}" "$(grep -c prunable "$work/list")" 0
	is "all of them are listed in ${place##*/}" "$(wc -l <"$work/list")" 3
	check "a commit from ${place##*/} passes the gate" run commit -y @u
	check "the third worktree is still one after ${place##*/}" git -C "$work/third" status
	run cleanup -y @u >/dev/null 2>&1
done
cd "$work/tree" || bail 'no worktree'
run run -q -s v -- rm -r "$project/.git/worktrees/tree" >/dev/null 2>&1
check_exit 'a worktree that is deleted inside asks' 4 run commit -y @v
run cleanup -y @v >/dev/null 2>&1
cd "$work" || bail 'no directory'
finish
