#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# serial
# timeout: 300
# Boxes come and go, and leave nothing.
. "$HB_TESTS/lib/box.sh"

# What this test, and nobody else, has: descendants, their namespaces, mounts.
leftovers() {
	for pid in $(below $$); do
		[ ! -r "/proc/$pid/ns/pid" ] || readlink "/proc/$pid/ns/pid"
	done | grep -vFx "$(readlink /proc/self/ns/pid)"
	diff before.mounts /proc/self/mountinfo
}
cp /proc/self/mountinfo before.mounts

n=0
failed=0
while [ $n -lt 200 ]; do
	n=$((n + 1))
	inside sh -c 'exit 7' || [ $? -eq 7 ] || failed=$((failed + 1))
done
is '200 one after the other' "$failed" 0
says 'nothing is left of them' '' leftovers

# They wait for the end of an input that all share.
mkfifo go
: >up
n=0
while [ $n -lt 30 ]; do
	n=$((n + 1))
	(
		status=0
		"$HB_BIN" run --ephemeral -q -- sh -c \
			"echo up >&2; cat; echo $n >mine; exit \$(cat mine)" \
			<go 2>>up || status=$?
		echo "$n $status" >>ended
	) &
done
exec 9>go
# shellcheck disable=SC2016 # for later
check '30 run at once' wait_until sh -c '[ $(wc -l <up) -eq 30 ]'
exec 9>&-
wait
is 'each ended with its own status' "$(awk '$1 != $2' ended; wc -l <ended)" 30
says 'nothing is left of them' '' leftovers

# A supervisor that is killed at some moment of the start leaves nothing.
n=0
while [ $n -lt 40 ]; do
	n=$((n + 1))
	"$HB_BIN" run --ephemeral -q -- sleep "1000.$$" &
	victim=$!
	i=0
	while [ $i -lt $((n * 25)) ]; do i=$((i + 1)); done
	kill -9 $victim
	wait $victim 2>/dev/null
done
none_left() {
	! cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' |
		grep -q "[s]leep 1000.$$"
}
check '40 killed while they start leave nothing' wait_until none_left
done_testing
