#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# --strategy git_worktree: the session begins at HEAD, on a branch of its own that
# the real repository does not know, and comes back by a merge that git makes in a
# box.  A merge that is not clean changes nothing.
. "$HB_TESTS/lib/git.sh"

# begin COMMAND: a repository as the command makes it, and a session on its branch.
begin() {
	new_session "$1"
	hb cleanup -y @s >/dev/null || exit
	created=$(hb create s --cow "$project" --strategy git_worktree 2>&1) || echo "# $created"
}
repository="git init -q -b master . && seq 10 >f && echo g >g && echo ignored >.gitignore && mkdir d &&
	echo a >d/a && git add . && git commit -qm one"
# state: everything that a commit may change, and that undo brings back.
state() {
	git_in for-each-ref
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in --no-optional-locks status --porcelain
	git_in worktree list --porcelain
	(cd "$project" && find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k 2)
}
# refuses CASE WORDS: 5, and nothing changed anywhere.
refuses() {
	before=$(state)
	pending=$(hb status @s)
	out=$(hb commit -y @s 2>&1)
	is "$1: the exit status" "$?" 5
	like "$1: says why" "$out" "$2"
	is "$1: nothing is changed" "$(state)" "$before"
	is "$1: the session is as it was" "$(hb status @s)" "$pending"
	is "$1: no session is left" "$(hb ls | wc -l)" 1
}
# merges CASE: a commit, and the way back and forth.
merges() {
	before=$(state)
	out=$(hb commit -y @s 2>&1)
	is "$1: a commit" "$?" 0
	check "$1: whole" git_in fsck --strict
	is "$1: nothing is pending" "$(names)" ''
	is "$1: no branch is left" "$(git_in for-each-ref --format='%(refname)' | grep -c holdback)" 0
	merged=$(state)
	check "$1: undo" hb undo @s
	is "$1: undo is exact" "$(state)" "$before"
	check "$1: redo" hb redo @s
	is "$1: redo is exact" "$(state)" "$merged"
}

# The beginning: a clean HEAD, and the host sees nothing of it.
begin "$repository && echo edit >>f && echo staged >staged && git add staged && rm d/a && echo u >untracked"
before=$(state)
is 'the branch of the session' "$(in_box 'git symbolic-ref HEAD')" refs/heads/holdback/s
is 'edits of the user are not in the view' "$(in_box 'git status --porcelain; cat d/a; tail -n 1 f; ls staged 2>&1' | tr '\n' ,)" \
	"?? untracked,a,10,ls: cannot access 'staged': No such file or directory,"
is 'the host sees nothing of the beginning' "$(state)" "$before"
is 'the beginning is no change' "$(names)" ''
like 'the beginning is no change: status' "$(hb status @s)" '*no changes*'
like 'the strategy is told' "$(hb status --json @s)" '*"requested":"git_worktree"*'
out=$(hb commit -y @s 2>&1)
is 'nothing to commit: the user keeps all edits' "$(state)" "$before"

# Changes in no commit become one; edits of the user beside the merge stay.
in_box "echo 2 >>g; echo new >new; echo x >ignored; echo y >untracked2; git $id add new"
merges 'changes in no commit'
is 'changes in no commit: one commit' "$(subjects)" 'Changes of session s,one,'
is 'changes in no commit: only paths of the change set' "$(git_in show --format= --name-only | tr '\n' ,)" g,new,untracked2,
is 'edits of the user beside the merge stay' "$(git_in status --porcelain | tr '\n' ,)" \
	' D d/a, M f,A  staged,?? untracked,'
is 'a session that goes on begins at the new HEAD' "$(in_box 'git log --format=%s -1; git symbolic-ref HEAD; cat ignored' | tr '\n' ,)" \
	'Changes of session s,refs/heads/holdback/s,x,'
is 'a session that goes on has no change' "$(names)" ''
check 'undo after another command' hb undo @s
is 'undo after another command is exact' "$(state)" "$before"
like 'undo after another command: pending again' "$(names)" '*M g,*A new,*'
is 'undo after another command: the session is on its branch' "$(in_box 'git symbolic-ref HEAD; git status --porcelain' | tr '\n' ,)" \
	'refs/heads/holdback/s, M g,A  new,?? untracked,?? untracked2,'

