#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Many sessions are removed at once: all, those without changes, those of long
# ago.  Of each it is said what goes with it.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
mkdir p && cd p || bail 'no directory'
names() {
	"$HB_BIN" ls | awk '{ print $1 }' | xargs
}
# begin NAME: a session with one change.
begin() {
	"$HB_BIN" -q -s "$1" sh -c "echo $1 >>$1" || bail 'no session'
}
for name in taken one two; do
	begin "$name"
done
"$HB_BIN" commit -y @taken >/dev/null || bail 'no commit'
check_exit 'without a terminal and -y none is removed' 2 "$HB_BIN" cleanup --all
is 'all of them are there then' "$(names)" 'one taken two'
like 'the sessions with nothing pending are removed' "$("$HB_BIN" cleanup -y --committed 2>&1)" \
	'*session taken, with nothing pending*removed 1*'
is 'the others stay' "$(names)" 'one two'
is 'a commit stays when its session is removed' "$(cat taken)" taken
like 'sessions of today are not of long ago' "$("$HB_BIN" cleanup -y --older 1d 2>&1)" 'removed 0'
is 'they stay' "$(names)" 'one two'
check_exit 'a time has to be a time' 2 "$HB_BIN" cleanup -y --older soon
now=$(date +%s)
is_later() {
	[ "$(date +%s)" -gt $((now + 1)) ]
}
wait_until is_later
like 'sessions that are older are removed, and their changes are told' "$("$HB_BIN" cleanup -y --older 1s 2>&1)" \
	'*session one*1 *session two*removed 2*'
is 'none of them is left' "$(names)" ''
begin three
begin four
"$HB_BIN" keep @four >/dev/null 2>&1 &
is_live() {
	"$HB_BIN" ls | grep -q '^four *live'
}
keeper=$!
wait_until is_live
like 'all but a live one are removed' "$("$HB_BIN" cleanup -y --all 2>&1)" '*session three*removed 1*'
is 'the live one is left' "$(names)" four
"$HB_BIN" stop @four >/dev/null 2>&1
wait "$keeper" 2>/dev/null
"$HB_BIN" cleanup -y --all >/dev/null 2>&1
done_testing
