#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The life of a session: what it holds back, what it shows, what it gives.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo one >f; echo two >g; mkdir d; echo x >d/x'
before=$(digest "$project")
is 'ls has the session' "$(hb ls | awk '{print $1, $2}')" 's idle'
is 'nothing has changed' "$(hb status @s | tail -n 1)" 'no changes'
check_exit 'diff --exit-code says that nothing has changed' 0 hb diff --name-status --exit-code @s

check_exit 'there is nothing to undo' 10 hb undo @s
is 'an undo of nothing does no harm' "$(hb ls | awk '{print $1, $2}')" 's idle'

in_box 'echo more >>f; rm g; echo new >n; mkdir e; echo y >e/y; mv d/x d/z'
is 'the real tree is as before' "$(digest "$project")" "$before"
is 'every change is listed' "$(names)" 'R d/x d/z,A e/,A e/y,M f,D g,A n,'
check_exit 'diff --exit-code' 1 hb diff --name-status --exit-code @s
is 'the summary' "$(hb status @s | tail -n 1)" \
	'5 files: 1 changed, 2 added, 1 deleted, 1 renamed · 1 directory'
is 'a filter descends into new directories' "$(names --only e)" 'A e/,A e/y,'
is '--except leaves paths out' "$(names --except e --except 'd/*')" 'M f,D g,A n,'
is 'the changes are there in the next command' \
	"$(in_box 'cat f n e/y; ls -d g 2>/dev/null')" "$(printf 'one\nmore\nnew\ny')"

hash=$(hb status --json @s | python3 -c \
	'import json, sys; print(json.load(sys.stdin)["summary"]["hash"])')
check_exit 'another hash than expected' 5 hb commit -y --expect "$(printf '%064d' 0)" @s
is 'then nothing is committed' "$(digest "$project")" "$before"
view=$(in_box 'sha256sum f n e/y d/z')
like 'commit says so' "$(hb commit -y --expect "$hash" @s)" 'committed *'
is 'what was seen inside is real now' \
	"$(cd "$project" && sha256sum f n e/y d/z)" "$view"
is 'a deleted file is gone after the commit' "$(cd "$project" && ls -d g d/x 2>/dev/null)" ''
is 'nothing is left' "$(names)" ''
check 'a second commit has nothing to do' sh -c \
	"cd '$project' && '$HB_BIN' commit --state-dir '$state' -y @s | grep -q '^nothing'"
after=$(digest "$project")

check 'undo' hb undo @s
is 'every attribute is as before' "$(digest "$project")" "$before"
is 'the changes are pending again' "$(names)" 'R d/x d/z,A e/,A e/y,M f,D g,A n,'
check 'redo' hb redo @s
is 'every attribute is as after the commit' "$(digest "$project")" "$after"
check 'undo again' hb undo @s
check 'commit again' hb commit -y @s
is 'the same tree' "$(digest "$project")" "$after"

in_box 'echo third >>f; rm -r e'
is 'the session goes on over the new base' "$(names)" 'D e/,D e/y,M f,'
check 'rollback' hb rollback -y @s
is 'nothing is pending' "$(names)" ''
is 'the view is the base' "$(in_box 'cat f')" "$(cat "$project/f")"
is 'the base has not noticed' "$(digest "$project")" "$after"

in_box 'echo a >f; echo b >k; rm n'
check 'rollback of paths' hb rollback -y @s f n
is 'leaves the others' "$(names)" 'A k,'
check_exit 'nothing is pending there' 2 hb rollback -y @s f
check 'undo brings them back' hb undo @s
is 'all of them' "$(names)" 'M f,A k,D n,'
check_exit 'one at which nothing is pending' 2 hb rollback -y @s f u k
is 'all or none' "$(names)" 'M f,A k,D n,'
in_box 'mkdir q; echo 1 >q/1; echo 2 >q/2'
check 'one path inside another' hb rollback -y @s q/1 q q/2 f
is 'goes with it' "$(names)" 'A k,D n,'
in_box 'echo other >f'
check_exit 'not over what was written since' 5 hb undo @s
is 'a file written after the rollback stays' "$(in_box 'cat f')" other

check 'cleanup' hb cleanup -y @s
is 'no session is left' "$(hb ls)" ''
is 'cleanup leaves nothing in the store' "$(ls -A "$state/sessions")" ''
check_exit 'it is not there' 9 hb status @s
finish
