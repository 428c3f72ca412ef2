#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# gc and cleanup --stale remove what nobody needs, and nothing else.  (C5)
. "$HB_TESTS/lib/txn.sh"

new_session 'echo one >f; echo two >g'

# crash SESSION SCRIPT: a command in the session is killed with its supervisor.
crash() {
	mkfifo "$work/go"
	(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" "@$1" -- \
		sh -c "${2:-:}; read -r line") <"$work/go" >/dev/null 2>&1 &
	box=$!
	exec 9>"$work/go"
	wait_until grep -q '^state = active' "$state/sessions/$1/session"
	case $2 in
	*started*) wait_until test -e "$state/sessions/$1/r0/upper/started" ;;
	*copied*) wait_until grep -q copied "$state/sessions/$1/r0/"*/f ;;
	esac
	kill -KILL "$box"
	wait "$box" 2>/dev/null
	exec 9>&-
	rm "$work/go"
	# The lock goes with the box.
	wait_until flock -n "$state/sessions/$1/lock" true
}

# count_ids DIRECTORY...: how many things in them have an id for a name.
count_ids() {
	find "$@" -mindepth 1 -maxdepth 1 -regex '.*/[0-9a-f]*' -name '????????????????' | wc -l
}

# Ten sessions crashed: those without changes go, and no other.
for i in 0 1 2 3 4 5 6 7 8 9; do
	hb create "c$i" --cow "$project" >/dev/null
	crash "c$i" ''
done
crash s 'echo pending >f; : >started'
hb create idle --cow "$project" >/dev/null
hb create marked --cow "$project" >/dev/null
hb exec @marked -- sh -c 'echo m >m'
hb mark @marked a >/dev/null
crash marked ''
hb create copied --strategy copy_on_write --cow "$project" >/dev/null
crash copied 'echo copied >f'
mkdir -m 700 "$state/sessions/.new-0000000000000001" "$state/sessions/.gone-0000000000000002"
: >"$state/sessions/.gone-0000000000000002/file"
before=$(digest "$state")
is 'gc -n names them' "$(hb gc -n | grep -c 'c[0-9]: a session that crashed with nothing pending')" 10
is 'gc -n removes nothing' "$(digest "$state")" "$before"
check 'cleanup --stale' hb cleanup --stale -y
is 'exactly those are gone' "$(hb ls | awk '{print $1}' | tr '\n' ' ')" 'copied idle marked s '
is 'with what interrupted commands left' "$(ls -A "$state/sessions" | tr '\n' ' ')" 'copied idle marked s '
is 'pending work is there' "$(names)" 'M f,A started,'
is 'also below a mark' "$(hb diff --name-status @marked)" "$(printf 'A\tm')"
is 'pending work on a copy is there after gc' "$(hb diff --name-status @copied 2>/dev/null)" "$(printf 'M\tf')"
hb cleanup -y @copied >/dev/null
check 'gc' hb gc
is 'takes none of it' "$(names)$(hb diff --name-status @marked)" "$(printf 'M f,A started,A\tm')"
hb cleanup -y @marked >/dev/null
hb cleanup -y @idle >/dev/null

# What undo needs goes with time; pending changes do not.
check 'commit' hb commit -y @s
in_box 'echo later >later'
check 'gc leaves what is young' hb gc
check 'undo works after gc of older things' hb undo @s
check 'redo' hb redo @s
like 'it tells how much would go' "$(hb gc -n --older-than 0)" '*s: undo data*would free 4 B'
like 'gc tells how much has gone' "$(hb gc --older-than 0s)" '*s: undo data*freed 4 B'
check_exit 'then there is nothing to undo' 10 hb undo @s
is 'gc of undo leaves nothing in its place' "$(find "$state/sessions/s/r0/undo" "$state/sessions/s/r0/txn" \
	"$state/sessions/s/done" -mindepth 1)" ''
is 'what is pending stays' "$(names)" 'A later,'
like 'a second time there is nothing' "$(hb gc --older-than 0)" 'freed 0 B'
check_exit 'a time is a time' 2 hb gc --older-than soon
check 'rollback' hb rollback -y @s
check 'gc of the trash' hb gc --older-than 0
is 'it is empty' "$(ls -A "$state/sessions/s/r0/trash")" ''
check 'the session works' in_box 'echo again >f'
check 'commits' hb commit -y @s
check 'a commit after gc can be undone' hb undo @s
hb rollback -y @s >/dev/null