# Rollback, and its undo.
pending=$(names)
check 'a rollback' hb rollback -y @s
in_box true
is 'a rollback: nothing is pending' "$(names)" ''
check 'undo of a rollback after another command' hb undo @s
is 'undo of a rollback: pending again' "$(names)" "$pending"
check 'a cleanup' hb cleanup -y @s
is 'a cleanup: the host is as it was' "$(state)" "$before"

# Both commit.
begin "$repository"
in_box "sed -i s/^2/two/ f; git $id commit -qam two; sed -i s/^3/three/ f"
(cd "$project" && sed -i s/^9/nine/ f && git commit -qam nine)
merges 'both commit'
is 'both commit: all edits are there' "$(grep -c 'two\|three\|nine' "$project/f")" 3
is 'both commit: the commits' "$(git_in log --format=%s | sort | tr '\n' ,)" \
	"Changes of session s,Merge branch 'holdback/s',nine,one,two,"
is 'both commit: git sees no difference' "$(git_in status --porcelain)" ''

# Not clean: the same line, and an edit of the user in the way.
begin "$repository"
in_box "sed -i s/^2/two/ f; echo more >>g"
(cd "$project" && sed -i s/^2/zwei/ f && git commit -qam zwei)
refuses 'the same line' '*both sides changed the same lines: f*'
like 'the same line: in the document' "$(hb commit -y --json @s 2>/dev/null)" \
	'*"merge_conflicts":\[{"source":"'"$project"'","path":"f","conflict":"both sides changed the same lines"}\]*'
begin "$repository && echo edit >>f"
in_box "sed -i s/^2/two/ f; echo more >>g"
refuses 'an edit of the user from before is in the way' '*not committed are in the way of the merge: f*'
begin "$repository"
in_box "sed -i s/^2/two/ f; echo more >>g"
(cd "$project" && echo edit >>f)
refuses 'a later edit of the user is in the way' '*not committed are in the way of the merge: f*'
begin "$repository && echo mine >mine"
in_box "echo theirs >>mine"
like 'an untracked file of the user is in the way: in the document' "$(hb commit -y --json @s 2>/dev/null)" \
	'*"merge_conflicts":\[{*"path":"mine","conflict":"changes that are not committed are in the way of the merge"}\]*'
refuses 'an untracked file of the user is in the way' '*in the way of the merge: mine*'
begin "$repository && echo edit >>f"
in_box "chmod +x f"
refuses 'a mode where the user has an edit' '*in the way of the merge: f*'

# Deleted, renamed, modes, links, types.
begin "$repository"
in_box "rm d/a; mv g moved; chmod +x f; ln -s f link; rm .gitignore; mkdir .gitignore; echo x >.gitignore/x; mkdir empty"
(cd "$project" && echo other >other && git add other && git commit -qm other)
merges 'deleted, renamed, mode, link, type'
is 'deleted, renamed, mode, link, type: in the commit' \
	"$(git_in diff --no-renames --name-status HEAD^1 HEAD | tr '\t\n' ' ,')" \
	'D .gitignore,A .gitignore/x,D d/a,M f,D g,A link,A moved,'
check 'an empty directory comes by itself' test -d "$project/empty"

# The session is on another branch, or packs what it has.
begin "$repository"
in_box "git checkout -q -b feature; echo 2 >>g; git $id commit -qam two; git tag t; git gc -q"
before=$(state)
check 'a branch of the command' hb commit -y @s
is 'a branch of the command: HEAD has its commits' "$(subjects)" two,one,
is 'a branch of the command: references' "$(git_in for-each-ref --format='%(refname)' | tr '\n' ,)" \
	refs/heads/feature,refs/heads/master,refs/tags/t,
is 'a branch of the command: HEAD stays' "$(git_in symbolic-ref HEAD)" refs/heads/master
check 'a branch of the command: whole' git_in fsck --strict
check 'a branch of the command: undo' hb undo @s
is 'a branch of the command: undo is exact' "$(state)" "$before"

