#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# Repositories without all of their history: each side fetches more of it, or all.
# shellcheck disable=SC2016,SC2154 # expanded inside; of git.sh
. "$HB_TESTS/lib/git.sh"

# deep DIR: a clone with the last two of six commits; the other repository lies in it.
deep() {
	echo "git init -q -b $branch $1/o && (cd $1/o && for i in 1 2 3 4 5 6; do echo \$i >f; git add f; git commit -qm \$i; done) &&
		git clone -q --bare $1/o $1/o.git && rm -rf $1/o && git clone -q --depth 2 file://$project/$1/o.git $1/c &&
		mv $1/c/.git $1/c/f $1 && rmdir $1/c && echo o.git >$1/.git/info/exclude"
}
history() {
	git_in -C "$where" rev-list --count HEAD
}
is_whole() {
	is "$1: the history" "$(history)" "$2"
	check "$1: the repository is whole" git_in -C "$where" fsck --strict
}
commit() {
	hb commit -y --no-gate @s
}
three="echo 2 >>f; git $id commit -qam two"

where=.
new_session "$(deep .)"
in_box 'git fetch -q --deepen 1'
check 'a session that fetched more history' commit
is_whole 'more history' 3
check 'undo of more history' hb undo @s
is_whole 'undo of more history' 2
check 'more history once more' commit
is_whole 'more history once more' 3
in_box 'git fetch -q --unshallow'
check 'a session that fetched all history' commit
is_whole 'all history' 6
check 'undo of all history' hb undo @s
is_whole 'undo of all history' 3

new_session "$(deep .)"
in_box "git fetch -q --deepen 1; $three"
git_in fetch -q --unshallow
check 'the user fetched all history meanwhile' commit
is_whole 'all history of the user' 7
check 'undo beside all history' hb undo @s
is_whole 'undo beside all history' 6
check 'a commit after undo beside all history' commit
is_whole 'a commit after undo beside all history' 7

new_session "$(deep .)"
in_box "git fetch -q --unshallow; $three"
git_in fetch -q --deepen 1
check 'the session fetched all history' commit
is_whole 'all history of the session' 7
check 'undo beside more history' hb undo @s
is_whole 'undo beside more history' 3
check 'a commit after undo beside more history' commit
is_whole 'a commit after undo beside more history' 7

# Each has a branch of the other repository that the other side does not have.
new_session "$(deep .); cd o.git; for i in a b; do c=\$(git commit-tree -m root-\$i HEAD^{tree}); git update-ref refs/heads/\$i \$(git commit-tree -p \$c -m \$i HEAD^{tree}); done"
in_box 'git fetch -q --depth 1 origin a:a'
git_in fetch -q --depth 1 origin b:b
for when in first 'after undo'; do
	check "branches of both without their history: $when" commit
	is "both boundaries are there: $when" "$(git_in rev-list --count a b)" 2
	is_whole "branches of both: $when" 2
	[ "$when" != first ] || check 'undo of a branch without its history' hb undo @s
done

# What the session has no use for the user may need: no history is cut off.
new_session "$(deep .)"
in_box "git fetch -q --depth 1; $three"
out=$(commit 2>&1)
is 'a session that cut history off' "$?" 0
like 'a boundary that stays away is told' "$out" '*history*stays*'
is_whole 'history that the session cut off' 3

# Below the top a repository has no record, and is files.
where=n
new_session "mkdir n && $(deep n)"
in_box "cd n; git fetch -q --deepen 1; $three"
git_in -C n fetch -q --unshallow
check 'below the top, all history of the user' commit
is_whole 'below the top' 7
finish
