#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 240
# Several commands in one session: its box ends with the last of them, whichever
# was the first.  Each ends for its own caller, with its own status.
. "$HB_TESTS/lib/txn.sh"

runtime=$TMPDIR/run
mkdir -m 700 "$runtime"
export XDG_RUNTIME_DIR="$runtime"
mkdir "$project/d"
echo f >"$project/f"
echo g >"$project/d/g"
hb create s --cow "$project" --rename-directories yes >/dev/null
upper=$state/sessions/s/r0/upper
mkfifo "$work/go" "$work/on"

# start_first SCRIPT: the first command, which ends when 9 is closed.
start_first() {
	rm -f "$upper/started"
	(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
		"${1-}
		: >started; read -r line; exit 4") \
		<"$work/go" >"$work/first" 2>&1 &
	first=$!
	exec 9>"$work/go"
	wait_until test -e "$upper/started" || bail "no start: $(cat "$work/first")"
}
# start_next SCRIPT: one that joins, and ends when 8 is closed.
start_next() {
	rm -f "$upper/joined"
	(exec 9>&-; cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
		"${1-}
		: >joined; read -r line; ${2-exit 6}") \
		<"$work/on" >"$work/next" 2>&1 &
	next=$!
	exec 8>"$work/on"
	wait_until test -e "$upper/joined" || bail "no join: $(cat "$work/next")"
}
live() {
	hb status --json @s | python3 -c 'import json, sys
live = json.load(sys.stdin).get("live") or {}
print(" ".join(str(live.get(k)) for k in sys.argv[1:]))' "$@"
}
# is_gone PID: also if no process has reaped it yet.
is_gone() {
	! grep -qs '^State:.[^ZX]' "/proc/$1/status"
}
# by_the_box STATUS: SIGHUP of its client, or SIGKILL with pid 1 of the box.
by_the_box() {
	test "$1" = 129 -o "$1" = 137
}
supervisor() {
	live pid
}

# Four at once, of which any may be the first, and none is cut short.
pids=
for i in 1 2 3 4; do
	in_box "sleep 0.$i; echo $i >n.$i; sleep 0.$((5 - i)); echo end >>n.$i; exit 1$i" \
		2>"$work/err.$i" &
	pids="$pids $!"
done
got=
for pid in $pids; do
	wait "$pid"
	got="$got $?"
done
is 'four at once all end by themselves, each with its status' "$got" ' 11 12 13 14'
is 'then the session is idle' "$(hb ls | awk '{print $2}')" idle
is 'with all that they wrote' "$(in_box 'cat n.*' | tr '\n' ' ')" '1 end 2 end 3 end 4 end '

# The first ends before another.
start_first '(trap "" HUP; while :; do sleep 0.05; done) & echo $! >behind'
start_next 'trap "echo hup; exit 5" HUP' 'echo late >late; exit 6'
exec 9>&-
wait "$first"
is 'the first ends with its own status while another goes on' "$?" 4
is 'its caller is told that the session stays live' "$(cat "$work/first")" \
	"holdback: session 's' stays live: 1 other command runs in it; to end it: holdback stop @s"
is 'the session is live' "$(hb ls | awk '{print $2}')" live
keeper=$(supervisor)
check 'another process has the box' test "$keeper" -gt 0 -a "$keeper" != "$first"
is 'the keeper has a session of its own' "$(ps -o sid= -p "$keeper" | tr -d ' ')" "$keeper"
is 'the keeper has no standard stream of the caller' "$(readlink /proc/"$keeper"/fd/[012] | sort -u)" /dev/null
is 'a command can join the box of a keeper' "$(in_box 'cat d/g; exit 3'; echo $?)" 'g
3'
is 'a process that the first left behind goes on with the box' \
	"$(in_box 'test -d /proc/$(cat behind) && echo there')" there
is 'a directory of the base can still be renamed' \
	"$(hb exec @s -- python3 -c 'import os; os.rename("d", "e"); print(os.listdir("e"))')" "['g']"
check_exit 'a commit is refused while one goes on' 8 hb commit -y @s
check 'a live mark can be made of it' hb mark --live @s kept
exec 8>&-
wait "$next"
is 'the last ends with its own status, without a hang-up' "$?:$(cat "$work/next")" 6:
is 'its caller finds the session idle' "$(hb ls | awk '{print $2}')" idle
wait_until is_gone "$keeper"
check 'the keeper is gone' is_gone "$keeper"
is 'what the last wrote is held' "$(in_box 'cat late')" late
is 'no socket is left' "$(ls "$runtime/holdback")" ''

# stop ends all.
start_first
start_next 'trap "echo hup; exit 5" HUP' 'exit 6'
hb stop @s >"$work/out"
wait "$first"
is 'stop ends the first' "$?" 143
wait "$next"
is 'stop ends who joined' "$?:$(cat "$work/next")" \
	"5:hup
holdback: the session's box has ended, and this command with it"
exec 8>&- 9>&-
start_first
start_next 'trap "echo hup; exit 5" HUP' 'exit 6'
exec 9>&-
wait "$first"
hb stop @s >"$work/out"
wait "$next"
is 'stop ends the box of a keeper' "$?:$(head -n 1 "$work/next"):$(hb ls | awk '{print $2}')" 5:hup:idle
exec 8>&-

# Deaths.
start_first
start_next
exec 9>&-
wait "$first"
kill -9 "$(supervisor)"
wait "$next"
check 'with its keeper the box dies' by_the_box "$?"
exec 8>&-
check 'the session can be used after that' in_box true
start_first
start_next
exec 9>&-
wait "$first"
kill -9 "$next"
wait "$next" 2>/dev/null
exec 8>&-
wait_until sh -c "[ \"\$(cd $project && $HB_BIN ls --state-dir $state | awk '{print \$2}')\" = idle ]"
is 'a client that is killed ends its keeper too' "$(hb ls | awk '{print $2}')" idle
start_first
start_next
kill -9 "$first"
wait "$first" 2>/dev/null
wait "$next"
check 'the first supervisor, killed, takes the box with it as before' by_the_box "$?"
exec 8>&- 9>&-
check 'the session is recovered' in_box true

# A reader of the first command's output sees its end.
rm -f "$upper/started"
(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
	': >started; read -r line; echo said') <"$work/go" 2>/dev/null 7>"$work/seven" | cat >"$work/piped" &
pipe=$!
exec 9>"$work/go"
wait_until test -e "$upper/started"
start_next
exec 9>&-
wait "$pipe"
is 'a pipe behind the first ends with it' "$?:$(cat "$work/piped")" 0:said
is 'the keeper has no descriptor of the caller' \
	"$(find "/proc/$(supervisor)/fd" -lname "$work/seven" 2>/dev/null)" ''
exec 8>&-
wait "$next"

# The log of the keeper goes on where that of the supervisor ended.
is 'the log has an end for each command' \
	"$(hb log -n 1000 @s | awk '$2 == "ended"' | wc -l)" "$(hb log -n 1000 @s | awk '$2 == "started"' | wc -l)"
check 'the chain of the log holds after a keeper' hb log --verify
rm -rf "$work/go" "$work/on" "$runtime"
finish