# The user has a branch of that name.
begin "$repository && git branch holdback/s"
is 'a branch of the user of that name' "$(in_box 'git symbolic-ref HEAD')" refs/heads/holdback/s-2
in_box 'echo 2 >>g'
check 'a branch of the user of that name: a commit' hb commit -y @s
is 'a branch of the user of that name stays' "$(git_in rev-parse holdback/s)" "$(git_in rev-parse HEAD^)"

# The user begins a rebase or merge meanwhile.
begin "$repository && git checkout -q -b side && echo s >>f && git commit -qam side && git checkout -q master &&
	echo m >>f && git commit -qam m"
in_box 'echo 2 >>g'
(cd "$project" && git merge side >/dev/null 2>&1)
refuses 'a merge of the user under way' '*cannot be merged: a merge is under way*'

# Forks and marks.
begin "$repository && echo edit >>f"
in_box 'echo 2 >>g'
check 'a mark' hb mark @s m
in_box 'echo 3 >>g'
check 'a fork' hb fork @s t
like 'a fork: the same changes' "$(hb diff --name-status @t)" '*g*'
check 'a fork: a commit' hb commit -y @t
is 'a fork: the file' "$(tr '\n' , <"$project/g")" g,2,3,
is 'a fork: the edit of the user stays' "$(git_in status --porcelain)" ' M f'
hb cleanup -y @t >/dev/null

# Options that do not fit.
begin "$repository"
in_box 'echo 2 >>g; echo 2 >>f'
for option in --git=ff --git=files --git=branch '--only f'; do
	# shellcheck disable=SC2086 # an option and its value
	hb commit -y $option @s >"$work/out" 2>&1
	is "commit $option is refused" "$?" 2
done

# Refused at the beginning, with the reason, and nothing is left.
refuse() {
	new_session "$2"
	hb cleanup -y @s >/dev/null || exit
	before=$(find "$project" | sort)
	out=$(hb create s --cow "$project" --strategy git_worktree 2>&1)
	is "$1: the exit status" "$?" "${4:-10}"
	like "$1: the reason" "$out" "$3"
	is "$1: no session" "$(hb ls | wc -l)" 0
	is "$1: nothing is left" "$(find "$project" | sort)" "$before"
}
refuse 'no checkout' 'echo f >f' '*is of type fs-directory*fix: --strategy overlay*' 2
refuse 'a bare repository' 'git init -q --bare .' '*is of type fs-directory*fix: --strategy overlay*' 2
refuse 'no commit yet' 'git init -q .' '*it has no commit yet*fix: *'
refuse 'a merge under way' "$repository && git checkout -q -b side && echo s >>f && git commit -qam side &&
	git checkout -q master && echo m >>f && git commit -qam m && ! git merge side >/dev/null 2>&1" '*a merge is under way*'
refuse 'a rebase under way' "$repository && git checkout -q -b side && echo s >>f && git commit -qam side &&
	git checkout -q master && echo m >>f && git commit -qam m && ! git rebase side >/dev/null 2>&1" '*a rebase is under way*'

# Code in the repository's own files runs in no process of the host.
begin "$repository"
in_box "for h in pre-commit post-checkout post-merge pre-merge-commit reference-transaction post-index-change
	do printf '#!/bin/sh\ntouch $work/ran\n' >.git/hooks/\$h; chmod +x .git/hooks/\$h; done
	git config core.fsmonitor 'touch $work/ran'; git config filter.x.clean 'touch $work/ran; cat'
	git config filter.x.smudge 'touch $work/ran; cat'; git config merge.x.driver 'touch $work/ran'
	echo '* filter=x merge=x' >.gitattributes; echo 2 >>g"
hb commit -y --allow git-config --allow git-hook --allow git-attributes @s >"$work/out" 2>&1
check 'hostile settings: nothing ran on the host' test ! -e "$work/ran"

# git merges over a staged edit where a file takes the place of its directory.
begin "$repository"
in_box "git $id rm -q d/a; echo file >d; git add d; git $id commit -qm two"
(cd "$project" && echo user >>d/a && git add d/a)
refuses 'a staged edit below a directory that becomes a file' '*not committed are in the way of the merge: d/a*'
is 'the staged edit is there' "$(tail -n 1 "$project/d/a")" user
finish
