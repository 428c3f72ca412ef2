#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 120
# Commands in a session that is live: they join the box that is there, are held
# to the same as its first command, and end with the box.
. "$HB_TESTS/lib/txn.sh"

runtime=$TMPDIR/run
mkdir -m 700 "$runtime"
export XDG_RUNTIME_DIR="$runtime"
new_session 'echo f >f; mkdir sub'
cp "$HB_PROBE" "$project/probe"
mkfifo "$work/go"

# start_box COMMAND...: the session's first command, which ends when 9 is closed.
start_box() {
	rm -f "$state/sessions/s/r0/upper/started"
	(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- sh -c \
		"${1-}
		: >started; read -r line; exit 4") \
		<"$work/go" >"$work/first" 2>&1 &
	box=$!
	exec 9>"$work/go"
	wait_until test -e "$state/sessions/s/r0/upper/started" ||
		bail "no start: $(cat "$work/first")"
}
end_box() {
	exec 9>&-
	wait "$box"
}

look='./probe privileges; ./probe fds; ./probe root; ./probe ids; ./probe limits
	readlink /proc/self/ns/*; cat /proc/self/mountinfo; ./probe calls'
start_box "echo one >one; ($look) >seen 2>&1"
is 'who joins sees what the first command wrote' "$(in_box 'cat one')" one
in_box 'echo two >two'
is 'what it writes is held back' "$(names)" 'A one,A seen,A started,A two,'
is 'the status is its own' "$(in_box 'exit 7'; echo $?)" 7
is 'also death by a signal' "$(in_box 'kill -9 $$'; echo $?)" 137
is 'it has the input of who joins' "$(echo words | in_box cat)" words
is 'it is in the same pid namespace' "$(in_box 'cat /proc/3/comm')" sh
is 'it starts where the caller is' \
	"$(cd "$project/sub" && "$HB_BIN" exec --state-dir "$state" @s -- pwd)" "$project/sub"
is 'from elsewhere in the first resource' \
	"$(cd / && "$HB_BIN" exec --state-dir "$state" @s -- sh -c 'pwd; echo $PWD')" \
	"$project
$project"
is 'JSON says that it joined' "$(hb exec --json @s -- true 3>&1 | tail -n 1 | python3 -c \
	'import json, sys; d = json.load(sys.stdin); print(d["joined"], d["status"])')" 'True 0'
is 'a command that is not there is 127' "$(in_box 'exit 0'
	hb exec @s -- no-such-command 2>&1; echo $?)" \
	"holdback: there is no command 'no-such-command'
127"
check_exit 'one that cannot be executed is 126' 126 hb exec @s -- ./f

# The same restrictions: what the first command saw of itself is what this one
# sees, with the same input and output.
# shellcheck disable=SC2016 # expanded inside
is 'it is held to the same as the first command' \
	"$(in_box "($look) >again 2>&1
	sed 's/ self [0-9]*$//' seen >a; sed 's/ self [0-9]*$//' again >b; diff a b && echo same")" same
is 'no descriptor comes with it' "$(hb exec @s -- ./probe fds 7</dev/null)" "$(in_box ./probe\ fds)"

# The environment: the list of the box, the values of who joins.
is 'a variable that may pass is that of who joins' \
	"$(LANG=xx_YY.test in_box 'echo $LANG')" xx_YY.test
is 'others do not pass' "$(SECRET=key SSH_AUTH_SOCK=/x in_box \
	'echo "$SECRET$SSH_AUTH_SOCK$XDG_RUNTIME_DIR"')" ''
is 'PATH is that of the box' "$(PATH=/nowhere:$PATH in_box 'echo $PATH')" \
	"$(in_box 'echo $PATH')"

# Files as 0, 1 and 2.
echo given >"$work/given"
chmod 600 "$work/given"
is 'a file that is given to be read can be read' "$(in_box cat <"$work/given")" given
in_box 'chmod 777 /proc/self/fd/0; echo no >>/proc/self/fd/0' <"$work/given" 2>/dev/null
is 'a file that is given to be read cannot be changed' "$(stat -c %a "$work/given"):$(cat "$work/given")" 600:given
in_box 'echo out >/dev/stdout; echo err >/dev/stderr' >"$work/out" 2>"$work/err"
is 'files for output are written to' "$(cat "$work/out" "$work/err")" 'out
err'
check_exit 'a directory is refused' 125 hb exec @s -- true </

# Many at once.
pids=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	in_box "echo $i >n.$i; until [ \$(ls n.* | wc -l) = 20 ]; do sleep 0.02; done" &
	pids="$pids $!"
done
bad=0
for pid in $pids; do wait "$pid" || bad=$((bad + 1)); done
is 'twenty at once, who all see each other' "$bad" 0

# Nothing of the socket is in the box.
is 'the socket is in the runtime directory' \
	"$(ls "$runtime/holdback" | sed 's/-[0-9a-f]*\.sock$/-ID.sock/')" s-ID.sock
is 'closed to others' "$(stat -c %a "$runtime/holdback")" 700
is 'it is nowhere in the view' "$(in_box 'find / -xdev \( -type s -o -name door \) 2>/dev/null
	find "$PWD" /tmp /run /dev -type s 2>/dev/null')" ''
is 'no process of the box has a socket' \
	"$(in_box 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c socket:')" 0

# The supervisor is stopped, as by ^Z.
kill -STOP "$box"
wait_until sh -c "grep -q '^State:.T' /proc/$box/status"
out=$(in_box true 2>&1)
is 'a supervisor that is stopped answers [8]' "$?" 125
like 'with the reason' "$out" "holdback: \[8\] *stopped*fix: let process $box go on*"
kill -CONT "$box"
check 'a client comes in once the supervisor goes on' in_box true
end_box
is 'the first command has its own status' "$?" 4
is 'no socket is left' "$(ls "$runtime/holdback"):$(ls "$state/sessions/s" | tr '\n' ' ')" \
	':lock r0 session '

# A box that ends takes its commands along.
start_box
# join_in_background SCRIPT: without what keeps the first command going.
join_in_background() {
	exec 9>&-
	in_box "$1"
}
join_in_background 'trap "echo hup; exit 5" HUP; : >joined.1; while :; do sleep 0.02; done' \
	>"$work/one" 2>&1 &
one=$!
join_in_background 'trap "" HUP TERM; : >joined.2; while :; do sleep 0.02; done' \
	2>"$work/two" &
two=$!
wait_until test -e "$state/sessions/s/r0/upper/joined.1" -a \
	-e "$state/sessions/s/r0/upper/joined.2"
hb stop @s >/dev/null
end_box
is 'the first command ends, and its box with it' "$?" 143
wait "$one"
is 'who joined hears SIGHUP' "$?:$(cat "$work/one")" \
	"5:hup
holdback: the session's box has ended, and this command with it"
wait "$two"
is 'who does not listen is killed' "$?" 137
is 'then the session is idle' "$(hb ls | awk '{print $2}')" idle
check 'the session can be used after a client was killed' in_box true

# In the session's directory, if there is no other place.
unset XDG_RUNTIME_DIR
start_box
check 'without a runtime directory the socket is in the store' \
	test -S "$state/sessions/s/socket"
XDG_RUNTIME_DIR=$runtime
export XDG_RUNTIME_DIR
check 'it is found whatever the environment says' in_box true
is 'the socket in the store is not in the view' "$(in_box "ls $state 2>&1 | wc -l")" \
	"$(hb exec @s -- sh -c "ls $state 2>&1 | wc -l")"
check_fails 'the socket in the store cannot be reached' in_box "test -e $state/sessions/s/socket"
end_box

# A runtime directory that the view shows.
remove_all
mkdir -p "$project" "$runtime"
hb create s --cow "$project" --ro "$runtime" >/dev/null
mkfifo "$work/go"
start_box
is 'control: the directory is shown' "$(in_box "ls -d $runtime")" "$runtime"
is 'what is ours in it is not' "$(in_box "ls -A $runtime/holdback 2>/dev/null")" ''
end_box

# Who starts at the same moment never makes a second mount: everybody waits for
# all the others, and sees the same file system.
n=6
pids=
for i in 1 2 3 4 5 6; do
	in_box "await() { until [ \$(ls \$1.* | wc -l) = $n ]; do sleep 0.02; done; }
		: >in.$i; await in
		awk -v at=\"\$PWD\" '\$5 == at { print \$3 }' /proc/self/mountinfo >dev.$i
		: >out.$i; await out" 2>/dev/null &
	pids="$pids $!"
done
# shellcheck disable=SC2086 # a list
wait $pids
is 'started at once they share one mount' "$(in_box 'cat dev.* | sort -u | wc -l; ls dev.* | wc -l' |
	tr '\n' ' ')" "1 $n "
rm -rf "$work/go" "$runtime"
finish
