#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# A session on a branch of its own loses neither edits of the user nor work of the
# session: where its beginning was cut short, where a path is in no commit, and on
# the way back.
. "$HB_TESTS/lib/git.sh"

id='-c user.name=n -c user.email=e'
repository="git init -q -b master . && seq 10 >f && echo g >g && echo '*.log' >.gitignore && mkdir d &&
	echo a >d/a && git add . && git commit -qm one"
own() {
	hb create s --cow "$project" --strategy git_worktree "$@" 2>&1
}
begin() {
	new_session "$1"
	hb cleanup -y @s >/dev/null || exit
	shift
	own "$@" >"$work/created" || sed 's/^/# /' "$work/created"
}
state() {
	git_in for-each-ref
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in --no-optional-locks status --porcelain
	(cd "$project" && find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k 2)
}
# refuses NUMBER CASE COMMAND...: ends so, with a fix, and nothing changes.
refuses() {
	number=$1 case=$2
	shift 2
	before=$(state)
	"$@" >"$work/out" 2>&1
	is "$case: the exit status" "$?" "$number"
	like "$case: a fix" "$(cat "$work/out")" '*fix: *'
	is "$case: nothing is changed" "$(state)" "$before"
}

# Two repositories: each has a beginning of its own.
new_session "$repository"
hb cleanup -y @s >/dev/null
cp -a "$project" "$work/q"
(cd "$work/q" && echo edit >>g && echo staged >staged && git add staged)
own --cow "$work/q" >/dev/null
in_box "echo 2 >>g; cd $work/q && echo 2 >>f"
is 'two repositories: the beginning is no change' "$(names)" "M $work/p/g,M $work/q/f,"
check 'two repositories: a commit' hb commit -y @s
in_box true
is 'two repositories: nothing is pending' "$(names)" ''
is 'two repositories: edits of the user stay' "$(git -C "$work/q" status --porcelain | tr '\n' ,)" ' M g,A  staged,'

# A filter that fails in the second beginning.
begin "$repository && echo '*.x filter=x' >.gitattributes && echo x >y.x && git add . && git commit -qm x &&
	echo edit >>f && echo staged >staged && git add staged"
in_box 'echo 2 >>g'
check 'before a beginning that fails: a commit' hb commit -y @s
(cd "$project" && git config filter.x.smudge 'false' && git config filter.x.required true && echo edit >y.x)
before=$(state)
in_box true 2>/dev/null
is 'a beginning that fails: the command does not run' "$?" 125
refuses 10 'commit after a beginning that failed' hb commit -y @s
refuses 10 'undo after a beginning that failed' hb undo @s
refuses 10 'rollback after a beginning that failed' hb rollback -y @s
refuses 10 'rollback of a path after a beginning that failed' hb rollback -y @s f
refuses 10 'fork after a beginning that failed' hb fork @s t
refuses 10 'mark after a beginning that failed' hb mark @s m
git_in config --unset filter.x.required
check 'a beginning that failed is repeated' in_box 'git symbolic-ref HEAD | grep -q holdback/s'
is 'a beginning that failed and is repeated is no change' "$(names)" ''
hb commit -y @s >/dev/null 2>&1
is 'a beginning that failed: edits of the user stay' "$(state)" "$before"

# Old undo data goes, and the beginning after it is still known.
begin "$repository && echo edit >>f && echo staged >staged && git add staged"
in_box 'echo 2 >>g'
check 'before gc: a commit' hb commit -y @s
in_box 'echo 3 >>g'
check 'gc of undo data' hb gc --older-than 0s
is 'gc keeps the beginning' "$(names)" 'M g,'
check 'gc keeps the beginning: a commit' hb commit -y @s
is 'gc keeps the beginning: edits of the user stay' "$(git_in status --porcelain | tr '\n' ,)" ' M f,A  staged,'

# A rollback of git's own files would begin anew over the work of the session.
begin "$repository"
in_box 'echo 2 >>g; echo new >new'
refuses 2 'a rollback of .git' hb rollback -y @s .git
refuses 2 'a rollback below .git' hb rollback -y @s .git/HEAD
in_box true
is 'a rollback of .git: the work is there' "$(names)" 'M g,A new,'
check 'a rollback of a file' hb rollback -y @s new
in_box true
is 'a rollback of a file: the rest is there' "$(names)" 'M g,'
check 'undo of a rollback of a file' hb undo @s
is 'undo of a rollback of a file: all is there' "$(in_box 'git symbolic-ref HEAD'; names)" "refs/heads/holdback/s
M g,A new,"

