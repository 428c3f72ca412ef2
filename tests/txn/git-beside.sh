#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 120
#
# The host's git is used beside a session that commits: what both write all the
# time is no conflict, and an entry that both changed is one.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

branch=main
# refresh: as `git status` does, whose index has other bytes afterwards.
refresh() {
	refresh_was=$(stat -c %i "$project/.git/index")
	touch -d "@$(($(date +%s) - 1000 - $1))" "$project/g"
	git_in status >/dev/null
	[ "$refresh_was" != "$(stat -c %i "$project/.git/index")" ] || bail 'git did not write the index'
}

for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	new_repository
	in_box "$two"
	refresh 1
	is "$strategy: an index that git outside wrote anew is no conflict" \
		"$(hb status @s | grep -c conflict)" 0
	check "$strategy: the commit arrives" hb commit -y @s
	is "$strategy: the branch has it" "$(git_in log --format=%s | tr '\n' ,)" two,one,
	is "$strategy: the tree is clean" "$(git_in status --porcelain)" ''
	check "$strategy: the repository is whole" git_in fsck --strict
	refresh 2
	in_box "echo 3 >>f; git $id commit -qam three"
	refresh 3
	check "$strategy: a second commit with an index written anew arrives" hb commit -y @s
	refresh 4
	check "$strategy: undo of it" hb undo @s
	is "$strategy: undo takes the branch back" "$(git_in log -1 --format=%s)" two
	refresh 5
	check "$strategy: the undone commit arrives again" hb commit -y @s
	is "$strategy: the branch has all three" "$(git_in log --format=%s | tr '\n' ,)" three,two,one,
done
unset HB_STRATEGY

new_repository
in_box "$two"
(cd "$project" && echo h >h && git add h)
check 'a commit beside an entry that was staged outside arrives' hb commit -y @s
is 'the commit beside a staged entry is on the branch' "$(git_in log --format=%s | tr '\n' ,)" two,one,
is 'an entry that was staged outside stays' "$(git_in diff --cached --name-only)" h

new_repository
in_box "$two"
refresh 1
find "$state" -path '*/r0/index-*' -exec sh -c ': >"$1"' sh {} \;
check_exit 'without a copy of the index the change time counts' 5 hb commit -y @s

new_repository
in_box "$two"
hb fork @s t >/dev/null
refresh 1
check 'a fork knows the index of its parent' hb commit -y @t
hb cleanup -y @t >/dev/null

# A worktree: its index lies in the repository, which is a resource of its own.
new_repository
git_in worktree add -q ../tree
cd "$work/tree" || bail 'no worktree'
run() {
	HOME=$work XDG_STATE_HOME=$work/xdg "$HB_BIN" "$@"
}
run run -q -s w -- sh -c "$two" >/dev/null 2>&1
touch -d '2001-01-01' g
git status >/dev/null
check 'the index of a worktree that was written anew is no conflict' run commit -y @w
is 'the commit of a worktree arrives' "$(git log -1 --format=%s)" two
run cleanup -y @w >/dev/null 2>&1
cd "$work" || bail 'no directory'

# Notes of git: the host's where the host wrote one, else the session's.
new_repository
in_box "$two; echo session >.git/ORIG_HEAD; echo session >.git/FETCH_HEAD"
echo host >"$project/.git/COMMIT_EDITMSG"
echo host >"$project/.git/FETCH_HEAD"
out=$(hb commit -y @s 2>&1)
is 'notes that the host wrote are no conflict' "$?" 0
like 'a note that stays behind is told' "$out" '*2 files of git left behind*'
is 'the host has its own COMMIT_EDITMSG' "$(cat "$project/.git/COMMIT_EDITMSG")" host
is 'the host has its own FETCH_HEAD' "$(cat "$project/.git/FETCH_HEAD")" host
is 'the session has the only ORIG_HEAD' "$(cat "$project/.git/ORIG_HEAD")" session
check 'the commit beside notes arrives' test "$(git_in log -1 --format=%s)" = two

new_repository
in_box "$two; : >.git/gc.log; echo 1 >.git/gc.pid; echo 1 >.git/fsmonitor--daemon.pid
	echo x >log.pid; mkdir sub; echo x >sub/gc.log"
check 'a session with files of git processes is committed' hb commit -y @s
is 'none of them arrives' "$(cd "$project/.git" && ls -- *.pid gc.log 2>/dev/null)" ''
check 'files of the same names elsewhere arrive' test -e "$project/log.pid" -a -e "$project/sub/gc.log"

# An object that is there is never replaced.
new_repository
object=$(cd "$project/.git/objects" && find . -type f | head -n 1)
in_box "$two; cd .git/objects; chmod u+w $object; echo junk >$object"
out=$(hb commit -y @s 2>&1)
is 'a session with a damaged object is committed' "$?" 0
like 'the damaged object stays behind, and is told' "$out" '*1 file of git left behind*'
check 'the repository is whole without the damage' git_in fsck --strict
is 'the commit beside the damage arrives' "$(git_in log -1 --format=%s)" two
new_repository
object=$(cd "$project/.git/objects" && find . -type f | head -n 1)
was=$(cksum <"$project/.git/objects/$object")
in_box "cd .git/objects; rm -f $object; ln -s /etc/passwd $object"
hb commit -y --no-gate @s >/dev/null 2>&1
is 'an object that became a link stays a file' "$(cksum <"$project/.git/objects/$object")" "$was"

# Both sides commit, and a repository is files: each path of the conflict stands
# for all of it.
new_repository
in_box "$two; mkdir -p .git/hooks; echo x >.git/hooks/note"
(cd "$project" && echo 2 >>g && git commit -qam beside)
out=$(hb commit -n --no-gate --git=files @s 2>&1)
is 'two commits are a conflict of files' "$?" 5
paths=$(echo "$out" | sed -n 's/.*first in \(.*\)/\1/p')
paths="$paths .git/index .git/logs/HEAD .git/refs/heads/main"
is 'each path that is told settles it, for any side' "$(for path in $paths; do
	hb commit -n --no-gate --git=files --theirs "$path" @s >/dev/null 2>&1 || echo "theirs $path"
	hb commit -n --no-gate --git=files --ours "/$path" @s >/dev/null 2>&1 || echo "ours $path"
	hb commit -n --no-gate --git=files --except "$path" @s >/dev/null 2>&1 || echo "except $path"
done)" ''
check_exit 'a path of .git that is no part of the repository settles nothing' 5 \
	hb commit -n --no-gate --git=files --except .git/hooks/note @s
is 'two commits are no conflict of values' "$(hb status @s | grep -c conflict)" 0
check 'the session is committed without its repository' \
	hb commit -y --no-gate --except .git/index @s
is 'the commit of the host is there alone' "$(git_in log --format=%s | tr '\n' ,)" beside,one,
check 'the file of the session is there' grep -q 2 "$project/f"
check 'the repository of the host is whole' git_in fsck --strict
finish
