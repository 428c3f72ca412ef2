#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# commit --as-branch: objects and one new branch arrive, and nothing else moves.
# shellcheck disable=SC2154 # of git.sh
. "$HB_TESTS/lib/git.sh"

# state: all that a commit may change but the branch, and what is pending.
state() {
	git_in for-each-ref | grep -v refs/heads/mine
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in --no-optional-locks status --porcelain
	(cd "$project" && find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k 2)
	names
}
# delivers CASE SUBJECTS: the branch arrives alone, and goes by undo.
delivers() {
	before=$(state)
	out=$(hb commit -y --as-branch mine @s 2>&1)
	is "$1: the exit status" "$?" 0
	like "$1: the branch is told" "$out" '*mine*'
	is "$1: the branch has the commits" "$(subjects mine)" "$2"
	is "$1: nothing else moves, and all is pending" "$(state)" "$before"
	check "$1: whole" git_in fsck --strict
	check "$1: undo" hb undo @s
	is "$1: undo takes the branch" "$(git_in for-each-ref refs/heads/mine)" ''
	is "$1: undo leaves the rest" "$(state)" "$before"
	check "$1: redo" hb redo @s
	is "$1: redo brings the branch" "$(subjects mine)" "$2"
}
# refuses CASE STATUS WORDS NAME
refuses() {
	before=$(state)
	refs=$(git_in for-each-ref)
	out=$(hb commit -y --as-branch "$4" @s 2>&1)
	is "$1: the exit status" "$?" "$2"
	like "$1: says why" "$out" "$3"
	is "$1: nothing is changed" "$(state)$(git_in for-each-ref)" "$before$refs"
}

new_repository
in_box "$two; echo 3 >>g; echo new >new; git tag t; git branch side HEAD~"
like 'a dry run tells the branch' "$(hb commit -n --as-branch mine @s)" '*1 commit goes to mine*'
is 'a dry run makes none' "$(git_in for-each-ref refs/heads/mine)" ''
delivers 'commits of the session' two,one,
refuses 'a branch that is there' 10 "*there is a branch 'mine' already*" mine
refuses 'a branch in the way' 10 "*in the way of the name 'mine/x'*" mine/x
refuses 'a branch of the session with other commits' 5 '*the session has other commits at refs/heads/side*' side
like 'where both stand' "$(hb status --json @s)" "*\"git\":{\"branch\":\"master\",\"base\":\"$(git_in rev-parse master)\",\"head\":\"$(git_in rev-parse mine)\",\"ahead\":1,\"behind\":0,\"merged\":false}*"
check 'the rest arrives later' hb commit -y @s
is 'the rest: the branch moves' "$(subjects)" two,one,
is 'the rest: all files' "$(cat "$project/new") $(git_in status --porcelain | tr '\n' ,)" 'new  M g,?? new,'
is 'the rest: nothing is pending' "$(names)" ''
refuses 'no commits' 10 '*no commits for a branch*' other

for name in 'a b' '-x' HEAD 'x..y' 'x.lock' ''; do
	check_exit "no name of a branch: '$name'" 2 hb commit -y --as-branch "$name" @s
done
check_exit 'with --git' 2 hb commit -y --as-branch n --git=ff @s
check_exit 'with --merge' 2 hb commit -y --as-branch n --merge @s
check_exit 'with --only' 2 hb commit -y --as-branch n --only f @s
check_exit '--merge with --git' 2 hb commit -y --merge --git=ff @s

# The user moved on, edits the same file, and packs references; the session has that branch, too.
new_repository
in_box "git checkout -q -b mine; $two"
(cd "$project" && echo user >>f && git commit -qam user && echo edit >>f && git pack-refs --all)
delivers 'both sides moved' two,one,

# A session that is on a branch of its own: changes that it did not commit are in it.
new_session "git init -q -b $branch . && echo f >f && echo g >g && git add f g && git commit -qm one"
hb cleanup -y @s >/dev/null
hb create s --cow "$project" --strategy git_worktree >/dev/null
refuses 'git_worktree, no commits' 10 '*no commits for a branch*' mine
in_box "$two; echo 3 >>g; echo new >new"
(cd "$project" && echo user >u && git add u && git commit -qm user)
delivers 'git_worktree' 'Changes of session s,two,one,'
is 'git_worktree: the files are in the branch' "$(git_in show mine:g mine:new | tr '\n' ,)" g,3,new,
refuses 'git_worktree, a branch that is there' 10 "*there is a branch 'mine' already*" mine
is 'git_worktree: no session is left' "$(hb ls | wc -l)" 1
like 'git_worktree: status tells how far both went' "$(hb status @s)" '*holdback/s +1 commit, master moved by 1: *'
is 'git_worktree: files of git are no conflicts' "$(hb status @s | grep -c conflict)" 0
json=$(hb status --json @s)
like 'git_worktree: where both stand' "$json" "*\"git\":{\"branch\":\"holdback/s\",\"base\":\"$(git_in rev-parse 'master~')\",\"head\":\"$(git_in rev-parse 'mine~')\",\"ahead\":1,\"behind\":1,\"merged\":false}*"
check 'git_worktree: a commit merges later' hb commit -y @s
is 'git_worktree: all of it' "$(cat "$project/f" "$project/g" "$project/new" "$project/u" | tr '\n' ,)" f,2,g,3,new,user,

# The words of a merge.
for command in commit sync; do
	new_repository
	in_box "$two"
	(cd "$project" && echo user >u && git add u && git commit -qm user)
	check "$command --merge" hb "$command" -y --merge @s
	is "$command --merge: both sides" "$(git_in log --format=%s -1)" "Merge branch 'holdback/s'"
done
new_repository
in_box "$two"
(cd "$project" && echo user >u && git add u && git commit -qm user)
check 'sync --as-branch' hb sync -y --as-branch mine @s
is 'sync --as-branch: the branch' "$(subjects mine)" two,one,
finish
