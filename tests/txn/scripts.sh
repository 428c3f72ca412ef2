#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Answers for scripts: status --live and cleanup -f.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

mkdir p
hb() {
	hb_command=$1
	shift
	"$HB_BIN" "$hb_command" --state-dir "$work/state" "$@"
}

# answers NAME STATUS: status --live ends so, and prints nothing.
answers() {
	is "$1" "$(hb status --live @s 2>&1; echo $?)" "$2"
}

is_idle() {
	hb status --live @s
	[ $? -eq 1 ]
}

hb create s --cow p >/dev/null
answers 'N1 an idle session is not live' 1
hb keep @s >/dev/null 2>&1 &
keeper=$!
wait_until hb status --live @s
answers 'N1 a session that is held open is live' 0
hb stop @s >/dev/null
wait "$keeper"
answers 'N1 a session that was stopped is not live' 1
hb keep @s >/dev/null 2>&1 &
keeper=$!
wait_until hb status --live @s
kill -9 "$keeper"
wait "$keeper" 2>/dev/null
wait_until is_idle
answers 'N1 a session whose supervisor was killed is not live' 1
check_exit 'N1 there is no answer about a session that is not there' 9 hb status --live @none
check_exit '--live has no document' 2 hb status --live --json @s

says 'cleanup of no session fails' 9 '*' hb cleanup -y @none
prints 'L2 cleanup -f of no session succeeds' 'there is no such session' hb cleanup -f @none
is 'L2 its document names no session' "$(hb cleanup -f --json @none)" \
	'{"version":1,"command":"cleanup"}'
check_fails 'cleanup -f answers no question' hb cleanup -f @s </dev/null
prints 'cleanup -f -y removes a session that is there' 'removed session s' hb cleanup -f -y @s
prints 'cleanup -f -y succeeds a second time' 'there is no such session' hb cleanup -f -y @s
prints 'cleanup -f succeeds without any store' 'there is no such session' \
	"$HB_BIN" cleanup --state-dir "$work/absent" -f @s
check_fails 'cleanup -f makes no store' test -e "$work/absent"
done_testing
