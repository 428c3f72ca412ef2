#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# serial
# timeout: 600
#
# Runs with sessions, one after the other and at once: each has its own session,
# and nothing is left.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

row=500 once=200
[ "${HB_SOAK:-}" != 1 ] || row=5000 once=500

HOME=$work/home
export HOME
mkdir home p && cd p || bail 'no directory'
echo old >f
sessions=$HOME/.local/state/holdback/sessions
# What there is of the kind: mounts here, processes with our mark, the store.
state() {
	cat /proc/self/mountinfo
	cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' |
		grep -c "^HB_MANY=$$\$"
	ls -A "$sessions" 2>/dev/null
	cat f
}
"$HB_BIN" -q true
before=$(state)
HB_MANY=$$
export HB_MANY

# in_a_row: prints how many did not end as they should.
in_a_row() {
	n=0 failed=0
	while [ $n -lt $row ]; do
		n=$((n + 1))
		"$HB_BIN" -q --env HB_MANY sh -c 'exit 7'
		[ $? -eq 7 ] || failed=$((failed + 1))
	done
	echo $failed
}
in_a_row >../one &
in_a_row >../two
wait
is "2 times $row in a row" "$(cat ../one ../two | tr '\n' ' ')" '0 0 '
unset HB_MANY
is 'leave nothing' "$(state)" "$before"

HB_MANY=$$
export HB_MANY
mkfifo ../go
: >../up
n=0
while [ $n -lt $once ]; do
	n=$((n + 1))
	(
		status=0
		"$HB_BIN" -q --env HB_MANY sh -c "echo up >&2; cat
			[ $((n % 2)) = 0 ] || echo $n >mine; exit $((n % 100))" \
			<../go 2>>../up || status=$?
		echo "$((n % 100)) $status" >>../ended
	) &
done
exec 9>../go
# shellcheck disable=SC2016 # for later
check "$once at once" wait_until sh -c '[ $(grep -c up ../up) -eq '$once' ]'
exec 9>&-
wait
is 'each ended with its own status' \
	"$(awk '$1 != $2' ../ended; wc -l <../ended)" "$once"
is 'those that changed something have a session' \
	"$(find "$sessions" -mindepth 1 -maxdepth 1 | wc -l)" "$((once / 2))"
name=$(cd "$sessions" && find . -mindepth 1 -maxdepth 1 | head -n 1)
check 'each of the sessions can be committed' "$HB_BIN" commit -y "@${name#./}"
check 'each commit brought the file of its session' test -s mine
rm -f mine
for name in "$sessions"/*; do
	"$HB_BIN" cleanup -y "@${name##*/}" >/dev/null || fail "cleanup $name"
done
unset HB_MANY
is 'nothing else is left' "$(state)" "$before"
done_testing
