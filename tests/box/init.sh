#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# pid 1 of a box: it reaps, it ends what is left, and it ends with its
# supervisor.  What it hides is in escape/processes.sh.
. "$HB_TESTS/lib/box.sh"

# start COMMAND...: in the background; waits for "up".  $box is the supervisor.
start() {
	rm -f out
	"$HB_BIN" run --ephemeral -q -- "$@" >out 2>&1 &
	box=$!
	wait_until grep -q up out || bail "no start: $(cat out)"
	pids=$(below "$box")
}

busy='./probe linger 3; echo up; exec sleep 1000'

start sh -c "$busy"
is 'control: there is something to end' "$(echo "$pids" | wc -l)" 5
kill -9 "$box"
# shellcheck disable=SC2086 # a list
check 'L7 V3 nothing outlives a killed supervisor' wait_until are_gone $pids
wait "$box" 2>/dev/null

start sh -c "$busy"
for pid in $pids; do kill -STOP "$pid"; done
kill -9 "$box"
# shellcheck disable=SC2086 # a list
check 'L7 not even if everything is stopped' wait_until are_gone $pids
wait "$box" 2>/dev/null

start sh -c "$busy"
kill -STOP "$box"
kill -9 "$box"
# shellcheck disable=SC2086 # a list
check 'L7 not even if the supervisor is stopped' wait_until are_gone $pids
wait "$box" 2>/dev/null

start sh -c 'setsid sh -c "trap \"\" HUP TERM INT; echo up; exec sleep 1000" &
	wait'
kill -9 "$box"
# shellcheck disable=SC2086 # a list
check 'L7 not even what made a session of its own' wait_until are_gone $pids
wait "$box" 2>/dev/null

start sh -c "$busy"
# The first process below the supervisor is pid 1 of the box.
kill -9 "$(echo "$pids" | head -n 1)"
status=0
wait "$box" || status=$?
is 'a box whose pid 1 is killed ends, and says so' "$status" 137
# shellcheck disable=SC2086 # a list
check 'nothing of it is left' wait_until are_gone $pids

# What the command leaves behind.
leaving() {
	"$HB_BIN" run --ephemeral -- "$@" 2>&1
}
says 'one process that was left is told of' \
	'holdback: ended 1 process that the command left behind' \
	leaving ./probe linger 1
says 'several are counted' \
	'holdback: ended 7 processes that the command left behind' \
	leaving ./probe linger 7
says 'those that do not listen are ended all the same' \
	'holdback: ended 2 processes that the command left behind' \
	leaving ./probe linger 2 deaf
like 'those that keep forking cannot gain time' \
	"$(timeout 20 "$HB_BIN" run --ephemeral -- ./probe linger 1 forking 2>&1)" \
	'*ended * that the command left behind'
says 'nothing is said where nothing is left' '' leaving true
status=0
leaving sh -c './probe linger 1; exit 6' >/dev/null || status=$?
is "the status is the command's all the same" "$status" 6
like 'what is left is asked first' "$(leaving sh -c '
	(trap "echo bye; exit" TERM; echo up; : >ready
	while :; do sleep 0.01; done) &
	until [ -e ready ]; do :; done
	./probe linger 1' | sort)" '*bye*up*'
like 'stopped ones hear it too' "$(leaving sh -c '
	sh -c "trap \"echo bye; exit\" TERM; kill -STOP \$\$; read x" &
	until grep -q "State:.T" /proc/$!/status; do :; done')" '*bye*'

# Orphans are reaped while the command runs.
says 'no zombie stays' none inside sh -c '
	for i in 1 2 3 4 5 6 7 8 9; do (sh -c "exit 0" &); done
	while grep -l "State:.Z" /proc/[0-9]*/status 2>/dev/null | grep -q .; do
		:
	done
	echo none'
done_testing