# Paths that the commit of the session's changes leaves out stay in the session.
begin "$repository"
in_box 'git init -q d; echo 2 >>d/a; echo 2 >>g'
refuses 5 'a file in a nested repository' hb commit -y @s
is 'a file in a nested repository is pending' "$(in_box 'cat d/a' | tr '\n' ,)" a,2,
begin "$repository"
in_box 'echo mine >x.log; echo 2 >>g'
(cd "$project" && echo yours >x.log && git add -f x.log && git commit -qm log)
hb commit -y @s >"$work/out" 2>&1
is 'an ignored file that the user commits: the work is there' "$(find "$state" -path '*upper/x.log' -exec cat {} +)" mine
is 'an ignored file that the user commits stays' "$(cat "$project/x.log")" yours

# A file of the user where HEAD has a directory, and the other way round.
begin "$repository && rm -r d && echo file >d && rm g && mkdir g && echo x >g/x"
before=$(state)
is 'the types of HEAD are in the view' "$(in_box 'cat d/a g' | tr '\n' ,)" a,g,
is 'the types of HEAD are no change' "$(names)" ''
in_box 'echo 2 >>f'
check 'a file where HEAD has a directory: a commit' hb commit -y @s
is 'a file where HEAD has a directory stays' "$(cat "$project/d" "$project/g/x" | tr '\n' ,)" file,x,
check 'a file where HEAD has a directory: undo' hb undo @s
is 'a file where HEAD has a directory: undo is exact' "$(state)" "$before"
in_box 'echo log >d/x.log'
before=$(state)
hb commit -y @s >"$work/out" 2>&1
is 'an ignored file in that directory: the file of the user stays' "$(cat "$project/d")" file
is 'an ignored file in that directory is not lost' "$(in_box 'cat d/x.log' 2>/dev/null)" log

# The user deleted a file that the merge would make again.
begin "$repository && rm g d/a"
in_box 'chmod +x g'
refuses 5 'a deletion of the user in the way of a mode' hb commit -y @s
in_box "chmod -x g; echo 2 >>d/a; git $id commit -qam two"
refuses 5 'a deletion of the user in the way of a commit' hb commit -y @s
in_box 'git reset -q --hard HEAD^; echo 2 >>f'
check 'a deletion of the user beside a commit' hb commit -y @s
is 'a deletion of the user stays' "$(git_in status --porcelain | tr '\n' ,)" ' D d/a, D g,'

# The command is on a branch of the user that moves on.
begin "$repository"
in_box "git checkout -q master; git branch -qD holdback/s; echo 2 >>f"
(cd "$project" && sed -i "s/^1\$/one/" f && git commit -qam one2)
refuses 5 'a branch of the user that moved' hb commit -y @s
in_box "git reset -q --soft $(git_in rev-parse --short HEAD^)"
check 'a branch of the user that moved: a merge' hb commit -y @s
is 'a branch of the user that moved: both edits' "$(sed -n '1p;$p' "$project/f" | tr '\n' ,)" one,2,

# An ignored file is pending where the next beginning has a file.
begin "$repository"
in_box 'echo mine >x.log; echo 2 >>g'
check 'an ignored file stays pending: a commit' hb commit -y @s
(cd "$project" && echo yours >x.log && git add -f x.log && git commit -qm log)
refuses 125 'a pending ignored file is in the way of a beginning' in_box true
(cd "$project" && git rm -q x.log && git commit -qm gone)
is 'a pending ignored file is not lost' "$(in_box 'cat x.log')" mine

# Large files: the commit that is made of them is in memory, those of the session are not.
begin "$repository"
in_box 'truncate -s 70M zeroes; echo 2 >>g'
check 'a large file: a commit' hb commit -y @s
is 'a large file: git sees no difference' "$(git_in ls-files zeroes; git_in status --porcelain)" zeroes
check 'a large file: undo' hb undo @s
check 'a large file: gone' test ! -e "$project/zeroes"
in_box 'head -c 70000000 /dev/urandom >random'
refuses 10 'a large file that git cannot make smaller' hb commit -y @s
like 'a large file that git cannot make smaller: in words' "$(cat "$work/out")" '*too large*fix: holdback exec @s -- git commit*'
in_box "git $id add random; git $id commit -qm random"
check 'a large file that the session committed' hb commit -y --allow git-unread @s
is 'a large file that the session committed: git sees no difference' "$(git_in ls-files random; git_in status --porcelain)" random
check 'a large file that the session committed: whole' git_in fsck --strict

