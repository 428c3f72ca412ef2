#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 120
#
# Status tells the commits, branches and tags of a session as git has them.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git_in() {
	(cd "$project" && git "$@")
}
start='git init -q -b main . && echo f >f && git add f && git commit -qm one && git commit -q --allow-empty -m two
	git branch side && git tag v1'
id='-c user.name=n -c user.email=e'
# lines: those of status about references, with each id as ID.
lines() {
	# What commit is going to do is the matter of git-said.sh.
	hb status @s | grep -E '^  [a-z ]*[^ ]*: ' | grep -v ' conflict: ' |
		grep -Ev ', (fast-forward|new branch|and it loses commits that it has now)$' |
		sed -E 's/[0-9a-f]{7} /ID /g; s/to [0-9a-f]{7}/to ID/; s/^  //'
}
# counts: name and number of each reference, as status --json has them.
counts() {
	hb status --json @s | python3 -c '
import json, sys
for r in json.load(sys.stdin)["git"]:
    print(r.get("ref"), r["count"], r["lost"], [c["id"] for c in r["commits"]][-1:])'
}

new_session "$start"
in_box 'echo x >x; git status >/dev/null'
is 'a session that leaves references alone has no line' "$(lines)" ''
in_box "git add x; git $id commit -qm 'Add cache'; git $id commit -q --allow-empty -m 'Fix test'"
is 'two commits are one line' "$(lines)" 'main: 2 commits (ID Add cache, ID Fix test)'
like 'the line has the ids of git' "$(hb status @s)" "*main: 2 commits ($(in_box 'git log -1 --format=%h --abbrev=7 HEAD~1') Add cache, $(
	in_box 'git log -1 --format=%h --abbrev=7') Fix test)*"
is 'the document has the last commit' "$(counts)" "refs/heads/main 2 0 ['$(in_box 'git rev-parse HEAD')']"
in_box "for i in 1 2 3; do git $id commit -q --allow-empty -m \"more \$i\"; done"
is 'of more than three commits the first are told' "$(lines)" 'main: 5 commits (ID Add cache, ID Fix test, ID more 1, …)'
check 'they are committed' hb commit -y @s
is 'after the commit there is no line' "$(lines)" ''
check 'undo of it' hb undo @s
is 'after undo the line is back, though the objects are there' "$(lines)" \
	'main: 5 commits (ID Add cache, ID Fix test, ID more 1, …)'

new_session "$start"
in_box "git checkout -q -b topic; git $id commit -q --allow-empty -m work; git tag v2; git $id tag -a -m words v3
	git branch at-old v1; git branch -D side -q; git tag -d v1 >/dev/null"
is 'branches and tags that are new or deleted are told' "$(lines)" 'at-old: new branch
side: branch deleted
topic: new branch, 1 commit (ID work)
tag v1: tag deleted
tag v2: new tag, 1 commit (ID work)
tag v3: new tag, 1 commit (ID work)'
in_box 'git pack-refs --all'
is 'packed references are told as loose ones' "$(lines | wc -l)" 6

new_session "$start"
in_box "git reset -q --hard HEAD~1; git branch -D side -q; git tag -d v1 >/dev/null"
like 'commits in no branch any more are told' "$(lines)" \
	'main: moved to ID; 1 commit of it is in no branch any more*'
new_session "$start"
in_box "git $id commit -q --amend --allow-empty -m 'two again'"
is 'an amended commit that a branch still has is not lost' "$(lines)" 'main: 1 commit (ID two again)'
new_session "$start"
in_box "git branch -m side other"
is 'a branch that was renamed is told at both names' "$(lines)" 'other: new branch
side: branch deleted'

# A long history in packs, with deltas, merges and old dates, as git counts.
new_session 'git init -q -b main . && for i in $(seq 40); do
		for k in $(seq 30); do echo "line $k of $((i * k % 7))"; done >f
		git add f; git commit -qm "commit $i with a message of some length, number $i"
	done; git checkout -q -b side main~20; git commit -q --allow-empty -m side; git checkout -q main
	git gc -q --aggressive --prune=now; git pack-refs --all'
in_box "git $id merge -q -m merged side; for i in 1 2 3 4 5; do echo \$i >>f; git $id commit -qam \"inside \$i\"; done
	git checkout -q -b back main~30; GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' git $id commit -q --allow-empty -m old
	git repack -q -a -d; git prune-packed"
want=$(in_box 'for ref in refs/heads/back refs/heads/main; do
	echo "$ref $(git rev-list --count $ref --not '"$(git_in rev-parse main) $(git_in rev-parse side)"') 0"; done')
is 'packs: the numbers are those of git' "$(counts | cut -d' ' -f1-3)" "$want"
like 'packs: subjects are read' "$(lines)" '*main: 6 commits (ID merged, ID inside 1, ID inside 2, …)*'
new_session 'git init -q -b main --object-format=sha256 . && git commit -q --allow-empty -m one'
in_box "git $id commit -q --allow-empty -m two"
is 'a repository with SHA-256 is read' "$(lines)" 'main: 1 commit (ID two)'

# Hostile ones: words, and no harm.
new_session "$start"
in_box "printf 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n\033[2Jbad\tline\n' |
	git hash-object -t commit -w --stdin >.git/refs/heads/escape
	echo 0123456789012345678901234567890123456789 >.git/refs/heads/missing
	echo 'ref: refs/heads/loop' >.git/refs/heads/loop
	ln -s /etc/passwd .git/refs/heads/link
	mkdir -p .git/objects/aa; echo junk >.git/objects/aa/$(printf 'a%.0s' $(seq 38)); echo $(printf 'a%.0s' $(seq 40)) >.git/refs/heads/junk"
out=$(hb status @s)
is 'hostile references: status ends well' "$?" 0
is 'a subject cannot speak to the terminal' "$(printf '%s\n' "$out" | grep -c -F '\033[2Jbad\011line')" 1
like 'a commit that is missing is told' "$out" '*missing: new branch, 1 commit (0123456)*'
unlike 'a link is not followed' "$out" '*root:*'
in_box 'head -c 40000000 /dev/zero | tr "\0" x >.git/packed-refs'
like 'references that are too many are told' "$(hb status @s)" '*references that cannot be read or are too many*'
finish
