#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The clock of the host was set back after a session began: its beginning lies
# ahead, and no change time tells what the user has edited since.
. "$HB_TESTS/lib/txn.sh"

# set_back: what a clock that was set back leaves in the session's record.
set_back() {
	record=$state/sessions/s/session
	ahead=$(($(date +%s) + 86400))
	text=$(sed "/^sum = /d; s/^t0 = .*/t0 = $ahead.000000000/" "$record")
	sum=$(printf '%s\n' "$text" | sha256sum | cut -d ' ' -f 1)
	printf '%s\nsum = %s\n' "$text" "$sum" >"$record"
}

new_session 'echo 1 >f; echo 1 >g'
in_box 'echo 2 >f; echo n >n'
check 'before the clock is set back nothing is in conflict' hb commit -n @s
set_back
check_exit 'a file that the clock says nothing about is a conflict' 5 hb commit -y @s
like 'the conflict names the clock' "$(hb commit -y @s 2>&1)" '*conflict: f: the clock was set back*'
like 'status names the clock' "$(hb status @s)" '*the clock was set back*'
is 'nothing is committed' "$(cat "$project/f")" 1
check 'a file that is new is no conflict' hb commit -y --only n @s
set_back
check 'the session is committed by --theirs' hb commit -y --theirs f @s
is 'the change has arrived' "$(cat "$project/f")" 2
in_box 'echo 3 >f'
check 'after a commit the clock counts again' hb commit -y @s
is 'the next change has arrived' "$(cat "$project/f")" 3
finish
