#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# The user's git goes on between commit, undo and redo: it writes the index anew, packs
# objects and references, and none of that is in the way of the next step.
# shellcheck disable=SC2016,SC2154 # expanded inside; of git.sh
. "$HB_TESTS/lib/git.sh"

state() {
	git_in for-each-ref
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in --no-optional-locks status --porcelain
}
# refresh: git writes the index anew, with the same entries.
refresh() {
	git_in update-index --force-write-index
}
# goes_on CASE: each step works after git has looked.
goes_on() {
	before=$(state)
	check "$1: a commit" hb commit -y --no-gate @s
	after=$(state)
	refresh
	check "$1: undo after git status" hb undo @s
	is "$1: undo is exact" "$(state)" "$before"
	refresh
	check "$1: redo after git status" hb redo @s
	is "$1: redo is exact" "$(state)" "$after"
	refresh
	check "$1: a second undo after git status" hb undo @s
	is "$1: the second undo is exact" "$(state)" "$before"
	refresh
	check "$1: a commit after git status" hb commit -y --no-gate @s
	is "$1: the commit is that of before" "$(state)" "$after"
	check "$1: whole" git_in fsck --strict
}

start="git init -q -b $branch . && echo f >f && echo g >g && git add f g && git commit -qm one"
new_session "$start"
in_box "$two"
goes_on 'as it is'

# A split index is treated as a file, and a file that changed since is not taken back.
for side in user session; do
	new_session "$start$([ $side = session ] || echo ' && git update-index --split-index')"
	in_box "$([ $side = user ] || echo 'git update-index --split-index;') $two"
	like "a split index of the $side: said" "$(hb status @s)" '*its index is of a format that holdback does not read*'
	before=$(state)
	check "a split index of the $side: a commit" hb commit -y --no-gate @s
	is "a split index of the $side: arrives" "$(subjects)" two,one,
	check "a split index of the $side: undo" hb undo @s
	is "a split index of the $side: undo is exact" "$(state)" "$before"
	check "a split index of the $side: redo" hb redo @s
	after=$(state)
	refresh
	out=$(hb undo @s 2>&1)
	is "a split index of the $side: undo after git status is refused" "$?" 5
	like "a split index of the $side: the file is named" "$out" '*.git/index*'
	is "a split index of the $side: nothing is changed then" "$(state)" "$after"
	check "a split index of the $side: whole" git_in fsck --strict
done

new_session "$start"
hb cleanup -y @s >/dev/null
hb create s --cow "$project" --strategy git_worktree >/dev/null
in_box "$two; echo 3 >>g; echo n >n"
before=$(state)
check 'git_worktree: a commit' hb commit -y --no-gate @s
after=$(state)
refresh
check 'git_worktree: undo after git status' hb undo @s
is 'git_worktree: undo is exact' "$(state)" "$before"
refresh
check 'git_worktree: redo after git status' hb redo @s
is 'git_worktree: redo is exact' "$(state)" "$after"

# The same, with an edit of the user beside the merge.
new_session "$start && echo edit >>f && echo staged >st && git add st"
hb cleanup -y @s >/dev/null
hb create s --cow "$project" --strategy git_worktree >/dev/null
in_box "echo 3 >>g; echo n >n"
before=$(state)
check 'git_worktree beside an edit: a commit' hb commit -y --no-gate @s
after=$(state)
refresh
check 'git_worktree beside an edit: undo after git status' hb undo @s
is 'git_worktree beside an edit: undo is exact' "$(state)" "$before"
refresh
check 'git_worktree beside an edit: redo after git status' hb redo @s
is 'git_worktree beside an edit: redo is exact' "$(state)" "$after"

# A branch that is new, and that the user has packed since.
new_session "$start"
in_box "git checkout -q -b new; $two"
check 'a new branch: a commit' hb commit -y --no-gate @s
git_in pack-refs --all
out=$(hb undo @s 2>&1)
is 'a new branch that is packed: undo is refused' "$?" 5
like 'a new branch that is packed: the branch is named' "$out" '*meanwhile changed: .git/refs/heads/new*'
is 'a new branch that is packed: nothing is changed' "$(subjects)" two,one,
for where in branch tag; do
	new_session "$start"
	in_box "git checkout -q -b new; $two"
	before=$(state)
	check "a new branch, and a $where of the user: a commit" hb commit -y --no-gate @s
	git_in "$where" beside "$branch"
	check "a new branch, and a $where of the user at an older commit: undo" hb undo @s
	git_in "$where" -d beside >/dev/null 2>&1
	is "a new branch, and a $where of the user: undo is exact" "$(state)" "$before"
done

# Both sides pack the same objects: the user's pack stays the very file.
new_session "$start"
in_box "git -c pack.threads=1 repack -adq; $two"
git_in -c pack.threads=1 repack -adq
packs=$(cd "$project" && stat -c '%n %i %Y' .git/objects/pack/*)
check 'equal packs: a commit' hb commit -y --no-gate @s
is 'equal packs: those of the user are not replaced' \
	"$(cd "$project" && for f in $(echo "$packs" | cut -d ' ' -f 1); do stat -c '%n %i %Y' "$f"; done)" "$packs"
is 'equal packs: nothing is pending' "$(names)" ''
check 'equal packs: whole' git_in fsck --strict
check 'equal packs: undo' hb undo @s
is 'equal packs: they stay after undo' \
	"$(cd "$project" && for f in $(echo "$packs" | cut -d ' ' -f 1); do stat -c '%n %i %Y' "$f"; done)" "$packs"

# A repository in a directory called worktrees is no worktree.
new_session "mkdir -p worktrees/n && cd worktrees/n && $start"
in_box "cd worktrees/n; $two"
check 'below worktrees: a commit' hb commit -y --no-gate @s
is 'below worktrees: arrives' "$(git_in -C worktrees/n log --format=%s | tr '\n' ,)" two,one,
git_in -C worktrees/n branch keep
check_exit 'below worktrees: a branch that needs the commit keeps undo away' 5 hb undo @s
git_in -C worktrees/n branch -q -D keep
check 'below worktrees: undo' hb undo @s
is 'below worktrees: undo is exact' "$(git_in -C worktrees/n log --format=%s | tr '\n' ,)" one,
finish
