#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# G2, G3, G6, G8, G9, Q17: sync asks the gate, lists everything, asks, commits; and
# what it does without anybody to ask.
. "$HB_TESTS/lib/txn.sh"

git_words='-c user.name=n -c user.email=e -c core.hooksPath=/dev/null'

new_session 'i=0; while [ $i -lt 600 ]; do i=$((i + 1)); echo $i >f$i; done; mkdir d; echo x >d/x'
before=$(digest "$project")
is 'nothing to sync' "$(hb sync --auto @s)" 'nothing to commit'
in_box 'rm f?? d/x; rmdir d; i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo n >n$i; done; echo 12345 >f7'
hb sync -n @s >"$TMPDIR/list"
is 'a dry run succeeds' "$?" 0
is 'the preview has every deletion' "$(grep -c '^  D      3 B  f[0-9][0-9]$' "$TMPDIR/list")" 90
is 'the preview has every other change with its size' \
	"$(grep -c '^  A      2 B  n[0-9]*$' "$TMPDIR/list"),$(grep '^  M' "$TMPDIR/list")" \
	'400,  M      6 B  f7'
is 'the preview has directories' "$(grep '/$' "$TMPDIR/list")" '  D           d/'
is 'the preview has the summary of the commit' "$(tail -n 1 "$TMPDIR/list")" \
	'would commit 492 files: 1 changed, 400 added, 91 deleted · 1 directory'
rm "$TMPDIR/list"
check_exit 'without a terminal there is nobody to ask' 2 hb sync @s
is 'nothing has changed' "$(digest "$project")" "$before"
like 'status says what is pending' "$(hb sync --status @s)" 'session s: idle*492 files: *'
check_exit 'one thing at a time' 2 hb sync --auto --reset @s
check_exit 'reset asks as well' 2 hb sync --reset @s
like 'sync --reset -y discards the changes' "$(hb sync --reset -y @s)" 'rolled session s back'
is 'sync --reset leaves nothing pending' "$(names)" ''
check 'sync --reset can be undone' hb undo @s
like 'sync --auto commits without a question' "$(hb sync --auto @s)" \
	'committed session s: 492 files: 1 changed, 400 added, 91 deleted · 1 directory · undo *'
is 'everything' "$(names)$(ls "$project" | wc -l)$(cat "$project/f7")" '91012345'
check 'undo' hb undo @s
is 'takes it back' "$(digest "$project")" "$before"
hb rollback -y @s >/dev/null

# What the gate asks stops it, and nobody but the user answers.
in_box 'echo x >.envrc; echo y >y'
for words in -n --auto '' -y; do
	# shellcheck disable=SC2086 # words
	out=$(hb sync $words @s 2>&1)
	is "what the gate asks stops sync $words" "$?" 4
	like 'sync says what the gate asks' "$out" '*ask: .envrc: *[[]environment]*fix: *'
	is 'once' "$(printf '%s\n' "$out" | grep -c '^ask: ')" 1
done
is 'nothing has changed' "$(digest "$project")" "$before"
check_exit 'part of it can go' 0 hb sync --auto --except .envrc @s
check_exit 'sync --auto --allow commits all that was allowed' 0 hb sync --auto --allow environment @s
is 'then it is there' "$(cat "$project/.envrc" "$project/y")" "$(printf 'x\ny')"
in_box 'echo session >>f1'
echo user >>"$project/f1"
check_exit 'a conflict stops it' 5 hb sync --auto @s
check_exit 'also in a dry run' 5 hb sync -n @s
is 'the document is that of a commit' "$(hb sync -n --json --except f1 @s | python3 -c 'import json, sys
d = json.load(sys.stdin); print(d["command"], d["dry_run"], d["committed"], d["gate"]["ask"])')" \
	'sync True False 0'

# All resources at once.
remove_all
mkdir -p "$project" "$work/q"
hb create s --cow "$project" --cow "$work/q" >/dev/null
hb exec @s -- sh -c "echo 1 >a; echo 2 >'$work/q/b'"
like 'every resource' "$(hb sync --auto @s)" 'committed session s: 2 files: 2 added*'
is 'is synced' "$(cat "$project/a" "$work/q/b")" "$(printf '1\n2')"

# The story: an afternoon of an agent in a real project.
new_session "git init -q . && mkdir src && seq 60 | while read -r i; do echo \$i >src/\$i.c; done &&
	printf 'build/\nnode_modules/\n' >.gitignore && echo all: >Makefile &&
	echo '{\"scripts\": {\"test\": \"t\"}}' >package.json &&
	git add -A && git $git_words commit -qm first"
in_box "for i in \$(seq 50); do echo more >>src/\$i.c; done; git mv src/51.c src/renamed.c; rm src/52.c
	mkdir -p build node_modules/left-pad; echo object >build/1.o; echo js >node_modules/left-pad/index.js
	echo '{\"scripts\": {\"test\": \"t\"}, \"dependencies\": {\"left-pad\": \"1\"}}' >package.json
	git add -A && git $git_words commit -qm 'do what was asked'"
out=$(hb sync --auto @s 2>&1)
is 'fifty edits with a commit inside pass without a question' "$?" 0
like 'fifty edits with a commit inside say what stays behind' "$out" \
	'committed session s: 53 files: 51 changed, 1 deleted, 1 renamed*git*2 ignored (10 B)*'
is 'git has the commit' "$(cd "$project" && git log --format=%s -1; git status --short)" 'do what was asked'
is 'what is ignored is not there' "$(cd "$project" && ls)" "$(printf 'Makefile\npackage.json\nsrc')"

finish
