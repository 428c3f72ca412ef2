#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# Before a commit, status, diff and a dry run say what becomes of each repository;
# and --git and --except do that.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

# member NAME COMMAND...: of each delivery in its document.
member() {
	member=$1
	shift
	"$@" | python3 -c 'import json, sys
print(",".join(str(x.get(sys.argv[1])) for x in json.load(sys.stdin)["deliveries"]))' "$member"
}
# says CASE VERDICT LINE: status, diff, a dry run and their documents agree.
says() {
	is "$1: status" "$(hb status @s | grep -cxF "  $3")" 1
	is "$1: diff" "$(hb diff @s | grep -cxF "# git: $3")" 1
	is "$1: a dry run" "$(hb commit -n --no-gate @s | grep -cxF "$3")" 1
	is "$1: a dry run of sync, once" "$(hb sync -n @s | grep -cF "$3")" 1
	for command in 'status @s' 'diff @s' 'diff --stat @s' 'diff --name-status @s' 'commit -n --no-gate @s'; do
		is "$1: the document of $command" "$(member verdict hb ${command%% *} --json ${command#* })" "$2"
	done
}

new_repository
in_box "git $id commit -q --allow-empty -m empty"
is 'ls counts all of git as one change' "$(hb ls | awk '{ print $4 }')" 1
hb rollback -y @s >/dev/null
is 'without commits nothing is said' "$(hb status @s | grep -c commit)" 0
in_box "$two; git $id commit -q --allow-empty -m three"
says 'nobody moved the branch' forward 'master: 2 commits, fast-forward'
(cd "$project" && echo 2 >>g && git commit -qam beside)
says 'the branch moved meanwhile' branch \
	'master moved meanwhile: 2 commits go to holdback/s; then: git merge holdback/s'
is 'the document names the branch' "$(member branch hb status --json @s)" holdback/s
is 'the document has the number of commits' "$(member commits hb status --json @s)" 2
is 'saying changes nothing' "$(git_in for-each-ref --format='%(refname:short)' | tr '\n' ,)" master,
hb mark @s m >/dev/null
is 'since a mark nothing is said' "$(hb status --since m @s | grep -c 'go to')" 0
check 'a commit of what was said' hb commit -y @s
is 'the commits are where it was said' "$(subjects holdback/s)" three,two,one,
check 'the command that was said succeeds' git_in merge -q --no-edit holdback/s

new_repository
in_box "git $id commit -q --amend -m changed"
says 'the session rewrites the branch' forward 'master: 1 commit, and it loses commits that it has now'
new_repository
in_box "git checkout -q -b side; $two"
says 'the session is on a branch that it made' forward 'side: 1 commit, new branch'

# Refused: a commit that is missing.
new_repository
in_box "$two; $two; rm -f .git/objects/\$(git rev-parse HEAD^ | sed 's,..,&/,')"
missing=$(in_box 'git rev-parse HEAD^' 2>/dev/null | cut -c 1-12)
line="commit is going to be refused: commit $missing is missing in the session: nothing of the repository is delivered"
is 'a missing commit: status' "$(hb status @s | grep -cxF "  $line")" 1
is 'a missing commit: diff' "$(hb diff @s | grep -cxF "# git: $line")" 1
is 'a missing commit: the document' "$(member verdict hb status --json @s)" refused
check_exit 'a missing commit: commit does what was said' 5 hb commit -y --no-gate @s

# The repository of another resource is told all the same.
new_repository
mkdir "$work/q"
(cd "$work/q" && git init -q -b master . && echo f >f && git add f && git commit -qm one)
hb create t --cow "$project" --cow "$work/q" >/dev/null
hb exec @t -- sh -c "$two; $two; rm -f .git/objects/\$(git rev-parse HEAD^ | sed 's,..,&/,'); cd $work/q; $two"
out=$(hb status @t)
like 'of two repositories the refused one is told' "$out" '*commit is going to be refused: *'
like 'of two repositories the other one is told' "$out" '*master: 1 commit, fast-forward*'
is 'the document has both' "$(member verdict hb status --json @t)" refused,forward
is 'the document has their resources' "$(member resource hb status --json @t)" 0,1

# Treated as files: asked for, or not known from the start.
new_repository
in_box "$two"
like 'files: said before' "$(hb commit -n --git=files @s)" '*the repository is treated as files, as asked for*'
new_session 'mkdir sub && echo f >f'
(cd "$project/sub" && git init -q -b master . && echo f >f && git add f && git commit -qm one)
in_box "cd sub && $two"
like 'a repository that came later: status' "$(hb status @s)" \
	'*sub/.git: the session began without a record of its references: the repository is treated as files*'
is 'a repository that came later: the document' "$(member verdict hb status --json @s)" files
new_session 'echo f >f'
in_box "git init -q -b master . && git add f && git $id commit -qm one"
is 'a repository of the session: nothing is said' "$(hb status @s | grep -c 'treated as files')" 0

# --git=branch: neither tree nor index.
for command in commit sync; do
	new_repository
	in_box "$two"
	like "$command --git=branch: said before" "$(hb $command -n --git=branch @s)" \
		'*1 commit goes to holdback/s; then: git merge holdback/s*'
	check "$command --git=branch" hb $command -y --git=branch @s
	is "$command --git=branch leaves the branch" "$(subjects)" one,
	is "$command --git=branch makes one" "$(subjects holdback/s)" two,one,
	is "$command --git=branch leaves tree and index" "$(git_in status --porcelain)" ''
	check "$command --git=branch: the merge succeeds" git_in merge -q --no-edit holdback/s
	is "$command --git=branch: the merge has the file" "$(cat "$project/f")" "f
2"
done

# A path that is left out, but in a commit: the unit waits.
new_repository
in_box "$two; echo new >new"
line='f: left out, but in the session'"'"'s commits, so references and index stay pending'
is 'a path is left out: status' "$(hb status --except f @s | grep -cxF "  $line")" 1
is 'a path is left out: the document' "$(member verdict hb status --json --except f @s)" waits
out=$(hb commit -y --except f @s 2>&1)
is 'a commit without a path of its commits succeeds' "$?" 0
like 'a commit without a path of its commits says what waits' "$out" "*$line*"
is 'the branch waits' "$(subjects)" one,
is 'the file that is not in a commit arrives' "$(cat "$project/new")" new
is 'the path that was left out is as it was' "$(git_in status --porcelain)" '?? new'
check 'the whole is committed later' hb commit -y @s
is 'the branch has the commit then' "$(subjects)" two,one,
is 'the tree is clean then' "$(git_in status --porcelain)" '?? new'

# Two sessions, each with a commit of another file.
new_repository
hb create t --cow "$project" >/dev/null
in_box "$two"
hb exec @t -- sh -c "echo 2 >>g; git $id commit -qam other"
check 'the first of two sessions is committed' hb commit -y @s
is 'the first of two sessions is on the branch' "$(subjects)" two,one,
like 'the second is told about its branch' "$(hb status @t)" \
	'*master moved meanwhile: 1 commit goes to holdback/t; then: git merge holdback/t*'
check 'the second of two sessions is committed' hb commit -y @t
is 'the second of two sessions has a branch' "$(subjects holdback/t)" other,one,
is 'the tree is that of the first' "$(git_in status --porcelain)" ''
check 'the merge of the second succeeds' git_in merge -q --no-edit holdback/t
is 'both files are there' "$(cat "$project/f" "$project/g" | tr '\n' ,)" f,2,g,2,
check 'the repository is whole' git_in fsck --strict --no-dangling
finish
