#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# A repository that both sides go on using: packing, merging and cloning outside is no change that
# stands against a commit or an undo, and is told as it is.
# shellcheck disable=SC2016,SC2154 # expanded inside; of git.sh
. "$HB_TESTS/lib/git.sh"

# git gc writes info/refs on both sides.
new_repository
in_box "$two; git gc -q; git update-server-info"
git_in gc -q
git_in update-server-info
check 'packed on both sides: no conflict' hb commit -y @s
is 'the commits arrive' "$(subjects)" 'two,one,'
check 'the repository is whole' git_in fsck --strict

# The session's commits go to a branch, and the user merges that.
new_repository
in_box "$two"
echo u >u && mv u "$project/u" && git_in add u && git_in commit -qm user
out=$(hb status @s)
is 'commits of the user are not lost' "$(echo "$out" | grep -c 'in no branch')" 0
check 'to a branch' hb commit -y @s
is 'with the branch of a session no commit is in no branch' "$(hb status @s | grep -c 'in no branch')" 0
check 'it is merged' git_in merge -q --no-edit holdback/s
is 'after its merge no commit is in no branch' "$(hb status @s | grep -c 'in no branch')" 0
check 'the rest is settled' hb commit -y @s
is 'by the merge' "$(git_in log -1 --format=%s)" "Merge branch 'holdback/s'"

# A clone on the same file system gives the objects a second name.
new_repository
in_box "$two"
check 'a commit' hb commit -y @s
git clone -q "$project" "$work/clone"
check 'a clone does not stand against undo' hb undo @s
is 'undo puts the branch back' "$(subjects)" 'one,'

# git packs the branch that a commit moved, with its file or without.
for how in --prune --no-prune; do
	new_repository
	in_box "$two"
	check "a commit, then pack-refs $how" hb commit -y @s
	git_in pack-refs --all $how
	check "undo after pack-refs $how" hb undo @s
	is "puts the branch back after $how" "$(subjects)" 'one,'
	check "redo after $how" hb redo @s
	is "brings the commits again after $how" "$(subjects)" 'two,one,'
	check "the repository is whole after $how" git_in fsck --strict
	git_in branch keep
	git_in pack-refs --all --prune
	check_exit "a branch of the user stands against undo after $how" 5 hb undo @s
done

# The branch is packed, and its file stays: without the file that line would count.
new_repository
git_in branch side
git_in pack-refs --all --prune
in_box "git $id commit-tree -p side -m three 'side^{tree}' | xargs git update-ref refs/heads/side"
check 'a branch that only packed-refs has moves' hb commit -y @s
after=$(git_in rev-parse side)
git_in pack-refs --all --no-prune
out=$(hb undo @s 2>&1)
is 'undo, which would leave the branch where it is, is refused' "$?" 5
is 'the branch stays' "$(git_in rev-parse side)" "$after"
like 'the refusal names the branch' "$out" '*refs/heads/side*'

# The parent of the project has the name that git has for linked worktrees.
remove_all
project=$work/worktrees/p
new_repository
in_box "$two"
check 'a commit below a directory called worktrees' hb commit -y @s
git_in branch keep
check_exit 'undo sees the branch of the user' 5 hb undo @s
git_in branch -q -D keep
check 'undo is possible without that branch' hb undo @s
new_session "mkdir -p worktrees/x && cd worktrees/x && git init -q -b $branch . && echo f >f && git add f && git commit -qm one"
in_box "cd worktrees/x; $two"
check 'a repository below such a directory' hb commit -y --no-gate @s
git -C "$project/worktrees/x" branch keep
check_exit 'undo sees the branch of the user there' 5 hb undo @s
finish
