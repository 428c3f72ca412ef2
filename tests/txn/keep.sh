#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 120
# A box that is held open without a command, and what ends it.
. "$HB_TESTS/lib/txn.sh"
. "$HB_TESTS/lib/processes.sh"

new_session 'echo f >f'

# keep: a box held open in the background.
keep() {
	(cd "$project" && exec "$HB_BIN" keep --state-dir "$state" @s) \
		</dev/null >"$work/kept" 2>&1 &
	kept=$!
	wait_until is_live || bail "it is not live: $(cat "$work/kept")"
	all=$(below "$kept")
}
is_live() {
	hb ls | grep -q ' live '
}
# ends NAME STATUS [WORDS]: the box is gone, and so is everything of it.
ends() {
	ends_status=0
	wait "$kept" || ends_status=$?
	is "$1" "$ends_status:$(cat "$work/kept")" "$2:${3-}"
	# shellcheck disable=SC2086 # a list
	check 'nothing of it is left' wait_until are_gone $all
	is 'the session is idle' "$(hb ls | awk '{print $2}')" idle
}

keep
in_box 'echo one >one'
is 'commands join one by one, on the same files' "$(in_box 'cat one')" one
is 'a command that joins sees no other process but pid 1' \
	"$(in_box 'set -- /proc/[0-9]*; echo $#')" 2
in_box 'sleep 1000 & echo $! >left'
check 'what one leaves behind goes on' in_box 'test -d /proc/$(cat left)'
is 'the status is that of each' "$(in_box 'exit 9'; echo $?)" 9
is 'status says live' "$(hb status @s | head -n 1)" "session s: live, on $project"
out=$(hb keep @s 2>&1)
is 'a second one is refused' "$?" 125
like 'with the reason' "$out" 'holdback: \[8\] *fix: holdback stop @s'
all=$(below "$kept")
is 'stop ends it' "$(hb stop @s)" stopped
ends 'with status 0' 0 'holdback: ended 1 process that the command left behind'
is 'what was written is there' "$(names)" 'A left,A one,'
is 'stop of an idle session says so' "$(hb stop @s)" 'nothing runs in it'
is 'in JSON as well' "$(hb stop --json @s | python3 -c \
	'import json, sys; print(json.load(sys.stdin)["live"])')" False
check_exit 'stop of no session is 9' 9 hb stop @none

for signal in TERM INT HUP QUIT; do
	keep
	kill -"$signal" "$kept"
	ends "SIG$signal ends it in order" 0
done

# stop while commands run in it.
keep
in_box 'trap "echo hup; exit 3" HUP; : >up.1; while :; do sleep 0.02; done' >"$work/one" 2>&1 &
one=$!
wait_until test -e "$state/sessions/s/r0/upper/up.1"
hb stop @s >/dev/null
is 'after stop the session can be committed' "$(hb commit -y @s >/dev/null 2>&1; echo $?)" 0
wait "$one"
is 'a command in it hears SIGHUP' "$?:$(head -n 1 "$work/one")" 3:hup
ends 'keep ends after stop' 0
is 'the commit has what was written' "$(cat "$project/one")" one

# stop of a session with a first command.
(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
	'trap "echo term; exit 6" TERM; : >up.2; while :; do sleep 0.02; done') >"$work/first" 2>&1 &
first=$!
wait_until test -e "$state/sessions/s/r0/upper/up.2"
check 'stop ends a first command' hb stop @s
wait "$first"
is 'stop sends SIGTERM to the first command' "$?:$(cat "$work/first")" 6:term
(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
	'trap "" TERM HUP; : >up.3; while :; do sleep 0.02; done') >"$work/first" 2>&1 &
first=$!
wait_until test -e "$state/sessions/s/r0/upper/up.3"
check 'also one that does not listen' hb stop @s
wait "$first"
is 'stop kills a first command that does not listen' "$?" 137

# It ends with whoever started it.
mkfifo "$work/never"
(cd "$project" && sh -c '"$0" keep --state-dir "$1" @s & echo $! >"$2"; read -r x <"$3"' \
	"$HB_BIN" "$state" "$work/pid" "$work/never") &
parent=$!
wait_until is_live
all="$(cat "$work/pid") $(below "$(cat "$work/pid")")"
others=$(below "$parent" | grep -vxF "$(echo "$all" | tr ' ' '\n')")
# shellcheck disable=SC2086 # a list
kill -9 "$parent" $others 2>/dev/null
wait "$parent" 2>/dev/null
# shellcheck disable=SC2086 # a list
check 'it ends with its parent' wait_until are_gone $all
wait_until sh -c "! '$HB_BIN' ls --state-dir '$state' | grep -q ' live '"
unlike 'in order' "$(hb status @s 2>&1)" '*ended from outside*'

# Killed.
keep
kill -9 "$kept"
wait "$kept" 2>/dev/null
# shellcheck disable=SC2086 # a list
check 'kill -9 of the supervisor leaves nothing' wait_until are_gone $all
check 'the session can be used after its supervisor was killed' in_box true
keep
in_box ': >up.4; exec sleep 1000' &
one=$!
wait_until test -e "$state/sessions/s/r0/upper/up.4"
kill -9 "$(echo "$all" | head -n 1)"
wait "$one"
is 'kill -9 of pid 1 ends who joined' "$?" 137
wait "$kept"
is 'kill -9 of pid 1 ends keep' "$?" 137
check 'the session can be used after its pid 1 was killed' in_box true
keep
(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c ': >up.5; sleep 1000; :') &
one=$!
wait_until test -e "$state/sessions/s/r0/upper/up.5"
joined=$(below "$one")
kill -9 "$one"
wait "$one" 2>/dev/null
check 'kill -9 of who joined ends its command' wait_until are_gone "$(echo "$joined" | head -n 1)"
check 'the box goes on after a client was killed' in_box true
# Nobody takes note of that command's end here, and pid 1 waits for it.
hb stop @s >/dev/null
wait "$kept"
is 'until it is stopped' "$?:$(hb ls | awk '{print $2}')" 0:idle
check 'the session can be used after a killed client and stop' in_box true
rm -f "$work/never"
finish
