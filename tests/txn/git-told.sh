#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 120
#
# What a session did with git is told alike by status, diff and the end of a run,
# in words and in documents; also of a HEAD that is on no branch.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
id='-c user.name=n -c user.email=e'
start='git init -q -b main . && echo f >f && git add f && git commit -qm one && git commit -q --allow-empty -m two
	git tag v1'
# lines: those about references, with each id as ID, from stdin.
lines() {
	grep -E '(: [0-9]+ commits? |new (branch|tag)|deleted|moved to|detached|on a branch again)' |
		sed -E 's/[0-9a-f]{7} /ID /g; s/to [0-9a-f]{7}/to ID/; s/^  //; s/^# git: //'
}
# git_of COMMAND...: the member `git` of its document.
git_of() {
	"$@" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin).get("git"), sort_keys=True))'
}

new_session "$start"
in_box "echo x >x; git add x; git $id commit -qm 'Add cache'; git $id commit -q --allow-empty -m 'Fix test'; git tag v2"
want='main: 2 commits (ID Add cache, ID Fix test)
tag v2: new tag, 2 commits (ID Add cache, ID Fix test)'
is 'status tells commits and tags' "$(hb status @s | lines)" "$want"
is 'the text of diff tells the same' "$(hb diff @s | lines)" "$want"
is 'the text of diff is still a patch of git' "$(hb diff @s | (mkdir "$work/q" && cd "$work/q" && git apply && cat x))" x
document=$(git_of hb status --json @s)
like 'the document of status has the commits' "$document" '*"subject": "Fix test"*'
for how in '' --stat --name-status; do
	is "the document of diff $how has the same member" "$(git_of hb diff --json $how @s)" "$document"
done
hb mark @s >/dev/null
mark=$(hb status --json @s | python3 -c 'import json, sys; print(json.load(sys.stdin)["marks"][0]["name"])')
is 'since a mark there is no such member' "$(git_of hb diff --json --since "$mark" @s)" null

# A HEAD on no branch.
new_session "$start"
in_box 'git checkout -q --detach'
is 'a HEAD that was detached is told' "$(hb status @s | lines)" 'HEAD: detached, on no branch'
in_box "git $id commit -q --allow-empty -m loose"
is 'commits on no branch are told' "$(hb status @s | lines)" 'HEAD: detached, on no branch, 1 commit (ID loose)'
like 'the document names HEAD' "$(git_of hb status --json @s)" '*"ref": "HEAD"*'
check 'the detached HEAD is committed' hb commit -y @s
is 'the host has it' "$(cd "$project" && git log -1 --format=%s)" loose
in_box 'git switch -q main'
is 'a HEAD that leaves commits behind is told' "$(hb status @s | lines)" \
	'HEAD: on a branch again; 1 commit of it is in no branch any more'
new_session "$start; git checkout -q --detach HEAD~1"
in_box "git $id commit -q --allow-empty -m more"
is 'a detached HEAD that moves is told' "$(hb status @s | lines)" 'HEAD: 1 commit (ID more)'

# The HEAD of a linked worktree keeps its commits; a directory of that name is none.
new_session "$start; git worktree add -q --detach ../other; (cd ../other; git commit -q --allow-empty -m kept)
	git update-ref refs/heads/side \$(cd ../other; git rev-parse HEAD)"
in_box 'git branch -q -D side'
is 'commits that another worktree is at are not lost' "$(hb status @s | lines)" 'side: branch deleted'
new_session 'git init -q . && mkdir -p worktrees/p && cd worktrees/p && git init -q -b main . && git commit -q --allow-empty -m one'
in_box "cd worktrees/p && git $id commit -q --allow-empty -m two"
is 'a repository in a directory called worktrees is told' "$(hb status @s | lines)" \
	'worktrees/p/.git main: 1 commit (ID two)'

# The end of a run.
new_session "$start"
cd "$project" || bail 'no project'
run() {
	HOME=$work XDG_STATE_HOME=$work/xdg "$HB_BIN" "$@"
}
out=$(run run -s e --json -- sh -c "git $id commit -q --allow-empty -m last" 2>&1 3>"$work/documents")
is 'the end of a run tells commits' "$(printf '%s\n' "$out" | lines)" 'main: 1 commit (ID last)'
is 'its document has the same member as that of status' \
	"$(git_of tail -n 1 "$work/documents")" "$(git_of run status --json @e)"
run run -q -s e -- sh -c 'i=0; while [ $i -lt 15 ]; do git branch b$i; i=$((i+1)); done' >/dev/null 2>&1
out=$(run run -s e -- true 2>&1)
like 'of many branches the end of a run tells ten' "$out" '*b4: new branch*… and 6 more of git*'
unlike 'the others are left to status' "$out" '*b5: new branch*'
run cleanup -y @e >/dev/null 2>&1
out=$(run run -s w -- sh -c "git $id commit -q --allow-empty -m mine" 2>&1)
unlike 'the end of a run tells no branch that a commit does not need' "$out" '*holdback/w*'
git -C "$project" commit -q --allow-empty -m meanwhile
out=$(run run -s w -- true 2>&1)
like 'the end of a run tells where the commits would go' "$out" '*main moved meanwhile: 1 commit*holdback/w*'
run cleanup -y @w >/dev/null 2>&1
cd "$work" || bail 'no directory'
finish
