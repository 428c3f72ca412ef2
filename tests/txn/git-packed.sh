#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# References that the user packs while a session deletes another one.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
start='git init -q -b main . && echo f >f && git add f && git commit -qm one
	for i in 0 1 2; do git branch b$i; git tag t$i; done'
git_in() {
	(cd "$project" && git "$@")
}
refs() {
	git_in for-each-ref --format='%(refname:short)' | tr '\n' ' '
}
commit() {
	hb commit -y --no-gate @s
}

new_session "$start"
in_box 'git branch -D b2'
git_in pack-refs --all
check 'a commit that deletes a branch' commit
is 'it deletes no branch that the user packed' "$(refs)" 'b0 b1 main t0 t1 t2 '
check 'undo' hb undo @s
is 'undo brings the branch back' "$(refs)" 'b0 b1 b2 main t0 t1 t2 '
check 'a commit after undo' commit
is 'a commit after undo deletes no branch that the user packed' "$(refs)" 'b0 b1 main t0 t1 t2 '
in_box 'git tag -d t2'
check 'a second commit' commit
is 'a tag that was packed goes with its line' "$(refs)" 'b0 b1 main t0 t1 '

# The session's main stays pending, and with it the packed-refs that has its value.
new_session "$start"
in_box 'git checkout -q -b s; git -c user.name=n -c user.email=e commit -q --allow-empty -m s; git branch -f b0; git pack-refs --all; git branch -D b2'
git_in checkout -q b0
git_in commit -q --allow-empty -m user
git_in pack-refs --all
git_in branch mine
git_in pack-refs --all
check 'a commit with a branch that waits' commit
is 'it deletes the branch of the session alone' "$(refs)" 'b0 b1 holdback/s main mine s t0 t1 t2 '
in_box 'git branch later'
check 'another commit, with the branch still waiting' commit
is 'the second one deletes nothing that the user packed' "$(refs)" 'b0 b1 holdback/s later main mine s t0 t1 t2 '

new_session "$start; git pack-refs --all"
in_box 'git tag -d t0; git branch -D b0'
check 'a commit that deletes what is packed' commit
is 'both are gone' "$(refs)" 'b1 b2 main t1 t2 '
check 'undo of that' hb undo @s
is 'both are back' "$(refs)" 'b0 b1 b2 main t0 t1 t2 '
check 'once more' commit
is 'both are gone once more' "$(refs)" 'b1 b2 main t1 t2 '
check 'the repository is whole' git_in fsck --strict

# The file of a tag is a file no more once the user has packed it, and has no log.
new_session "$start"
in_box 'git tag -d t1'
git_in pack-refs --all
check 'a tag that the session deletes and the user packs' commit
is 'the deleted tag is gone' "$(refs)" 'b0 b1 b2 main t0 t2 '
check 'undo of a deleted tag' hb undo @s
is 'the deleted tag is back' "$(refs)" 'b0 b1 b2 main t0 t1 t2 '
new_session "$start; git pack-refs --all"
in_box 'git tag -d t1'
git_in tag t3
git_in pack-refs --all
check 'a packed tag that the session deletes, and the user packs' commit
is 'the tag that was packed is gone, and the new one stays' "$(refs)" 'b0 b1 b2 main t0 t2 t3 '
check 'undo of a packed tag' hb undo @s
check 'a commit after undo of a packed tag' commit
is 'a packed tag is gone after undo as well' "$(refs)" 'b0 b1 b2 main t0 t2 t3 '

# Both sides pack, and get the same: files that are gone inside are no deleted references.
for what in 'git pack-refs --all' 'git gc -q'; do
	new_session "$start; git stash list; echo x >>f; git stash -q"
	in_box "$what"
	git_in pack-refs --all
	in_box 'echo new >new'
	check "$what on both sides" commit
	is "$what on both sides deletes nothing" "$(refs)" 'b0 b1 b2 main stash t0 t1 t2 '
	in_box 'git tag -d t1'
	check "a tag that goes after $what" commit
	is "the tag goes alone after $what" "$(refs)" 'b0 b1 b2 main stash t0 t2 '
done

# A branch is gone while the session packs, and is there again.
new_session "$start; git pack-refs --all"
git_in branch -q -D b1
in_box 'git branch -D b2; git pack-refs --all'
git_in branch b1
git_in pack-refs --all
check 'a session that packed while the user had one branch less' commit
is 'the branch that the user made again stays' "$(refs)" 'b0 b1 main t0 t1 t2 '
check 'undo of packing' hb undo @s
check 'a commit after undo of packing' commit
is 'the branch that the user made again stays after undo' "$(refs)" 'b0 b1 main t0 t1 t2 '

# Inside, the branch that the user packed cannot be seen: a commit there has no parent.
new_session 'git init -q -b main . && echo f >f && git add f && git commit -qm one && echo y >>f && git commit -qam two && git branch old HEAD~'
in_box 'git branch -D old'
git_in gc -q
in_box 'echo n >n; git add n; git -c user.name=n -c user.email=e commit -qm session'
check 'a commit of a session that lost sight of the branch it is on' commit
is 'no commit of the user is out of reach after it' \
	"$(git_in fsck --no-reflogs --unreachable 2>/dev/null | grep -c commit)" 0
is 'the commits that it did not see have a branch' "$(git_in log --format=%s holdback/s | tr '\n' ' ')" 'two one '
check 'undo of it' hb undo @s
is 'undo puts the branch back' "$(git_in log --format=%s main | tr '\n' ' ')" 'two one '
finish