# One undo after the other.
begin "$repository && echo edit >>f"
first=$(state)
in_box 'echo 2 >>g'
check 'a first commit' hb commit -y @s
second=$(state)
in_box 'echo 3 >>g; echo new >new'
check 'a second commit' hb commit -y @s
check 'undo of the second commit' hb undo @s
is 'undo of the second commit is exact' "$(state)" "$second"
check 'undo of the first commit' hb undo @s
is 'undo of the first commit is exact' "$(state)" "$first"

# Two beginnings with other edits of the user: the earlier record does not know the later one.
begin "$repository"
in_box 'echo 2 >>g'
check 'edits between two beginnings: a commit' hb commit -y @s
(cd "$project" && echo staged >staged && git add staged && echo edit >>f)
in_box 'echo 3 >>g'
check 'edits between two beginnings: another commit' hb commit -y @s
check 'edits between two beginnings: undo' hb undo @s
refuses 5 'edits between two beginnings: another undo' hb undo @s
hb commit -y @s >/dev/null 2>&1
is 'edits between two beginnings stay' "$(git_in status --porcelain | tr '\n' ,)" ' M f,A  staged,'
begin "$repository"
in_box 'echo 2 >>g'
check 'a mark on a beginning: a commit' hb commit -y @s
(cd "$project" && echo staged >staged && git add staged)
in_box true
check 'a mark on a beginning' hb mark @s m
refuses 5 'undo with a mark on a beginning' hb undo @s
hb commit -y @s >/dev/null 2>&1
is 'a mark on a beginning: edits of the user stay' "$(git_in status --porcelain | tr '\n' ,)" 'A  staged,'

# A beginning that was cut short is repeated at another commit, which has a file in the way.
begin "$repository && echo '*.x filter=x' >.gitattributes && echo x >y.x && git add . && git commit -qm x"
in_box 'echo mine >x.log; echo 2 >>g'
check 'an ignored file before a beginning that fails: a commit' hb commit -y @s
(cd "$project" && git config filter.x.smudge false && git config filter.x.required true && echo edit >y.x)
in_box true 2>/dev/null
(cd "$project" && echo yours >x.log && git add -f x.log && git commit -qm log && git config --unset filter.x.required)
refuses 125 'a beginning is repeated where an ignored file is in the way' in_box true
(cd "$project" && git rm -q x.log && git commit -qm gone)
is 'a beginning is repeated with an ignored file' "$(in_box 'cat x.log')" mine

# Commands do not get into the box of a beginning.
begin "$repository && echo '*.x filter=x' >.gitattributes && echo x >y.x && git add . && git commit -qm x"
in_box 'echo 2 >>g'
check 'before a beginning that takes long: a commit' hb commit -y @s
(cd "$project" && git config filter.x.smudge 'sleep 4; cat' && echo edit >y.x)
in_box true &
until hb ls | grep -q live || ! kill -0 $! 2>/dev/null; do :; done
in_box 'echo in >in' >"$work/out" 2>&1
is 'a command that meets a beginning does not run' "$?" 125
like 'a command that meets a beginning is told' "$(cat "$work/out")" '*\[8\]*'
wait $!
is 'a beginning that takes long is no change' "$(names)" ''

# Refused clearly: a linked worktree, a record that is damaged.
new_session "$repository && git worktree add -q ../linked"
hb cleanup -y @s >/dev/null
out=$(hb create s --cow "$work/linked" --strategy git_worktree 2>&1)
is 'a linked worktree: the exit status' "$?" 10
like 'a linked worktree: a fix that there is' "$out" '*linked worktree*fix: *overlay*'
begin "$repository && echo edit >>f"
in_box 'echo 2 >>g'
find "$state" -name 'begun-*' -exec sh -c 'echo x >>"$1"' sh {} \;
before=$(state)
hb status @s >"$work/out" 2>&1
is 'a damaged record is told' "$?" 10
like 'a damaged record is told: in words' "$(cat "$work/out")" '*how*began*fix: *'
refuses 10 'commit with a damaged record' hb commit -y @s
refuses 125 'a command with a damaged record' in_box true
check 'a session with a damaged record can be removed' hb cleanup -y @s
is 'a damaged record: edits of the user stay' "$(state)" "$before"
finish