# An undo copy that was written to after the commit is somebody's work.
hb gc --older-than 0 >/dev/null
in_box 'echo new >g'
exec 8>>"$project/g"
check 'commit under an open file' hb commit -y @s
wait_until sh -c "echo late >&8; [ \"\$(find '$state/sessions/s/r0/undo' -name '[0-9]*' -type f \
	-newer '$state/sessions/s/done/'* | wc -l)\" = 1 ]"
exec 8>&-
like 'it is kept and told' "$(hb gc --older-than 0)" '*kept: s: undo data, written to*'
is 'there it is' "$(cat "$state"/sessions/s/r0/undo/*/* | tail -n 1)" late
hb cleanup -y @s >/dev/null

# A time of a file says nothing by itself: one is in the future, one was set back.
new_session 'echo one >f; touch -d 2040-01-01 f'
in_box 'echo new >f'
check 'commit over a file of the future' hb commit -y @s
like 'gc frees it' "$(hb gc --older-than 0)" '*s: undo data*freed 4 B'
in_box 'echo newer >f'
check 'commit over another' hb commit -y @s
set -- "$state"/sessions/s/r0/undo/*/*
touch -r "$1" "$work/time"
echo old >"$1"
touch -r "$work/time" "$1"
like 'what was written keeps it' "$(hb gc --older-than 0)" '*kept: s: undo data, written to*'
hb cleanup -y @s >/dev/null

# The numbers of what has gone are given again, and marks know of them.
new_session 'echo one >f'
in_box 'echo two >f'
hb commit -y @s >/dev/null
hb mark @s m >/dev/null
check 'gc of what came before a mark' hb gc --older-than 0
in_box 'echo three >f'
check 'rollback to the mark' hb rollback -y --to m @s
check 'a rollback after gc is undone' hb undo @s
is 'the change is pending again' "$(names)" 'M f,'
hb cleanup -y @s >/dev/null

# Layers go when nobody names them, and not before.
new_session 'echo one >f'
in_box 'echo 1 >a'
hb mark @s one >/dev/null
hb fork @s t >/dev/null
in_box 'echo 2 >b'
hb mark @s two >/dev/null
hb rollback -y --to one @s >/dev/null
check 'gc' hb gc
is 'what undo needs are layers as well' "$(count_ids "$state"/layers/*)" 2
check 'old undo' hb gc --older-than 0
is 'the layer of the rollback goes' "$(count_ids "$state"/layers/*)" 1
is 'the other is needed' "$(names)" 'A a,'
check 'commit' hb commit -y @s
check 'old undo' hb gc --older-than 0
is 'the fork needs it still' "$(hb exec @t -- cat a)" 1
hb rollback -y @t >/dev/null
check 'old undo' hb gc --older-than 0
is 'a layer that no fork needs goes' "$(find "$state/layers" -name a)" ''
chmod 000 "$state/sessions/t/session" && hb create u --cow "$project" >/dev/null
chmod 600 "$state/sessions/t/session"

# A record that cannot be read might need any layer.
hb exec @u -- sh -c 'echo 1 >w'
hb mark @u one >/dev/null
hb fork @u v >/dev/null
cp "$state/sessions/v/session" "$work/kept"
echo broken >"$state/sessions/v/session"
hb cleanup -y @u 2>/dev/null >&2
like 'nothing goes while one cannot be read' "$(hb gc 2>&1)" "*'v' cannot be read, so no layers*"
cat "$work/kept" >"$state/sessions/v/session"
is 'a session that gc could not read has its changes' "$(hb exec @v -- cat w)" 1

# Deep, closed and linked: what goes is only what is below.
new_session 'echo f >f'
echo precious >"$work/outside"
in_box 'ln -s '"$work"' link; ln -s '"$work/outside"' link2; mkdir -p shut/in; echo x >shut/in/x; chmod 000 shut/in shut'
hb mark @s >/dev/null
in_box 'python3 - <<"END"
import os
for i in range(1000):
    os.mkdir("d")
    os.chdir("d")
END'
hb rollback -y @s >/dev/null
check 'gc of a deep tree' hb gc --older-than 0
is 'leaves nothing' "$(count_ids "$state"/layers/* "$state/sessions/s/r0/trash")" 0
is 'gc of a deep tree touches nothing outside' "$(cat "$work/outside")" precious
finish
